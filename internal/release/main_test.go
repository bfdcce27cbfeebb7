package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retrysafe/cmd"
)

// Every command has a man page, every shell a script, and two releases of one source are the same.
func TestWrite(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, again} {
		if err := write(d, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range cmd.Root(cmd.Env{}).Commands() {
		if page := read(t, filepath.Join(dir, "manpages", "retrysafe-"+c.Name()+".1")); !strings.Contains(page, "Jan 2026") {
			t.Errorf("the page of %s is not of 2026:\n%.300s", c.Name(), page)
		}
	}
	if page := read(t, filepath.Join(dir, "manpages", "retrysafe.1")); !strings.Contains(page, "3 nothing failed, but something could not be judged") {
		t.Error("the main page does not hold the exit codes")
	}
	for _, shell := range []string{"bash", "zsh", "fish", "ps1"} {
		file := filepath.Join("completions", "retrysafe."+shell)
		if script := read(t, filepath.Join(dir, file)); !strings.Contains(script, "__complete") || script != read(t, filepath.Join(again, file)) {
			t.Errorf("%s completes nothing, or differs from one time to the next", file)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

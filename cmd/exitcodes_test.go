package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// TestExitCodesOfFormats: whatever is written, the exit code is that of the run.
func TestExitCodesOfFormats(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../report/testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	var r trace.Run
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for _, code := range []int{ExitOK, ExitViolations, ExitInconclusive, ExitInterrupted} {
		dir := t.TempDir()
		r.Summary.ExitCode = code
		doc, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		recorded := filepath.Join(dir, "recorded.json")
		if err := os.WriteFile(recorded, doc, 0o644); err != nil {
			t.Fatal(err)
		}
		selections := [][]string{nil, {"-q"}, {"-v"}}
		var all []string
		for _, name := range formatNames() {
			toFile := []string{"--report", name + "=" + filepath.Join(dir, name)}
			all = append(all, toFile...)
			selections = append(selections, toFile, []string{"--report", name + "=-"})
		}
		for _, flags := range append(selections, all) {
			var out bytes.Buffer
			env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Version: "test", LookupEnv: func(string) (string, bool) { return "", false }}
			if got := Main(env, append([]string{"report", recorded}, flags...)); got != code {
				t.Errorf("%s ends with %d, the run with %d\n%s", flags, got, code, out.String())
			}
		}
		for _, name := range formatNames() {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s was not written: %v", name, err)
			}
		}
	}
}

// TestUnwritableTerminal: the terminal's report is one as others are, so that a full disk behind standard output is told and keeps no
// other from being written.
func TestUnwritableTerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out.xml")
	var told bytes.Buffer
	env := Env{Stdin: strings.NewReader(""), Stdout: fullDisk{}, Stderr: &told, Version: "test", LookupEnv: func(string) (string, bool) { return "", false }}
	if code := Main(env, []string{"report", "../report/testdata/full.json", "--report", "junit=" + file}); code != ExitUsage {
		t.Errorf("exit code %d, want %d", code, ExitUsage)
	}
	if want := "retrysafe: terminal report: no space left on device\n"; told.String() != want {
		t.Errorf("got %q, want %q", told.String(), want)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

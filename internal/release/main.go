// Command release writes what a release ships beside the program: completions for shells and man pages.
//
//	go run ./internal/release DIR SECONDS
//
// It is a program of its own so that what renders man pages is no part of retrysafe. SECONDS since 1970 are the date of the pages, so that
// two releases of one source are the same.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"retrysafe/cmd"
)

func main() {
	var seconds int64
	err := errors.New("expected two arguments")
	if len(os.Args) == 3 {
		seconds, err = strconv.ParseInt(os.Args[2], 10, 64)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "usage: go run ./internal/release DIR SECONDS: %s\n", err)
		os.Exit(2)
	}
	if err := write(os.Args[1], time.Unix(seconds, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// write puts completions/ and manpages/ of that date into dir.
func write(dir string, date time.Time) error {
	root := cmd.Root(cmd.System(""))
	root.DisableAutoGenTag = true
	man := filepath.Join(dir, "manpages")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.MkdirAll(filepath.Join(dir, "completions"), 0o755)); err != nil {
		return err
	}
	for name, generate := range completions(root) {
		if err := create(filepath.Join(dir, "completions", name), generate); err != nil {
			return err
		}
	}
	return doc.GenManTree(root, &doc.GenManHeader{Title: "RETRYSAFE", Section: "1", Date: &date, Source: "retrysafe", Manual: "retrysafe manual"}, man)
}

// completions are the scripts by the names under which each shell's packages keep them.
func completions(root *cobra.Command) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"retrysafe.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"retrysafe.zsh":  root.GenZshCompletion,
		"retrysafe.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"retrysafe.ps1":  root.GenPowerShellCompletionWithDesc,
	}
}

func create(file string, generate func(io.Writer) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(generate(f), f.Close())
}

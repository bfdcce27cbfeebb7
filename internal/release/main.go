// Command release writes what a release ships beside the program: completions for shells and man pages.
//
//	go run ./internal/release DIR
//
// It is a program of its own so that what renders man pages is no part of retrysafe. SOURCE_DATE_EPOCH is the date of the pages.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"retrysafe/cmd"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/release DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// write puts completions/ and manpages/ into dir.
func write(dir string) error {
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
	return doc.GenManTree(root, &doc.GenManHeader{Title: "RETRYSAFE", Section: "1", Source: "retrysafe", Manual: "retrysafe manual"}, man)
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

package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
	"retrysafe/report"
)

// output is a report that was asked for besides the terminal's.
type output struct {
	format report.Format
	path   string
}

// formatNames are what --report takes.
func formatNames() []string {
	names := []string{"json"}
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// outputs are the reports of --report FORMAT=FILE: the file of the JSON document, empty for none, and the others.
func (o *runOptions) outputs() (json string, others []output, err error) {
	paths := map[string]string{}
	for _, r := range o.reports {
		name, path, ok := strings.Cut(r, "=")
		formats := report.Formats()
		i := slices.IndexFunc(formats, func(f report.Format) bool { return f.Name == name })
		switch {
		case name != "json" && i < 0:
			return "", nil, usagef("", "--report: expected FORMAT=FILE, found %q: unknown format%s (known: %s)", r,
				strict.DidYouMean(name, formatNames()), strings.Join(formatNames(), ", "))
		case !ok || path == "":
			return "", nil, usagef("", "--report: expected %s=FILE, or %s=- for standard output, found %q", name, name, r)
		case paths[path] != "":
			return "", nil, usagef("", "--report: %s and %s would both be written to %s", paths[path], name, path)
		}
		paths[path] = name
		if name == "json" {
			if json != "" {
				return "", nil, usagef("", "--report: json was asked for twice, for %s and %s", json, path)
			}
			json = path
			continue
		}
		if err := writable(path); err != nil {
			return "", nil, usagef("", "--report: %s: %s", name, err)
		}
		others = append(others, output{formats[i], path})
	}
	return json, others, nil
}

// writable says, before anything is sent, why a report cannot be written to a path.
func writable(path string) error {
	if path == "-" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder: name a file in it", path)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w: choose a file in a folder that exists", err)
	}
	return nil
}

// write renders the run and puts it at the path in one step, so that readers see the old report or the new one.
func (o output) write(r *trace.Run, j *job, stdout io.Writer) error {
	var text bytes.Buffer
	err := o.format.Write(&text, r, j.rules)
	switch {
	case err != nil:
	case o.path == "-":
		_, err = stdout.Write(text.Bytes())
	default:
		err = replaceFile(o.path, text.Bytes())
	}
	if err != nil {
		return usagef("", "%s report: %s", o.format.Name, err)
	}
	return nil
}

// replaceFile writes beside the path and renames; what is no regular file (a pipe, a device) is written as it is.
func replaceFile(path string, text []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		return errors.Join(err, f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	tmp, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), path)
}

// stepSummary appends the Markdown report to the summary of a GitHub workflow's step, where the run is one.
func stepSummary(env Env, r *trace.Run, j *job) error {
	path, _ := env.LookupEnv("GITHUB_STEP_SUMMARY")
	if actions, _ := env.LookupEnv("GITHUB_ACTIONS"); path == "" || actions != "true" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = errors.Join(report.Markdown(f, r, j.rules), f.Close())
	}
	if err != nil {
		return usagef("", "GITHUB_STEP_SUMMARY: %s", err)
	}
	return nil
}

package cmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
	"retrysafe/report"
	"retrysafe/scenarios"
)

// reporting are the flags of every command that shows a run.
type reporting struct {
	reports        []string
	verbose, quiet bool
}

func (o *reporting) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.reports, "report", nil, "write a report besides the terminal's, as FORMAT=FILE (repeatable): "+strings.Join(formatNames(), ", "))
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show what the control taught and what each pass would have caught")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no terminal report and no progress, only the exit code and the other reports")
	_ = c.RegisterFlagCompletionFunc("report", completeFormats)
}

// completeFormats completes FORMAT=, behind which a file is completed.
func completeFormats(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(typed, "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var found []string
	for _, name := range formatNames() {
		found = append(found, name+"=")
	}
	return found, cobra.ShellCompDirectiveNoSpace
}

// outlets are where the reports of a run go.
type outlets struct {
	// json is where the results document goes; empty for nowhere.
	json string
	// outputs are the other reports that were asked for.
	outputs []output
	rules   []scenarios.Rule
	reasons []scenarios.Reason
	// page writes what the terminal shows; nil for report.Terminal.
	page func(io.Writer, *trace.Run, report.Options) error
	reporting
}

func (o *reporting) outlets(rules []scenarios.Rule) (s outlets, err error) {
	s.rules, s.reporting = rules, *o
	if s.reasons, err = scenarios.Reasons(); err != nil {
		return s, err
	}
	s.json, s.outputs, err = o.outputs()
	return s, err
}

// write writes every report that was asked for, also when another one fails. Doc is the results document; nil for none.
func (s *outlets) write(env Env, r *trace.Run, look report.Options, doc *report.JSONWriter) error {
	var failed error
	if doc != nil {
		if err := doc.Finish(r); err != nil {
			failed = usagef("", "%s", err)
		}
	}
	look.Rules, look.Reasons, look.Verbose = s.rules, s.reasons, s.verbose
	look.Fields = report.PlanFields{Plan: plan.Fields(), Endpoint: plan.EndpointFields()}
	for _, o := range s.outputs {
		failed = cmp.Or(failed, o.write(r, look, env.Stdout))
	}
	failed = cmp.Or(failed, stepSummary(env, r, look))
	if s.quiet {
		return failed
	}
	out := env.Stdout
	if s.toStderr() {
		out = env.Stderr
	}
	page := s.page
	if page == nil {
		page = report.Terminal
	}
	if err := page(out, r, look); err != nil {
		failed = cmp.Or(failed, usagef("", "terminal report: %s", err))
	}
	return failed
}

// toStderr reports whether standard output is taken by another report than the terminal's.
func (s *outlets) toStderr() bool {
	return s.json == "-" || slices.ContainsFunc(s.outputs, func(o output) bool { return o.path == "-" })
}

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
func (o *reporting) outputs() (json string, others []output, err error) {
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
func (o output) write(r *trace.Run, look report.Options, stdout io.Writer) error {
	var text bytes.Buffer
	err := o.format.Write(&text, r, look)
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

// replaceFile writes beside the path and renames, and keeps who may read the file; what is no regular file (a pipe, a device) is written
// as it is.
func replaceFile(path string, text []byte) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
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
	if info != nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err == nil {
		_, err = tmp.Write(text)
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), path)
}

// stepSummary appends the Markdown report to the summary of a GitHub workflow's step, where the run is one.
func stepSummary(env Env, r *trace.Run, look report.Options) error {
	path, _ := env.LookupEnv("GITHUB_STEP_SUMMARY")
	if actions, _ := env.LookupEnv("GITHUB_ACTIONS"); path == "" || actions != "true" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = errors.Join(report.Markdown(f, r, look), f.Close())
	}
	if err != nil {
		return usagef("", "GITHUB_STEP_SUMMARY: %s", err)
	}
	return nil
}

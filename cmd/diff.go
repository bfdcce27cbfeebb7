package cmd

import (
	"github.com/spf13/cobra"

	"retrysafe/internal/trace"
	"retrysafe/report"
)

func newDiffCmd(env Env) *cobra.Command {
	var failOn string
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two recorded runs: new, fixed and remaining violations, and what is judged no more",
		Long: `Compare two recorded runs: which violations are new, fixed and remaining, and which cases could be judged in only one of them.
A violation is the same when rule, endpoint, request and scenario are.

Exit code 1 when there is a new violation at or above --fail-on, else 0; 2 for files that cannot be read.`,
		Example: "  retrysafe diff main.json branch.json",
		Args:    cobra.ExactArgs(2),
		RunE: run(func(c *cobra.Command, args []string) error {
			look, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			before, err := readResults(env, args[0], nil)
			if err != nil {
				return err
			}
			after, err := readResults(env, args[1], nil)
			if err != nil {
				return err
			}
			level := trace.Major
			if after.Info.FailOn != "" {
				level = after.Info.FailOn
			}
			if failOn != "" {
				if level, err = severity(failOn); err != nil {
					return err
				}
			}
			return diff(env, report.Compare(before, after), level, failOn != "", asJSON, look)
		}),
	}
	c.Flags().StringVar(&failOn, "fail-on", "", "least severity of a new violation that fails: critical, major or minor (default: the new run's)")
	c.Flags().BoolVar(&asJSON, "json", false, "write the comparison as JSON")
	return c
}

func diff(env Env, c *report.Comparison, level trace.Severity, always, asJSON bool, look report.Options) error {
	write := func() error { return report.Diff(env.Stdout, c, look) }
	if asJSON {
		write = func() error { return report.CompareJSON(env.Stdout, c) }
	}
	if err := write(); err != nil {
		return err
	}
	if c.Fails(level, always) {
		return exitError(ExitViolations)
	}
	return nil
}

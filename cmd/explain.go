package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"retrysafe/report"
	"retrysafe/scenarios"
)

func newExplainCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:               "explain [RULE|DIAGNOSIS]",
		Short:             "Say what a rule or a diagnosis means and how to repair it; list all without an argument",
		Example:           "  retrysafe explain duplicate-creation\n  retrysafe explain checked-before-claimed",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeExplanations,
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			rules, diagnoses, err := explanations()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listExplanations(env, rules, diagnoses, opts)
			}
			var ids []string
			for _, r := range rules {
				if r.ID == args[0] {
					return report.Explain(env.Stdout, r, opts)
				}
				ids = append(ids, r.ID)
			}
			for _, d := range diagnoses {
				if d.ID == args[0] {
					return report.ExplainDiagnosis(env.Stdout, d, opts)
				}
				ids = append(ids, d.ID)
			}
			return unknown("rule or diagnosis", args[0], ids)
		}),
	}
}

func explanations() ([]scenarios.Rule, []scenarios.Diagnosis, error) {
	rules, err := scenarios.Rules()
	diagnoses, other := scenarios.Diagnoses()
	return rules, diagnoses, errors.Join(err, other)
}

func listExplanations(env Env, rules []scenarios.Rule, diagnoses []scenarios.Diagnosis, opts report.Options) error {
	if err := report.RuleList(env.Stdout, rules, opts); err != nil {
		return err
	}
	if _, err := env.Stdout.Write([]byte("\n")); err != nil {
		return err
	}
	return report.DiagnosisList(env.Stdout, diagnoses, opts)
}

func completeExplanations(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	rules, diagnoses, err := explanations()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, r := range rules {
		out = append(out, r.ID+"\t"+r.Title)
	}
	for _, d := range diagnoses {
		out = append(out, d.ID+"\t"+d.Title)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

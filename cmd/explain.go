package cmd

import (
	"github.com/spf13/cobra"

	"retrysafe/report"
	"retrysafe/scenarios"
)

func newExplainCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:               "explain [RULE]",
		Short:             "Say what a rule means, whom it hurts and how to fix it; list all without RULE",
		Example:           "  retrysafe explain duplicate-creation",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRules,
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			rules, err := scenarios.Rules()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return report.RuleList(env.Stdout, rules, opts)
			}
			var ids []string
			for _, r := range rules {
				if r.ID == args[0] {
					return report.Explain(env.Stdout, r, opts)
				}
				ids = append(ids, r.ID)
			}
			return unknown("rule", args[0], ids)
		}),
	}
}

func completeRules(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	rules, err := scenarios.Rules()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, r := range rules {
		out = append(out, r.ID+"\t"+r.Title)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

package cmd

import (
	"github.com/spf13/cobra"

	"retrysafe/report"
	"retrysafe/scenarios"
)

func newScenariosCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:               "scenarios [ID]",
		Short:             "List the scenarios, or show one script with its documentation",
		Example:           "  retrysafe scenarios same-key-concurrent",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			list, err := scenarios.Builtin()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return report.ScenarioList(env.Stdout, list, opts)
			}
			var ids []string
			for _, s := range list {
				if s.ID == args[0] {
					return report.ScenarioShow(env.Stdout, s, opts)
				}
				ids = append(ids, s.ID)
			}
			return unknown("scenario", args[0], ids)
		}),
	}
}

func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	list, err := scenarios.Builtin()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, s := range list {
		out = append(out, s.ID+"\t"+s.Title)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

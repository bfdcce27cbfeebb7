package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"retrysafe/internal/plan"
)

func newValidateCmd(env Env) *cobra.Command {
	var allowHosts []string
	c := &cobra.Command{
		Use:     "validate [PLAN]",
		Short:   "Report every error of a plan and its scenarios, send nothing",
		Example: "  retrysafe validate retrysafe.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: run(func(_ *cobra.Command, args []string) error {
			p, err := loadPlan(env, args, plan.Overrides{AllowHosts: allowHosts})
			if err != nil {
				return err
			}
			all, err := loadScenarios(p)
			if err != nil {
				return err
			}
			for _, w := range warnings(p, all) {
				fmt.Fprintf(env.Stderr, "warning: %s\n", w.Pretty())
			}
			_, err = fmt.Fprintf(env.Stdout, "%s is valid: %s, %s\n", p.File, count(len(p.Endpoints), "endpoint"), count(len(all), "scenario"))
			return err
		}),
	}
	c.Flags().StringSliceVar(&allowHosts, "allow-host", nil, "a host that may be contacted besides loopback and the plan's allow_hosts (repeatable)")
	return c
}

package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
)

func newValidateCmd(env Env) *cobra.Command {
	var over plan.Overrides
	var unset bool
	c := &cobra.Command{
		Use:   "validate [PLAN...]",
		Short: "Report every error of plans and their scenarios, send nothing",
		Example: `  retrysafe validate retrysafe.yaml
  retrysafe validate --allow-unset plans/*.yaml   where the environment of the run is not there`,
		RunE: run(func(_ *cobra.Command, args []string) error {
			plans := [][]string{args}
			if len(args) > 1 {
				plans = nil
				for _, a := range args {
					plans = append(plans, []string{a})
				}
			}
			var failed strict.Errors
			for _, p := range plans {
				err := validate(env, p, over, unset)
				var found strict.Errors
				switch {
				case errors.As(err, &found):
					failed = append(failed, found...)
				case err != nil:
					return err
				}
			}
			return failed.Err()
		}),
	}
	c.Flags().StringSliceVar(&over.AllowHosts, "allow-host", nil, "a host that may be contacted besides loopback and the plan's allow_hosts (repeatable)")
	c.Flags().BoolVar(&unset, "allow-unset", false, "look past variables that are not set, and what depends on them; for editors and commits")
	return c
}

// validate checks one plan. With unset it looks past variables that are not set.
func validate(env Env, args []string, over plan.Overrides, unset bool) error {
	p, err := loadPlan(env, args, over)
	var found strict.Errors
	if unset && errors.As(err, &found) {
		var names []string
		for _, e := range found {
			if e.Unset == "" {
				return slices.DeleteFunc(found, func(e *strict.Error) bool { return e.Unset != "" })
			}
			names = append(names, e.Unset)
		}
		slices.Sort(names)
		_, err := fmt.Fprintf(env.Stdout, "%s is valid as far as can be seen without %s\n", found[0].File, strings.Join(slices.Compact(names), ", "))
		return err
	}
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
}

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
	var o validateOptions
	c := &cobra.Command{
		Use:   "validate [PLAN...]",
		Short: "Report every error of plans and their scenarios, send nothing",
		Long: `Report every error of plans and their scenarios, and warn of what is most likely not meant, of what proves little, of what may hurt
others, and of credentials that stand in a plan. Nothing is sent. Warnings do not fail, but with --strict.

Exit codes: 0 the plans are valid; 2 they are not, or --strict and there is a warning.`,
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
			warned := 0
			for _, p := range plans {
				n, err := validate(env, p, over, o)
				warned += n
				var found strict.Errors
				switch {
				case errors.As(err, &found):
					failed = append(failed, found...)
				case err != nil:
					return err
				}
			}
			if len(failed) == 0 && o.strict && warned > 0 {
				return usagef("", "--strict: %s", count(warned, "warning"))
			}
			return failed.Err()
		}),
	}
	c.Flags().StringSliceVar(&over.AllowHosts, "allow-host", nil, "a host that may be contacted besides loopback and the plan's allow_hosts (repeatable)")
	c.Flags().BoolVar(&o.strict, "strict", false, "warnings fail too")
	c.Flags().BoolVar(&o.unset, "allow-unset", false, "look past variables that are not set, and what depends on them; for editors and commits")
	return c
}

// validateOptions are the flags of `validate`: to look past variables that are not set, and to fail for warnings.
type validateOptions struct{ unset, strict bool }

// validate checks one plan, and gives the number of its warnings.
func validate(env Env, args []string, over plan.Overrides, o validateOptions) (warned int, err error) {
	p, err := loadPlan(env, args, over)
	var found strict.Errors
	if o.unset && errors.As(err, &found) {
		var names []string
		for _, e := range found {
			if e.Unset == "" {
				return 0, slices.DeleteFunc(found, func(e *strict.Error) bool { return e.Unset != "" })
			}
			names = append(names, e.Unset)
		}
		slices.Sort(names)
		_, err := fmt.Fprintf(env.Stdout, "%s is valid as far as can be seen without %s\n", found[0].File, strings.Join(slices.Compact(names), ", "))
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	all, err := loadScenarios(p)
	if err != nil {
		return 0, err
	}
	told := append(warnings(p, all), p.Risks...).Sorted()
	for _, w := range grouped(told, true) {
		fmt.Fprintf(env.Stderr, "warning: %s\n", w)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s is valid: %s, %s%s\n", p.File, count(len(p.Endpoints), "endpoint"), count(len(all), "scenario"), alsoWarned(len(told)))
	return len(told), err
}

// alsoWarned ends what is said of a valid plan.
func alsoWarned(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + count(n, "warning")
}

package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/dialect"
	"retrysafe/internal/strict"
	"retrysafe/report"
	"retrysafe/scenarios"
)

func newScenariosCmd(env Env) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:               "scenarios [ID]",
		Short:             "List the scenarios, or show one script with its documentation, or what a dialect documents",
		Example:           "  retrysafe scenarios same-key-concurrent\n  retrysafe scenarios --dialect stripe",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			if name != "" {
				return showDialect(env, name, opts)
			}
			k, err := loadKnowledge()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return report.ScenarioList(env.Stdout, k.scenarios, opts)
			}
			return k.show(env.Stdout, args[0], opts)
		}),
	}
	c.Flags().StringVar(&name, "dialect", "", "show what a published convention documents, and so what is asserted under it")
	_ = c.RegisterFlagCompletionFunc("dialect", completeDialects)
	return c
}

func showDialect(env Env, name string, opts report.Options) error {
	d, ok := dialect.Find(name)
	if !ok {
		return usagef("", "there is no dialect %q%s (known: %s)", name, strict.DidYouMean(name, dialect.Names()), strings.Join(dialect.Names(), ", "))
	}
	return report.Dialect(env.Stdout, dialectText(d), opts)
}

func dialectText(d dialect.Dialect) report.DialectText {
	return report.DialectText{Name: d.Name, About: d.About, Lines: d.Describe()}
}

func completeDialects(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return dialect.Names(), cobra.ShellCompDirectiveNoFileComp
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

package cmd

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/dialect"
	"retrysafe/internal/strict"
	"retrysafe/report"
	"retrysafe/scenarios"
)

func newScenariosCmd(env Env) *cobra.Command {
	var name string
	var language bool
	c := &cobra.Command{
		Use:               "scenarios [ID]",
		Short:             "List the scenarios, or show one script with its documentation, what a dialect documents, or how scenarios are written",
		Example:           "  retrysafe scenarios same-key-concurrent\n  retrysafe scenarios --dialect stripe\n  retrysafe scenarios --language",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			switch {
			case language && (name != "" || len(args) > 0):
				return usagef("retrysafe scenarios --language", "--language is about all scenarios: expected neither ID nor --dialect beside it")
			case language:
				_, err := io.WriteString(env.Stdout, scenarios.Language())
				return err
			case name != "" && len(args) > 0:
				return usagef("retrysafe scenarios --dialect "+name, "--dialect is about a convention: expected no ID beside it, found %q", args[0])
			case name != "":
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
	c.Flags().BoolVar(&language, "language", false, "print how scenarios are written, as Markdown")
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

package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/schema"
)

func newSchemaCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(schema.Names(), "|"),
		Short: "Print a JSON Schema, for editors and other programs",
		Long: `Print the JSON Schema (draft-07) of plans, of scenarios, or of the results that --report json=FILE writes.

An editor with a YAML language server checks a plan whose first line says where the schema is:
# yaml-language-server: $schema=plan.schema.json`,
		Example: `  retrysafe schema plan > plan.schema.json
  retrysafe schema results > results.schema.json`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: schema.Names(),
		RunE: run(func(_ *cobra.Command, args []string) error {
			text, err := schema.Of(args[0])
			if err != nil {
				return err
			}
			_, err = env.Stdout.Write(text)
			return err
		}),
	}
}

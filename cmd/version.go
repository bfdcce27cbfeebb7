package cmd

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersionCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: run(func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(env.Stdout, "retrysafe %s %s/%s %s\n", env.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		}),
	}
}

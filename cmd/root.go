// Package cmd is the command line: flags become options, options go to one function for each command, and
// one place turns what came of it into an exit code.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retrysafe/internal/strict"
	"retrysafe/report"
)

// The exit codes, the same for every command and every report format.
const (
	// ExitOK: nothing failed.
	ExitOK = 0
	// ExitViolations: at least one endpoint broke a rule at or above --fail-on.
	ExitViolations = 1
	// ExitUsage: wrong flags, a wrong plan, or a selection that matches nothing. Nothing was sent.
	ExitUsage = 2
	// ExitInconclusive: nothing failed, but something could not be judged, or the tool itself failed.
	ExitInconclusive = 3
	// ExitInterrupted: the run was interrupted; what was seen until then is reported.
	ExitInterrupted = 130
)

// Env is the world as a command sees it.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// LookupEnv reads an environment variable; nil: none is set.
	LookupEnv func(string) (string, bool)
	// Version is what `retrysafe version` prints.
	Version string
}

// System is the Env of the process. An empty version is read from the build.
func System(version string) Env {
	if version == "" {
		version = "dev"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
			version = info.Main.Version
		}
	}
	return Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv, Version: version}
}

func (e Env) getenv(name string) string {
	if e.LookupEnv == nil {
		return ""
	}
	v, _ := e.LookupEnv(name)
	return v
}

// exitError ends a command with a code when everything has been said already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is a mistake of the user; hint is the next thing to try and may be empty.
type usageError struct {
	message, hint string
}

func (e *usageError) Error() string { return e.message }

func usagef(hint, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), hint}
}

// Main runs the command line args (without the program's name) and gives the exit code. SIGINT and SIGTERM
// end a command early; a second one ends the process at once.
func Main(env Env, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := Root(env)
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	return exitCode(env, root.ExecuteContext(ctx))
}

// Root is the tree of commands. Main runs it; programs that document the commands read it.
func Root(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "retrysafe",
		Short: "Tests whether HTTP endpoints survive being called twice",
		Long: `retrysafe sends the same request twice, five times at once, with another body, after the client has
gone away, and so on, compares what comes back, counts the effects, and says whether the endpoint is safe to retry.

Exit codes: 0 nothing failed; 1 violations; 2 wrong usage or plan, nothing was sent;
3 nothing failed, but something could not be judged; 130 interrupted.`,
		Example: `  retrysafe demo                        see it at work on the built-in shop
  retrysafe probe URL --json '{...}'    test one endpoint without a plan
  retrysafe init openapi.yaml           write a plan from an API's description
  retrysafe run retrysafe.yaml          test what a plan describes`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       env.Version,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef(c.CommandPath()+" --help", "%s%s", err, nearestFlag(c, err))
	})
	root.PersistentFlags().String("color", "auto", "colour the output: auto, always or never")
	root.AddCommand(
		newInitCmd(env), newRunCmd(env), newProbeCmd(env), newTryCmd(env), newAuditCmd(env), newDemoCmd(env), newServeCmd(env), newSinkCmd(env), newValidateCmd(env),
		newDoctorCmd(env), newCoverageCmd(env), newReportCmd(env), newDiffCmd(env), newBaselineCmd(env), newReplayCmd(env),
		newScenariosCmd(env), newExplainCmd(env), newSchemaCmd(env), newVersionCmd(env),
	)
	return root
}

// nearestFlag ends the message about an unknown flag with the nearest one of the command; empty for other mistakes.
func nearestFlag(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	return strict.DidYouMean("--"+unknown.GetSpecifiedName(), known)
}

// exitCode says on standard error what went wrong, and maps it to a code.
func exitCode(env Env, err error) int {
	var code exitError
	var usage *usageError
	var plan strict.Errors
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &plan):
		fmt.Fprintln(env.Stderr, strings.Join(grouped(plan, true), "\n"))
		return ExitUsage
	case errors.As(err, &usage):
		fmt.Fprintf(env.Stderr, "retrysafe: %s\n", usage.message)
		if usage.hint != "" {
			fmt.Fprintf(env.Stderr, "try: %s\n", usage.hint)
		}
		return ExitUsage
	case isCobraUsage(err):
		fmt.Fprintf(env.Stderr, "retrysafe: %s\ntry: retrysafe --help\n", err)
		return ExitUsage
	}
	fmt.Fprintf(env.Stderr, "retrysafe: %s\n", err)
	return ExitInconclusive
}

// commandError is an error that a command's own function returned; whatever else cobra reports is a
// mistake in the arguments.
type commandError struct{ error }

func (e commandError) Unwrap() error { return e.error }

func isCobraUsage(err error) bool {
	var own commandError
	return !errors.As(err, &own)
}

// run wraps a command's function so that its errors can be told from cobra's.
func run(f func(c *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := f(c, args); err != nil {
			return commandError{err}
		}
		return nil
	}
}

// look is how the output of a command should look.
func look(env Env, c *cobra.Command, w io.Writer) (report.Options, error) {
	color, err := c.Flags().GetString("color")
	if err != nil {
		return report.Options{}, err
	}
	switch color {
	case "auto", "always", "never":
	default:
		return report.Options{}, usagef("", "--color: expected auto, always or never, found %q", color)
	}
	return report.Options{Color: report.UseColor(color, w, env.getenv), Width: report.Width(w, env.getenv)}, nil
}

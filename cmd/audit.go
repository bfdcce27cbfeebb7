package cmd

import (
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"retrysafe/internal/draft"
	"retrysafe/internal/plan"
	"retrysafe/report"
)

// auditOptions are the flags of audit.
type auditOptions struct {
	run          runOptions
	target, keep string
}

func newAuditCmd(env Env) *cobra.Command {
	o := &auditOptions{}
	c := &cobra.Command{
		Use:   "audit SOURCE",
		Short: "Test every unsafe operation of an API from its document, without a plan, and show one page",
		Long: `Test every unsafe operation of an API from its OpenAPI document (3.0, 3.1 or Swagger 2.0; what init reads besides is taken too) without
writing a plan first, with little effort, and show one page: the operations by the harm that a request does which comes twice, what is
violated, what is proved, and what is unknown and why.

What the document does not say is guessed, as retrysafe init guesses it; --keep FILE writes the plan, with every guess marked. Then
correct the guesses there, and use retrysafe run. It creates real things in the system under test; --dry-run sends nothing.`,
		Example: `  retrysafe audit openapi.yaml --target http://127.0.0.1:8080
  retrysafe audit openapi.yaml --target https://staging.example.com --allow-host staging.example.com --keep retrysafe.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			p, err := o.plan(env, args[0])
			if err != nil {
				return err
			}
			j, err := newJob(env, p, &o.run)
			if err != nil {
				return err
			}
			jobs := []*job{j}
			switch {
			case o.run.list:
				return list(env, jobs)
			case o.run.dryRun:
				return dryRun(env, jobs)
			}
			j.page = report.Audit
			err = runAndReport(c.Context(), env, jobs, opts)
			if o.keep != "" && !o.run.quiet {
				fmt.Fprintf(env.Stderr, "next: retrysafe try %s\n", o.keep)
			}
			return err
		}),
	}
	o.run.flags(c)
	f := c.Flags()
	f.StringVar(&o.target, "target", "", "base URL of the system under test, in place of the document's server")
	f.StringVar(&o.keep, "keep", "", "write the plan that is run to this `file`, which must not exist")
	f.StringSliceVar(&o.run.endpoints, "endpoint", nil, "test only these operations (names of the plan or patterns such as 'create *', repeatable)")
	f.StringSliceVar(&o.run.tags, "tag", nil, "test only operations with one of these `tags` in the document (names or patterns, repeatable)")
	f.BoolVar(&o.run.list, "list", false, "list what would run, send nothing")
	effort := f.Lookup("effort")
	effort.DefValue = "smoke"
	_ = effort.Value.Set(effort.DefValue)
	return c
}

// plan is the plan that the source makes.
func (o *auditOptions) plan(env Env, file string) (*plan.Plan, error) {
	src, err := readSource(env, file, "")
	if err != nil {
		return nil, err
	}
	if o.target != "" {
		if u, err := url.Parse(o.target); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, usagef("retrysafe audit "+file+" --target http://127.0.0.1:8080", "--target: expected an absolute http or https URL, found %q", o.target)
		}
		src.Target = draft.Text{Value: o.target}
	}
	if _, set := env.LookupEnv(draft.TargetVariable); src.Target.Value == "" && !set {
		return nil, usagef("retrysafe audit "+file+" --target http://127.0.0.1:8080", "%s names no server: expected --target URL", file)
	}
	made := imported{env: env, o: &initOptions{output: file}}
	if err := made.merge(&src); err != nil {
		return nil, err
	}
	if len(made.text) == 0 {
		return nil, usagef("", "%s has no operation that changes something, so nothing to test", file)
	}
	for _, n := range src.Notes {
		fmt.Fprintf(env.Stderr, "note: %s\n", n)
	}
	p, err := plan.ParseWith("", made.text, o.lookup(env), o.run.overrides())
	if err != nil {
		return nil, flagError("retrysafe init "+file+" writes the plan, to be corrected and run", err)
	}
	return p, o.keepPlan(made.text)
}

// lookup is the environment, in which the flag wins over the variable that the plan takes its target from.
func (o *auditOptions) lookup(env Env) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == draft.TargetVariable && o.target != "" {
			return o.target, true
		}
		return env.LookupEnv(name)
	}
}

// keepPlan writes the plan where it was asked for.
func (o *auditOptions) keepPlan(text []byte) error {
	if o.keep == "" {
		return nil
	}
	f, err := os.OpenFile(o.keep, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return usagef("another file, or retrysafe init, which adds to a plan that exists", "--keep: %s", err)
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	return f.Close()
}

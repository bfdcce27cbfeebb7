package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"retrysafe/fixtures"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/report"
)

// demoFaults are the faults that the demo shows: one of each kind that people ship most.
func demoFaults() []string {
	return []string{"check-then-insert", "body-not-checked", "answer-not-stored", "stuck-in-progress"}
}

// demoScenarios are what the broken shops are tested with: all that need no waiting for a key to expire.
func demoScenarios() []string {
	return []string{"first-request", "same-key-*", "fresh-key-per-retry", "missing-key", "client-timeout", "server-error-then-retry"}
}

func newDemoCmd(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it at work on the built-in shop, honest and broken; needs nothing",
		Args:  cobra.NoArgs,
		RunE: run(func(c *cobra.Command, _ []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			return demo(c.Context(), env, opts)
		}),
	}
}

// demo runs the shop's plan on an honest shop and on broken ones. It ends with an error when the honest
// shop is not clean or a fault is not caught: the demo is true or it fails.
func demo(ctx context.Context, env Env, opts report.Options) error {
	fmt.Fprint(env.Stdout, "The built-in shop, first honest, then with faults that real shops have. Nothing leaves this machine.\n\n")
	ok := true
	for _, fault := range append([]string{""}, demoFaults()...) {
		r, j, err := demoRun(ctx, env, fault)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return exitError(ExitInterrupted)
		}
		opts.Rules = j.rules
		good, err := demoShow(env, opts, fault, r)
		if err != nil {
			return err
		}
		ok = ok && good
	}
	if !ok {
		fmt.Fprintln(env.Stdout, "The demo did not show what it should: please report this.")
		return exitError(ExitInconclusive)
	}
	fmt.Fprint(env.Stdout, "Now your own endpoint:\n\n"+
		"  retrysafe probe http://127.0.0.1:8080/orders --json '{\"qty\": 1, \"reference\": \"{{marker}}\"}' \\\n"+
		"    --count '/orders/count?reference={{marker}} $.count'\n\n"+
		"or the whole shop, with the full report: retrysafe serve, then RETRYSAFE_TARGET=URL retrysafe run fixtures/plans/shop.yaml\n")
	return nil
}

// demoRun runs the shop's plan on a shop with a fault, on the orders endpoint; honest without one.
func demoRun(ctx context.Context, env Env, fault string) (*trace.Run, *job, error) {
	var shop fixtures.Options
	o := &runOptions{effort: "standard", endpointRequests: -1, failOn: string(trace.Major), endpoints: []string{"create order"}, reporting: reporting{quiet: true}}
	if fault != "" {
		shop.Faults = []string{fault}
		o.scenarios = demoScenarios()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ready := make(chan string, 1)
	served := make(chan error, 1)
	go func() {
		served <- fixtures.Serve(ctx, fixtures.ServeOptions{Shop: shop, Ready: func(url string, _ []byte) { ready <- url }})
	}()
	var target string
	select {
	case target = <-ready:
	case err := <-served:
		return nil, nil, err
	}
	text, err := fixtures.Plans.ReadFile("plans/shop.yaml")
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.Parse("fixtures/plans/shop.yaml", text, func(name string) (string, bool) { return target, name == "RETRYSAFE_TARGET" })
	if err != nil {
		return nil, nil, err
	}
	j, err := newJob(env, p, o)
	if err != nil {
		return nil, nil, err
	}
	r := j.execute(ctx)
	stop()
	return r, j, <-served
}

// demoShow tells what was found on one shop and reports whether that is what should be found.
func demoShow(env Env, opts report.Options, fault string, r *trace.Run) (bool, error) {
	if fault == "" {
		return r.Summary.Verdict == trace.Pass, report.Brief(env.Stdout, "an honest shop", "", r, opts)
	}
	v, _ := fixtures.Find(fault)
	return found(r, v.Rules), report.Brief(env.Stdout, "a shop with the fault "+fault, v.About, r, opts)
}

// found reports whether every rule is among the findings of the run.
func found(r *trace.Run, rules []string) bool {
	seen := map[string]bool{}
	for i := range r.Endpoints {
		for _, c := range r.Endpoints[i].Cases {
			for _, f := range c.Findings {
				seen[f.Rule] = true
			}
		}
	}
	for _, rule := range rules {
		if !seen[rule] {
			return false
		}
	}
	return true
}

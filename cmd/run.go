package cmd

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"retrysafe/internal/engine"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func newRunCmd(env Env) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "run [PLAN...]",
		Short: "Test the endpoints that plans describe",
		Long: `Test the endpoints that plans describe. Without PLAN: retrysafe.yaml or .retrysafe.yaml in this folder
or one above it, up to the one that holds .git. Several plans are run one after the other and told in one report.`,
		Example: `  retrysafe run
  retrysafe run shop.yaml --scenario same-key-concurrent --report json=out.json
  retrysafe run plans/*.yaml --owner payments`,
		RunE: run(func(c *cobra.Command, args []string) error {
			if o.parallel < 1 {
				return usagef("", "--parallel: expected 1 or more, found %d", o.parallel)
			}
			if c.Flags().Changed("ledger") && o.ledger == "" {
				return usagef("", "--ledger: expected a file, found nothing")
			}
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			o.failOnSaid = c.Flags().Changed("fail-on")
			plans, err := loadPlans(env, args, o.overrides())
			if err != nil {
				return err
			}
			jobs, err := newJobs(env, plans, o)
			if err != nil {
				return err
			}
			switch {
			case o.list:
				return list(env, jobs)
			case o.dryRun:
				return dryRun(env, jobs)
			}
			return runAndReport(c.Context(), env, jobs, opts)
		}),
	}
	o.flags(c)
	c.Flags().StringVar(&o.ledger, "ledger", "", "file in which a run leaves keys, so that a later one sees whether they are replayed and forgotten in time")
	c.Flags().IntVar(&o.parallel, "parallel", engine.DefaultParallel, "how many endpoints are under way at once; one sends at a time, the others wait meanwhile")
	o.baselineOptions.flags(c.Flags())
	c.Flags().StringVar(&o.shard, "shard", "", "test one of several parts of the endpoints, as I/N; `retrysafe report` merges the results of all N")
	c.Flags().StringSliceVar(&o.endpoints, "endpoint", nil, "test only these endpoints (names or patterns such as 'create *', repeatable)")
	c.Flags().StringSliceVar(&o.tags, "tag", nil, "test only endpoints with one of these `tags` in the plan (names or patterns, repeatable)")
	c.Flags().StringSliceVar(&o.owners, "owner", nil, "test only endpoints with one of these `owners` in the plan (names or patterns, repeatable)")
	c.Flags().StringVar(&o.onlyFailed, "only-failed", "", "run only the cases that failed or could not be judged in this results document")
	c.Flags().BoolVar(&o.list, "list", false, "list what would run: endpoint, scenario, and why it is skipped, with tabs between; send nothing")
	return c
}

// announce says before anything is sent what the run will do at worst.
func announce(env Env, jobs []*job) {
	first := jobs[0]
	if first.opts.quiet {
		return
	}
	requests, waits := 0, time.Duration(0)
	for _, j := range jobs {
		longest, all := time.Duration(0), time.Duration(0)
		most := 0
		for _, e := range j.estimates() {
			most += e.Requests
			longest, all = max(longest, e.Waits), all+e.Waits
		}
		if j.opts.detectWindow > 0 {
			most = max(most, len(j.endpoints)*j.effort.Budget) // rounds go on until the budget ends
		}
		requests, waits = requests+most, waits+max(longest, all/time.Duration(cmp.Or(j.opts.parallel, engine.DefaultParallel)))
		for _, l := range grouped(warnings(j.plan, j.scenarios), false) {
			fmt.Fprintf(env.Stderr, "retrysafe: warning: %s\n", l)
		}
		fmt.Fprintf(env.Stderr, "retrysafe: %s%s, %s on %s\n", j.planName(), count(len(j.endpoints), "endpoint"), count(len(j.scenarios), "scenario"), j.plan.Target)
	}
	for _, line := range first.routes.tell(originsOf(jobs)) {
		fmt.Fprintf(env.Stderr, "retrysafe: %s\n", line)
	}
	fmt.Fprintf(env.Stderr, "retrysafe: up to %s, each of which may create something; not counted: reads of counters and awaited work,\n"+
		"retrysafe: clean-up, and what is sent again while the endpoint is busy or in progress; %s of waiting\n", count(requests, "request"), waits.Round(time.Second))
	if first.rate > 0 {
		fmt.Fprintf(env.Stderr, "retrysafe: at %s these requests alone take %s\n", first.opts.rate, roughly(time.Duration(float64(requests)/first.rate*float64(time.Second))))
	}
}

// dryRun says what a run would do, and sends nothing.
func dryRun(env Env, jobs []*job) error {
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		if err := dryRunOf(env, j); err != nil {
			return err
		}
	}
	return nil
}

func dryRunOf(env Env, j *job) error {
	fmt.Fprintf(env.Stdout, "%sdry run: nothing is sent to %s\n", j.planName(), j.plan.Target)
	for _, line := range j.routes.tell(j.plan.Origins()) {
		fmt.Fprintln(env.Stdout, line)
	}
	for _, s := range j.plan.Sinks() {
		fmt.Fprintf(env.Stdout, "the sink %s would listen on %s://%s\n", s.Name, s.Kind(), s.Address())
	}
	for i, e := range j.estimates() {
		ep := &j.endpoints[i]
		fmt.Fprintf(env.Stdout, "\n%s (%s)\n", ep.Name, ep.Request)
		fmt.Fprintf(env.Stdout, "  up to %s, set-up included, %s of waiting\n", count(e.Requests, "request"), e.Waits.Round(time.Second))
		fmt.Fprintf(env.Stdout, "  up to %s if nothing is deduplicated\n", count(e.Creations, "creation"))
		for _, s := range j.scenariosOf(ep.Name) {
			if why := j.unmet(ep, s); why != nil {
				fmt.Fprintf(env.Stdout, "  - %s: skipped, %s\n", s.ID, why.Detail)
				continue
			}
			fmt.Fprintf(env.Stdout, "  + %s: %s\n", s.ID, s.Title)
		}
	}
	return nil
}

// unmet says why a run with these options would skip the script for the endpoint; nil when it would not.
func (j *job) unmet(ep *plan.Endpoint, s *scenarios.Scenario) *trace.Reason {
	why := engine.Unmet(j.plan, ep, s, j.effort, j.opts.disruptive)
	if why == nil && j.opts.ledger == "" {
		return engine.NoLedger(s)
	}
	return why
}

// list says case by case what would run, for people and for scripts, and sends nothing.
func list(env Env, jobs []*job) error {
	for _, j := range jobs {
		for i := range j.endpoints {
			ep := &j.endpoints[i]
			for _, s := range j.scenariosOf(ep.Name) {
				what := "run"
				if why := j.unmet(ep, s); why != nil {
					what = fmt.Sprintf("skip\t%s: %s", why.Code, why.Detail)
				}
				fmt.Fprintf(env.Stdout, "%s\t%s\t%s\n", ep.Name, s.ID, what)
			}
		}
	}
	return nil
}

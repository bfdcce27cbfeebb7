package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/report"
)

// replayOptions are the flags of `replay`.
type replayOptions struct {
	wireOptions
	reporting
	plan       string
	disruptive bool
}

func newReplayCmd(env Env) *cobra.Command {
	o := &replayOptions{}
	c := &cobra.Command{
		Use:   "replay RESULTS [FINDING]",
		Short: "Fire the case of a recorded violation again, and say whether it is fixed",
		Long: `Fire the case of a recorded violation again, with new keys, the plan that the record names, and the record's dialect, effort and fail-on
level. FINDING is a fingerprint, ENDPOINT/SCENARIO/RULE, or the end of that where it is meant for one violation only; without it all are listed.

Exit codes: 0 it is fixed; 1 it was found again, or the case fails for another reason; 3 the case could not be judged.`,
		Example: "  retrysafe replay results.json\n  retrysafe replay results.json 'create order/same-key-concurrent/duplicate-creation'",
		Args:    cobra.RangeArgs(1, 2),
		RunE: run(func(c *cobra.Command, args []string) error {
			look, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			r, err := readResults(env, args[0], nil)
			if err != nil {
				return err
			}
			name := ""
			if len(args) > 1 {
				name = args[1]
			}
			found, err := pickFinding(env, r, args[0], name)
			if err != nil {
				return err
			}
			return replay(c.Context(), env, o, r, found, look)
		}),
	}
	f := c.Flags()
	o.wireOptions.flags(c)
	o.reporting.flags(c)
	f.StringVar(&o.plan, "plan", "", "plan to use instead of the one that the record names")
	f.BoolVar(&o.disruptive, "allow-disruptive", false, "also fire scenarios that disturb others: restarts, crashes, floods")
	return c
}

// recordedFinding is a finding with what names it.
type recordedFinding struct {
	fingerprint, endpoint, scenario, rule string
}

func (f recordedFinding) path() string { return f.endpoint + "/" + f.scenario + "/" + f.rule }

func (f recordedFinding) String() string {
	return fmt.Sprintf("%s in %s on %s", f.rule, f.scenario, f.endpoint)
}

// pickFinding is the finding of that name. Where there is none, all are listed, and where several end like it, those are.
func pickFinding(env Env, r *trace.Run, file, name string) (recordedFinding, error) {
	all := recordedFindings(r)
	if len(all) == 0 {
		return recordedFinding{}, usagef("", "%s holds no violation, so there is nothing to replay", file)
	}
	if name == "" {
		listFindings(env.Stdout, all)
		return recordedFinding{}, usagef(fmt.Sprintf("retrysafe replay %s %s", file, all[0].fingerprint), "expected which of them to replay")
	}
	var alike []recordedFinding
	for _, f := range all {
		if name == f.fingerprint || name == f.path() {
			return f, nil
		}
		if strings.HasSuffix(f.path(), "/"+name) {
			alike = append(alike, f)
		}
	}
	switch len(alike) {
	case 0:
		listFindings(env.Stderr, all)
		return recordedFinding{}, usagef("", "%s holds no violation %q: expected a fingerprint or a name from the list above", file, name)
	case 1:
		return alike[0], nil
	}
	listFindings(env.Stderr, alike)
	return recordedFinding{}, usagef(fmt.Sprintf("retrysafe replay %s %s", file, alike[0].fingerprint), "%s holds %d violations %q: expected which of them to replay", file, len(alike), name)
}

func recordedFindings(r *trace.Run) []recordedFinding {
	var all []recordedFinding
	for i := range r.Endpoints {
		ep := &r.Endpoints[i]
		for _, c := range ep.Cases {
			for _, f := range c.Findings {
				all = append(all, recordedFinding{report.Fingerprint(ep, c.Scenario, f.Rule), ep.Name, c.Scenario, f.Rule})
			}
		}
	}
	return all
}

func listFindings(w io.Writer, all []recordedFinding) {
	for _, f := range all {
		fmt.Fprintf(w, "%s  %s\n", f.fingerprint, f.path())
	}
}

// replay fires the case of a finding.
func replay(ctx context.Context, env Env, o *replayOptions, r *trace.Run, found recordedFinding, look report.Options) error {
	name, of := recordedPlan(r, found.endpoint)
	p, err := o.loadPlan(env, of)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Endpoints, func(e plan.Endpoint) bool { return e.Name == name }) {
		return usagef("", "%s has no endpoint %q any more", p.File, name)
	}
	j, err := newJob(env, p, &runOptions{
		wireOptions: o.wireOptions, reporting: o.reporting, endpoints: []string{name}, scenarios: []string{found.scenario},
		effort: cmp.Or(r.Info.Effort, "standard"), failOn: string(cmp.Or(r.Info.FailOn, trace.Major)), endpointRequests: -1,
		disruptive: o.disruptive,
	})
	if err != nil {
		return err
	}
	j.wanted = func(endpoint, scenario string) bool { return endpoint == name && scenario == found.scenario }
	again, err := runJobs(ctx, env, []*job{j}, look)
	if err != nil {
		return err
	}
	out := env.Stdout
	if j.toStderr() {
		out = env.Stderr
	}
	text, code := replayed(again, found)
	fmt.Fprintf(out, "replay: %s\n", text)
	if code != ExitOK {
		return exitError(code)
	}
	return nil
}

// recordedPlan is the name of an endpoint of the record in its plan, and what the record says of that plan.
func recordedPlan(r *trace.Run, endpoint string) (name string, of trace.PlanRun) {
	of = trace.PlanRun{PlanInfo: r.Info.Plan, Target: r.Info.Target, Dialect: r.Info.Dialect}
	for i := range r.Endpoints {
		ep := &r.Endpoints[i]
		if ep.Name != endpoint {
			continue
		}
		if n := ep.Plan; n > 0 && n <= len(r.Info.Plans) {
			of = r.Info.Plans[n-1]
		}
		return cmp.Or(ep.Named, ep.Name), of
	}
	return endpoint, of
}

// loadPlan is the plan of the record, or the one that was named. What differs from the record is told.
func (o *replayOptions) loadPlan(env Env, of trace.PlanRun) (*plan.Plan, error) {
	file := cmp.Or(o.plan, of.Path)
	if file == "" {
		return nil, usagef("retrysafe replay --plan FILE", "the record is of a run without a plan file (probe): run that again, or name a plan")
	}
	p, err := plan.Load(file, env.LookupEnv, plan.Overrides{AllowHosts: o.allowHosts, Dialect: of.Dialect})
	if err != nil {
		return nil, planError(err)
	}
	if p.Digest != of.Digest {
		fmt.Fprintf(env.Stderr, "retrysafe: %s was changed since the run was recorded: the case may be another one\n", file)
	}
	if p.Target != of.Target {
		fmt.Fprintf(env.Stderr, "retrysafe: the run was recorded on %s, this one goes to %s\n", of.Target, p.Target)
	}
	return p, nil
}

// replayed says what became of a finding, and the exit code.
func replayed(r *trace.Run, found recordedFinding) (string, int) {
	var c *trace.Case
	for i := range r.Endpoints {
		for k := range r.Endpoints[i].Cases {
			c = &r.Endpoints[i].Cases[k] // there is one
		}
	}
	switch {
	case r.Info.Interrupted:
		return "interrupted before it was known whether " + found.String() + " is fixed", ExitInterrupted
	case c == nil:
		return "nothing was run", ExitInconclusive
	case slices.ContainsFunc(c.Findings, func(f trace.Finding) bool { return f.Rule == found.rule }):
		return "found again: " + found.String(), ExitViolations
	case c.Verdict == trace.Fail && len(c.Findings) > 0:
		return fmt.Sprintf("not found again: %s; but the case breaks another rule: %s", found, c.Findings[0].Rule), ExitViolations
	case c.Verdict == trace.Pass || c.Verdict == trace.Warn:
		return fmt.Sprintf("fixed: %s was not found again in %s", found, count(c.Rounds, "round")), ExitOK
	}
	return fmt.Sprintf("could not be judged: %s: %s: %s", found, c.Reason, c.Detail), ExitInconclusive
}

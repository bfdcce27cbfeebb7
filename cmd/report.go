package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retrysafe/internal/dialect"
	"retrysafe/internal/engine"
	"retrysafe/internal/recorded"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
	"retrysafe/report"
	"retrysafe/scenarios"
)

// reportOptions are the flags of `report`.
type reportOptions struct {
	reporting
	baselineOptions
	failOn, dialect string
	allow           []string
	force           bool
}

func newReportCmd(env Env) *cobra.Command {
	o := &reportOptions{}
	c := &cobra.Command{
		Use:   "report RESULTS...",
		Short: "Show a recorded run again, judge it by other terms, or merge runs of parts of a plan",
		Long: `Show a recorded run again: the results document of --report json=FILE, or the .partial file of a run that died.
"-" is standard input. The exit code is that of the run.

With --fail-on, --dialect or --allow-inconclusive the record is judged again; nothing is sent. What another dialect needs and the
record does not hold is inconclusive or noted. Several files are merged: runs of one plan that tested different endpoints.`,
		Example: `  retrysafe report results.json --report junit=out.xml
  retrysafe report results.json --fail-on minor --dialect stripe
  retrysafe report shard-1.json shard-2.json --report json=results.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: run(func(c *cobra.Command, args []string) error {
			look, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			return showRecorded(env, o, args, look)
		}),
	}
	f := c.Flags()
	o.reporting.flags(c)
	o.baselineOptions.flags(f)
	f.StringVar(&o.failOn, "fail-on", "", "judge again: least severity that fails: critical, major or minor")
	f.StringVar(&o.dialect, "dialect", "", "judge again: measure against this published convention")
	f.StringSliceVar(&o.allow, "allow-inconclusive", nil, "judge again: reason codes that skip a case instead of leaving it inconclusive")
	f.BoolVar(&o.force, "force", false, "merge runs of different plans, targets, dialects or fail-on levels too; the first file's are shown")
	_ = c.RegisterFlagCompletionFunc("dialect", completeDialects)
	return c
}

// showRecorded reads, judges and shows recorded runs.
func showRecorded(env Env, o *reportOptions, files []string, look report.Options) error {
	terms, again, err := o.terms()
	if err != nil {
		return err
	}
	rules, err := scenarios.Rules()
	if err != nil {
		return err
	}
	if terms.Baseline, err = o.baselineOptions.read(rules); err != nil {
		return err
	}
	terms.Now, terms.Strict = time.Now(), o.strictBaseline
	again = again || terms.Baseline != nil
	to, err := o.reporting.outlets(rules)
	if err != nil {
		return err
	}
	var sources []recorded.Source
	for _, file := range files {
		r, err := readResults(env, file, terms.Diagnoses)
		if err != nil {
			return err
		}
		if again {
			if err := recorded.Judge(r, terms); err != nil {
				return usagef("", "%s: %s", file, err)
			}
			withFlags(r)
		}
		sources = append(sources, recorded.Source{Name: file, Run: r})
	}
	r, err := recorded.Merge(sources, o.force, terms.Diagnoses)
	if err != nil {
		return usagef("", "%s", err)
	}
	return showRun(env, r, &to, look)
}

// showRun writes the reports of a run that is over, and gives the error that stands for its exit code.
func showRun(env Env, r *trace.Run, to *outlets, look report.Options) error {
	var doc *report.JSONWriter
	if to.json != "" {
		var err error
		if doc, err = report.NewJSON(to.json, env.Stdout); err != nil {
			return usagef("", "%s", err)
		}
	}
	if err := to.write(env, r, look, doc); err != nil {
		return err
	}
	if r.Summary.ExitCode != ExitOK {
		return exitError(r.Summary.ExitCode)
	}
	return nil
}

// terms are what the flags say, and whether they ask for another judgement.
func (o *reportOptions) terms() (t recorded.Terms, again bool, err error) {
	if t.Diagnoses, err = scenarios.Diagnoses(); err != nil {
		return t, false, err
	}
	if o.failOn != "" {
		if t.FailOn, err = severity(o.failOn); err != nil {
			return t, false, err
		}
	}
	if _, known := dialect.Find(o.dialect); o.dialect != "" && !known {
		return t, false, usagef("", "--dialect: unknown dialect %q%s (known: %s)", o.dialect,
			strict.DidYouMean(o.dialect, dialect.Names()), strings.Join(dialect.Names(), ", "))
	}
	t.Dialect = o.dialect
	if len(o.allow) > 0 {
		codes, err := allowedCodes(o.allow)
		if err != nil {
			return t, false, err
		}
		t.Allow = slices.Sorted(maps.Keys(codes))
	}
	return t, t.FailOn != "" || t.Dialect != "" || t.Allow != nil, nil
}

// readResults reads a recorded run, "-" from standard input. One that died gets the verdicts that it did not live to give.
func readResults(env Env, file string, diagnoses []scenarios.Diagnosis) (*trace.Run, error) {
	in, name := env.Stdin, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, usagef("", "%s", err)
		}
		defer f.Close()
		in, name = f, file
	}
	r, err := report.ReadRun(in)
	if err != nil {
		return nil, usagef("", "%s: %s", name, err)
	}
	if r.Summary.Verdict == "" {
		finish(r, diagnoses)
	}
	return r, nil
}

// finish adds up what the record of a run that died holds.
func finish(r *trace.Run, diagnoses []scenarios.Diagnosis) {
	for i := range r.Endpoints {
		ep := &r.Endpoints[i]
		r.Summary.Requests += engine.Requests(ep)
		for k := range ep.Cases {
			r.Info.ElapsedMS = max(r.Info.ElapsedMS, ep.Cases[k].Ended.Duration().Milliseconds())
		}
	}
	recorded.Sum(r, diagnoses)
	r.Info.Notes = append(r.Info.Notes, fmt.Sprintf("the run died before its end: %s ended before that",
		cmp.Or(endedCases(r), "no case")))
}

// endedCases says how many cases of a run that died had ended.
func endedCases(r *trace.Run) string {
	ended, all := 0, 0
	for i := range r.Endpoints {
		for _, c := range r.Endpoints[i].Cases {
			all++
			if c.Reason != trace.Interrupted {
				ended++
			}
		}
	}
	if ended == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s", ended, count(all, "case"))
}

// withFlags turns the lines of plan that a case asks for into flags in a record of probe, which has no plan.
func withFlags(r *trace.Run) {
	if r.Info.Plan.Path != "" {
		return
	}
	for i := range r.Endpoints {
		for k := range r.Endpoints[i].Cases {
			c := &r.Endpoints[i].Cases[k]
			c.Enable = probeFlag(c.Enable)
		}
	}
}

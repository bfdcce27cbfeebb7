package judge

import (
	"cmp"
	"slices"

	"retrysafe/internal/trace"
)

// The exit codes of a run.
const (
	exitPass        = 0
	exitViolations  = 1
	exitUnjudged    = 3
	exitInterrupted = 130
)

// skips reports whether a reason means that the case was not meant to run.
func skips(c trace.Code) bool {
	switch c {
	case trace.Needs, trace.NotApplicable, trace.PlanSkip, trace.WaitTooLong, trace.NotDue, trace.LeftOut:
		return true
	}
	return false
}

// leftOut reports whether a reason means that the case was not meant to run, or had not begun when the run ended at its first
// failure.
func (in *Input) leftOut(c trace.Code) bool {
	return skips(c) || c == trace.FailFast && len(in.Case.Trace) == 0
}

// required reports whether the plan requires the scenario, by its id, or by a pattern of what applies and can be due.
func (in *Input) required(why trace.Code) bool {
	id := in.Scenario.ID
	if slices.Contains(in.Facts.Require, id) {
		return true
	}
	excused := why == trace.NotApplicable || why == trace.PlanSkip || why == trace.NotDue
	return !excused && slices.ContainsFunc(in.Facts.Require, func(word string) bool { return trace.Named(word, id) })
}

// conclude gives the verdict of a result whose findings are known: fail, then inconclusive, then warn, then pass.
func conclude(in *Input, r trace.Result, why *trace.Reason) trace.Result {
	failOn := cmp.Or(in.Facts.FailOn, in.FailOn, trace.Major)
	failing := false
	for i := range r.Findings {
		f := &r.Findings[i]
		if a, ok := in.Accepted[f.Rule]; ok {
			f.Accepted = &a
			continue
		}
		failing = failing || f.Severity.AtLeast(failOn)
	}
	if failing {
		r.Verdict = trace.Fail
		return r
	}
	switch {
	case why == nil && len(r.Findings) == 0:
		r.Verdict = trace.Pass
		return r
	case why == nil:
		r.Verdict = trace.Warn
		return r
	}
	r.Reason, r.Detail, r.Enable = why.Code, why.Detail, why.Enable
	switch {
	case skips(why.Code) && failOn != trace.Never && in.required(why.Code):
		r.Verdict, r.Detail = trace.Fail, "the plan requires this scenario, but it was skipped: "+why.Detail
	case in.leftOut(why.Code):
		r.Verdict = trace.Skip
	case in.Allow[why.Code] && why.Code.Allowable():
		r.Verdict, r.Reason = trace.Skip, trace.Allowed
		r.Detail = "inconclusive (" + string(why.Code) + "), which --allow-inconclusive permits: " + why.Detail
	default:
		r.Verdict = trace.Inconclusive
	}
	return r
}

// worst ranks verdicts; an unknown one counts as error.
func worst(v trace.Verdict) int {
	switch v {
	case "", trace.Skip:
		return 0
	case trace.Pass:
		return 1
	case trace.Warn:
		return 2
	case trace.Inconclusive:
		return 3
	case trace.Fail:
		return 5
	}
	return 4
}

// EndpointVerdict is the worst verdict of the cases: fail, error, inconclusive, warn, pass, skip in that order.
// Without cases it is skip.
func EndpointVerdict(cases []trace.Case) trace.Verdict {
	verdict := trace.Skip
	for i := range cases {
		if worst(cases[i].Verdict) > worst(verdict) {
			verdict = cases[i].Verdict
		}
	}
	return verdict
}

// Summarize counts the verdicts of all cases and gives the exit code: 1 when any case failed; else 3 when one
// could not be judged, the tool failed, or nothing ran; else 0. Requests is left at 0 for the caller to fill in.
func Summarize(endpoints []trace.Endpoint) trace.Summary {
	s := trace.Summary{Verdict: trace.Skip}
	for i := range endpoints {
		cases := endpoints[i].Cases
		if v := EndpointVerdict(cases); worst(v) > worst(s.Verdict) {
			s.Verdict = v
		}
		for j := range cases {
			count(&s.Cases, &cases[j].Result)
			if cases[j].Accepted() {
				s.Accepted++
			}
		}
	}
	switch s.Verdict {
	case trace.Pass, trace.Warn:
		s.ExitCode = exitPass
	case trace.Fail:
		s.ExitCode = exitViolations
	default:
		s.ExitCode = exitUnjudged
	}
	return s
}

// Total is Summarize for a whole run, with its number of requests, that also minds what is known of the run as a whole: a strict
// baseline with fixed entries fails it, and an interruption is an exit code of its own.
func Total(run *trace.Run, requests int) trace.Summary {
	s := Summarize(run.Endpoints)
	s.Requests = requests
	if b := run.Info.Baseline; b != nil && b.Strict && len(b.In(trace.BaselineFixed)) > 0 {
		s.Verdict, s.ExitCode = trace.Fail, exitViolations
	}
	if run.Info.Interrupted {
		s.ExitCode = exitInterrupted
	}
	return s
}

func count(t *trace.Tally, r *trace.Result) {
	if r.NotApplicable() {
		t.NotApplicable++
		return
	}
	switch r.Verdict {
	case trace.Pass:
		t.Pass++
	case trace.Fail:
		t.Fail++
	case trace.Warn:
		t.Warn++
	case trace.Inconclusive:
		t.Inconclusive++
	case trace.Skip:
		t.Skip++
	case trace.Error:
		t.Error++
	}
}

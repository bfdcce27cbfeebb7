package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// waitedShare is the share of the limit after which a request that was given up counts as one that hangs: whoever
// gave up at the limit may have begun to count a little earlier.
const waitedShare = 0.9

// answered checks that sends are answered within the limit for a key in progress.
func (v *view) answered(e *scenarios.Expectation) outcome {
	var out outcome
	limit := v.in.Facts.InProgressLimit
	if limit <= 0 {
		return out
	}
	for _, i := range v.labelled(e.Answered) {
		x := v.x(i)
		switch {
		case v.hangs(i):
			out.judged = true
			out.findings = merge(out.findings, []trace.Finding{v.finding(e.Rule,
				fmt.Sprintf("%s had no complete answer within %.1f s; it ended after %.1f s", v.name(i), limit.Duration().Seconds(), waited(x).Duration().Seconds()),
				fmt.Sprintf("an answer within %.1f s: a refusal while the first is under way, or its result", limit.Duration().Seconds()),
				answerText(x), i)})
		case x.Response == nil, v.class[i] == trace.ClassNone, v.class[i] == trace.ClassBusy, v.class[i] == trace.ClassIntermediary:
		default:
			out.judged = true
		}
	}
	return out
}

// hanging gives what `answered` expectations find in a round, which holds whatever else went wrong in it: a request that
// hangs outlives many a key.
func (v *view) hanging() []trace.Finding {
	var out []trace.Finding
	for i := range v.in.Scenario.Expect {
		if e := &v.in.Scenario.Expect[i]; e.Answered != nil {
			out = merge(out, v.answered(e).findings)
		}
	}
	return out
}

// waited is how long the client was kept waiting once everything was sent.
func waited(x *trace.Exchange) trace.Nanos {
	if x.Sent != 0 {
		return x.Done - x.Sent
	}
	return x.Done - x.Started
}

// hangs reports whether an exchange was open beyond the limit, or was given up at it. Nothing hangs that was never
// sent, that the client cut off, or that ended because the run was stopped.
func (v *view) hangs(i int) bool {
	x, limit := v.x(i), v.in.Facts.InProgressLimit
	switch {
	case x.Started == 0, x.Wire == 0, x.Broke == trace.PhaseDial, x.Broke == trace.PhaseTLS, x.Broke == trace.PhaseCut:
		return false
	case x.Response == nil && strings.HasPrefix(x.Error, "stopped: "):
		return false
	case x.Response == nil && timedOut(x.Error):
		return float64(waited(x)) >= waitedShare*float64(limit)
	}
	return waited(x) > limit
}

// hung reports whether an exchange without an answer is judged by an `answered` expectation, and so is no gap.
func (v *view) hung(i int) bool {
	return v.in.Facts.InProgressLimit > 0 && v.hangs(i) && slices.ContainsFunc(v.in.Scenario.Expect, func(e scenarios.Expectation) bool {
		return e.Answered != nil && slices.Contains(e.Answered, v.x(i).Label)
	})
}

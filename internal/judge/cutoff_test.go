package judge

import (
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// TestCutOff holds when a request that is cut off is the endpoint's fault, and when it may have been an accident.
func TestCutOff(t *testing.T) {
	s := script([]string{"first", "again", "after"}, scenarios.Expectation{Never: trace.ClassFailed, Of: []string{"again"}, Rule: "server-error-on-retry"},
		scenarios.Expectation{Created: &scenarios.Created{N: 1}, Rule: "duplicate-creation"})
	bare := script([]string{"again"}, s.Expect...)
	closed, answered := lost(trace.PhaseAnswer, "EOF"), order(7)
	round := func(again, after answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", order(7)).under("A", "again", again).under("A", "after", after).counted("after", 1)
		}
	}
	alone := func(again answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "again", again).counted("after", 1)
		}
	}
	type rounds []func(*scenarios.Scenario) *recorder
	for _, tt := range []struct {
		name   string
		s      *scenarios.Scenario
		rounds rounds
		want   trace.Verdict
		code   trace.Code
		least  int
		reason string
	}{
		{"always", s, rounds{round(closed, answered), round(closed, answered), round(closed, answered)}, trace.Fail, "", cutOffRounds, "others were answered, this one never"},
		{"while it was written", s, rounds{round(lost(trace.PhaseWrite, "connection reset by peer"), answered), round(closed, answered), round(closed, answered)},
			trace.Fail, "", cutOffRounds, "it is cut off all the same"},
		{"twice", s, rounds{round(closed, answered), round(closed, answered)}, trace.Inconclusive, trace.CutOff, cutOffRounds, "twice may be an accident"},
		{"all but once", s, rounds{round(closed, answered), round(closed, answered), round(closed, answered), round(answered, answered)},
			trace.Inconclusive, trace.CutOff, cutOffRounds, "it can be answered"},
		{"overtaken once", s, rounds{round(closed, answered), round(answered, closed), round(closed, answered), round(closed, answered)},
			trace.Fail, "", cutOffRounds, "another copy in its place"},
		{"overtaken, so far", s, rounds{round(closed, answered), round(answered, closed), round(closed, answered)}, trace.Inconclusive, trace.CutOff, cutOffRounds + 1, "once more"},
		{"another one", s, rounds{round(answered, closed), round(answered, closed), round(answered, closed)}, trace.Inconclusive, trace.CutOff, cutOffRounds,
			"nothing is expected of that one"},
		{"nothing answered", bare, rounds{alone(closed), alone(closed), alone(closed)}, trace.Inconclusive, trace.CutOff, cutOffRounds, "the server may be gone"},
		{"too late", s, rounds{round(lost(trace.PhaseAnswer, "i/o timeout"), answered)}, trace.Inconclusive, trace.Timeout, 0, "another reason"},
		{"never", s, rounds{round(answered, answered)}, trace.Pass, "", 0, "nothing was cut off"},
	} {
		in := input(t, "same-key-again", facts())
		in.Scenario = tt.s
		for i, r := range tt.rounds {
			recorded := r(tt.s).round
			recorded.N = i + 1
			in.Case.Trace = append(in.Case.Trace, recorded)
		}
		got := Case(in)
		if got.Verdict != tt.want || got.Reason != tt.code || got.Verdict == trace.Fail && (got.Findings[0].Rule != "server-error-on-retry" || got.Findings[0].Seen != cutOffRounds) {
			t.Errorf("%s, %s: got %s %s (%s) %+v", tt.name, tt.reason, got.Verdict, got.Reason, got.Detail, got.Findings)
		}
		if least := LeastRounds(in); least != tt.least {
			t.Errorf("%s: asks for %d rounds, want %d", tt.name, least, tt.least)
		}
	}
}

package judge

import (
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func TestUnsuited(t *testing.T) {
	within := func(share float64) []scenarios.Step {
		return []scenarios.Step{{Wait: &scenarios.Wait{Handling: share}}}
	}
	rounds := func(took ...time.Duration) (out []trace.Round) {
		for _, d := range took {
			x := trace.Exchange{Class: trace.ClassSuccess, Started: 1, Sent: 1, FirstByte: 1 + trace.Nanos(d)}
			replay := trace.Exchange{Class: trace.ClassSuccess, Started: 1, Sent: 1, FirstByte: 2}
			out = append(out, trace.Round{Exchanges: []trace.Exchange{x, replay}})
		}
		return out
	}
	for _, c := range []struct {
		control, rounds time.Duration
		overlap         bool
		steps           []scenarios.Step
		unsuited        bool
		reason          string
	}{
		{leastHandling.Duration() - 1, time.Second, true, within(.5), true, "the control was below the bound"},
		{time.Second, leastHandling.Duration() - 1, true, within(.5), true, "a round was, so the control was slow by chance"},
		{leastHandling.Duration(), time.Second, true, within(.5), false, "at the bound"},
		{time.Millisecond, 1, false, within(.5), false, "copies under way are not the point"},
		{time.Millisecond, 1, true, within(1.2), false, "it waits until the request is over"},
		{time.Millisecond, 1, true, nil, false, "something else keeps the request under way"},
	} {
		in := Input{Scenario: &scenarios.Scenario{Overlap: c.overlap, Steps: c.steps},
			Control: &trace.Control{Rounds: rounds(time.Second, c.control)}, Case: &trace.Case{Trace: rounds(c.rounds)}}
		if got := Unsuited(in); (got != nil) != c.unsuited {
			t.Errorf("%s: got %+v", c.reason, got)
		}
	}
	crash := Input{Scenario: builtin(t, "crash-in-flight"), Control: &trace.Control{Rounds: rounds(time.Millisecond)}}
	if got := Unsuited(crash); got == nil || got.Code != trace.NotApplicable || !strings.Contains(got.Detail, "the end of the process cannot be timed to meet it at work") {
		t.Errorf("a crash would come too late: got %+v", got)
	}
	accepted := Input{Scenario: &scenarios.Scenario{Overlap: true, Steps: within(.5)},
		Control: &trace.Control{Rounds: rounds(time.Millisecond), Learned: trace.Learned{WorkTime: trace.Nanos(time.Second)}}}
	if got := Unsuited(accepted); got != nil {
		t.Errorf("an accepted request runs until its work is done: got %+v", got)
	}
}

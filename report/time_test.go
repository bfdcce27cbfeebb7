package report

import (
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func TestWhereTimeWent(t *testing.T) {
	second := trace.Nanos(time.Second)
	c := func(id string, took trace.Nanos, pauses ...trace.Pause) trace.Case {
		return trace.Case{Scenario: id, Started: second, Ended: second + took, Trace: []trace.Round{{Pauses: pauses}}}
	}
	run := &trace.Run{Endpoints: []trace.Endpoint{{Name: "create order", Cases: []trace.Case{
		{Scenario: "first-request", OnControl: true, Started: 1, Ended: 9 * second},
		{Scenario: "skipped"},
		c("quick", second/10),
		c("slow", 4*second, trace.Pause{What: "wait 1.2 of the lifetime", Started: second, Ended: 4 * second}),
		c("hooked", 2*second, trace.Pause{What: "hook restart", Started: second, Ended: 2 * second}),
		c("other", second),
	}}}}
	want := "longest: create order slow 4.0 s, create order hooked 2.0 s, create order other 1.0 s; scripts waited 3.0 s in all, side by side, hooks took 1.0 s"
	if got := whereTimeWent(run); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := whereTimeWent(&trace.Run{}); got != "" {
		t.Errorf("nothing ran: %q", got)
	}
}

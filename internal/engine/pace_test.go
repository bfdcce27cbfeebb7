package engine

import (
	"testing"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func TestBeforeJoin(t *testing.T) {
	send := func(label string, s scenarios.Send) scenarios.Step { s.Label = label; return scenarios.Step{Send: &s} }
	rd := &round{s: &scenarios.Scenario{Steps: []scenarios.Step{
		send("first", scenarios.Send{Background: true}),
		{Wait: &scenarios.Wait{}},
		send("second", scenarios.Send{Background: true}),
		{Volley: make([]scenarios.Send, 2)},
		send("", scenarios.Send{Together: 5}),
		{Join: "first"},
		send("", scenarios.Send{Times: 3}),
		{Join: "second"},
		send("", scenarios.Send{}),
	}}}
	if a, b := rd.beforeJoin(0, "first"), rd.beforeJoin(2, "second"); a != 8 || b != 10 {
		t.Errorf("%d and %d requests are sent before the joins, want 8 and 10", a, b)
	}
}

// A reading is final by its own time: with a rate to keep, one may be long behind another.
func TestFinalReading(t *testing.T) {
	const start, still, limit = trace.Nanos(100), trace.Nanos(20), trace.Nanos(1000)
	counter := plan.CounterRise{Name: "orders", Rise: 1}
	for _, c := range []struct {
		at, still trace.Nanos
		n         int64
		want      bool
		reason    string
	}{
		{50, 0, 1, false, "the rise is there, but nobody waited whether another comes"},
		{140, 20, 1, true, "the rise is there and still"},
		{140, 20, 0, false, "no rise yet"},
		{1099, 900, 0, false, "no rise, and the time is not up"},
		{1100, 900, 0, true, "no rise in time"},
		{1100, 0, 2, false, "it moved just now"},
		{2100, 0, 2, true, "never still"},
	} {
		created := &scenarios.Created{N: 1}
		rd := &round{e: &endpointRun{plan: &plan.Endpoint{Counters: []plan.CounterRise{counter}}},
			s: &scenarios.Scenario{Expect: []scenarios.Expectation{{Created: created}}},
			t: &trace.Round{Exchanges: []trace.Exchange{{Class: trace.ClassSuccess}}, Readings: []trace.Reading{
				{Name: trace.ReadingBefore, Values: []trace.Value{{Counter: "orders"}}},
				{Name: trace.ReadingAfter, At: c.at, Still: c.still, Polls: 2, Values: []trace.Value{{Counter: "orders", N: c.n}}}}}}
		if got := (&settling{rd: rd}).final(start, still, limit); got != c.want {
			t.Errorf("%s: got %v after %s", c.reason, got, time.Duration(c.at))
		}
	}
}

package engine

import (
	"testing"

	"retrysafe/internal/trace"
)

// TestSameState: a time in an answer does not keep a state from being still, anything else does.
func TestSameState(t *testing.T) {
	state := func(value string) trace.StateValue {
		return trace.StateValue{State: "order", Scope: "A", Source: "GET http://127.0.0.1/orders/1", Value: value}
	}
	for _, c := range []struct {
		reason string
		a, b   string
		same   bool
	}{
		{"the same", `200 {"n":1}`, `200 {"n":1}`, true},
		{"a time", `404 {"timestamp":"2026-01-02T03:04:05.678Z"}`, `404 {"timestamp":"2026-01-02T03:04:05.789Z"}`, true},
		{"a number", `200 {"n":1}`, `200 {"n":2}`, false},
		{"a status", `200 {}`, `404 {}`, false},
		{"a time and a number", `200 {"at":"2026-01-02T03:04:05Z","n":1}`, `200 {"at":"2026-01-02T03:04:06Z","n":2}`, false},
	} {
		if got := sameState(state(c.a), state(c.b)); got != c.same {
			t.Errorf("%s: got %t", c.reason, got)
		}
	}
	if other := state("404"); sameState(other, trace.StateValue{State: "order", Scope: "B", Source: other.Source, Value: "404"}) {
		t.Error("another scope")
	}
}

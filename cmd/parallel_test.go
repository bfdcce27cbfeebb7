package cmd

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// An endpoint gets the same keys and markers, and the same verdicts in the same order, whatever else is tested beside it.
func TestBesideOthers(t *testing.T) {
	t.Parallel()
	text := testPlan
	for i := range 6 {
		text += strings.ReplaceAll(testPlan[strings.Index(testPlan, "  - name:"):], "create order", fmt.Sprintf("create order %d", i))
	}
	b := newBackend()
	o := runOptions{scenarios: []string{"first-request", "same-key-again", "fresh-key-per-retry", "same-key-different-body"}, seed: "seed"}
	together := judged(t, b.serve(b.honest), text, o)
	for i := range together.Endpoints {
		ep := &together.Endpoints[i]
		b := newBackend()
		o.endpoints = []string{ep.Name}
		alone := judged(t, b.serve(b.honest), text, o)
		if a, b := identities(ep), identities(&alone.Endpoints[0]); len(a) == 0 || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: beside others %v, alone %v", ep.Name, a, b)
		}
	}
	if len(together.Endpoints) != 7 || together.Endpoints[6].Name != "create order 5" {
		t.Errorf("the endpoints are not those of the plan in its order: %+v", together.Endpoints)
	}
}

// identities are the keys, markers and verdicts of an endpoint in the order of the record.
func identities(ep *trace.Endpoint) []string {
	var out []string
	add := func(what string, rounds []trace.Round) {
		for _, r := range rounds {
			for _, s := range r.Scopes {
				out = append(out, fmt.Sprintf("%s %d %s: %s %s", what, r.N, s.Name, s.Key, s.Marker))
			}
		}
	}
	add("control", ep.Control.Rounds)
	for _, c := range ep.Cases {
		out = append(out, c.Scenario+" "+string(c.Verdict))
		add(c.Scenario, c.Trace)
	}
	return out
}

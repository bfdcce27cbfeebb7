package cmd

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"retrysafe/internal/engine"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/report"
)

// ended is an endpoint of a large plan in which a scenario that no catalogue knows broke a rule.
func ended(rule string) *trace.Endpoint {
	verdict := trace.Fail
	if rule == "" {
		verdict = trace.Pass
	}
	c := trace.Case{Scenario: "test", Trace: []trace.Round{{Exchanges: []trace.Exchange{{ID: 1}, {ID: 2}}}}, Result: trace.Result{Verdict: verdict}}
	if rule != "" {
		c.Findings = []trace.Finding{{Rule: rule, Exchanges: []int{2}, Curl: []string{"curl"}}}
	}
	return &trace.Endpoint{Cases: []trace.Case{c}}
}

// TestOutcomeOfLargePlan shows what is kept: the evidence of the first endpoint of each kind, whatever the order in which
// they end.
func TestOutcomeOfLargePlan(t *testing.T) {
	const n = 60
	j := &job{endpoints: make([]plan.Endpoint, n)}
	rule := func(i int) string {
		switch {
		case i%10 == 0:
			return ""
		case i < 20:
			return fmt.Sprintf("rule-%d", i%5)
		}
		return fmt.Sprintf("rule-%d", i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var first []trace.Endpoint
	for range 20 {
		out := newOutcome(j)
		for _, i := range random.Perm(n) {
			out.add(i, engine.Ended{Endpoint: ended(rule(i))})
		}
		if first == nil {
			first = out.endpoints
		}
		if !reflect.DeepEqual(first, out.endpoints) {
			t.Fatal("what is kept depends on the order of the ends")
		}
	}
	evidence := 0
	for i := range first {
		rounds := first[i].Cases[0].Trace
		switch {
		case len(rounds) == 0:
		case len(rounds[0].Exchanges) != 1 || rounds[0].Exchanges[0].ID != 2:
			t.Errorf("endpoint %d: kept %+v", i, rounds)
		default:
			evidence++
		}
	}
	if evidence != report.KindsShown || len(first[1].Cases[0].Trace) == 0 || len(first[6].Cases[0].Trace) > 0 {
		t.Errorf("the evidence of %d endpoints is kept, expected that of the first of %d kinds", evidence, report.KindsShown)
	}
}

func TestOutcomeOfSmallPlan(t *testing.T) {
	out := newOutcome(&job{endpoints: make([]plan.Endpoint, 2)})
	out.add(1, engine.Ended{Endpoint: ended("")})
	if n := len(out.endpoints[1].Cases[0].Trace[0].Exchanges); n != 2 {
		t.Errorf("%d exchanges of 2 are kept", n)
	}
}

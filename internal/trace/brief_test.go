package trace

import "testing"

func TestBriefKeepsNamedArrivals(t *testing.T) {
	ep := Endpoint{
		Control: &Control{Rounds: []Round{{N: 1, Arrivals: []Arrival{{ID: 1}, {ID: 2}}}}},
		Cases: []Case{{Trace: []Round{{N: 1, Arrivals: []Arrival{{ID: 3}, {ID: 4}}}, {N: 2, Arrivals: []Arrival{{ID: 5}}}},
			Result: Result{Findings: []Finding{{Arrivals: []int{2, 3}}}}}},
	}
	for evidence, want := range map[bool]int{true: 1, false: 0} {
		b := ep.Brief(evidence)
		if n := len(b.Cases[0].Trace); n != want {
			t.Fatalf("evidence %v: %d rounds of the case, want %d", evidence, n, want)
		}
		if !evidence {
			continue
		}
		if as := b.Cases[0].Trace[0].Arrivals; len(as) != 1 || as[0].ID != 3 {
			t.Errorf("case: %+v", as)
		}
	}
	control := ep.Brief(true).Control.Rounds
	if len(control) != 1 || len(control[0].Arrivals) != 1 || control[0].Arrivals[0].ID != 2 {
		t.Errorf("control: %+v", control)
	}
}

package engine

import (
	"slices"
	"testing"

	"retrysafe/internal/plan"
	"retrysafe/scenarios"
)

// TestAskedFor shows that a count of everything names the scopes of the other endpoint, and that nothing is asked for those alone.
func TestAskedFor(t *testing.T) {
	own := newScope("seed", letter("A"), nil, "x")
	other := newScope("seed", scenarios.ScopeUse{Name: "A/other", Letter: "A", Caller: scenarios.CallerFirst, Other: true}, nil, "x")
	everything := plan.Counter{Name: "total"}
	if got := askedFor(nil, everything, other); len(got) != 0 {
		t.Errorf("the other endpoint alone: got %d questions, want none", len(got))
	}
	got := askedFor(askedFor(nil, everything, own), everything, other)
	if len(got) != 1 || !slices.Equal(got[0].scopes, []string{"A", "A/other"}) {
		t.Errorf("together: got %+v, want one question for both", got)
	}
}

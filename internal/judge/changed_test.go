package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// TestChangedBodies holds that pass and fail say which values were changed, and which could not be.
func TestChangedBodies(t *testing.T) {
	f := facts()
	f.Changed = map[string][]string{"other": {"$.qty"}, "nested-1": {"$.a.n"}, "nested-2": {"$.l[0].m"}}
	for _, tt := range []struct {
		answer  answer
		refused string
		want    string
	}{
		{mismatch, "", "bodies with another $.a.n, and with another $.l[0].m; "},
		{mismatch, "nested-1", "a body with another $.l[0].m, not $.a.n, with which a fresh key does not succeed either"},
		{order(7), "", "`other`, with another $.l[0].m, should be refused"},
	} {
		in := input(t, "other-nested-value", f)
		r := among(in.Scenario, "A").under("A", "first", order(7))
		for i, body := range []string{"nested-1", "nested-2"} {
			if body == tt.refused {
				in.Control.Learned.Bodies = map[string]*trace.Reason{body: {Code: trace.Assumption}}
				continue
			}
			reply := mismatch
			if body == "nested-2" {
				reply = tt.answer
			}
			r.under("A", "other", reply)
			r.last().Body, r.last().Copy = body, i
		}
		in.Case.Trace = []trace.Round{r.under("A", "after", order(7)).counted("after", 1).round}
		got := Case(in)
		text := got.Power
		for _, f := range got.Findings {
			text += f.Rule + ": " + f.Message
		}
		if !strings.Contains(text, tt.want) {
			t.Errorf("got %s %s %s %q, want %q in it", got.Verdict, got.Reason, got.Detail, text, tt.want)
		}
	}
}

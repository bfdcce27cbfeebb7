package judge

import (
	"testing"

	"retrysafe/internal/trace"
)

func TestAlike(t *testing.T) {
	s := script([]string{"first", "second"})
	tests := []struct {
		name   string
		a, b   answer
		judged bool
		rules  string
		gaps   int
		reason string
	}{
		{"both succeed", order(7), order(8), true, "", 0, "alike"},
		{"both refused", mismatch, reply(400, `{}`), true, "", 0, "whatever the status"},
		{"the second refused", order(7), mismatch, true, "empty-key-shared", 0, "because of the first"},
		{"the first refused", mismatch, order(7), true, "empty-key-shared", 0, "the other way round"},
		{"one crashes", order(7), broken, false, "", 0, "another rule's business"},
		{"one lost", order(7), lost(trace.PhaseAnswer, "EOF"), false, "", 0, "nobody knows"},
		{"token expired", order(7), reply(401, `{}`), false, "", 1, "about who asks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := among(s, "E", "F").under("E", "first", tt.a).under("F", "second", tt.b)
			in := input(t, "same-key-again", facts(), r)
			in.Scenario = s
			got := newView(&in, in.Control.Learned, &in.Case.Trace[0]).alike("empty-key-shared", []string{"first", "second"})
			if got.judged != tt.judged || told(in.Rules, got.findings) != tt.rules || len(got.gaps) != tt.gaps {
				t.Errorf("%s: got %v [%s] %d gaps, want %v [%s] %d", tt.reason, got.judged, told(in.Rules, got.findings), len(got.gaps), tt.judged, tt.rules, tt.gaps)
			}
		})
	}
}

package judge

import (
	"testing"

	"retrysafe/internal/trace"
)

func TestBrokenOnPurpose(t *testing.T) {
	pauses := []trace.Pause{{What: "hook break", Started: 10, Ended: 20}, {What: "wait 1s", Started: 25, Ended: 28}, {What: "hook heal", Started: 40, Ended: 50}}
	for _, c := range []struct {
		reason string
		sent   trace.Nanos
		status int
		want   trace.Class
	}{
		{"before", 5, 503, trace.ClassIntermediary},
		{"while it is broken", 30, 503, trace.ClassFailed},
		{"502 too", 30, 502, trace.ClassFailed},
		{"a refusal stays one", 30, 409, trace.ClassRefused},
		{"behind", 60, 503, trace.ClassIntermediary},
	} {
		r := &trace.Round{Pauses: pauses, Exchanges: []trace.Exchange{{Started: c.sent, Done: c.sent + 5, Response: &trace.Response{Status: c.status}}}}
		if got := Classify(trace.Facts{}, trace.Learned{SuccessStatus: 201}, r, 0); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
	failed := &trace.Round{Pauses: []trace.Pause{{What: "hook break", Error: "no"}}}
	if brokenOnPurpose(failed, &trace.Exchange{Started: 9}) {
		t.Error("a hook that failed broke nothing")
	}
}

func TestKilled(t *testing.T) {
	v := &view{round: &trace.Round{
		Pauses: []trace.Pause{{What: "hook crash", Started: 10, Ended: 20}},
		Exchanges: []trace.Exchange{
			{Started: 1, Done: 9}, {Started: 5, Done: 11}, {Started: 15, Done: 17}, {Started: 21, Done: 30},
		},
	}}
	for i, want := range []bool{false, true, true, false} {
		if got := v.killed(i); got != want {
			t.Errorf("exchange %d: got %v", i, got)
		}
	}
}

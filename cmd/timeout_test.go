package cmd

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

// A run that takes as long as it may says what it did not get to, and passes nothing that it did not see the end of.
func TestTimeout(t *testing.T) {
	t.Parallel()
	b := newBackend()
	s := httptest.NewServer(b.serve(func(w http.ResponseWriter, r *http.Request) {
		b.honest(w, r)
		b.mu.Lock()
		hang := b.posts >= 5 // the first scenario behind the control is under way
		b.mu.Unlock()
		if hang {
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	o := scenario("first-request", "same-key-again", "fresh-key-per-retry")
	o.timeout = time.Second
	r := judgedAt(t.Context(), t, s.URL, testPlan, o)
	if r.Info.Interrupted || r.Summary.ExitCode != ExitInconclusive || r.Summary.Verdict != trace.Inconclusive {
		t.Errorf("interrupted %v, exit code %d, verdict %s", r.Info.Interrupted, r.Summary.ExitCode, r.Summary.Verdict)
	}
	for _, c := range r.Endpoints[0].Cases[1:] {
		if c.Verdict != trace.Inconclusive || c.Reason != trace.OutOfBudget || !strings.Contains(c.Detail, "1s") || c.Enable != "--timeout 2s" {
			t.Errorf("%s: verdict %s, reason %s, %s, try %s", c.Scenario, c.Verdict, c.Reason, c.Detail, c.Enable)
		}
	}
}

package cmd

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

// TestCrashMustMeetARequest has a hook that ends the process while a request is at work, and one that waits until it was
// answered. Such a round shows nothing, so it is repeated, and not for ever.
func TestCrashMustMeetARequest(t *testing.T) {
	plan := strings.Replace(testPlan, "counters:", "hooks: {crash: {http: POST /crash}}\ncounters:", 1)
	for _, c := range []struct {
		reason  string
		late    bool
		verdict trace.Verdict
		code    trace.Code
	}{
		{"it dies at work", false, trace.Pass, ""},
		{"it dies when the request is answered", true, trace.Inconclusive, trace.NoOverlap},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			b := newBackend()
			var crashes atomic.Int32
			crash, died := make(chan bool), make(chan bool, 1)
			var working sync.RWMutex // held by orders
			mux := http.NewServeMux()
			mux.Handle("/", b.serve(func(w http.ResponseWriter, r *http.Request) {
				working.RLock()
				defer working.RUnlock()
				select {
				case <-crash:
					died <- true
					panic(http.ErrAbortHandler)
				case <-time.After(400 * time.Millisecond): // the work
				}
				b.honest(w, r)
				_ = http.NewResponseController(w).Flush()
			}))
			mux.HandleFunc("POST /crash", func(http.ResponseWriter, *http.Request) {
				crashes.Add(1)
				if c.late {
					working.Lock() // waits for the answer
					defer working.Unlock()
					return
				}
				select {
				case crash <- true:
					<-died
				default: // it came late on a busy machine, and comes again
				}
			})
			got := only(t, judged(t, mux, plan, runOptions{scenarios: []string{"crash-in-flight"}, disruptive: true}))
			if got.Verdict != c.verdict || got.Reason != c.code {
				t.Errorf("got %s %s (%s), want %s %s", got.Verdict, got.Reason, got.Detail, c.verdict, c.code)
			}
			if n := crashes.Load(); n > 5 || c.late && n < 5 {
				t.Errorf("crashed %d times", n)
			}
			if c.late && !strings.Contains(got.Detail, "hook crash met no request at work") {
				t.Errorf("the detail is %q", got.Detail)
			}
		})
	}
}

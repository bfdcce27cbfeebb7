package cmd

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

// A counter without a marker that lags behind its answers: an effect of one case must not be counted in the next.
func TestGlobalCounterThatLags(t *testing.T) {
	t.Parallel()
	b := newBackend()
	honest := strings.Replace(testPlan, "?reference={{marker}}", "", 1)
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Idempotency-Key")
		b.mu.Lock()
		defer b.mu.Unlock()
		b.posts++
		if a, ok := b.answers[key]; ok {
			if a[:len(body)] != string(body) {
				http.Error(w, "another body", http.StatusUnprocessableEntity)
				return
			}
			created(w, a[len(body):])
			return
		}
		a := fmt.Sprintf(`{"id": "order-%d"}`, b.posts)
		b.answers[key] = string(body) + a
		time.AfterFunc(150*time.Millisecond, func() { b.add("x") })
		created(w, a)
	}), honest, scenario("same-key-again", "same-key-different-body"))
	for _, c := range r.Endpoints[0].Cases {
		if c.Verdict != trace.Pass {
			t.Errorf("%s: verdict %s %s %+v", c.Scenario, c.Verdict, c.Detail, c.Findings)
		}
	}
}

// A single rise by somebody else, in the middle of a case, is no finding.
func TestGlobalCounterMovedOnce(t *testing.T) {
	t.Parallel()
	b := newBackend()
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		a, _, _ := b.order(r)
		b.mu.Lock()
		n := b.posts
		b.mu.Unlock()
		if n == 5 { // a retry of same-key-again
			b.add("somebody else")
		}
		created(w, a)
	}), strings.Replace(testPlan, "?reference={{marker}}", "", 1), scenario("same-key-again"))
	if c := only(t, r); c.Verdict != trace.Inconclusive || c.Reason != trace.CounterNoise {
		t.Errorf("verdict %s, reason %s, findings %+v", c.Verdict, c.Reason, c.Findings)
	}
}

// Answers that differ every time without naming anything are no proof of a second creation.
func TestAnswersThatNameNothing(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"status": "ok", "served_at": "%d", "meta": {"rid": "r-%d"}}`,
		`{"ok": true, "token": "t%d-%d"}`,
	} {
		n := 0
		var mu sync.Mutex
		b := newBackend()
		r := judged(t, b.serve(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			n++
			created(w, fmt.Sprintf(body, time.Now().UnixMilli(), n))
		}), strings.Split(testPlan, "counters:")[0]+"endpoints:"+strings.Split(strings.Replace(testPlan, "    counters: {orders: 1}\n", "", 1), "endpoints:")[1],
			scenario("same-key-again"))
		if c := only(t, r); c.Verdict == trace.Pass || c.Verdict == trace.Fail && c.Findings[0].Severity == trace.Critical {
			t.Errorf("%s: verdict %s, findings %+v", body, c.Verdict, c.Findings)
		}
	}
}

// A duplicate that a queue makes a second later is found although the run would have been over.
func TestQueuedDuplicate(t *testing.T) {
	t.Parallel()
	b := newBackend()
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		a, ref, fresh := b.order(r)
		if !fresh {
			time.AfterFunc(time.Second, func() { b.add(ref) })
		}
		created(w, a)
	}), testPlan, runOptions{effort: "standard", scenarios: []string{"same-key-again"}})
	if c := only(t, r); c.Verdict != trace.Fail || c.Findings[0].Rule != "silent-duplicate" {
		t.Errorf("verdict %s, findings %+v", c.Verdict, c.Findings)
	}
}

// An endpoint that asks to be left alone for an hour is left alone at once.
func TestLongRetryAfter(t *testing.T) {
	t.Parallel()
	b := newBackend()
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		a, _, _ := b.order(r)
		b.mu.Lock()
		n := b.posts
		b.mu.Unlock()
		if n > 4 {
			w.Header().Set("Retry-After", "3600")
			http.Error(w, "quota", http.StatusTooManyRequests)
			return
		}
		created(w, a)
	}), testPlan, runOptions{})
	if b.posts > 6 || r.Summary.ExitCode != ExitInconclusive {
		t.Errorf("%d requests, exit code %d", b.posts, r.Summary.ExitCode)
	}
}

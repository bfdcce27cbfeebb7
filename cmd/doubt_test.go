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
		a, n := b.numbered(r)
		if n == 5 { // a retry of same-key-again
			b.add("somebody else")
		}
		created(w, a)
	}), strings.Replace(testPlan, "?reference={{marker}}", "", 1), scenario("same-key-again"))
	wantNoise(t, r)
}

// Somebody else who moves the counter in two of many rounds is no finding: the more rounds there were, the longer it is watched idle.
func TestGlobalCounterMovedNowAndThen(t *testing.T) {
	t.Parallel()
	const control, round = 2, 6 // requests
	b := newBackend()
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		a, n := b.numbered(r)
		if n == control+7*round+2 || n == control+9*round+2 {
			b.add("somebody else")
			time.AfterFunc(700*time.Millisecond, func() { b.add("somebody else") })
		}
		created(w, a)
	}), strings.Replace(testPlan, "?reference={{marker}}", "", 1), runOptions{effort: "standard", scenarios: []string{"same-key-concurrent"}})
	wantNoise(t, r)
}

// numbered is order with how many requests there were.
func (b *backend) numbered(r *http.Request) (answer string, n int) {
	answer, _, _ = b.order(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	return answer, b.posts
}

// wantNoise checks that a run could not judge its case because others move the counter.
func wantNoise(t *testing.T, r *trace.Run) {
	t.Helper()
	if c := only(t, r); c.Verdict != trace.Inconclusive || c.Reason != trace.CounterNoise {
		t.Errorf("verdict %s, reason %s, findings %+v", c.Verdict, c.Reason, c.Findings)
	}
}

// An id that looks like a secret is shown as one, and cleaned up as it is.
func TestCleanUpOfWebTokens(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLWl0"
	var mu sync.Mutex
	removed := map[string]bool{}
	b := newBackend()
	service := b.serve(func(w http.ResponseWriter, r *http.Request) {
		a, _, _ := b.order(r)
		created(w, strings.Replace(a, "order-", token, 1))
	})
	judged(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodDelete {
			service.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		removed[r.URL.Path] = true
		w.WriteHeader(http.StatusNoContent)
	}), testPlan+"    cleanup: {request: \"DELETE /orders/{{id}}\", capture: {id: $.id}}\n", scenario("same-key-again"))
	if len(removed) < 3 || !removed["/orders/"+token+"1"] {
		t.Errorf("removed %v", removed)
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
		a, n := b.numbered(r)
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

// Where most rounds were turned away and the last one was not, the report says what became of most.
func TestMostRoundsTurnedAway(t *testing.T) {
	t.Parallel()
	const served, copies = 2, 5 // the control, and what a round of the case releases
	turningAway := func(rounds int) *trace.Case {
		b := newBackend()
		return only(t, judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
			a, n := b.numbered(r)
			if n > served && n <= served+rounds*copies {
				w.Header().Set("Retry-After", "0")
				http.Error(w, "too fast", http.StatusTooManyRequests)
				return
			}
			created(w, a)
		}), testPlan, scenario("same-key-concurrent")))
	}
	all := len(turningAway(1000).Trace)
	if c := turningAway(all - 1); c.Reason != trace.StillBusy || len(c.Trace) != all || !strings.Contains(c.Detail, "fewer than two copies") {
		t.Errorf("verdict %s %s in %d rounds of %d: %s", c.Verdict, c.Reason, len(c.Trace), all, c.Detail)
	}
}

// A retry that is cut off once may have met an accident: it is tried again with other keys, and the reason can be allowed.
func TestCutOffOnce(t *testing.T) {
	t.Parallel()
	b := newBackend()
	o := scenario("same-key-again")
	o.allowInconclusive = []string{"cut-off"}
	for want, opts := range map[trace.Verdict]runOptions{trace.Inconclusive: scenario("same-key-again"), trace.Skip: o} {
		n := 0
		r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
			a, _, _ := b.order(r)
			b.mu.Lock()
			n++
			cut := n == 4 // the first retry behind the control
			b.mu.Unlock()
			if cut {
				panic(http.ErrAbortHandler)
			}
			created(w, a)
		}), testPlan, opts)
		if c := only(t, r); c.Verdict != want || !strings.Contains(c.Detail, "cut off") || len(c.Trace) != 3 {
			t.Errorf("verdict %s %s in %d rounds: %s", c.Verdict, c.Reason, len(c.Trace), c.Detail)
		}
	}
}

// A second caller who may not use the endpoint at all shows nothing about keys: the report says so, and which lines help.
func TestSecondCallerMayNot(t *testing.T) {
	t.Parallel()
	callers := "callers:\n  alice: {headers: {Authorization: Bearer alice}}\n  bob: {headers: {Authorization: Bearer bob}}\ncounters:"
	setup := "    setup: [{request: POST /carts, body: {sku: A1}}]\n"
	for name, plan := range map[string]string{"request": testPlan, "set-up": testPlan + setup} {
		b := newBackend()
		forBob := func(allowed http.HandlerFunc) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "Bearer bob" {
					http.Error(w, "bob may not order", http.StatusForbidden)
					return
				}
				allowed(w, r)
			}
		}
		mux := http.NewServeMux()
		mux.Handle("/", b.serve(forBob(b.honest)))
		mux.HandleFunc("POST /carts", forBob(func(w http.ResponseWriter, _ *http.Request) { created(w, "{}") }))
		r := judged(t, mux, strings.Replace(plan, "counters:", callers, 1), scenario("other-caller", "other-caller-same-body"))
		for _, c := range r.Endpoints[0].Cases {
			line := "skip: {" + c.Scenario + ": bob may not}"
			if c.Verdict != trace.Inconclusive || c.Reason != trace.Auth || !strings.Contains(c.Detail, "caller bob") || !strings.Contains(c.Enable, line) {
				t.Errorf("%s refused, %s: verdict %s, reason %s: %s; %s", name, c.Scenario, c.Verdict, c.Reason, c.Detail, c.Enable)
			}
		}
	}
}

// A key that is taken is no reason to refuse a caller who may order otherwise, and 403 is how some say so.
func TestImpostorIsRefused(t *testing.T) {
	t.Parallel()
	b := newBackend()
	owners := sync.Map{}
	callers := "callers:\n  alice: {headers: {Authorization: Bearer alice}}\n  bob: {headers: {Authorization: Bearer bob}}\ncounters:"
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		owner, _ := owners.LoadOrStore(r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"))
		if owner != r.Header.Get("Authorization") {
			http.Error(w, "this key is somebody else's", http.StatusForbidden)
			return
		}
		b.honest(w, r)
	}), strings.Replace(testPlan, "counters:", callers, 1), scenario("other-caller-same-body"))
	if c := only(t, r); c.Verdict != trace.Pass {
		t.Errorf("verdict %s, reason %s: %s", c.Verdict, c.Reason, c.Detail)
	}
}

// A caller that says nothing of who it is, beside credentials of the endpoint's own, makes no other request when it is left out.
func TestCallersThatAreNone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		callers, headers string
		tested           bool
	}{
		"a token":                    {"alice: {headers: {Authorization: Bearer alice}}", "", true},
		"a header of a gateway":      {"alice: {headers: {X-User: alice}}", "", true},
		"a header beside a token":    {"alice: {headers: {X-Client: '7'}}", "    headers: {Authorization: Bearer service}\n", false},
		"variables of a path":        {"north: {vars: {shop: north}}", "", false},
		"two of them, and one token": {"north: {vars: {shop: north}}\n  south: {vars: {shop: south}}", "    headers: {X-Api-Key: service}\n", false},
	} {
		b := newBackend()
		text := strings.Replace(testPlan, "counters:", "callers:\n  "+tt.callers+"\ncounters:", 1)
		text = strings.Replace(text, "    key:", tt.headers+"    key:", 1)
		r := judged(t, b.serve(b.honest), text, scenario("anonymous-caller-same-body", "other-caller-same-body"))
		for _, c := range r.Endpoints[0].Cases {
			if tested := c.Reason != trace.Needs; c.Scenario == "anonymous-caller-same-body" && tested != tt.tested || c.Verdict == trace.Fail {
				t.Errorf("%s: %s: %s %s: %s", name, c.Scenario, c.Verdict, c.Reason, c.Detail)
			}
		}
	}
}

// What a plan draws for each send is drawn for each copy too: a service that takes no nonce twice takes every one.
func TestEverySendHasItsNonce(t *testing.T) {
	t.Parallel()
	b := newBackend()
	seen := sync.Map{}
	text := strings.Replace(testPlan, "    key:", "    headers: {X-Nonce: \"{{send.uuid}}\"}\n    key:", 1)
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		if _, again := seen.LoadOrStore(r.Header.Get("X-Nonce"), true); again {
			http.Error(w, `{"error":"nonce"}`, http.StatusBadRequest)
			return
		}
		b.honest(w, r)
	}), text, scenario("same-key-concurrent", "in-progress-copy", "same-key-again"))
	for _, c := range r.Endpoints[0].Cases {
		if len(c.Findings) > 0 {
			t.Errorf("%s: %s", c.Scenario, c.Findings[0].Message)
		}
	}
}

package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/report"
)

// queue is an endpoint that answers 202 and does the work later.
type queue struct {
	*backend
	mu   sync.Mutex
	jobs map[string]string // status by id
	// asked are the credentials with which a job was asked for.
	asked map[string]bool
	// after is how long the work takes; 0: it is never done. location is where the answer sends to.
	after    time.Duration
	location func(r *http.Request, id string) string
}

func newQueue(after time.Duration) *queue {
	return &queue{backend: newBackend(), jobs: map[string]string{}, asked: map[string]bool{}, after: after,
		location: func(_ *http.Request, id string) string { return "/jobs/" + id + "?token=" + jobToken }}
}

// jobToken is a secret in the place that an answer names.
const jobToken = "token-of-the-job"

func (q *queue) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", q.serve(q.accept))
	mux.HandleFunc("GET /jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.asked[r.Header.Get("Authorization")+" "+r.Header.Get("X-Tenant")+" "+r.URL.Query().Get("token")] = true
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"status": %q}`, q.jobs[r.PathValue("id")])
	})
	return mux
}

func (q *queue) accept(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	var o struct{ Reference string }
	_ = json.NewDecoder(r.Body).Decode(&o)
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.jobs[key]; !known {
		q.jobs[key] = "queued"
		if q.after > 0 {
			time.AfterFunc(q.after, func() {
				q.add(o.Reference)
				q.mu.Lock()
				defer q.mu.Unlock()
				q.jobs[key] = "done"
			})
		}
	}
	w.Header().Set("Location", q.location(r, key))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"job": %q}`, key)
}

var awaitPlan = strings.Replace(testPlan, "in_progress: 1s", "in_progress: 1s, await: 700ms", 1) + `    headers: {X-Tenant: t-1}
    await: {follow: Location, until: {$.status: done}}
callers: {alice: {headers: {Authorization: Bearer alice-secret}}}
secrets: [` + jobToken + `]
`

// Work that takes longer than counters are watched: the counts are right, and questions are recorded without secrets.
func TestAwaitedWork(t *testing.T) {
	t.Parallel()
	q := newQueue(300 * time.Millisecond)
	r := judged(t, q.handler(), awaitPlan, scenario("first-request", "same-key-again"))
	for _, c := range r.Endpoints[0].Cases {
		if c.Verdict != trace.Pass {
			t.Errorf("%s: %s %s: %s", c.Scenario, c.Verdict, c.Reason, c.Detail)
		}
	}
	l := r.Endpoints[0].Control.Learned
	if l.WorkTime.Duration() < q.after || l.CountLag.Duration() > q.after {
		t.Errorf("learned %+v", l)
	}
	if len(q.asked) != 1 || !q.asked["Bearer alice-secret t-1 "+jobToken] {
		t.Errorf("asked with %v", q.asked)
	}
	round := r.Endpoints[0].Cases[1].Trace[0]
	for i := range round.Exchanges {
		found := 0
		for _, w := range round.Work {
			for _, id := range w.Of {
				if id == round.Exchanges[i].ID {
					found++
				}
			}
			if last := w.Asked[len(w.Asked)-1]; last.Done == 0 || last.Response.Body.Text != `{"status": "done"}` {
				t.Errorf("the last answer is %+v", last)
			}
		}
		if found != 1 {
			t.Errorf("exchange %d has %d entries of work", round.Exchanges[i].ID, found)
		}
	}
	doc, err := json.Marshal(r)
	if err != nil || bytes.Contains(doc, []byte("alice-secret")) || bytes.Contains(doc, []byte(jobToken)) || !bytes.Contains(doc, []byte(`"await":{"follow":"Location"`)) {
		t.Errorf("the record shows a secret, or not what is awaited: %v\n%s", err, doc)
	}
	var text bytes.Buffer
	if err := report.Terminal(&text, r, report.Options{Verbose: true}); err != nil || !strings.Contains(text.String(), "ms later by Location") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// What keeps the work of the first request from being awaited makes the control unsound, and nothing else is sent.
func TestAwaitUnsound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, detail string
		change       func(*queue)
		plan         string
	}{
		{"never done", `was not done within 0.7 s: GET `, func(q *queue) { q.after = 0 }, awaitPlan},
		{"another host", "host other.example is not allowed: add it to allow_hosts", func(q *queue) {
			q.location = func(*http.Request, string) string { return "http://other.example/jobs/1" }
		}, awaitPlan},
		{"no URL", `cannot be asked for: expected a URL or a path, found "http://[::1"`, func(q *queue) {
			q.location = func(*http.Request, string) string { return "http://[::1" }
		}, awaitPlan},
		{"user and password", "expected a URL without user and password, found one with both", func(q *queue) {
			q.location = func(r *http.Request, _ string) string { return "http://u:p@" + r.Host + "/jobs/1" }
		}, awaitPlan},
		{"another scheme", `expected an http or https URL, found one of scheme "ftp"`, func(q *queue) {
			q.location = func(r *http.Request, _ string) string { return "ftp://" + r.Host + "/jobs/1" }
		}, awaitPlan},
		{"no place in the body", "expected one value at $.url, found 0", nil,
			strings.Replace(awaitPlan, "follow: Location", "follow: $.url", 1)},
		{"a redirect", "redirects are answers, never followed", func(q *queue) {
			q.location = func(*http.Request, string) string { return "/moved" }
		}, awaitPlan},
		{"another value", "expected $.status = finished", nil, strings.Replace(awaitPlan, "$.status: done", "$.status: finished", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(10 * time.Millisecond)
			if c.change != nil {
				c.change(q)
			}
			mux := http.NewServeMux()
			mux.Handle("/", q.handler())
			mux.HandleFunc("GET /moved", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/orders/1")
				w.WriteHeader(http.StatusSeeOther)
			})
			r := judged(t, mux, c.plan, scenario("first-request", "same-key-again"))
			if n := len(r.Endpoints[0].Control.Rounds); n != 1 {
				t.Errorf("%d control rounds were sent", n)
			}
			for _, got := range r.Endpoints[0].Cases {
				if got.Verdict != trace.Inconclusive || got.Reason != trace.ControlUnsound || !strings.Contains(got.Detail, c.detail) {
					t.Errorf("%s: %s %s: %s", got.Scenario, got.Verdict, got.Reason, got.Detail)
				}
			}
		})
	}
}

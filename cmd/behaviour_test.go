package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// backend is a small order service whose misbehaviour the tests choose.
type backend struct {
	mu      sync.Mutex
	answers map[string]string // by key
	orders  map[string]int    // by reference
	posts   int
	keys    map[string]int // how often each key was seen on the wire
}

func newBackend() *backend {
	return &backend{answers: map[string]string{}, orders: map[string]int{}, keys: map[string]int{}}
}

// order is an honest POST: it gives the stored answer, or makes an order.
func (b *backend) order(r *http.Request) (answer, reference string, fresh bool) {
	body, _ := io.ReadAll(r.Body)
	var o struct{ Reference string }
	_ = json.Unmarshal(body, &o)
	key := r.Header.Get("Idempotency-Key")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posts++
	b.keys[key]++
	if a, ok := b.answers[key]; ok {
		return a, o.Reference, false
	}
	b.orders[o.Reference]++
	a := fmt.Sprintf(`{"id": "order-%d", "reference": %q}`, b.posts, o.Reference)
	b.answers[key] = a
	return a, o.Reference, true
}

func (b *backend) count(reference string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if reference == "" {
		n := 0
		for _, v := range b.orders {
			n += v
		}
		return n
	}
	return b.orders[reference]
}

func (b *backend) add(reference string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.orders[reference]++
}

// serve answers POST /orders with post and GET /count with the count.
func (b *backend) serve(post http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", post)
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"count": %d}`, b.count(r.URL.Query().Get("reference")))
	})
	return mux
}

func (b *backend) honest(w http.ResponseWriter, r *http.Request) {
	a, _, _ := b.order(r)
	created(w, a)
}

func created(w http.ResponseWriter, answer string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, answer)
}

const testPlan = `version: 1
target: ${TARGET}
limits: {request: 2s, count: 500ms, in_progress: 1s}
counters:
  orders: {http: "GET /count?reference={{marker}}", value: $.count}
endpoints:
  - name: create order
    request: POST /orders
    key: {header: Idempotency-Key}
    body: {qty: 1, reference: "{{marker}}"}
    counters: {orders: 1}
`

// judged runs scenarios of a plan against a handler and gives the judged record.
func judged(t *testing.T, handler http.Handler, text string, o runOptions) *trace.Run {
	t.Helper()
	return judgedIn(t.Context(), t, handler, text, o)
}

func judgedIn(ctx context.Context, t *testing.T, handler http.Handler, text string, o runOptions) *trace.Run {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return judgedAt(ctx, t, s.URL, text, o)
}

func judgedAt(ctx context.Context, t *testing.T, url, text string, o runOptions) *trace.Run {
	t.Helper()
	p, err := plan.Parse("test.yaml", []byte(text), func(name string) (string, bool) { return url, name == "TARGET" })
	if err != nil {
		t.Fatal(err)
	}
	o.failOn, o.endpointRequests = string(trace.Major), -1
	if o.effort == "" {
		o.effort = "smoke"
	}
	j, err := newJob(Env{Version: "test"}, p, &o)
	if err != nil {
		t.Fatal(err)
	}
	return j.execute(ctx)
}

func only(t *testing.T, r *trace.Run) *trace.Case {
	t.Helper()
	if len(r.Endpoints) != 1 || len(r.Endpoints[0].Cases) != 1 {
		t.Fatalf("expected one case, found %+v", r.Endpoints)
	}
	return &r.Endpoints[0].Cases[0]
}

func scenario(ids ...string) runOptions { return runOptions{scenarios: ids} }

// A server reads a keyed POST on a connection that it had kept alive, and drops the connection without an answer.
// Go's own client sends such a request again by itself; here every send must arrive exactly once.
func TestEverySendOnce(t *testing.T) {
	t.Parallel()
	b := newBackend()
	var arrived sync.Map
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.keys[r.Header.Get("Idempotency-Key")]++
		b.mu.Unlock()
		arrived.Store(r.Header.Get("Idempotency-Key"), true)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}), testPlan, scenario("same-key-again"))
	if c := only(t, r); c.Verdict != trace.Inconclusive || c.Reason != trace.Unreachable {
		t.Errorf("verdict %s, reason %s", c.Verdict, c.Reason)
	}
	sent := map[string]int{}
	for _, rd := range r.Endpoints[0].Control.Rounds {
		for _, x := range rd.Exchanges {
			sent[x.Key] += x.Wire
		}
	}
	if len(sent) == 0 {
		t.Fatal("nothing was sent")
	}
	for key, n := range sent {
		if b.keys[key] != n || n != 1 {
			t.Errorf("key %s: %d written, %d arrived", key, n, b.keys[key])
		}
	}
}

// An effect that comes long after the counters were still is found by the late sweep.
func TestLateEffect(t *testing.T) {
	t.Parallel()
	b := newBackend()
	release := make(chan struct{})
	var retries atomic.Int32
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		a, ref, fresh := b.order(r)
		if !fresh && retries.Add(1) == 1 {
			go func() { // a queue that works a duplicate off, later
				<-release
				b.add(ref)
			}()
		}
		if strings.Contains(ref, "rs") && r.Header.Get("Idempotency-Key") == "" {
			close(release) // the last scenario, after the first one's counters were found still
		}
		created(w, a)
	}), testPlan+"    required: true\n", scenario("same-key-again", "missing-key"))
	again := r.Endpoints[0].Cases[0]
	if again.Verdict != trace.Fail || again.Findings[0].Rule != "silent-duplicate" {
		t.Errorf("verdict %s, findings %+v", again.Verdict, again.Findings)
	}
}

// A counter without a marker that moves by itself proves nothing.
func TestCounterNoise(t *testing.T) {
	t.Parallel()
	b := newBackend()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for ctx.Err() == nil {
			b.add("somebody else")
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	r := judged(t, b.serve(b.honest), strings.Replace(testPlan, "?reference={{marker}}", "", 1), scenario("same-key-again"))
	if c := only(t, r); c.Verdict != trace.Inconclusive || c.Reason != trace.CounterNoise {
		t.Errorf("verdict %s, reason %s: %s", c.Verdict, c.Reason, c.Detail)
	}
}

// A counter without a marker that nobody else moves is as good as one with it.
func TestGlobalCounter(t *testing.T) {
	t.Parallel()
	b := newBackend()
	plan := strings.Replace(testPlan, "?reference={{marker}}", "", 1)
	for _, c := range judged(t, b.serve(b.honest), plan, scenario("same-key-again", "same-key-concurrent")).Endpoints[0].Cases {
		if c.Verdict != trace.Pass {
			t.Errorf("%s: verdict %s %s %+v", c.Scenario, c.Verdict, c.Detail, c.Findings)
		}
	}
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Idempotency-Key", fmt.Sprint(time.Now().UnixNano()))
		b.honest(w, r)
	}), plan, scenario("same-key-again"))
	if c := only(t, r); c.Verdict != trace.Fail || c.Findings[0].Rule != "key-ignored" {
		t.Errorf("verdict %s, findings %+v", c.Verdict, c.Findings)
	}
}

// An other body that the endpoint refuses by itself says nothing about keys.
func TestOtherBodyMustWork(t *testing.T) {
	t.Parallel()
	b := newBackend()
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"qty":1,`) || strings.Contains(string(body), `"qty":1}`) {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			b.honest(w, r)
			return
		}
		http.Error(w, "qty must be 1", http.StatusUnprocessableEntity)
	}), testPlan, scenario("same-key-different-body"))
	if c := only(t, r); c.Verdict != trace.Inconclusive || c.Reason != trace.Assumption || !strings.Contains(c.Detail, "qty must be 1") {
		t.Errorf("verdict %s, reason %s: %s", c.Verdict, c.Reason, c.Detail)
	}
}

// A server that never answers: bounded, inconclusive, and the other scenarios still run.
func TestHangingServer(t *testing.T) {
	t.Parallel()
	b := newBackend()
	var n atomic.Int32
	hang := make(chan struct{})
	defer close(hang)
	r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 5 { // the last retry of same-key-again
			select {
			case <-hang:
			case <-r.Context().Done():
			}
			return
		}
		b.honest(w, r)
	}), strings.Replace(testPlan, "request: 2s", "request: 300ms", 1), scenario("same-key-again", "fresh-key-per-retry"))
	again, fresh := r.Endpoints[0].Cases[0], r.Endpoints[0].Cases[1]
	if again.Verdict != trace.Inconclusive || again.Reason != trace.Timeout {
		t.Errorf("verdict %s, reason %s: %s", again.Verdict, again.Reason, again.Detail)
	}
	if fresh.Verdict != trace.Pass {
		t.Errorf("the next scenario: verdict %s %s", fresh.Verdict, fresh.Detail)
	}
}

// Each copy on schedule comes back when Retry-After says so, with every attempt in the record, and gives up where it is told
// nothing, when it would take too long, and when the budget is used up.
func TestStormHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	const turnedAway = 20
	for _, c := range []struct {
		name, retryAfter string
		status, budget   int
		again, open      int // copies that are sent again, and those whose last answer is no success
	}{
		{"busy", "1", 429, 900, turnedAway, 0},
		{"busy for nobody knows how long", "", 429, 900, -1, 0}, // they back off, and may be among those that are turned away
		{"in progress", "1", 409, 900, 1, 0},
		{"in progress for nobody knows how long", "", 409, 900, 0, 1},
		{"longer than limits.in_progress", "2", 429, 900, 0, turnedAway},
		{"the budget ends", "1", 429, 60, 7, turnedAway - 7}, // 2 for the control and 51 for the round are gone
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBackend()
			var posts atomic.Int32
			second := make(chan struct{}) // closed when the second copy of the storm is there
			r := judged(t, b.serve(func(w http.ResponseWriter, r *http.Request) {
				n := posts.Add(1)
				switch {
				case n == 4:
					close(second)
				case c.status == 409 && n == 3:
					<-second
				}
				if n == 4 || c.status == 429 && n > 3 && n <= 3+turnedAway {
					if c.retryAfter != "" {
						w.Header().Set("Retry-After", c.retryAfter)
					}
					w.WriteHeader(c.status)
					return
				}
				b.honest(w, r)
			}), strings.Replace(testPlan, "in_progress: 1s", "in_progress: 1900ms", 1),
				runOptions{scenarios: []string{"retry-storm"}, disruptive: true, maxRequests: c.budget})
			again, last := 0, map[int]int{}
			for _, x := range only(t, r).Trace[0].Exchanges {
				if x.Label != "storm" {
					continue
				}
				if x.Repeat == 1 {
					again++
				}
				last[x.Copy] = x.Response.Status
			}
			open := 0
			for _, status := range last {
				if status != 201 {
					open++
				}
			}
			if len(last) != 50 || c.again >= 0 && again != c.again || open != c.open {
				t.Errorf("%d copies, %d sent again, want %d; %d without success, want %d", len(last), again, c.again, open, c.open)
			}
			if reason := only(t, r).Reason; c.budget < 100 && reason != trace.OutOfBudget {
				t.Errorf("reason %s", reason)
			}
		})
	}
}

// The budget is never exceeded, whatever the scenarios want.
func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 3, 7, 20, 31} {
		b := newBackend()
		o := runOptions{maxRequests: most, scenarios: []string{"same-key-again", "same-key-concurrent", "fresh-key-per-retry"}}
		r := judged(t, b.serve(b.honest), testPlan, o)
		if b.posts > most {
			t.Errorf("%d requests were sent, %d allowed", b.posts, most)
		}
		if r.Summary.ExitCode != ExitInconclusive {
			t.Errorf("budget %d: exit code %d", most, r.Summary.ExitCode)
		}
	}
}

// The same seed draws the same keys and markers, another one others.
func TestSeed(t *testing.T) {
	t.Parallel()
	keys := func(seed string) string {
		b := newBackend()
		r := judged(t, b.serve(b.honest), testPlan, runOptions{seed: seed, scenarios: []string{"same-key-again"}})
		sc := only(t, r).Trace[0].Scopes[0]
		return sc.Key + sc.Marker
	}
	if a, b, c := keys("one"), keys("one"), keys("two"); a != b || a == c {
		t.Errorf("%s, %s, %s", a, b, c)
	}
}

// An interrupted run still reports what it saw, and says that it was interrupted.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	b := newBackend()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := httptest.NewServer(b.serve(func(w http.ResponseWriter, r *http.Request) {
		b.honest(w, r)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.posts == 5 { // the first scenario behind the control is under way
			stop()
		}
	}))
	defer s.Close()
	r := judgedAt(ctx, t, s.URL, testPlan, scenario("same-key-again", "fresh-key-per-retry"))
	if !r.Info.Interrupted || r.Summary.ExitCode != ExitInterrupted {
		t.Errorf("interrupted %v, exit code %d", r.Info.Interrupted, r.Summary.ExitCode)
	}
	for _, c := range r.Endpoints[0].Cases {
		if c.Verdict != trace.Inconclusive || c.Reason != trace.Interrupted {
			t.Errorf("%s: verdict %s, reason %s", c.Scenario, c.Verdict, c.Reason)
		}
	}
	if len(r.Endpoints[0].Control.Rounds) != 2 {
		t.Errorf("the control's rounds are lost: %d", len(r.Endpoints[0].Control.Rounds))
	}
}

// A server that answers garbage in any step is evidence, not a crash.
func TestGarbage(t *testing.T) {
	t.Parallel()
	for _, garbage := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 999999 x\r\n\r\n", strings.Repeat("x", 1<<16)} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					buf := make([]byte, 4096)
					_, _ = conn.Read(buf)
					_, _ = io.WriteString(conn, garbage)
				}()
			}
		}()
		r := judgedAt(t.Context(), t, "http://"+l.Addr().String(), testPlan, runOptions{})
		if r.Summary.ExitCode != ExitInconclusive || r.Summary.Cases.Pass > 0 {
			t.Errorf("%.20q: exit code %d, %d passes", garbage, r.Summary.ExitCode, r.Summary.Cases.Pass)
		}
		_ = l.Close()
	}
}

// A counter that cannot tell keys apart by marker, but by the key itself, still counts each key.
func TestCounterByKey(t *testing.T) {
	t.Parallel()
	b := newBackend()
	mux := http.NewServeMux()
	mux.Handle("/", b.serve(b.honest))
	mux.HandleFunc("GET /by-key/{key}", func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		n := 0
		if _, ok := b.answers[r.PathValue("key")]; ok {
			n = 1
		}
		fmt.Fprintf(w, `{"count": %d}`, n)
	})
	plan := strings.Replace(testPlan, "/count?reference={{marker}}", "/by-key/{{key}}", 1)
	for _, c := range judged(t, mux, plan, scenario("same-key-again", "fresh-key-per-retry")).Endpoints[0].Cases {
		if c.Verdict != trace.Pass {
			t.Errorf("%s: verdict %s %s %+v", c.Scenario, c.Verdict, c.Detail, c.Findings)
		}
	}
}

// A counter that never moves beside an answer that names nothing to look for: nobody can tell whose fault it is.
func TestFlatCounterWithoutLocation(t *testing.T) {
	t.Parallel()
	b := newBackend()
	r := judged(t, b.serve(b.honest), strings.Replace(testPlan, "/count?reference={{marker}}", "/count?reference=x{{marker}}", 1), runOptions{})
	for _, c := range r.Endpoints[0].Cases {
		if c.Verdict != trace.Inconclusive && c.Verdict != trace.Skip {
			t.Errorf("%s: verdict %s %+v", c.Scenario, c.Verdict, c.Findings)
		}
	}
	if c := r.Endpoints[0].Cases[0]; c.Reason != trace.ControlUnsound || !strings.Contains(c.Detail, `{"count": 0}`) {
		t.Errorf("reason %s: %s", c.Reason, c.Detail)
	}
}

// A page where JSON is expected is not asked for again.
func TestPageIsAskedForOnce(t *testing.T) {
	t.Parallel()
	b := newBackend()
	var posts atomic.Int32
	r := judged(t, b.serve(func(w http.ResponseWriter, _ *http.Request) {
		posts.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>please log in</html>")
	}), testPlan, runOptions{})
	if posts.Load() != 1 || r.Summary.Cases.Pass > 0 {
		t.Errorf("%d requests, %d passes", posts.Load(), r.Summary.Cases.Pass)
	}
}

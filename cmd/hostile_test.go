package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"retrysafe/fixtures"
	"retrysafe/internal/trace"
)

// hostilePlan has small limits, so that nothing that a server does takes long to give up.
const hostilePlan = `version: 1
target: ${RETRYSAFE_TARGET}
callers:
  alice: {headers: {Authorization: Bearer alice}}
  bob: {headers: {Authorization: Bearer bob}}
limits: {request: 1500ms, in_progress: 1s, count: 200ms}
counters:
  orders: {http: "GET /orders/count?reference={{marker}}", value: $.count}
endpoints:
  - name: create order
    setup:
      - {request: POST /carts, body: {sku: A1}, capture: {cart: $.id}}
    request: POST /orders
    key: {header: Idempotency-Key}
    required: true
    body: {cart: "{{cart}}", qty: 1, gift: {notes: [two words], value: 5}, reference: "{{marker}}"}
    invalid_body: {qty: -1}
    other_query: {gift: "true"}
    fail: {headers: {X-Fail-Once: "1"}}
    counters: {orders: 1}
    settle: 20ms
    stores: {4xx: no, 5xx: no}
`

// misdeed is what a server does to one request, or from one request on.
type misdeed string

const (
	hangs      misdeed = "hangs"           // the request is never answered
	closes     misdeed = "closes"          // its connection is closed, and nothing was done
	losesReply misdeed = "loses the reply" // it is done, and its connection is closed
	dies       misdeed = "dies"            // the process is gone: every connection is closed, later ones are refused
	locks      misdeed = "locks"           // its key is in progress for ever, 409
)

func misdeeds() []misdeed { return []misdeed{hangs, closes, losesReply, dies, locks} }

// hostile is the honest shop until its n-th request, counted from 1; for locks only those with a key count. 0 is never.
type hostile struct {
	shop http.Handler
	does misdeed
	at   int
	end  chan struct{} // closed when the test is over
	die  func()

	mu     sync.Mutex
	served int
	locked string // the key that is locked
	hit    string // what was hit
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	h.mu.Lock()
	if h.does != locks || key != "" {
		h.served++
	}
	mine := h.at > 0 && h.served == h.at && h.hit == "" && (h.does != locks || key != "")
	if mine {
		h.hit = r.Method + " " + r.URL.Path
		if h.does == locks {
			h.locked = key
		}
	}
	locked := h.locked != "" && h.locked == key
	h.mu.Unlock()
	switch {
	case locked:
		http.Error(w, "in progress", http.StatusConflict)
	case !mine:
		h.shop.ServeHTTP(w, r)
	case h.does == hangs:
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client leaves
		select {
		case <-r.Context().Done():
		case <-h.end:
		}
		panic(http.ErrAbortHandler)
	case h.does == losesReply:
		h.shop.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case h.does == dies:
		h.die()
		panic(http.ErrAbortHandler)
	default:
		panic(http.ErrAbortHandler)
	}
}

// hostileRun runs the tool against a shop that misbehaves at its n-th request, and gives what came of it.
func hostileRun(t *testing.T, dir string, does misdeed, at int) (*trace.Run, *hostile, error) {
	shop, err := fixtures.NewShop(fixtures.Options{Work: 20 * time.Millisecond, TTL: time.Hour})
	if err != nil {
		return nil, nil, err
	}
	h := &hostile{shop: shop, does: does, at: at, end: make(chan struct{})}
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = nil
	h.die = func() {
		_ = s.Listener.Close()
		go s.CloseClientConnections()
	}
	s.Start()
	defer s.Close()
	defer close(h.end)
	file := filepath.Join(dir, fmt.Sprintf("%s-%d.json", does, at))
	env := Env{Stdin: &bytes.Buffer{}, Stdout: io.Discard, Stderr: io.Discard, Version: "test", LookupEnv: func(name string) (string, bool) {
		return s.URL, name == "RETRYSAFE_TARGET"
	}}
	started := time.Now()
	code := Main(env, []string{"run", filepath.Join(dir, "plan.yaml"), "--effort", "smoke", "--report", "json=" + file})
	if took := time.Since(started); took > hostileMost {
		return nil, h, fmt.Errorf("it took %s", took)
	}
	doc, err := os.ReadFile(file)
	if err != nil {
		return nil, h, fmt.Errorf("no report: %w", err)
	}
	run := &trace.Run{}
	if err := json.Unmarshal(doc, run); err != nil {
		return nil, h, fmt.Errorf("the report is broken: %w", err)
	}
	if code != run.Summary.ExitCode {
		return nil, h, fmt.Errorf("exit code %d, the report says %d", code, run.Summary.ExitCode)
	}
	return run, h, nil
}

// hostileMost bounds a run: an undisturbed one takes some seconds, more where many run on few processors.
const hostileMost = 90 * time.Second

// TestHostileServer has an honest server misbehave once, at any request of a run: what it hits is not passed and is not
// accused, the rest is judged as ever, and the run ends with a report. It takes a few requests by chance, from the seed in
// RETRYSAFE_HOSTILE_SEED; with RETRYSAFE_HOSTILE=all it takes every one, which takes an hour.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a minute: run it without -short")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(hostilePlan), 0o600); err != nil {
		t.Fatal(err)
	}
	usual, h, err := hostileRun(t, dir, closes, 0)
	if err != nil || usual.Summary.ExitCode != ExitOK {
		t.Fatalf("undisturbed: %v, %+v", err, usual)
	}
	total := h.served
	seed, _ := strconv.ParseUint(os.Getenv("RETRYSAFE_HOSTILE_SEED"), 10, 64)
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%d requests; RETRYSAFE_HOSTILE_SEED=%d", total, seed)
	var g errgroup.Group
	g.SetLimit(8) // most of a run is waiting
	for _, does := range misdeeds() {
		for _, at := range hostileMoments(seed, total) {
			g.Go(func() error {
				run, h, err := hostileRun(t, dir, does, at)
				if err != nil {
					t.Errorf("%s at request %d: %v", does, at, err)
					return nil
				}
				for _, wrong := range wronged(usual, run, h) {
					t.Errorf("%s at request %d (%s): %s", does, at, h.hit, wrong)
				}
				return nil
			})
		}
	}
	_ = g.Wait()
}

// hostileMoments are the requests to misbehave at: one in each fifth of the run, or all.
func hostileMoments(seed uint64, total int) []int {
	var out []int
	if os.Getenv("RETRYSAFE_HOSTILE") == "all" {
		for n := range total {
			out = append(out, n+1)
		}
		return out
	}
	const parts = 5
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range parts {
		out = append(out, i*total/parts+random.IntN(total/parts)+1)
	}
	return out
}

// wronged says what is wrong with what the tool made of the server's misdeed.
func wronged(usual, run *trace.Run, h *hostile) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	ep := &run.Endpoints[0]
	inControl := ep.Control == nil || brokenIn(ep.Control.Rounds, h.locked) != "" || brokenIn(ep.Control.Variants, h.locked) != ""
	worst := ExitOK
	for i := range ep.Cases {
		c, before := &ep.Cases[i], &usual.Endpoints[0].Cases[i]
		switch c.Verdict {
		case trace.Fail:
			worst = ExitViolations
		case trace.Inconclusive, trace.Error:
			if worst == ExitOK {
				worst = ExitInconclusive
			}
		}
		hit := brokenIn(c.Trace, h.locked)
		switch {
		case c.Verdict != trace.Pass && c.Verdict != trace.Fail && (c.Reason == "" || c.Detail == ""):
			note("%s is %s without a reason", c.Scenario, c.Verdict)
		case c.Verdict == trace.Fail && !deserved(c, h.does):
			note("%s accuses an honest endpoint: %+v", c.Scenario, c.Findings)
		case strings.HasPrefix(hit, "counter") && !strings.Contains(c.Power, "counted by"): // nor was it needed
		case hit != "" && (c.Verdict == trace.Pass || c.Verdict == trace.Warn) && !mayPass(c, h):
			note("%s is %s, though %s", c.Scenario, c.Verdict, hit)
		case hit == "" && !inControl && h.does != dies && c.Verdict != before.Verdict:
			note("%s was not hit and is %s (%s: %s) instead of %s", c.Scenario, c.Verdict, c.Reason, c.Detail, before.Verdict)
		}
	}
	if run.Summary.ExitCode != worst {
		note("exit code %d, want %d", run.Summary.ExitCode, worst)
	}
	if h.does == dies && worst == ExitOK && strings.HasPrefix(h.hit, "POST") {
		note("the process died, and everything passed")
	}
	return out
}

// deserved reports whether the findings of a case say what the server did: a key that is locked breaks many a rule, a request
// that hangs one.
func deserved(c *trace.Case, does misdeed) bool {
	return does == locks || does == hangs && !slices.ContainsFunc(c.Findings, func(f trace.Finding) bool { return f.Rule != "in-progress-hangs" })
}

// mayPass reports whether a case passes where its key is refused for ever: it asks for no more than that such keys are not
// answered with 5xx, or not taken for another one; the key is the one of a request beside the point; or one of two bodies had
// won before.
func mayPass(c *trace.Case, h *hostile) bool {
	if h.locked != "" && c.Scenario == "other-body-at-once" {
		return slices.ContainsFunc(c.Trace, func(r trace.Round) bool {
			return slices.ContainsFunc(r.Exchanges, func(x trace.Exchange) bool { return x.Key == h.locked && x.Class == trace.ClassSuccess })
		})
	}
	return h.does == locks && slices.Contains([]string{"other-caller-same-body", "odd-key", "long-key", "non-ascii-key", "common-prefix", "key-case", "key-lines"}, c.Scenario)
}

// brokenIn says what in some rounds bears the mark of the misdeed: a request without an answer that nobody here cut off, a
// counter without a number, or the locked key. Empty where nothing does.
func brokenIn(rounds []trace.Round, locked string) string {
	for i := range rounds {
		r := &rounds[i]
		if r.Void != "" {
			continue
		}
		for _, x := range slices.Concat(r.Setup, r.Exchanges) {
			switch {
			case x.Response == nil && x.Broke != trace.PhaseCut:
				return fmt.Sprintf("request %d had no answer", x.ID)
			case locked != "" && x.Key == locked:
				return fmt.Sprintf("the key of request %d was locked", x.ID)
			}
		}
		for _, reading := range r.Readings {
			has := func(name string) bool {
				return slices.ContainsFunc(r.Readings, func(o trace.Reading) bool { return o.Name == name })
			}
			if reading.Name == trace.ReadingLate || reading.Name == trace.ReadingBefore && has("based") || reading.Name == trace.ReadingAfter && has("won") {
				continue // one look more than a verdict needs
			}
			for _, v := range reading.Values {
				if v.Error != "" {
					return "counter " + v.Counter + " was not read at " + reading.Name
				}
			}
		}
	}
	return ""
}

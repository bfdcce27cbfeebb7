package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// paid makes the second counter a service that calls arrive at.
func paid(f *trace.Facts) {
	f.Counters[1].Sink = &trace.SinkFact{Kind: "http", Address: "127.0.0.1:8099", Key: "Idempotency-Key", IgnoreJSON: []string{"$.at"}}
}

// paidOnly makes it the only counter.
func paidOnly(f *trace.Facts) {
	paid(f)
	f.Counters = f.Counters[1:]
}

// called records calls of the service, "KEY BODY" each; an exclamation mark in front fails it, an empty key is none.
func (r *recorder) called(calls ...string) *recorder {
	for _, c := range calls {
		r.now += ms
		key, body, _ := strings.Cut(strings.TrimPrefix(c, "!"), " ")
		call := &trace.Call{Key: key, Status: 200, Request: trace.Request{Method: "POST", URL: "/charges", Body: trace.Body{Text: body, Size: int64(len(body))}}}
		if strings.HasPrefix(c, "!") {
			call.Failed, call.Status = trace.FailedDrop, 0
		}
		r.round.Arrivals = append(r.round.Arrivals, trace.Arrival{ID: len(r.round.Arrivals) + 1, Sink: "mails",
			Scopes: []string{"A", "fresh-1", "fresh-2", "fresh-3"}, At: r.now, Call: call})
	}
	return r
}

func TestDownstream(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		facts    func(*trace.Facts)
		round    func(*recorder)
		rules    string
		reason   string
	}{
		{"server-error-then-retry", paid, func(r *recorder) {
			r.send("failing", broken).called("!k {}").send("retry", order(7)).called("k {}").send("again", order(7)).read("after", 1, 1)
		}, "", "a lost call is sent again with the same key"},
		{"server-error-then-retry", paid, func(r *recorder) {
			r.send("failing", broken).called("!k {}").send("retry", order(7)).called("l {}").send("again", order(7)).read("after", 1, 1)
		}, "downstream-key-not-stable", "the lost call is sent again with another key, and counts once"},
		{"server-error-then-retry", paidOnly, func(r *recorder) {
			r.send("failing", broken).called("!k {}").send("retry", order(7)).called("l {}").send("again", order(7)).read("after", 1, 1)
		}, "downstream-key-not-stable", "no other counter is needed where the sink failed the call"},
		{"server-error-then-retry", paid, func(r *recorder) {
			r.send("failing", broken).called("k {}").send("retry", order(7)).called("l {}").send("again", order(7)).read("after", 1, 2)
		}, "downstream-key-not-stable", "two charges beside one order, in place of side-effect-repeated"},
		{"server-error-then-retry", paidOnly, func(r *recorder) {
			r.send("failing", broken).called("k {}").send("retry", order(7)).called("l {}").send("again", order(7)).read("after", 0, 2)
		}, "retry-repeats-partial-work", "without another counter, the whole work may have been done twice"},
		{"server-error-then-retry", paid, func(r *recorder) {
			r.send("failing", broken).called("! {}").send("retry", order(7)).called(" {}").send("again", order(7)).read("after", 1, 1)
		}, "downstream-key-not-stable", "a retry without any key"},
		{"server-error-then-retry", paid, func(r *recorder) {
			r.send("failing", broken).called("!k {}").send("retry", order(7)).called(" {}").send("again", order(7)).read("after", 1, 1)
		}, "downstream-key-not-stable", "a retry that lost the key"},
		{"server-error-then-retry", paid, func(r *recorder) {
			r.send("failing", broken).called("!k {}").send("retry", order(7)).called(`k {"id":"2"}`).send("again", order(7)).read("after", 1, 1)
		}, "downstream-body-not-stable", "the same key with another body"},
		{"server-error-then-retry", paid, func(r *recorder) {
			r.send("failing", broken).called(`!k {"a":1,"at":1}`).send("retry", order(7)).called(`k {"at":2, "a":1}`).send("again", order(7)).read("after", 1, 1)
		}, "", "what the plan ignores, order and white space are no other body"},
		{"same-key-again", paid, func(r *recorder) {
			r.send("first", order(7)).called(" {}").series("again", order(7)).called(" {}").read("after", 1, 2)
		}, "side-effect-repeated", "calls without a key that were all served say nothing about keys"},
		{"same-key-again", paid, func(r *recorder) {
			r.send("first", order(7)).called("k {}").series("again", order(8)).called("l {}").read("after", 2, 2)
		}, "key-ignored", "the endpoint did the work again: what it sent on follows from that"},
		{"same-key-different-body", paid, func(r *recorder) {
			r.send("first", order(7)).called("k {}")
			r.exchange("other", 0, 0, "A", r.now+5*ms, order(8))
			r.last().Request.Body = trace.Body{Text: `{"qty":2}`, Size: 9}
			r.called(`k {"qty":2}`).send("again", order(7)).read("after", 2, 1)
		}, "side-effect-repeated", "another request rightly makes another call: its body is not held against the first one's"},
		{"fresh-key-per-retry", paid, func(r *recorder) {
			r.fresh("each", order(7), order(8), order(9)).called("k {}", "l {}", "m {}").read("after", 3, 3)
		}, "", "each key is an operation of its own"},
	} {
		f := facts()
		tt.facts(&f)
		r := record(builtin(t, tt.scenario), 3)
		tt.round(r)
		if len(f.Counters) == 1 {
			for i := range r.round.Readings {
				r.round.Readings[i].Values = r.round.Readings[i].Values[2:]
			}
		}
		in := input(t, tt.scenario, f, r)
		got := Case(in)
		if told(in.Rules, got.Findings) != tt.rules {
			t.Errorf("%s: got [%s] %s, want [%s]", tt.reason, told(in.Rules, got.Findings), got.Detail, tt.rules)
		}
		for _, f := range got.Findings {
			if strings.HasPrefix(f.Rule, "downstream") && (len(f.Arrivals) != 2 || f.Actual == "" || f.Expected == "") {
				t.Errorf("%s: incomplete finding %+v", tt.reason, f)
			}
		}
	}
}

func TestControlFailedBySink(t *testing.T) {
	f := facts()
	paid(&f)
	r := record(builtin(t, "first-request"), 1).called("!k {}").send("first", broken).read("after", 0, 0)
	l := Learn(f, &trace.Control{Rounds: []trace.Round{r.round}})
	if l.Sound || !strings.Contains(l.Reason.Detail, "the sink mails had failed the first call") || !strings.Contains(l.Reason.Enable, "fail: {sink: mails}") {
		t.Errorf("%+v", l.Reason)
	}
}

func TestClient(t *testing.T) {
	const longer = 1200
	for _, c := range []struct {
		calls     string // "KEY BODY@MS", failed ones with !
		announced int
		verdict   trace.Verdict
		rules     string
		exit      int
		reason    string
	}{
		{"!k a@1 k a@1300", 1, trace.Pass, "", 0, "the same key"},
		{"!k a@1 l a@1300", 1, trace.Fail, "downstream-key-not-stable", 1, "another key"},
		{"!k a@1 - a@1300", 1, trace.Fail, "downstream-key-not-stable", 1, "the key is gone"},
		{"!- a@1 - a@1300", 1, trace.Fail, "downstream-key-not-stable", 1, "no key at all"},
		{"!k a@1 k b@1300", 1, trace.Fail, "downstream-body-not-stable", 1, "another body under the key"},
		{"!k a@1 k a@200", 1, trace.Warn, "retry-after-ignored", 0, "too soon"},
		{"!k a@1", 1, trace.Inconclusive, "", 3, "no retry"},
		{"", 1, trace.Inconclusive, "", 3, "nothing"},
		{"!k a@1 k a@1300", 2, trace.Inconclusive, "", 3, "one of two operations came"},
		{"!k a@1 l a@2 k a@1300", 2, trace.Inconclusive, "", 3, "two operations that look the same, both with stable keys; one was seen"},
		{"!k a@1 !l a@2 k a@1300 l a@1301", 1, trace.Pass, "", 0, "two in parallel, each with its key: the next call is not the retry"},
		{"!k a@1 l a@1300 !m b@1 m b@1300", 2, trace.Fail, "downstream-key-not-stable", 1, "one of two is wrong"},
		{"!k a@1 l a@1300", 2, trace.Inconclusive, "", 3, "perhaps two operations that look the same"},
		{"!k 2026-01-02T03:04:05Z@1 k 2026-01-02T03:04:06Z@1300", 1, trace.Fail, "downstream-body-not-stable", 1, "a time that is drawn anew under the same key"},
		{"!k 2026-01-02T03:04:05Z@1 l 2026-01-02T03:04:06Z@1300", 1, trace.Fail, "downstream-key-not-stable", 1, "recognised in spite of the time"},
	} {
		run := &trace.ClientRun{Info: trace.ClientInfo{Key: "Idempotency-Key", Announced: c.announced, FailOn: trace.Major}}
		fields := strings.Fields(c.calls)
		for i := 0; i+1 < len(fields); i += 2 {
			body, at, _ := strings.Cut(fields[i+1], "@")
			var n trace.Nanos
			for _, digit := range at {
				n = n*10 + trace.Nanos(digit-'0')
			}
			call := &trace.Call{Key: strings.Trim(fields[i], "!-"), Status: 200, Request: trace.Request{Method: "POST", URL: "/c", Body: trace.Body{Text: body}}}
			if fields[i][0] == '!' {
				call.Failed, call.Status, call.RetryAfter = trace.FailedStatus, 503, longer*ms
			}
			run.Calls = append(run.Calls, trace.Arrival{ID: i/2 + 1, At: n * ms, Call: call})
		}
		Client(run, catalogue(t))
		var rules []string
		for _, op := range run.Operations {
			for _, f := range op.Findings {
				rules = append(rules, f.Rule)
			}
		}
		if run.Summary.Verdict != c.verdict || strings.Join(rules, " ") != c.rules || run.Summary.ExitCode != c.exit {
			t.Errorf("%s: got %s %v exit %d (%s), want %s %s exit %d", c.reason, run.Summary.Verdict, rules, run.Summary.ExitCode, run.Summary.Detail, c.verdict, c.rules, c.exit)
		}
	}
}

package judge

import (
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func TestUnchanged(t *testing.T) {
	s := script([]string{"first", "again"}, scenarios.Expectation{Unchanged: &scenarios.Unchanged{Since: "once"}, Rule: "method-not-idempotent"})
	states := func(f *trace.Facts) { uncounted(f); f.States = []string{"wallet"} }
	unmarked := func(f *trace.Facts) { f.Counters = []trace.CounterFact{{Name: "orders", Rise: 1}} }
	const own = "GET http://127.0.0.1:8080/wallets/rsmarker1"
	from := func(before, after, source string) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", reply(204, "")).counted("once", 1).state("wallet", before, source).
				under("A", "again", reply(204, "")).counted("after", 1).state("wallet", after, source)
		}
	}
	since := func(before, once, after string) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			r := from(once, after, own)(s)
			r.round.Readings[0].States = []trace.StateValue{{State: "wallet", Scope: "A", Value: before, Source: own}}
			return r
		}
	}
	counts := func(n ...int64) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			r := among(s, "A").under("A", "first", order(7)).counted("once", n[0]).under("A", "again", order(7)).counted("after", n[1])
			for _, late := range n[2:] {
				r.counted("late", late)
			}
			return r
		}
	}
	failing := func(at int) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			r := from("10", "10", own)(s)
			r.round.Readings[at].States[0].Error = "status 500"
			return r
		}
	}
	judgeForms(t, []formCase{
		{"equal counters", s, nil, counts(1, 1), trace.Pass, "", "", "nothing more"},
		{"one more", s, nil, counts(1, 2), trace.Fail, "method-not-idempotent", "", "a second effect"},
		{"one less", s, nil, counts(2, 1), trace.Fail, "method-not-idempotent", "", "a second removal"},
		{"one more, later", s, nil, counts(1, 1, 2), trace.Fail, "method-not-idempotent", "", "the late look supersedes"},
		{"cleaned up later", s, nil, counts(1, 1, 0), trace.Pass, "", "", "a clean-up"},
		{"no marker, one round", s, unmarked, counts(1, 2), trace.Inconclusive, "", trace.CounterNoise, "others may have moved it"},
		{"equal states", s, states, from("10", "10", own), trace.Pass, "", "", "nothing changed"},
		{"other balance", s, states, from("10", "20", own), trace.Fail, "method-not-idempotent", "", "incremented"},
		{"other balance, of everybody", s, states, from("10", "20", "GET http://127.0.0.1:8080/wallets/w1"), trace.Inconclusive, "", trace.CounterNoise, "others may have moved it"},
		{"only a time", s, states, from(`200 {"n":1,"updated_at":"2026-01-02T03:04:05Z"}`, `200 {"n":1,"updated_at":"2026-01-02T03:04:06Z"}`, own), trace.Pass, "", "", "volatile by itself"},
		{"only an epoch", s, states, from(`200 {"n":1,"updatedAt":1767323045}`, `200 {"n":1,"updatedAt":1767323046}`, own), trace.Pass, "", "", "a moment by its name"},
		{"only a version", s, states, from(`200 {"n":1,"version":3}`, `200 {"n":1,"version":4}`, own), trace.Pass, "", "", "counts writes, not effects"},
		{"a version that was chosen", s, states, from(`3`, `4`, own), trace.Fail, "method-not-idempotent", "", "the plan asked for it"},
		{"a time in a text", s, states, from(`404 {"error":"not found at 2026-01-02 03:04:05"}`, `404 {"error":"not found at 2026-01-02 03:04:06"}`, own), trace.Pass, "", "", "the same error"},
		{"more than a time", s, states, from(`200 {"n":1,"updated_at":"2026-01-02T03:04:05Z"}`, `200 {"n":2,"updated_at":"2026-01-02T03:04:06Z"}`, own), trace.Fail, "method-not-idempotent", "", "the number too"},
		{"appended", s, states, from(`200 {"tags":["a"]}`, `200 {"tags":["a","a"]}`, own), trace.Fail, "method-not-idempotent", "", "put appends"},
		{"long texts", s, states, from(`{"t":"`+strings.Repeat("x", 90)+`1"}`, `{"t":"`+strings.Repeat("x", 90)+`2"}`, own), trace.Fail, "method-not-idempotent", "", "beyond what is shown"},
		{"gone", s, states, from("200 {}", "404", own), trace.Fail, "method-not-idempotent", "", "another status"},
		{"too long", s, states, from("200 [5000 bytes, sha256 aa]", "200 [5000 bytes, sha256 bb]", own), trace.Inconclusive, "", trace.CounterUnreadable, "perhaps a time only"},
		{"gone with the first", s, states, since("200 {}", "404", "404"), trace.Pass, "", "", "a second removal changes nothing"},
		{"made by the first", s, states, since("404", "200 {}", "200 {}"), trace.Pass, "", "", "nothing more is made"},
		{"never there", s, states, since("404 {}", "404 {}", "404 {}"), trace.Inconclusive, "", trace.CounterUnreadable, "asks at a wrong place"},
		{"never there, at another time", s, states, since(`404 {"at":"2026-01-02T03:04:05Z"}`, `404 {"at":"2026-01-02T03:04:06Z"}`, `404 {"at":"2026-01-02T03:04:07Z"}`),
			trace.Inconclusive, "", trace.CounterUnreadable, "the same error"},
		{"never there, beside a counter", s, func(f *trace.Facts) { f.States = []string{"wallet"} }, since("404 {}", "404 {}", "404 {}"), trace.Pass, "", "", "the counter tells"},
		{"a number", s, states, since("404", "404", "404"), trace.Pass, "", "", "a balance that is set to what it was"},
		{"unreadable before", s, states, failing(1), trace.Inconclusive, "", trace.CounterUnreadable, "no value"},
		{"unreadable after", s, states, failing(2), trace.Inconclusive, "", trace.CounterUnreadable, "no value"},
		{"never read", s, states, counts(1, 1), trace.Inconclusive, "", trace.CounterUnreadable, "named, but not there"},
		{"nothing to read", s, uncounted, counts(1, 1), trace.Inconclusive, "", trace.NoEvidence, "neither counter nor state"},
		{"not counted in between", s, nil, func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", order(7)).under("A", "again", order(7)).counted("after", 1)
		}, trace.Inconclusive, "", trace.CounterUnreadable, "a reading is missing"},
		{"moves by itself", s, states, func(s *scenarios.Scenario) *recorder {
			return from("10", "20", own)(s).counted("idle", 1).state("wallet", "30", own)
		}, trace.Inconclusive, "", trace.CounterNoise, "it went on when nothing was sent"},
		{"cleaned up", s, states, func(s *scenarios.Scenario) *recorder {
			return from("10", "20", own)(s).counted("late", 1).state("wallet", "0", own)
		}, trace.Fail, "method-not-idempotent", "", "the late look comes after the clean-up"},
	})
}

// TestStateOfARound holds that a state whose request differs from round to round is the round's own, and that a shared one
// convicts when two rounds show it.
func TestStateOfARound(t *testing.T) {
	s := script([]string{"first", "again"}, scenarios.Expectation{Unchanged: &scenarios.Unchanged{Since: "once"}, Rule: "method-not-idempotent"})
	round := func(source string) *recorder {
		return among(s, "A").under("A", "first", reply(204, "")).counted("once").state("wallet", "10", source).
			under("A", "again", reply(204, "")).counted("after").state("wallet", "20", source)
	}
	for name, sources := range map[string][]string{"own": {"GET /wallets/a", "GET /wallets/b"}, "shared": {"GET /wallets/w", "GET /wallets/w"}} {
		f := facts()
		f.Counters, f.States = nil, []string{"wallet"}
		in := input(t, "same-key-again", f, round(sources[0]), round(sources[1]))
		in.Scenario = s
		if got := Case(in); got.Verdict != trace.Fail || got.Findings[0].Seen != 2 {
			t.Errorf("%s: got %s (%s) %+v", name, got.Verdict, got.Detail, got.Findings)
		}
	}
}

func TestOutlives(t *testing.T) {
	s := &scenarios.Scenario{ID: "retry-window", OnControl: true, Expect: []scenarios.Expectation{{Outlives: "retry_window", Rule: "lifetime-below-retry-window"}}}
	const hour = 3_600_000 * ms
	tests := []struct {
		name         string
		life, window trace.Nanos
		change       func(*Input)
		want         trace.Verdict
		code         trace.Code
		reason       string
	}{
		{"longer", 96 * hour, 72 * hour, nil, trace.Pass, "", "remembered throughout"},
		{"equal", 72 * hour, 72 * hour, nil, trace.Pass, "", "just enough"},
		{"shorter", 12 * hour, 72 * hour, nil, trace.Fail, "", "late retries are executed"},
		{"shorter, no control", 12 * hour, 72 * hour, func(in *Input) { in.Control = nil }, trace.Inconclusive, trace.ControlUnsound, "a run in which nothing ran proves nothing"},
		{"longer, unsound control", 96 * hour, 72 * hour, func(in *Input) { in.Control.Learned.Sound = false }, trace.Inconclusive, trace.ControlUnsound, "nothing is claimed about an endpoint that does not work"},
		{"no lifetime", 0, 72 * hour, nil, trace.Inconclusive, trace.NoEvidence, "not stated"},
		{"no window", 12 * hour, 0, nil, trace.Inconclusive, trace.NoEvidence, "not stated"},
		{"skipped", 12 * hour, 72 * hour, func(in *Input) { in.Case.Stop = &trace.Reason{Code: trace.PlanSkip} }, trace.Skip, trace.PlanSkip, "as the plan says"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts()
			f.Lifetime, f.RetryWindow = tt.life, tt.window
			in := input(t, "same-key-again", f)
			in.Scenario, in.Case.OnControl = s, true
			if tt.change != nil {
				tt.change(&in)
			}
			got := Case(in)
			if got.Verdict != tt.want || got.Reason != tt.code {
				t.Errorf("%s: got %s %s (%s), want %s %s", tt.reason, got.Verdict, got.Reason, got.Detail, tt.want, tt.code)
			}
			if tt.want == trace.Pass && !strings.Contains(got.Power, "no request was needed") {
				t.Errorf("power %q", got.Power)
			}
			if tt.want == trace.Fail && (got.Findings[0].Message != "keys are remembered for 12h, but retries come for 72h" || got.Findings[0].Exchanges == nil) {
				t.Errorf("finding %+v", got.Findings[0])
			}
		})
	}
}

// TestOnControlMixed judges what is stated beside what the control shows.
func TestOnControlMixed(t *testing.T) {
	f := facts()
	f.Lifetime, f.RetryWindow = 2000*ms, 1000*ms
	in := input(t, "first-request", f)
	s := *in.Scenario
	s.OnControl = true
	s.Expect = append(slices.Clone(s.Expect), scenarios.Expectation{Outlives: "retry_window", Rule: "lifetime-below-retry-window"})
	in.Scenario, in.Case.OnControl = &s, true
	if got := Case(in); got.Verdict != trace.Pass || !strings.Contains(got.Power, "lifetime-below-retry-window") {
		t.Errorf("both hold: got %s (%s), %q", got.Verdict, got.Detail, got.Power)
	}
}

// TestNoiseBehindAWindow holds that what was sent after a window's end is no movement of the counter by itself.
func TestNoiseBehindAWindow(t *testing.T) {
	s := script([]string{"original", "other", "after"}, scenarios.Expectation{Created: &scenarios.Created{N: 1, Until: "won"}, Rule: "different-body-executed"})
	unmarked := func(f *trace.Facts) { f.Counters = []trace.CounterFact{{Name: "orders", Rise: 1}} }
	executed := func(idle int64) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			r := among(s, "A").under("A", "original", order(7)).under("A", "other", order(8)).counted("won", 2)
			return r.under("A", "after", order(9)).counted("after", 3).counted("idle", idle)
		}
	}
	judgeForms(t, []formCase{
		{"executed once more behind it", s, unmarked, executed(3), trace.Fail, "different-body-executed", "", "the counter was still when nothing was sent"},
		{"moves by itself", s, unmarked, executed(4), trace.Inconclusive, "", trace.CounterNoise, "it went on when nothing was sent"},
	})
}

package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// script is a scenario of one send for each label.
func script(labels []string, expect ...scenarios.Expectation) *scenarios.Scenario {
	s := &scenarios.Scenario{ID: "form", Rounds: 1, Expect: expect}
	for _, l := range labels {
		s.Steps = append(s.Steps, scenarios.Step{Send: &scenarios.Send{Key: "A", Label: l}})
	}
	return s
}

// among is a round of a script with scopes by name, each counted by itself.
func among(s *scenarios.Scenario, scopes ...string) *recorder {
	const n = 3
	r := &recorder{s: s, now: n * 60_000 * ms, id: n * 100}
	r.round.N = n
	for i, name := range scopes {
		letter, _, _ := strings.Cut(strings.TrimSuffix(name, "/other"), "@")
		sc := trace.Scope{Name: name, Key: "key-3-" + letter, Marker: fmt.Sprintf("rsmarker%d", i+1)}
		if letter == scenarios.KeyNone || letter == "E" || letter == "F" { // two letters with an empty key
			sc.Key = ""
		}
		r.round.Scopes = append(r.round.Scopes, sc)
	}
	return r.counted("before")
}

// under records a send of a scope, at the caller and the endpoint that its name says.
func (r *recorder) under(scope, label string, a answer) *recorder {
	r.exchange(label, 0, 0, scope, r.now+5*ms, a)
	x := r.last()
	x.OtherEndpoint = ofOther(scope)
	_, x.Caller, _ = strings.Cut(strings.TrimSuffix(scope, "/other"), "@")
	return r
}

// during records a send that starts after the one before began, by so much, and takes as long as its answer says.
func (r *recorder) during(after trace.Nanos, label string, a answer) *recorder {
	first := r.round.Exchanges[0].Started
	r.exchange(label, 0, 0, "A", first+after, a)
	return r
}

// counted reads the counters; the numbers are those of each scope, in the order of the scopes.
func (r *recorder) counted(name string, n ...int64) *recorder {
	r.now += ms
	reading := trace.Reading{Name: name, At: r.now, Still: 300 * ms}
	for _, counter := range []string{"orders", "mails"} {
		for i, sc := range r.round.Scopes {
			v := trace.Value{Counter: counter, Scopes: []string{sc.Name}}
			if i < len(n) {
				v.N = n[i]
			}
			reading.Values = append(reading.Values, v)
		}
	}
	r.round.Readings = append(r.round.Readings, reading)
	return r
}

// state adds what a state was to the last reading.
func (r *recorder) state(name, value, source string) *recorder {
	last := &r.round.Readings[len(r.round.Readings)-1]
	last.States = append(last.States, trace.StateValue{State: name, Scope: "A", Value: value, Source: source})
	return r
}

// formCase is a round of a script and what must be concluded from it.
type formCase struct {
	name   string
	s      *scenarios.Scenario
	facts  func(*trace.Facts)
	round  func(*scenarios.Scenario) *recorder
	want   trace.Verdict
	rules  string
	code   trace.Code
	reason string
}

func judgeForms(t *testing.T, tests []formCase) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts()
			if tt.facts != nil {
				tt.facts(&f)
			}
			in := input(t, "same-key-again", f, tt.round(tt.s))
			in.Scenario = tt.s
			got := Case(in)
			if got.Verdict != tt.want || told(in.Rules, got.Findings) != tt.rules || got.Reason != tt.code {
				t.Errorf("%s: got %s [%s] %s (%s), want %s [%s] %s", tt.reason, got.Verdict, told(in.Rules, got.Findings), got.Reason, got.Detail, tt.want, tt.rules, tt.code)
			}
			for _, f := range got.Findings {
				t.Logf("%s: %s\nexpected %s\nactual %s", f.Rule, f.Message, f.Expected, f.Actual)
				if f.Message == "" || f.Expected == "" || f.Actual == "" || len(f.Exchanges) == 0 || strings.HasSuffix(strings.TrimSuffix(f.Message, "..."), ".") {
					t.Errorf("incomplete finding %+v", f)
				}
			}
			if (got.Power != "") != (got.Verdict == trace.Pass || got.Verdict == trace.Warn) {
				t.Errorf("power %q beside verdict %s", got.Power, got.Verdict)
			}
		})
	}
}

func TestOneOf(t *testing.T) {
	s := script([]string{"original", "other"}, scenarios.Expectation{OneOf: []string{"original", "other"}, Rule: "different-body-replayed"})
	both := func(a, b answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			r := among(s, "A")
			at := r.now + 5*ms
			r.exchange("original", 0, 0, "A", at, a)
			r.exchange("other", 0, 0, "A", at, b)
			return r.counted("after", 1)
		}
	}
	judgeForms(t, []formCase{
		{"the second loses", s, nil, both(order(7), mismatch), trace.Pass, "", "", "refused"},
		{"the first loses", s, nil, both(conflict, order(7)), trace.Pass, "", "", "in progress"},
		{"one creation", s, nil, both(order(7), order(7)), trace.Fail, "different-body-replayed", "", "the other one's answer"},
		{"two creations", s, nil, both(order(7), order(8)), trace.Pass, "", "", "more effects are judged apart"},
		{"one creation, documented", s, func(f *trace.Facts) { f.Mismatch = "replayed" }, both(order(7), order(7)), trace.Skip, "", trace.NotApplicable, "as documented"},
		{"undocumented refusal", s, nil, both(order(7), reply(418, `{}`)), trace.Warn, "wrong-refusal-status", "", "refused otherwise"},
		{"nobody wins", s, nil, both(mismatch, conflict), trace.Inconclusive, "", trace.NoEvidence, "no success to compare"},
		{"no name", s, nil, both(order(7), reply(201, `{}`)), trace.Inconclusive, "", trace.NoEvidence, "it may be a replay"},
		{"no answer", s, nil, both(order(7), lost(trace.PhaseAnswer, "EOF")), trace.Inconclusive, "", trace.CutOff, "it may have been anything"},
		{"credentials", s, nil, both(order(7), reply(401, `{}`)), trace.Inconclusive, "", trace.Auth, "refused for another reason"},
	})
}

func TestAnswered(t *testing.T) {
	s := script([]string{"first", "copy"}, scenarios.Expectation{Answered: []string{"copy"}, Rule: "in-progress-hangs"})
	copied := func(a answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", order(7).slow(9000*ms)).during(100*ms, "copy", a).counted("after", 1)
		}
	}
	judgeForms(t, []formCase{
		{"at once", s, nil, copied(conflict), trace.Pass, "", "", "a refusal is an answer"},
		{"within the limit", s, nil, copied(order(7).slow(3900 * ms)), trace.Pass, "", "", "a bounded wait"},
		{"after the limit", s, nil, copied(order(7).slow(4200 * ms)), trace.Fail, "in-progress-hangs", "", "answered, but too late"},
		{"given up", s, nil, copied(lost(trace.PhaseAnswer, "i/o timeout").slow(4001 * ms)), trace.Fail, "in-progress-hangs", "", "no gap beside it"},
		{"given up a little early", s, nil, copied(lost(trace.PhaseAnswer, "i/o timeout").slow(3990 * ms)), trace.Fail, "in-progress-hangs", "", "the limit was counted from the connection"},
		{"dropped after the limit", s, nil, copied(lost(trace.PhaseAnswer, "EOF").slow(5000 * ms)), trace.Fail, "in-progress-hangs", "", "open all that time"},
		{"given up long before", s, nil, copied(lost(trace.PhaseAnswer, "i/o timeout").slow(1000 * ms)), trace.Inconclusive, "", trace.Timeout, "limits.request is below the limit"},
		{"dropped", s, nil, copied(lost(trace.PhaseAnswer, "EOF")), trace.Inconclusive, "", trace.CutOff, "ended, and not by waiting"},
		{"no connection", s, nil, copied(lost(trace.PhaseDial, "i/o timeout").slow(5000 * ms)), trace.Inconclusive, "", trace.Unreachable, "never sent"},
		{"run stopped", s, nil, copied(lost(trace.PhaseAnswer, "stopped: context deadline exceeded").slow(5000 * ms)), trace.Inconclusive, "", trace.Interrupted, "not the endpoint's doing"},
		{"longer than the key lives", s, shortLife, copied(lost(trace.PhaseAnswer, "i/o timeout").slow(4001 * ms)), trace.Fail, "in-progress-hangs", "", "it hangs whatever becomes of the key"},
		{"no limit", s, func(f *trace.Facts) { f.InProgressLimit = 0 }, copied(conflict), trace.Inconclusive, "", trace.NoEvidence, "nothing to measure against"},
	})
}

// TestRepeat holds which rounds prove nothing. One with a request that hangs or breaks shows just that.
func TestRepeat(t *testing.T) {
	s := script([]string{"first", "copy"}, scenarios.Expectation{Answered: []string{"copy"}, Rule: "in-progress-hangs"})
	apart := *s
	apart.Overlap = true
	f := facts()
	shortLife(&f)
	for _, tt := range []struct {
		s      *scenarios.Scenario
		copy   answer
		want   trace.Code
		reason string
	}{
		{s, conflict, "", "within the lifetime"},
		{s, conflict.slow(2000 * ms), trace.LifetimeExceeded, "beyond it"},
		{s, lost(trace.PhaseAnswer, "i/o timeout").slow(4001 * ms), "", "it hangs"},
		{&apart, conflict, trace.NoOverlap, "sent behind the answer of the first"},
		{&apart, lost(trace.PhaseAnswer, "EOF"), "", "cut off"},
	} {
		r := among(tt.s, "A").under("A", "first", order(7)).under("A", "copy", tt.copy)
		in := Input{Scenario: tt.s, Facts: f, Control: control(t, f), Rules: catalogue(t)}
		got := trace.Code("")
		if why := Repeat(in, &r.round); why != nil {
			got = why.Code
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
		}
	}
}

// On a busy machine a copy may come to the endpoint first, however long after the other one it was sent.
func TestRepeatOfTheOvertaken(t *testing.T) {
	s := script([]string{"first", "copy"}, scenarios.Expectation{Answered: []string{"copy"}, Rule: "in-progress-hangs"})
	relies := *s
	relies.Assume = []scenarios.Expectation{{Accepted: []string{"first"}}}
	other := *s
	other.Assume = []scenarios.Expectation{{Failed: []string{"first"}}}
	for _, tt := range []struct {
		s           *scenarios.Scenario
		first, copy answer
		want        bool
		reason      string
	}{
		{&relies, conflict.slow(300 * ms), order(7), true, "the copy was ahead"},
		{&relies, order(7).slow(300 * ms), conflict, false, "the first was"},
		{&relies, conflict.slow(5 * ms), order(7), false, "it was told so before there was a copy"},
		{&relies, conflict.slow(300 * ms), conflict, false, "none succeeded"},
		{s, conflict.slow(300 * ms), order(7), false, "nothing relies on the first"},
		{&other, order(7).slow(300 * ms), conflict, false, "nothing relies on a success"},
	} {
		r := among(tt.s, "A").under("A", "first", tt.first).during(100*ms, "copy", tt.copy)
		f := facts()
		why := Repeat(Input{Scenario: tt.s, Facts: f, Control: control(t, f), Rules: catalogue(t)}, &r.round)
		if (why != nil) != tt.want {
			t.Errorf("%s: got %+v, want one %v", tt.reason, why, tt.want)
		}
	}
}

func TestConsistent(t *testing.T) {
	s := script([]string{"first", "early", "late"}, scenarios.Expectation{Consistent: []string{"early", "late"}, Rule: "in-progress-inconsistent"})
	copies := func(early, late answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", order(7).slow(500*ms)).during(100*ms, "early", early).during(200*ms, "late", late).counted("after", 1)
		}
	}
	apart := func(s *scenarios.Scenario) *recorder {
		return among(s, "A").under("A", "first", order(7).slow(500*ms)).during(100*ms, "early", conflict).during(499*ms, "late", order(7).slow(30*ms)).counted("after", 1)
	}
	behind := func(s *scenarios.Scenario) *recorder {
		return among(s, "A").under("A", "first", order(7).slow(500*ms)).during(498*ms, "early", order(7).slow(30*ms)).during(499*ms, "late", order(7).slow(30*ms)).counted("after", 1)
	}
	judgeForms(t, []formCase{
		{"none came in time", s, nil, behind, trace.Inconclusive, "", trace.NoOverlap, "they overlap by the client's clock alone, perhaps"},
		{"one came in time", s, nil, apart, trace.Inconclusive, "", trace.NoOverlap, "it agrees with itself, whatever another would have been told"},
		{"one status", s, nil, copies(conflict, conflict), trace.Pass, "", "", "consistent"},
		{"all wait", s, nil, copies(order(7).slow(401*ms), order(7).slow(301*ms)), trace.Pass, "", "", "consistent too"},
		{"two statuses", s, nil, copies(conflict, reply(425, `{}`)), trace.Warn, "in-progress-inconsistent", "", "409, then 425"},
		{"202, then 409", s, nil, copies(reply(202, `{}`), conflict), trace.Warn, "in-progress-inconsistent", "", "both of the set"},
		{"undocumented 423", s, nil, copies(conflict, reply(423, `{}`)), trace.Warn, "in-progress-inconsistent", "", "a refusal while the first ran"},
		{"rate limited", s, nil, copies(conflict, reply(429, `{}`)), trace.Inconclusive, "", trace.StillBusy, "429 is no word about the key"},
		{"rate limited, documented so", s, func(f *trace.Facts) { f.Statuses.InProgress = []int{409, 429} }, copies(conflict, reply(429, `{}`)), trace.Inconclusive, "in-progress-inconsistent", trace.StillBusy, "here it is one, though it was never waited out"},
		{"refused by a check", s, nil, copies(conflict, mismatch), trace.Pass, "", "", "422 does not say in progress"},
		{"no answers", s, nil, copies(lost(trace.PhaseAnswer, "EOF"), lost(trace.PhaseAnswer, "EOF")), trace.Inconclusive, "", trace.CutOff, "nothing to compare"},
	})
}

// TestCompared asks for rounds as long as too few copies met the first request, and not for ever.
func TestCompared(t *testing.T) {
	s := script([]string{"first", "early", "late"}, scenarios.Expectation{Consistent: []string{"early", "late"}, Rule: "in-progress-inconsistent"})
	round := func(late trace.Nanos) trace.Round {
		return among(s, "A").under("A", "first", order(7).slow(500*ms)).during(100*ms, "early", conflict).during(late, "late", order(7).slow(501*ms-late)).round
	}
	void := round(499 * ms)
	void.Void = "too slow"
	in := Input{Scenario: s, Facts: facts(), Control: control(t, facts()), Rules: catalogue(t), Case: &trace.Case{}}
	for _, tt := range []struct {
		rounds []trace.Round
		want   int
	}{
		{[]trace.Round{round(499 * ms)}, 2},
		{[]trace.Round{round(499 * ms), void, round(499 * ms)}, 3},
		{[]trace.Round{round(499 * ms), round(200 * ms)}, 0},
		{slices.Repeat([]trace.Round{round(499 * ms)}, comparedRounds), comparedRounds},
	} {
		in.Case.Trace = tt.rounds
		if got := LeastRounds(in); got != tt.want {
			t.Errorf("after %d rounds: asks for %d, want %d", len(tt.rounds), got, tt.want)
		}
	}
}

func TestFalseSuccess(t *testing.T) {
	loose := script([]string{"first", "copy"}, scenarios.Expectation{Same: []string{"first", "copy"}})
	named := script([]string{"first", "copy"}, scenarios.Expectation{Same: []string{"first", "copy"}, Rule: "in-progress-false-success"})
	copied := func(a answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", order(7).slow(100*ms)).during(20*ms, "copy", a).counted("after", 1)
		}
	}
	running := formCase{"202 while running", named, nil, copied(reply(202, `{}`).slow(5 * ms)), trace.Pass, "", "", "in progress is the truth"}
	unsaid := running
	unsaid.s, unsaid.want, unsaid.code = loose, trace.Inconclusive, trace.NoEvidence
	judgeForms(t, []formCase{running, unsaid})
	for _, s := range []*scenarios.Scenario{loose, named} {
		judgeForms(t, []formCase{
			{"empty 200", s, nil, copied(reply(200, "").slow(5 * ms)), trace.Fail, "in-progress-false-success", "", "success without the result while the first runs"},
			{"201 without the id", s, nil, copied(reply(201, `{"status":"ok"}`).slow(5 * ms)), trace.Fail, "in-progress-false-success", "", "it names nothing"},
			{"waits", s, nil, copied(order(7).slow(81 * ms)), trace.Pass, "", "", "the first answer"},
			{"waits, and loses the body", s, nil, copied(reply(201, `{}`, "Location: /orders/ord_7").slow(81 * ms)), trace.Fail, "body-not-replayed", "", "it came when the first was done"},
			{"conflict", s, nil, func(s *scenarios.Scenario) *recorder {
				return among(s, "A").under("A", "first", order(7)).under("A", "copy", conflict).counted("after", 1)
			}, trace.Fail, "conflict-instead-of-replay", "", "a refusal is no false success"},
		})
	}
}

// A request that was cut off may still be at work when its retry comes: whether it was, is told by the answers.
func TestFalseSuccessBehindACut(t *testing.T) {
	s := script([]string{"first", "retry", "again"}, scenarios.Expectation{Same: []string{"retry", "again"}})
	empty := reply(200, "")
	after := func(first answer, retry, again answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", first).under("A", "retry", retry).under("A", "again", again).counted("after", 1)
		}
	}
	judgeForms(t, []formCase{
		{"empty success, then the result", s, nil, after(lost(trace.PhaseCut, ""), empty, order(7)), trace.Fail, "in-progress-false-success", "", "the result came later"},
		{"the result, then an empty success", s, nil, after(lost(trace.PhaseCut, ""), order(7), empty), trace.Fail, "status-not-replayed headers-not-replayed body-not-replayed", "", "the result is lost on replay"},
		{"nothing was cut off", s, nil, after(order(7), empty, order(7)), trace.Fail, "status-not-replayed headers-not-replayed body-not-replayed", "", "the first had ended"},
		{"the result twice", s, nil, after(lost(trace.PhaseCut, ""), order(7), order(7)), trace.Pass, "", "", "no fault"},
	})
}

// A retry behind a cut is owed the result, whatever success its answer claims.
func TestResultLostBehindACut(t *testing.T) {
	s := script([]string{"first", "retry", "again"}, scenarios.Expectation{Same: []string{"retry", "again"}})
	after := func(first, retry, again answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return among(s, "A").under("A", "first", first).under("A", "retry", retry).under("A", "again", again).counted("after", 1)
		}
	}
	gone, empty := lost(trace.PhaseCut, ""), reply(200, "{}", "Content-Type: application/json")
	part := reply(201, `{"qty":1}`, "Content-Type: application/json")
	null := reply(200, "null", "Content-Type: application/json")
	place, named := reply(204, "", "Content-Location: /orders/7"), reply(204, "", "X-Order: 7")
	other := reply(200, `{"order":{"id":"ord_7"}}`, "Content-Type: application/json")
	judgeForms(t, []formCase{
		{"empty for good", s, nil, after(gone, empty, empty), trace.Fail, "body-not-replayed", "", "the caller never learns the result"},
		{"no content", s, nil, after(gone, reply(204, ""), reply(204, "")), trace.Fail, "body-not-replayed", "", "the caller never learns the result"},
		{"a part of it", s, nil, after(gone, part, part), trace.Fail, "body-not-replayed", "", "the caller never learns the result"},
		{"null", s, nil, after(gone, null, null), trace.Fail, "body-not-replayed", "", "the caller never learns the result"},
		{"where it is", s, nil, after(gone, place, place), trace.Pass, "", "", "the result is there"},
		{"in a header that the plan names", s, func(f *trace.Facts) { f.ReplayHeaders = []string{"X-Order"} }, after(gone, named, named), trace.Pass, "", "", "it may be in there"},
		{"in another form", s, nil, after(gone, other, other), trace.Pass, "", "", "it may be in there"},
		{"nothing was cut off", s, nil, after(empty, empty, empty), trace.Pass, "", "", "every answer lacks it; replays are compared"},
		{"a conflict by convention", s, func(f *trace.Facts) { f.Conflicts = true }, after(gone, empty, empty), trace.Warn, "wrong-refusal-status", "", "finished operations are refused there"},
	})
}

// What differs between two answers names a creation by its name alone.
func TestResultOfNoName(t *testing.T) {
	s := script([]string{"first", "retry", "again"}, scenarios.Expectation{Same: []string{"retry", "again"}})
	done := reply(200, `{"qty":1}`, "Content-Type: application/json")
	in := input(t, "same-key-again", facts(), among(s, "A").under("A", "first", lost(trace.PhaseCut, "")).under("A", "retry", done).under("A", "again", done).counted("after", 1))
	in.Scenario = s
	control := *in.Control
	control.Learned.CreationFields = []string{"$.eta_minutes"}
	in.Control = &control
	if got := Case(in); got.Verdict != trace.Pass {
		t.Errorf("got %s %+v", got.Verdict, got.Findings)
	}
}

func TestViolatedByAnswers(t *testing.T) {
	leak := script([]string{"first", "theirs"}, scenarios.Expectation{Hidden: []string{"theirs"}, Rule: "key-shared-across-callers"})
	volley := script([]string{"first", "theirs"}, scenarios.Expectation{OneOf: []string{"first", "theirs"}, Rule: "different-body-replayed"})
	worse := script([]string{"first", "theirs"}, scenarios.Expectation{OneOf: []string{"first", "theirs"}, Rule: "keys-collide"})
	tests := []struct {
		s      *scenarios.Scenario
		scope  string
		theirs answer
		want   bool
		reason string
	}{
		{leak, "A@other", order(7), true, "a leak is certain"},
		{leak, "A@other", order(8), false, "no leak"},
		{volley, "A", order(7), false, "a major one: a second effect may still come"},
		{worse, "A", order(7), true, "a critical one"},
	}
	for _, tt := range tests {
		r := among(tt.s, "A", "A@other").under("A", "first", order(7)).under(tt.scope, "theirs", tt.theirs).counted("after", 1, 1)
		in := input(t, "same-key-again", facts(), r)
		in.Scenario = tt.s
		if got := Violated(in); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.reason, got, tt.want)
		}
	}
}

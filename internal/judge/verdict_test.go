package judge

import (
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// honest is a case of same-key-again without a fault, faulty one with two effects.
func honest(t *testing.T) Input {
	t.Helper()
	r := record(builtin(t, "same-key-again"), 3)
	return input(t, "same-key-again", facts(), r.send("first", order(7)).series("again", order(7)).read("after", 1, 1))
}

func faulty(t *testing.T) Input {
	t.Helper()
	r := record(builtin(t, "same-key-again"), 3)
	return input(t, "same-key-again", facts(), r.send("first", order(7)).series("again", order(8)).read("after", 2, 2))
}

func minor(t *testing.T) Input {
	t.Helper()
	r := record(builtin(t, "same-key-again"), 3)
	other := reply(201, `{"qty":1, "id":"ord_7","request_id":"r"}`, "Location: /orders/ord_7")
	return input(t, "same-key-again", facts(), r.send("first", order(7)).series("again", other).read("after", 1, 1))
}

// stuckEarly is a case whose last request is in progress after 10 ms.
func stuckEarly(t *testing.T) Input {
	t.Helper()
	r := record(builtin(t, "client-timeout"), 3)
	return input(t, "client-timeout", facts(), r.send("lost", lost(trace.PhaseCut, "")).send("retry", conflict).read("after", 1, 1))
}

func TestVerdict(t *testing.T) {
	stop := func(c trace.Code) *trace.Reason { return &trace.Reason{Code: c, Detail: "why", Enable: "how"} }
	allow := map[trace.Code]bool{trace.OutOfBudget: true, trace.Unreachable: true, trace.Auth: true}
	tests := []struct {
		name    string
		base    func(*testing.T) Input
		change  func(*Input)
		verdict trace.Verdict
		code    trace.Code
		reason  string
	}{
		{"pass", honest, func(in *Input) {}, trace.Pass, "", "everything holds"},
		{"fail on minor", minor, func(in *Input) { in.FailOn = trace.Minor }, trace.Fail, "", "as asked"},
		{"warn", minor, func(in *Input) {}, trace.Warn, "", "below the default of major"},
		{"fail on critical only", faulty, func(in *Input) { in.FailOn = trace.Critical }, trace.Fail, "", "a second effect is critical"},
		{"stopped and clean", honest, func(in *Input) { in.Case.Stop = stop(trace.OutOfBudget) }, trace.Inconclusive, trace.OutOfBudget, "not everything ran"},
		{"stopped with a minor finding", minor, func(in *Input) { in.Case.Stop = stop(trace.Interrupted) }, trace.Inconclusive, trace.Interrupted, "inconclusive comes before warn"},
		{"stopped with a finding", faulty, func(in *Input) { in.Case.Stop = stop(trace.OutOfBudget) }, trace.Fail, "", "findings stand"},
		{"stopped while in progress", stuckEarly, func(in *Input) { in.Case.Stop = stop(trace.OutOfBudget) }, trace.Inconclusive, trace.OutOfBudget, "nobody asked until the limit"},
		{"one uncounted answer", honest, func(in *Input) {
			in.Scenario, in.Facts.Counters = builtin(t, "first-request"), nil
			in.Case.Trace[0].Exchanges = in.Case.Trace[0].Exchanges[:1]
		}, trace.Inconclusive, trace.NoEvidence, "one answer cannot tell how often something was done"},
		{"an uncounted answer without a name", honest, func(in *Input) {
			in.Facts.Counters, in.FailOn = nil, trace.Critical
			x := in.Case.Trace[0].Exchanges[1]
			x.Copy, x.Response, x.Started = 1, reply(201, `{}`).response, x.Done+ms
			in.Case.Trace[0].Exchanges = append(in.Case.Trace[0].Exchanges, x)
		}, trace.Inconclusive, trace.NoEvidence, "it may stand for a second creation"},
		{"needs", honest, func(in *Input) { in.Case.Trace, in.Case.Stop = nil, stop(trace.Needs) }, trace.Skip, trace.Needs, "not meant to run"},
		{"needs, no control", honest, func(in *Input) { in.Control, in.Case.Stop = nil, stop(trace.PlanSkip) }, trace.Skip, trace.PlanSkip, "skips need no control"},
		{"wait too long", honest, func(in *Input) { in.Case.Trace, in.Case.Stop = nil, stop(trace.WaitTooLong) }, trace.Skip, trace.WaitTooLong, "not meant to run"},
		{"interrupted before the control", honest, func(in *Input) { in.Control, in.Case.Stop = nil, stop(trace.Interrupted) }, trace.Inconclusive, trace.Interrupted, "the reason that is known"},
		{"no control", honest, func(in *Input) { in.Control = nil }, trace.Inconclusive, trace.ControlUnsound, "nothing to measure against"},
		{"unsound control", faulty, func(in *Input) { in.Control.Learned = trace.Learned{Reason: stop(trace.Auth)} }, trace.Inconclusive, trace.Auth, "its reason is that of all cases"},
		{"allowed", honest, func(in *Input) { in.Case.Stop, in.Allow = stop(trace.OutOfBudget), allow }, trace.Skip, trace.Allowed, "--allow-inconclusive"},
		{"unreachable is never allowed", honest, func(in *Input) { in.Case.Stop, in.Allow = stop(trace.Unreachable), allow }, trace.Inconclusive, trace.Unreachable, "never"},
		{"auth is never allowed", honest, func(in *Input) { in.Case.Stop, in.Allow = stop(trace.Auth), allow }, trace.Inconclusive, trace.Auth, "never"},
		{"no rounds", honest, func(in *Input) { in.Case.Trace = nil }, trace.Inconclusive, trace.NoEvidence, "nothing is no pass"},
		{"void rounds only", faulty, func(in *Input) { in.Case.Trace[0].Void = "busy" }, trace.Inconclusive, trace.NoEvidence, "a void round counts for nothing"},
		{"sent twice", honest, func(in *Input) { in.Case.Trace[0].Exchanges[1].Wire = 2 }, trace.Error, "", "the tool forged its evidence"},
		{"hook failed", honest, func(in *Input) {
			in.Case.Trace[0].Pauses = []trace.Pause{{What: "hook expire", Error: "no such table"}}
		}, trace.Inconclusive, trace.SetupFailed, "the round is not what it should be"},
		{"unusable other body", honest, func(in *Input) {
			in.Scenario = builtin(t, "same-key-different-body")
			in.Control.Learned.Bodies = map[string]*trace.Reason{"other": stop(trace.Assumption)}
		}, trace.Inconclusive, trace.Assumption, "a refusal would prove nothing"},
		{"no overlap", honest, func(in *Input) {
			s := *in.Scenario
			s.Overlap = true
			in.Scenario = &s
		}, trace.Inconclusive, trace.NoOverlap, "each was answered before the next was sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.base(t)
			tt.change(&in)
			got := Case(in)
			if got.Verdict != tt.verdict || got.Reason != tt.code {
				t.Errorf("%s: got %s %s (%s), want %s %s", tt.reason, got.Verdict, got.Reason, got.Detail, tt.verdict, tt.code)
			}
			if tt.code == trace.Allowed && !strings.Contains(got.Detail, "why") {
				t.Errorf("the original reason is gone: %q", got.Detail)
			}
		})
	}
}

func TestOverlapProved(t *testing.T) {
	s := *builtin(t, "same-key-concurrent")
	s.Overlap = true
	in := input(t, s.ID, facts(), record(&s, 3).burst("burst", order(7), order(7)).send("after", order(7)).read("after", 1, 1))
	in.Scenario = &s
	if got := Case(in); got.Verdict != trace.Pass {
		t.Errorf("both were under way together: got %s (%s)", got.Verdict, got.Detail)
	}
}

func TestControlCase(t *testing.T) {
	tests := []struct {
		name    string
		facts   func(*trace.Facts)
		change  func(*trace.Control)
		verdict trace.Verdict
		rules   string
		code    trace.Code
		reason  string
	}{
		{"sound", nil, func(c *trace.Control) {}, trace.Pass, "", "", "one effect each"},
		{"nothing rose, resource missing", nil, func(c *trace.Control) {
			counted(c, 0, 0)
			c.Located = &trace.Exchange{Response: &trace.Response{Status: 404}}
		}, trace.Fail, "nothing-created", "", "success without work, whatever the counter looks at"},
		{"nothing rose", nil, func(c *trace.Control) { counted(c, 0, 0) }, trace.Inconclusive, "", trace.ControlUnsound, "perhaps the counter looks at the wrong thing"},
		{"nothing rose, resource there", nil, func(c *trace.Control) {
			counted(c, 0, 0)
			c.Located = &trace.Exchange{Response: &trace.Response{Status: 200}}
		}, trace.Inconclusive, "", trace.ControlUnsound, "the counter looks at the wrong thing"},
		{"one of two did not rise", nil, func(c *trace.Control) { counted(c, 1, 0) }, trace.Inconclusive, "", trace.ControlUnsound, "the plan or the counter is wrong"},
		{"rose by two", nil, func(c *trace.Control) { counted(c, 2, 1) }, trace.Inconclusive, "", trace.ControlUnsound, "never a pass, and no finding either"},
		{"login page", nil, func(c *trace.Control) {
			for i := range c.Rounds {
				c.Rounds[i].Exchanges[0].Response = html(200).response
			}
		}, trace.Inconclusive, "", trace.ControlUnsound, "not the endpoint"},
		{"uncounted", uncounted, func(c *trace.Control) {}, trace.Pass, "", "", "two answers name two creations"},
		{"uncounted, no names", uncounted, func(c *trace.Control) { c.Rounds[1].Exchanges[0].Response = c.Rounds[0].Exchanges[0].Response }, trace.Inconclusive, "", trace.NoEvidence, "nothing shows that anything was made"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts()
			if tt.facts != nil {
				tt.facts(&f)
			}
			in := input(t, "first-request", f)
			tt.change(in.Control)
			in.Control.Learned = Learn(f, in.Control)
			in.Case.OnControl = true
			got := Case(in)
			if got.Verdict != tt.verdict || told(in.Rules, got.Findings) != tt.rules || got.Reason != tt.code {
				t.Errorf("%s: got %s [%s] %s (%s)", tt.reason, got.Verdict, told(in.Rules, got.Findings), got.Reason, got.Detail)
			}
		})
	}
}

// counted sets what the counters showed after each control round.
func counted(c *trace.Control, orders, mails int64) {
	for i := range c.Rounds {
		c.Rounds[i].Readings[1].Values[0].N, c.Rounds[i].Readings[1].Values[2].N = orders, mails
	}
}

func TestControlCaseLateEffect(t *testing.T) {
	in := input(t, "first-request", facts())
	in.Case.OnControl = true
	late := in.Control.Rounds[0].Readings[1]
	late.Name, late.Values = trace.ReadingLate, slices.Clone(late.Values)
	late.Values[0].N = 2
	in.Control.Rounds[0].Readings = append(in.Control.Rounds[0].Readings, late)
	if got := Case(in); got.Verdict != trace.Inconclusive || got.Reason != trace.ControlUnsound {
		t.Errorf("an uncontested request with two effects is no pass: got %s %s", got.Verdict, got.Reason)
	}
}

func TestMergedFindings(t *testing.T) {
	s := builtin(t, "same-key-concurrent")
	round := func(n int, loser answer, orders int64) *recorder {
		return record(s, n).burst("burst", order(7), loser, loser).send("after", order(7)).read("after", orders, orders)
	}
	in := input(t, s.ID, facts(), round(3, broken, 1), round(4, order(8), 2), round(5, broken, 1), round(6, order(9), 3))
	got := Case(in)
	if told(in.Rules, got.Findings) != "duplicate-creation server-error-on-retry" || got.Rounds != 4 {
		t.Fatalf("got [%s] in %d rounds", told(in.Rules, got.Findings), got.Rounds)
	}
	dup, failed := got.Findings[0], got.Findings[1]
	if dup.Round != 4 || dup.Seen != 2 || failed.Round != 3 || failed.Seen != 2 {
		t.Errorf("the first round that shows a rule is its evidence: got rounds %d, %d seen %d, %d", dup.Round, failed.Round, dup.Seen, failed.Seen)
	}
	want := trace.CountChange{Before: 0, After: 2, Expected: 1}
	if dup.Counts["orders"] != want || dup.Message != "4 requests with one key had 2 effects: orders rose by 2, expected 1; mails rose by 2, expected 1" {
		t.Errorf("got %q with %v", dup.Message, dup.Counts)
	}
	if !slices.Equal(failed.Exchanges, []int{301, 302, 303}) {
		t.Errorf("the evidence begins with the reference: got %v", failed.Exchanges)
	}
	if len(dup.Curl) != 0 {
		t.Errorf("no curl line repeats a race: got %q", dup.Curl)
	}
}

func TestWorstRoundDecides(t *testing.T) {
	s := builtin(t, "same-key-again")
	round := func(n int, body string) *recorder {
		return record(s, n).send("first", order(7)).series("again", reply(201, body, "Location: /orders/ord_7")).read("after", 1, 1)
	}
	got := Case(input(t, s.ID, facts(), round(3, `{"id":"ord_7","qty":2,"request_id":"r"}`), round(4, `{"id":"ord_7"}`)))
	if f := got.Findings[0]; f.Severity != trace.Major || f.Round != 4 || f.Seen != 2 {
		t.Errorf("got %s in round %d, seen %d", f.Severity, f.Round, f.Seen)
	}
}

func TestViolated(t *testing.T) {
	s := builtin(t, "same-key-concurrent")
	tests := []struct {
		name   string
		round  func(*recorder)
		want   bool
		reason string
	}{
		{"honest", func(r *recorder) { r.burst("burst", order(7), order(7)).send("after", order(7)).read("after", 1, 1) }, false, "nothing broken"},
		{"counter behind", func(r *recorder) { r.burst("burst", order(7), order(7)).send("after", order(7)).read("after", 0, 0) }, false, "it may still rise"},
		{"counter above", func(r *recorder) { r.burst("burst", order(7), order(7)).send("after", order(7)).read("after", 2, 2) }, true, "it cannot fall"},
		{"answers name two", func(r *recorder) { r.burst("burst", order(7), order(8)).send("after", order(7)).read("after", 1, 1) }, true, "whatever the counters show so far"},
		{"answers name two, not counted yet", func(r *recorder) { r.burst("burst", order(7), order(8)).send("after", order(7)) }, true, "before the counters are read"},
		{"stuck", func(r *recorder) {
			r.burst("burst", broken, conflict).send("after", conflict.slow(4000*ms)).read("after", 0, 0)
		}, true, "every round would wait for the limit"},
		{"replay differs", func(r *recorder) { r.burst("burst", order(7), broken).send("after", order(7)).read("after", 1, 1) }, false, "the worse may still come"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := record(s, 3)
			tt.round(r)
			if got := Violated(input(t, s.ID, facts(), r)); got != tt.want {
				t.Errorf("%s: got %v", tt.reason, got)
			}
		})
	}
}

func TestPower(t *testing.T) {
	s := builtin(t, "same-key-concurrent")
	round := func(n int) *recorder {
		return record(s, n).burst("burst", order(7), order(7), order(7)).send("after", order(7)).read("after", 1, 1)
	}
	got := Case(input(t, s.ID, facts(), round(3), round(4)))
	for _, want := range []string{"duplicate-creation", "silent-duplicate", "side-effect-repeated", "stuck-in-progress", "2 rounds of 3 copies over 3 connections",
		"http/1.1 last byte", "spread 40 us, first gap 9 us", "counted by orders, mails", "still for 300 ms"} {
		if !strings.Contains(got.Power, want) {
			t.Errorf("%q is missing in %q", want, got.Power)
		}
	}
	if f := got.Firing; f == nil || f.Copies != 3 || f.SpreadUS.P95 != 40 || got.Uncounted {
		t.Errorf("got firing %+v, uncounted %v", f, got.Uncounted)
	}
	f := facts()
	uncounted(&f)
	got = Case(input(t, s.ID, f, round(3)))
	if !strings.Contains(got.Power, "would have caught duplicate-creation, status-not-replayed") || !strings.Contains(got.Power, "no counter: effects judged by creation fields $.id, header Location alone") || strings.Contains(got.Power, "silent-duplicate") || !got.Uncounted {
		t.Errorf("got %q", got.Power)
	}
}

func TestQuantiles(t *testing.T) {
	if got := quantiles([]float64{5, 1, 4, 2, 3}); got != (trace.Quantiles{P50: 3, P95: 5}) {
		t.Errorf("got %+v", got)
	}
}

func TestEndpointVerdict(t *testing.T) {
	for _, tt := range []struct {
		in     []trace.Verdict
		want   trace.Verdict
		reason string
	}{
		{nil, trace.Skip, "nothing ran"},
		{[]trace.Verdict{trace.Skip, trace.Pass}, trace.Pass, "skips hide no pass"},
		{[]trace.Verdict{trace.Pass, trace.Warn}, trace.Warn, "worse"},
		{[]trace.Verdict{trace.Warn, trace.Inconclusive, trace.Pass}, trace.Inconclusive, "worse"},
		{[]trace.Verdict{trace.Inconclusive, trace.Error}, trace.Error, "worse"},
		{[]trace.Verdict{trace.Fail, trace.Error}, trace.Fail, "a violation wins"},
	} {
		var cases []trace.Case
		for _, v := range tt.in {
			cases = append(cases, trace.Case{Result: trace.Result{Verdict: v}})
		}
		if got := EndpointVerdict(cases); got != tt.want {
			t.Errorf("%s: %v gave %s", tt.reason, tt.in, got)
		}
	}
}

func TestSummarize(t *testing.T) {
	for _, tt := range []struct {
		in     []trace.Verdict
		exit   int
		reason string
	}{
		{nil, 3, "nothing ran"},
		{[]trace.Verdict{trace.Skip, trace.Skip}, 3, "nothing ran, allowed or not"},
		{[]trace.Verdict{trace.Pass, trace.Skip, trace.Warn}, 0, "nothing failed"},
		{[]trace.Verdict{trace.Pass, trace.Inconclusive}, 3, "something could not be judged"},
		{[]trace.Verdict{trace.Error}, 3, "the tool failed"},
		{[]trace.Verdict{trace.Inconclusive, trace.Fail, trace.Error}, 1, "a violation wins"},
	} {
		endpoints := []trace.Endpoint{{}}
		for _, v := range tt.in {
			endpoints[0].Cases = append(endpoints[0].Cases, trace.Case{Result: trace.Result{Verdict: v}})
		}
		got := Summarize(endpoints)
		c := got.Cases
		if got.ExitCode != tt.exit || c.Pass+c.Fail+c.Warn+c.Inconclusive+c.Skip+c.Error != len(tt.in) {
			t.Errorf("%s: %v gave %+v", tt.reason, tt.in, got)
		}
	}
}

// What does not apply to an endpoint is no behaviour of it, unless the plan requires it.
func TestSummarizeCountsTheNotApplicableApart(t *testing.T) {
	got := Summarize([]trace.Endpoint{{Cases: []trace.Case{
		{Result: trace.Result{Verdict: trace.Pass}},
		{Result: trace.Result{Verdict: trace.Skip, Reason: trace.Needs}},
		{Result: trace.Result{Verdict: trace.Skip, Reason: trace.NotApplicable}},
		{Result: trace.Result{Verdict: trace.Fail, Reason: trace.NotApplicable}},
	}}}).Cases
	if want := (trace.Tally{Pass: 1, Skip: 1, Fail: 1, NotApplicable: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestUnknownRuleIsMajor(t *testing.T) {
	in := faulty(t)
	in.Rules = nil
	if got := Case(in); len(got.Findings) == 0 || got.Findings[0].Severity != trace.Major {
		t.Errorf("got %+v", got.Findings)
	}
}

// TestScenariosJudgeable fails when a built-in scenario uses a form that no check here knows.
func TestScenariosJudgeable(t *testing.T) {
	all, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, e := range slices.Concat(s.Expect, s.Assume) {
			if e.Created == nil && e.Never == "" && formOf(&e) == formOf(&scenarios.Expectation{}) {
				t.Errorf("%s: %+v is judged by nothing", s.ID, e)
			}
		}
	}
}

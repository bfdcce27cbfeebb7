package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func TestBrokenOnPurpose(t *testing.T) {
	pauses := []trace.Pause{{What: "hook break", Started: 10, Ended: 20}, {What: "wait 1s", Started: 25, Ended: 28}, {What: "hook heal", Started: 40, Ended: 50}}
	for _, c := range []struct {
		reason string
		sent   trace.Nanos
		status int
		want   trace.Class
	}{
		{"before", 5, 503, trace.ClassIntermediary},
		{"while it is broken", 30, 503, trace.ClassFailed},
		{"502 too", 30, 502, trace.ClassFailed},
		{"a refusal stays one", 30, 409, trace.ClassRefused},
		{"behind", 60, 503, trace.ClassIntermediary},
	} {
		r := &trace.Round{Pauses: pauses, Exchanges: []trace.Exchange{{Started: c.sent, Done: c.sent + 5, Response: &trace.Response{Status: c.status}}}}
		if got := Classify(trace.Facts{}, trace.Learned{SuccessStatus: 201}, r, 0); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
	failed := &trace.Round{Pauses: []trace.Pause{{What: "hook break", Error: "no"}}}
	if brokenOnPurpose(failed, &trace.Exchange{Started: 9}) {
		t.Error("a hook that failed broke nothing")
	}
}

func TestKilled(t *testing.T) {
	v := &view{round: &trace.Round{
		Pauses: []trace.Pause{{What: "hook crash", Started: 10, Ended: 20}},
		Exchanges: []trace.Exchange{
			{Started: 1, Done: 9}, {Started: 5, Done: 11}, {Started: 15, Done: 17}, {Started: 21, Done: 30},
		},
	}}
	for i, want := range []bool{false, true, true, false} {
		if got := v.killed(i); got != want {
			t.Errorf("exchange %d: got %v", i, got)
		}
	}
}

// interrupted are the steps of a script that ends the process while `first` is open.
func interrupted(hook string) *scenarios.Scenario {
	s := script([]string{"first", "retry"}, scenarios.Expectation{Created: &scenarios.Created{N: 1}, Rule: "retry-repeats-partial-work"})
	first, retry := s.Steps[0], s.Steps[1]
	send := *first.Send
	send.Background = true
	first.Send = &send
	s.Overlap, s.Steps = true, []scenarios.Step{first, {Hook: &scenarios.Hook{Run: hook}}, {Join: "first"}, retry}
	return s
}

// ends records that a hook ended the process, which was there again after 300 ms.
func (r *recorder) ends(hook string, at trace.Nanos) *recorder {
	r.round.Pauses = append(r.round.Pauses, trace.Pause{Step: 1, What: "hook " + hook, Started: at, Ended: at + 300*ms})
	r.now = max(r.now, at+300*ms)
	return r
}

// TestProcessEndsUnderWay holds that a round in which the process died with nothing to do proves nothing, neither for the
// endpoint nor against it.
func TestProcessEndsUnderWay(t *testing.T) {
	eof := lost(trace.PhaseAnswer, "EOF")
	for _, c := range []struct {
		reason  string
		hook    string
		first   answer
		after   trace.Nanos // from the first byte sent to the beginning of the hook
		orders  int64
		verdict trace.Verdict
		rules   string
	}{
		{"the crash left it without an answer, and the retry made one order", "crash", eof.slow(12 * ms), 10 * ms, 1, trace.Pass, ""},
		{"the crash left it without an answer, and the retry made another order", "crash", eof.slow(12 * ms), 10 * ms, 2, trace.Fail, "retry-repeats-partial-work"},
		{"a gateway answered for the dead process", "crash", reply(502, ``).slow(12 * ms), 10 * ms, 2, trace.Fail, "retry-repeats-partial-work"},
		{"it failed while the process ended", "restart", reply(500, `{}`).slow(12 * ms), 10 * ms, 2, trace.Fail, "retry-repeats-partial-work"},
		{"answered before the hook", "crash", order(7).slow(9 * ms), 10 * ms, 1, trace.Inconclusive, ""},
		{"answered before the hook, and the key was lost: no partial work", "crash", order(7).slow(9 * ms), 10 * ms, 2, trace.Inconclusive, ""},
		{"answered between the beginning of the hook and the end of the process", "crash", order(7).slow(12 * ms), 10 * ms, 2, trace.Inconclusive, ""},
		{"an orderly end let it finish", "restart", order(7).slow(12 * ms), 10 * ms, 1, trace.Pass, ""},
		{"answered before the orderly end", "restart", order(7).slow(9 * ms), 10 * ms, 1, trace.Inconclusive, ""},
		{"refused, so nothing was at work", "crash", reply(422, `{}`).slow(12 * ms), 10 * ms, 1, trace.Inconclusive, ""},
		{"turned away, so nothing was at work", "crash", reply(429, `{}`).slow(12 * ms), 10 * ms, 1, trace.Inconclusive, ""},
		{"cut off before the hook", "crash", eof.slow(9 * ms), 10 * ms, 2, trace.Inconclusive, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := interrupted(c.hook)
			r := record(s, 3).send("first", c.first)
			r.ends(c.hook, r.last().Started+c.after).send("retry", order(8)).read(trace.ReadingAfter, c.orders, c.orders)
			in := input(t, "same-key-again", facts(), r)
			in.Scenario = s
			got := Case(in)
			if got.Verdict != c.verdict || told(in.Rules, got.Findings) != c.rules {
				t.Errorf("got %s [%s] %s (%s), want %s [%s]", got.Verdict, told(in.Rules, got.Findings), got.Reason, got.Detail, c.verdict, c.rules)
			}
			void := Repeat(in, &r.round)
			if want := c.verdict == trace.Inconclusive && c.first.response != nil; (void != nil) != want {
				t.Errorf("repeated: %+v, want %v", void, want)
			}
			if void != nil && (void.Code != trace.NoOverlap || got.Reason != trace.NoOverlap || !strings.Contains(void.Detail, "`first` was answered")) {
				t.Errorf("got %s, and repeated because of %+v", got.Reason, void)
			}
		})
	}
}

// TestProcessEndsDuringWork is about a request that is answered before its work is done.
func TestProcessEndsDuringWork(t *testing.T) {
	s := interrupted("crash")
	for _, c := range []struct {
		reason       string
		after, asked trace.Nanos // from the answer to the hook, and from the hook's end to the last question
		met          bool
	}{
		{"within the work", 400 * ms, ms, true},
		{"when the work was long done", 600 * ms, ms, false},
		{"the work was seen to be done before", 400 * ms, -301 * ms, false},
	} {
		r := record(s, 3).send("first", reply(202, `{"id":"j1"}`))
		x := r.last()
		r.ends("crash", x.FirstByte+c.after)
		p := &r.round.Pauses[0]
		r.round.Work = []trace.Work{{Of: []int{x.ID}, Asked: []trace.Exchange{{Done: p.Ended + c.asked}}}}
		in := Input{Scenario: s, Facts: trace.Facts{Await: &trace.Await{}}}
		v := newView(&in, trace.Learned{SuccessStatus: 202, WorkTime: 500 * ms}, &r.round)
		if got := v.noOverlap() == nil; got != c.met {
			t.Errorf("%s: met %v", c.reason, got)
		}
	}
}

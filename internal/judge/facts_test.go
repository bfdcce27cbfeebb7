package judge

import (
	"compress/gzip"
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// TestDocumented judges by what plan and convention say.
func TestDocumented(t *testing.T) {
	again := builtin(t, "same-key-again")
	other := builtin(t, "same-key-different-body")
	left := builtin(t, "client-timeout")
	reordered := script([]string{"first", "again"}, scenarios.Expectation{Same: []string{"first", "again"}, Rule: "equivalent-body-refused"})

	repeat := func(a answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("first", order(7)).series("again", a).read("after", 1, 1)
		}
	}
	changed := func(a answer, effects int64) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("first", order(7)).send("again", order(7)).send("other", a).send("after", order(7)).read("after", effects, effects)
		}
	}
	refused := func(a answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("first", order(7)).send("again", a).send("other", mismatch).send("after", a).read("after", 1, 1)
		}
	}
	retried := func(a answer) func(*scenarios.Scenario) *recorder {
		return func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("lost", lost(trace.PhaseCut, "").shown()).send("retry", a).send("again", a).read("after", 1, 1)
		}
	}
	unseen := func(effects int64) func(*scenarios.Scenario) *recorder { // no count was read between the lost answer and the retry
		return func(s *scenarios.Scenario) *recorder {
			r := record(s, 3).send("lost", lost(trace.PhaseCut, "")).send("retry", conflict).send("again", conflict).read("after", effects, effects)
			for _, reading := range r.round.Readings { // the counters are marked, so each value is of one key
				for k := range reading.Values {
					reading.Values[k].Scopes = reading.Values[k].Scopes[:1]
				}
			}
			return r
		}
	}
	replayed := func(f *trace.Facts) { f.Mismatch = "replayed" }
	anyStatus := func(f *trace.Facts) { f.AnyReplayStatus = true }
	status200 := func(f *trace.Facts) { f.ReplayStatuses = []int{200} }
	conflicts := func(f *trace.Facts) { f.Conflicts, f.ReplayStatuses = true, []int{409} }
	nothingRuns := func(f *trace.Facts) { conflicts(f); f.Statuses.InProgress = nil } // as in the dialect gocardless
	inBytes := func(f *trace.Facts) { f.Fingerprint = "bytes" }
	errors200 := func(f *trace.Facts) { f.RefusedWhere = "$.errors" }
	ok := reply(200, order(7).response.Body.Text, "Location: /orders/ord_7")
	wrong := reply(200, `{"errors":[{"message":"another body"}],"id":null}`)

	judgeForms(t, []formCase{
		{"other body, first answer", other, replayed, changed(order(7), 1), trace.Pass, "", "", "documented"},
		{"other body, refused", other, replayed, changed(mismatch, 1), trace.Pass, "", "", "right as well"},
		{"other body, executed", other, replayed, changed(order(8), 2), trace.Fail, "different-body-executed", "", "documented by nobody"},

		{"another status", again, anyStatus, repeat(ok), trace.Pass, "", "", "any status is documented"},
		{"the documented status", again, status200, repeat(ok), trace.Pass, "", "", "200 for a replay"},
		{"the first status", again, status200, repeat(order(7)), trace.Pass, "", "", "no caller is hurt by it"},
		{"a third status", again, status200, repeat(reply(203, order(7).response.Body.Text, "Location: /orders/ord_7")), trace.Fail, "status-not-replayed", "", "neither"},

		{"conflict", again, conflicts, repeat(conflict), trace.Pass, "", "", "documented"},
		{"conflict, other status", again, conflicts, repeat(mismatch), trace.Warn, "wrong-refusal-status", "", "refused otherwise"},
		{"conflict, but replayed", again, conflicts, repeat(order(7)), trace.Warn, "wrong-refusal-status", "", "documented as refused"},
		{"conflict, but created again", again, conflicts, func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("first", order(7)).series("again", order(8)).read("after", 2, 2)
		}, trace.Fail, "key-ignored", "", "effects are judged apart"},
		{"conflict throughout", other, conflicts, refused(conflict), trace.Pass, "", "", "nothing can be overwritten"},
		{"conflict after a lost answer", left, conflicts, retried(conflict), trace.Pass, "", "", "the work was done, and that is all that is documented"},
		{"conflict after a lost answer, other status", left, conflicts, retried(mismatch), trace.Inconclusive, "wrong-refusal-status", trace.NoEvidence, "no replay to compare, and a minor finding"},

		{"conflict after a lost answer, counted later", left, nothingRuns, unseen(1), trace.Pass, "", "", "whoever was refused had no effect, so the lost one had"},
		{"conflict after a lost answer, nothing done", left, nothingRuns, unseen(0), trace.Fail, "cut-not-completed", "", "a conflict with nothing"},

		{"other bytes refused", reordered, inBytes, repeat(mismatch), trace.Pass, "", "", "bytes are compared, as documented"},
		{"other bytes refused, not documented", reordered, nil, repeat(mismatch), trace.Warn, "equivalent-body-refused", "", "the same request"},

		{"error with 200 for another body", other, errors200, changed(wrong, 1), trace.Pass, "", "", "refused, whatever the status"},
		{"error with 200 for the retry", again, errors200, repeat(wrong), trace.Fail, "body-not-replayed", "", "no replay"},
		{"null is no error", again, errors200, repeat(reply(201, `{"id":"ord_7","qty":1,"request_id":"r","errors":null}`, "Location: /orders/ord_7")), trace.Fail, "body-not-replayed", "", "success, with a field more"},

		{"compressed otherwise", again, strictly, func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("first", gzipped(order(7))).series("again", compressedAt(order(7), gzip.HuffmanOnly), order(7)).read("after", 1, 1)
		}, trace.Pass, "", "", "the same body"},
		{"another body, compressed", again, strictly, func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("first", gzipped(order(7))).series("again", gzipped(reply(201, `{"id":"ord_7","qty":2,"request_id":"r"}`, "Location: /orders/ord_7"))).read("after", 1, 1)
		}, trace.Fail, "body-not-replayed", "", "seen through the compression"},
		{"compressed, not kept whole", again, strictly, func(s *scenarios.Scenario) *recorder {
			r := record(s, 3).send("first", gzipped(order(7))).series("again", gzipped(order(7))).read("after", 1, 1)
			for i := range r.round.Exchanges {
				b := &r.round.Exchanges[i].Response.Body
				b.Truncated, b.SHA256 = true, string(rune('a'+i))
			}
			return r
		}, trace.Inconclusive, "", trace.NoEvidence, "two compressions of one body may differ"},
		{"no content", again, nil, func(s *scenarios.Scenario) *recorder {
			return record(s, 3).send("first", reply(204, "")).series("again", reply(204, ""), reply(204, "")).read("after", 1, 1)
		}, trace.Pass, "", "", "nothing to compare but the status, and the counters"},
	})
}

func TestConflictMessage(t *testing.T) {
	const once = "one effect, but the retry cannot learn the result"
	for _, tt := range []struct {
		facts  func(*trace.Facts)
		want   bool
		reason string
	}{
		{func(*trace.Facts) {}, true, "the counts show exactly one"},
		{uncounted, false, "nobody counted"},
	} {
		f := facts()
		tt.facts(&f)
		in := input(t, "same-key-again", f, record(builtin(t, "same-key-again"), 3).send("first", order(7)).series("again", conflict).read("after", 1, 1))
		got := Case(in)
		if len(got.Findings) != 1 || strings.Contains(got.Findings[0].Message, once) != tt.want {
			t.Errorf("%s: got %+v", tt.reason, got.Findings)
		}
	}
}

func TestRefusedWhere(t *testing.T) {
	f := facts()
	tests := []struct {
		where, body string
		status      int
		want        trace.Class
		reason      string
	}{
		{"$.errors", `{"errors":[{"message":"no"}]}`, 200, trace.ClassRefused, "a list of errors"},
		{"$.errors", `{"errors":[]}`, 200, trace.ClassSuccess, "an empty list"},
		{"$.errors", `{"errors":null}`, 200, trace.ClassSuccess, "null"},
		{"$.errors", `{}`, 200, trace.ClassSuccess, "not there"},
		{"$.errors[0]", `{"errors":["no"]}`, 200, trace.ClassRefused, "its first entry"},
		{"$.failed", `{"failed":true}`, 200, trace.ClassRefused, "a flag"},
		{"$.failed", `{"failed":false}`, 200, trace.ClassSuccess, "a flag that is down"},
		{"$.error", `{"error":""}`, 200, trace.ClassSuccess, "an empty text"},
		{"$.error", `{"error":"no"}`, 200, trace.ClassRefused, "a text"},
		{"$.code", `{"code":0}`, 200, trace.ClassRefused, "a number is something"},
		{"$.error", `{"error":"no"}`, 500, trace.ClassRefused, "whatever the status"},
		{"$.error", `{"error":"no"}`, 504, trace.ClassNone, "a gateway may have answered"},
		{"$.error", `no JSON`, 200, trace.ClassSuccess, "nothing to look into"},
		{"", `{"error":"no"}`, 200, trace.ClassSuccess, "the plan does not say"},
		{"$[", `{"error":"no"}`, 200, trace.ClassSuccess, "no query"},
	}
	for _, tt := range tests {
		f.RefusedWhere = tt.where
		r := record(builtin(t, "first-request"), 1).send("first", reply(tt.status, tt.body))
		if got := Classify(f, trace.Learned{SuccessStatus: 200, ContentType: "application/json"}, &r.round, 0); got != tt.want {
			t.Errorf("%s: %s in %d %s: got %s, want %s", tt.reason, tt.where, tt.status, tt.body, got, tt.want)
		}
	}
}

// TestErrorWhileRunning holds that the plan's query does not hide an in-progress answer: it is asked again.
func TestErrorWhileRunning(t *testing.T) {
	f := facts()
	f.RefusedWhere = "$.error"
	s := script([]string{"first", "copy"})
	r := among(s, "A").under("A", "first", order(7).slow(100*ms)).during(10*ms, "copy", conflict)
	if got := Classify(f, trace.Learned{SuccessStatus: 201, ContentType: "application/json"}, &r.round, 1); got != trace.ClassInProgress {
		t.Errorf("409 with an error in it, while the first runs: got %s", got)
	}
}

func TestVariants(t *testing.T) {
	tests := []struct {
		variant string
		a       answer
		detail  string // a part of the reason; empty for none
		code    trace.Code
	}{
		{"invalid", mismatch, "", ""},
		{"invalid", order(3), "the endpoint accepted it", trace.Assumption},
		{"invalid", broken, "should be refused, found status 500", trace.Assumption},
		{"invalid", reply(401, `{}`), "credentials", trace.Auth},
		{"invalid", lost(trace.PhaseAnswer, "EOF"), "should be refused, found no answer", trace.Assumption},
		{"reordered", order(3), "", ""},
		{"reordered", mismatch, "should succeed, found status 422", trace.Assumption},
		{"other", mismatch, "should succeed, found status 422", trace.Assumption},
		{"fail", broken, "", ""},
		{"fail", order(3), "should be answered with 5xx", trace.Assumption},
	}
	for _, tt := range tests {
		c := twice(t, order(1), order(2))
		v := record(builtin(t, "first-request"), 3).send("first", tt.a).round
		v.Variant = tt.variant
		c.Variants = []trace.Round{v}
		l := Learn(facts(), c)
		why, tried := l.Bodies[tt.variant]
		if !tried || (why == nil) != (tt.detail == "") || why != nil && (!strings.Contains(why.Detail, tt.detail) || why.Code != tt.code) {
			t.Errorf("%s, %s: got %+v", tt.variant, answerText(&v.Exchanges[0]), why)
		}
		r := record(builtin(t, "same-key-again"), 3).send("first", order(7)).series("again", order(7)).read("after", 1, 1)
		in := input(t, "same-key-again", facts(), r)
		s := *in.Scenario
		s.Steps = append([]scenarios.Step{{Send: &scenarios.Send{Key: "B", Body: tt.variant, Label: "tried"}}}, s.Steps...)
		in.Scenario, in.Control.Learned.Bodies = &s, l.Bodies
		for i := range in.Case.Trace[0].Exchanges {
			in.Case.Trace[0].Exchanges[i].Step++
		}
		if got := Case(in); got.Reason != tt.code {
			t.Errorf("%s, %s: a case that uses it: got %s %s", tt.variant, answerText(&v.Exchanges[0]), got.Verdict, got.Reason)
		}
	}
}

// TestMethodControl holds that an endpoint without key and counter, whose answers name nothing, has a sound control when
// it answers with success.
func TestMethodControl(t *testing.T) {
	tests := []struct {
		name   string
		facts  func(*trace.Facts)
		a      answer
		want   trace.Verdict
		code   trace.Code
		reason string
	}{
		{"204", func(f *trace.Facts) { f.Counters, f.Key = nil, trace.KeyPlace{} }, reply(204, ""), trace.Pass, "", "success is all that can be asked"},
		{"404", func(f *trace.Facts) { f.Counters, f.Key = nil, trace.KeyPlace{} }, reply(404, `{}`), trace.Inconclusive, trace.ControlUnsound, "no success"},
		{"204 with a key", uncounted, reply(204, ""), trace.Inconclusive, trace.NoEvidence, "how often was it done"},
		{"counted", func(f *trace.Facts) { f.Key = trace.KeyPlace{} }, reply(204, ""), trace.Pass, "", "the counters rose as planned"},
	}
	for _, tt := range tests {
		f := facts()
		tt.facts(&f)
		in := input(t, "first-request", f)
		in.Control = twice(t, tt.a, tt.a)
		in.Control.Learned = Learn(f, in.Control)
		in.Case.OnControl = true
		if got := Case(in); got.Verdict != tt.want || got.Reason != tt.code {
			t.Errorf("%s: got %s %s (%s), want %s %s: %s", tt.name, got.Verdict, got.Reason, got.Detail, tt.want, tt.code, tt.reason)
		} else if got.Uncounted {
			t.Errorf("%s: said to be judged by answers alone, though these name nothing", tt.name)
		}
	}
}

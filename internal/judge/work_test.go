package judge

import (
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

// accepting is an endpoint that accepts a request and does its work later.
func accepting() trace.Facts {
	f := facts()
	f.Await = &trace.Await{Follow: "Location", Limit: 1000 * ms,
		Until:  []trace.Match{{Path: "$.status", Values: []string{"done", "partly done"}}},
		Failed: []trace.Match{{Path: "$.status", Values: []string{"failed"}}, {Path: "$.error.code", Values: []string{"1", "true"}}}}
	return f
}

// job is the answer to a request that is accepted as a job.
func job(id string) answer {
	return reply(202, `{"job":"`+id+`"}`, "Location: /jobs/"+id)
}

func asked(status int, body string) *trace.Exchange {
	return &trace.Exchange{Response: reply(status, body).response}
}

func TestReadWork(t *testing.T) {
	for _, c := range []struct {
		x      *trace.Exchange
		want   trace.WorkState
		reason string
	}{
		{asked(200, `{"status":"queued"}`), trace.WorkOpen, "not yet"},
		{asked(200, `{"status":"done"}`), trace.WorkDone, "the value"},
		{asked(200, `{"status":"partly done"}`), trace.WorkDone, "another value"},
		{asked(200, `{"status":"failed"}`), trace.WorkFailed, "it says so"},
		{asked(200, `{"status":"done","error":{"code":1.0}}`), trace.WorkFailed, "any failure counts, and numbers by their value"},
		{asked(200, `{"status":"queued","error":{"code":true}}`), trace.WorkFailed, "a truth value"},
		{asked(200, `{"status":"queued","error":{"code":"11"}}`), trace.WorkOpen, "the whole text counts"},
		{asked(200, `{}`), trace.WorkOpen, "nothing there"},
		{asked(200, `done`), trace.WorkOpen, "no JSON"},
		{asked(404, `{"status":"done"}`), trace.WorkOpen, "not there yet"},
		{asked(503, ``), trace.WorkOpen, "asked again"},
		{&trace.Exchange{}, trace.WorkOpen, "no answer"},
		{asked(303, `{"status":"done"}`), trace.WorkAstray, "redirects are never followed"},
		{asked(401, ``), trace.WorkAstray, "credentials"},
	} {
		if got := ReadWork(accepting().Await, c.x); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
	several := &trace.Await{Until: []trace.Match{{Path: "$.parts[*].done", Values: []string{"true"}}, {Path: "$.total", Values: []string{"2"}}}}
	for body, want := range map[string]trace.WorkState{
		`{"total":2,"parts":[{"done":true},{"done":true}]}`:  trace.WorkDone,
		`{"total":2,"parts":[{"done":true},{"done":false}]}`: trace.WorkOpen,
		`{"total":1,"parts":[{"done":true}]}`:                trace.WorkOpen,
		`{"total":2,"parts":[]}`:                             trace.WorkOpen,
	} {
		if got := ReadWork(several, asked(200, body)); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
}

// follow records questions for the work of the latest exchanges with some labels, 100 ms apart.
func (r *recorder) follow(id string, labels []string, answers ...answer) *recorder {
	w := trace.Work{URL: "http://127.0.0.1:8080/jobs/" + id}
	for i := range r.round.Exchanges {
		for _, label := range labels {
			if x := &r.round.Exchanges[i]; x.Label == label && workOf(&r.round, x.ID) == nil {
				w.Of = append(w.Of, x.ID)
			}
		}
	}
	for _, a := range answers {
		r.now += 100 * ms
		r.id++
		w.Asked = append(w.Asked, trace.Exchange{ID: r.id, Step: -1, Scope: "A", Wire: 1, Started: r.now, Sent: r.now + ms, FirstByte: r.now + 2*ms,
			Done: r.now + 3*ms, Response: a.response, Error: a.err, Broke: a.broke, Request: trace.Request{Method: "GET", URL: w.URL}})
		r.now += 3 * ms
	}
	r.round.Work = append(r.round.Work, w)
	return r
}

var (
	queued = reply(200, `{"id":"j","status":"queued"}`)
	failed = reply(200, `{"id":"j","status":"failed"}`)
	gone   = reply(404, `{"error":"no such job"}`)
)

func made(order string) answer {
	return reply(200, `{"id":"j","status":"done","order_id":"`+order+`"}`)
}

// late is an answer that came when the limit had passed.
func late(a answer) []answer {
	var out []answer
	for range 12 {
		out = append(out, a)
	}
	return out
}

func acceptedControl(t *testing.T, f trace.Facts) *trace.Control {
	t.Helper()
	s := builtin(t, "first-request")
	c := &trace.Control{Rounds: []trace.Round{
		record(s, 1).send("first", job("job_1")).follow("job_1", []string{"first"}, queued, made("ord_1")).read("after", 1, 1).round,
		record(s, 2).send("first", job("job_2")).follow("job_2", []string{"first"}, made("ord_2")).read("after", 1, 1).round,
	}}
	c.Learned = Learn(f, c)
	return c
}

func TestLearnWork(t *testing.T) {
	c := acceptedControl(t, accepting())
	l := c.Learned
	if !l.Sound || l.SuccessStatus != 202 || len(l.ResultFields) != 1 || l.ResultFields[0] != "$.order_id" {
		t.Errorf("learned %+v", l)
	}
	if l.WorkTime != 206*ms {
		t.Errorf("the work took %s", l.WorkTime.Duration())
	}
	s := builtin(t, "first-request")
	for _, tt := range []struct {
		name   string
		follow func(*recorder)
		code   trace.Code
		detail string
	}{
		{"never done", func(r *recorder) { r.follow("job_1", []string{"first"}, late(queued)...) }, trace.ControlUnsound, `was not done within 1.0 s: GET http://127.0.0.1:8080/jobs/job_1 is answered status 200, {"id":"j","status":"queued"}, expected $.status = done or partly done`},
		{"failed", func(r *recorder) { r.follow("job_1", []string{"first"}, failed) }, trace.ControlUnsound, "the work behind it failed"},
		{"redirected", func(r *recorder) { r.follow("job_1", []string{"first"}, reply(303, "", "Location: /orders/1")) }, trace.ControlUnsound, `redirected with 303 to "/orders/1"`},
		{"refused", func(r *recorder) { r.follow("job_1", []string{"first"}, reply(401, `{"e":"who?"}`)) }, trace.Auth, "who?"},
		{"down", func(r *recorder) { r.follow("job_1", []string{"first"}, lost(trace.PhaseDial, "connection refused")) }, trace.Unreachable, "connection refused"},
		{"names nothing", func(r *recorder) {
			r.round.Work = []trace.Work{{Of: []int{r.last().ID}, Refusal: "expected a header Location, found none"}}
		}, trace.ControlUnsound, "expected a header Location, found none"},
		{"not asked", func(*recorder) {}, trace.ControlUnsound, "was not asked for"},
	} {
		r := record(s, 1).send("first", job("job_1"))
		tt.follow(r)
		got := Learn(accepting(), &trace.Control{Rounds: []trace.Round{r.read("after", 0, 0).round}})
		if got.Sound || got.Reason == nil || got.Reason.Code != tt.code || !strings.Contains(got.Reason.Detail, tt.detail) {
			t.Errorf("%s: got %+v", tt.name, got.Reason)
		}
	}
}

func TestAwaitedCases(t *testing.T) {
	both := []string{"first", "again"}
	for _, tt := range []struct {
		reason   string
		scenario string
		round    func(*recorder)
		verdict  trace.Verdict
		rules    string
		code     trace.Code
	}{
		{"one job, one order", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).series("again", job("job_9")).follow("job_9", both, queued, made("ord_9")).read("after", 1, 1)
		}, trace.Pass, "", ""},
		{"the retry's job is never done", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).
				series("again", job("job_9")).follow("job_9", []string{"again"}, late(queued)...).read("after", 1, 1)
		}, trace.Fail, "accepted-never-done", ""},
		{"the retry's job failed", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).
				series("again", job("job_9")).follow("job_9", []string{"again"}, failed).read("after", 1, 1)
		}, trace.Fail, "accepted-never-done", ""},
		{"the retry's job is gone", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).
				series("again", job("job_9")).follow("job_9", []string{"again"}, late(gone)...).read("after", 1, 1)
		}, trace.Fail, "accepted-never-done", ""},
		{"asked for too short a time", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).series("again", job("job_9")).follow("job_9", both, queued).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Interrupted},
		{"could not be seen", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).series("again", job("job_9")).follow("job_9", both, late(reply(500, "{}"))...).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.StillBusy},
		{"a redirect in place of the job", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).series("again", job("job_9")).follow("job_9", both, reply(303, "", "Location: /x")).read("after", 1, 1)
		}, trace.Inconclusive, "", trace.Assumption},
		{"equal answers, two orders", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).
				series("again", job("job_9")).follow("job_9", []string{"again"}, made("ord_10")).read("after", 2, 2)
		}, trace.Fail, "key-ignored", ""}, // whoever asks can tell, so it is not silent
		{"equal answers, two orders, one counted", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).
				series("again", job("job_9")).follow("job_9", []string{"again"}, made("ord_10")).read("after", 1, 1)
		}, trace.Fail, "body-not-replayed", ""},
		{"two orders behind one job", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).series("again", job("job_9")).follow("job_9", both, made("ord_9")).read("after", 2, 2)
		}, trace.Fail, "silent-duplicate", ""},
		{"in progress while the job runs", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).copies("again", []string{"A"}, []answer{conflict}).follow("job_9", []string{"first"}, made("ord_9")).
				copies("again", []string{"A"}, []answer{job("job_9")})
			r.last().Repeat = 1
			r.follow("job_9", []string{"again"}, made("ord_9")).read("after", 1, 1)
		}, trace.Pass, "", ""},
		{"accepted by an earlier run", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9"))
			r.last().Planted = time.Unix(1, 0)
			r.series("again", job("job_9")).follow("job_9", []string{"again"}, made("ord_9")).read("after", 1, 1)
		}, trace.Pass, "", ""},
		{"a conflict when the job is done", "same-key-again", func(r *recorder) {
			r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).series("again", conflict).read("after", 1, 1)
		}, trace.Fail, "conflict-instead-of-replay", ""},
		{"the script made it fail", "server-error-then-retry", func(r *recorder) {
			r.send("failing", job("job_9"))
			r.last().Body = "fail"
			r.send("retry", job("job_9")).send("again", job("job_9")).follow("job_9", []string{"failing", "retry", "again"}, failed).read("after", 0, 0)
		}, trace.Inconclusive, "", trace.Assumption},
	} {
		f := accepting()
		r := record(builtin(t, tt.scenario), 3)
		tt.round(r)
		in := input(t, tt.scenario, facts(), r)
		in.Facts, in.Control = f, acceptedControl(t, f)
		got := Case(in)
		if rules := told(in.Rules, got.Findings); got.Verdict != tt.verdict || rules != tt.rules || got.Reason != tt.code {
			t.Errorf("%s: got %s %q %s (%s)", tt.reason, got.Verdict, rules, got.Reason, got.Detail)
		}
	}
}

// TestAwaitedWithoutCounters shows that what jobs made counts creations where nothing else does.
func TestAwaitedWithoutCounters(t *testing.T) {
	f := accepting()
	f.Counters = nil
	for order, want := range map[string]string{"ord_9": "", "ord_10": "key-ignored"} {
		r := record(builtin(t, "same-key-again"), 3)
		r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).
			series("again", job("job_9")).follow("job_9", []string{"again"}, made(order))
		in := input(t, "same-key-again", facts(), r)
		in.Facts, in.Control = f, acceptedControl(t, f)
		if got := Case(in); told(in.Rules, got.Findings) != want {
			t.Errorf("%s: got %+v", order, got)
		}
	}
}

func TestNeverDoneShowsWhereItWasAsked(t *testing.T) {
	f := accepting()
	r := record(builtin(t, "same-key-again"), 3)
	r.send("first", job("job_9")).follow("job_9", []string{"first"}, made("ord_9")).series("again", job("job_9")).
		follow("job_9", []string{"again"}, late(queued)...).read("after", 1, 1)
	in := input(t, "same-key-again", facts(), r)
	in.Facts, in.Control = f, acceptedControl(t, f)
	got := Case(in).Findings[0]
	last := r.round.Work[1].Asked[11]
	if got.Exchanges[len(got.Exchanges)-1] != last.ID || !strings.Contains(got.Expected, "GET http://127.0.0.1:8080/jobs/job_9: $.status = done") ||
		!strings.Contains(got.Message, "was answered with 202, and the work behind it was not done 1.") {
		t.Errorf("got %+v", got)
	}
}

package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// triedScripts are scripts as a try sends them.
func triedScripts(t *testing.T) Tried {
	t.Helper()
	parse := func(text string) *scenarios.Scenario {
		s, err := scenarios.Parse("script.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return Tried{
		Again: []*scenarios.Scenario{parse("id: again\ntitle: t\nabout: a\nrounds: 1\nsteps: [{send: {key: A, as: first}}, {send: {key: A, until: final, as: again}}]\n" +
			"expect: [{created: 1, rule: key-ignored}, {same: [first, again]}]\n"),
			parse("id: repeat\ntitle: t\nabout: a\nrounds: 1\nsteps: [{send: {key: none, as: first}}, {count: once}, {send: {key: none, as: again}}]\n" +
				"expect: [{unchanged: {since: once}, rule: method-not-idempotent}, {never: failed, of: [again], rule: retry-of-delete-fails}]\n")},
		Keyless: parse("id: keyless\ntitle: t\nabout: a\nrounds: 1\nsteps: [{send: {key: none, as: keyless}}]\nexpect: [{never: failed, of: [keyless], rule: bad-key-crashes}]\n"),
		Rules:   catalogue(t),
	}
}

// stamped is an answer with its own moment and host, as some give them with every answer.
func stamped(id, n string) answer {
	return reply(201, `{"id":"ord_`+id+`","qty":1,"served_at":"2026-01-02T03:04:0`+n+`Z","host":"h`+n+`","created_at":"2026-01-02T03:04:0`+id+`Z"}`,
		"Location: /orders/ord_"+id, "Set-Cookie: s"+n+"=1")
}

func TestLessonAgain(t *testing.T) {
	tests := []struct {
		name          string
		control       [2]answer
		first, again  answer
		rose          int64
		outcome       string
		volatile      string
		volatileHeads string
		changed       string
		reason        string
	}{
		{"replayed", [2]answer{order(1), order(2)}, order(3), order(3), 1, trace.AgainSame, "", "", "", "nothing differs"},
		{"another, counted", [2]answer{order(1), order(2)}, order(3), order(4), 2, trace.AgainAnother, "", "", "", "a second effect"},
		{"the same, counted twice", [2]answer{order(1), order(2)}, order(3), order(3), 2, trace.AgainAnother, "", "", "", "counts show what answers hide"},
		{"another, counted once", [2]answer{order(1), order(2)}, order(3), order(4), 1, trace.AgainDiffers, "", "", "header Location $.id", "one effect: an unfaithful replay, and an id is never volatile"},
		{"refused", [2]answer{order(1), order(2)}, order(3), reply(409, `{"e":"exists"}`), 1, trace.AgainRefused, "", "", "", "a refusal"},
		{"no answer", [2]answer{order(1), order(2)}, order(3), lost(trace.PhaseAnswer, "EOF"), 1, trace.AgainUnknown, "", "", "", "shows nothing"},
		{"stamps", [2]answer{stamped("1", "1"), stamped("2", "2")}, stamped("3", "3"), stamped("3", "4"), 1, trace.AgainSame,
			"$.served_at $.host", "Set-Cookie", "", "what differs in every answer, by value and by name"},
		{"created anew", [2]answer{stamped("1", "1"), stamped("2", "2")}, stamped("3", "3"),
			reply(201, `{"id":"ord_3","qty":1,"served_at":"2026-01-02T03:04:03Z","host":"h3","created_at":"2026-01-02T03:04:09Z"}`, "Location: /orders/ord_3", "Set-Cookie: s3=1"),
			1, trace.AgainDiffers, "", "", "$.created_at", "another moment of creation is no stamp"},
		{"a field less", [2]answer{stamped("1", "1"), stamped("2", "2")}, stamped("3", "3"), reply(201, `{"id":"ord_3","qty":1,"host":"h3","created_at":"2026-01-02T03:04:03Z"}`,
			"Location: /orders/ord_3", "Set-Cookie: s3=1"), 1, trace.AgainDiffers, "", "", "$.served_at", "what is missing is not volatile"},
		{"a constant changed", [2]answer{order(1), order(2)}, order(3), reply(201, `{"id":"ord_3","qty":2,"request_id":"r"}`, "Location: /orders/ord_3"), 1, trace.AgainDiffers, "", "", "$.qty",
			"first answers agree there, so it is no accident"},
		{"another status", [2]answer{order(1), order(2)}, order(3), reply(200, `{"id":"ord_3","qty":1,"request_id":"r"}`, "Location: /orders/ord_3"), 1, trace.AgainDiffers, "", "", "", "the status counts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tried := triedScripts(t)
			ep := &trace.Endpoint{Name: "create order", Facts: facts(), Control: twice(t, tt.control[0], tt.control[1])}
			ep.Control.Learned = Learn(ep.Facts, ep.Control)
			if !ep.Control.Learned.Sound {
				t.Fatalf("control: %+v", ep.Control.Learned.Reason)
			}
			round := record(tried.Again[0], 3).send("first", tt.first).send("again", tt.again).read(trace.ReadingAfter, tt.rose, tt.rose).round
			ep.Cases = []trace.Case{{Scenario: "again", Trace: []trace.Round{round}}}
			l := Lesson(tried, ep)
			if l.Again == nil {
				t.Fatal("nothing learned of the second request")
			}
			got := []string{l.Again.Outcome, strings.Join(l.Again.Volatile, " "), strings.Join(l.Again.VolatileHeaders, " "), strings.Join(l.Again.Changed, " ")}
			want := []string{tt.outcome, tt.volatile, tt.volatileHeads, tt.changed}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s: got %q, want %q", tt.reason, got, want)
					break
				}
			}
		})
	}
}

func TestLessonOfControl(t *testing.T) {
	tried := triedScripts(t)
	ep := &trace.Endpoint{Name: "create order", Request: "POST /orders", Kind: "create", Line: 7, Facts: facts(), Control: twice(t, order(1), order(2))}
	ep.Control.Learned = Learn(ep.Facts, ep.Control)
	keyless := record(tried.Keyless, 3)
	keyless.exchange("keyless", 0, 0, "none", keyless.now, reply(400, `{"e":"no key"}`))
	ep.Cases = []trace.Case{{Scenario: "keyless", Trace: []trace.Round{keyless.read(trace.ReadingAfter, 0, 0).round}}}
	l := Lesson(tried, ep)
	if l.Endpoint != "create order" || l.Line != 7 || l.First == nil || l.First.Response.Status != 201 || !strings.Contains(l.Body, "ord_1") {
		t.Errorf("lesson %+v", l)
	}
	if l.Location != "/orders/ord_1" || l.LocationField != "$.id" {
		t.Errorf("location %q, field %q", l.Location, l.LocationField)
	}
	if len(l.Counters) != 2 || l.Counters[0].By != 1 || l.Counters[0].Expected != 1 || l.Counters[0].Error != "" {
		t.Errorf("counters %+v", l.Counters)
	}
	if l.Again != nil || l.Keyless == nil || l.Keyless.Class != trace.ClassRefused {
		t.Errorf("again %+v, keyless %+v", l.Again, l.Keyless)
	}
	if len(l.Exchanges) != 3 {
		t.Errorf("%d exchanges, want 3", len(l.Exchanges))
	}
}

func TestLessonOfNothing(t *testing.T) {
	if l := Lesson(triedScripts(t), &trace.Endpoint{Name: "x"}); l.Learned.Sound || l.Learned.Reason == nil || l.First != nil {
		t.Errorf("lesson %+v", l)
	}
	setup := trace.Exchange{Request: trace.Request{Method: "POST", URL: "http://h/carts"}, Response: &trace.Response{Status: 500}}
	ep := &trace.Endpoint{Name: "x", Facts: facts(), Control: &trace.Control{Rounds: []trace.Round{{Setup: []trace.Exchange{setup}}}}}
	ep.Control.Learned = Learn(ep.Facts, ep.Control)
	if l := Lesson(triedScripts(t), ep); l.First == nil || l.First.Request.URL != "http://h/carts" || l.Location != "" {
		t.Errorf("lesson of a set-up that failed: %+v", l.First)
	}
}

func TestLessonErrorWithSuccess(t *testing.T) {
	for _, tt := range []struct{ body, at string }{
		{`{"data": null, "errors": [{"message": "no such field"}]}`, "$.errors"},
		{`{"error": {"code": 7}}`, "$.error"},
		{`{"errors": []}`, ""},
		{`{"error": null}`, ""},
		{`{"id": 1}`, ""},
	} {
		ep := &trace.Endpoint{Facts: facts(), Control: twice(t, reply(200, tt.body), reply(200, tt.body))}
		ep.Control.Learned = Learn(ep.Facts, ep.Control)
		if l := Lesson(triedScripts(t), ep); l.ErrorAt != tt.at {
			t.Errorf("%s: error at %q, want %q", tt.body, l.ErrorAt, tt.at)
		}
	}
}

func TestLessonWork(t *testing.T) {
	f := facts()
	f.Await = &trace.Await{Follow: "Location", Until: []trace.Match{{Path: "$['status','state']", Values: []string{"done", "DONE"}}}}
	for _, tt := range []struct{ body, path, value string }{
		{`{"status": "done", "order": 1}`, "$.status", "done"},
		{`{"state": "DONE"}`, "$.state", "DONE"},
		{`{"status": "queued"}`, "", ""},
		{`{"progress": 1}`, "", ""},
	} {
		c := twice(t, reply(202, `{"job":"j1"}`, "Location: /jobs/j1"), reply(202, `{"job":"j2"}`, "Location: /jobs/j2"))
		x := final(&c.Rounds[0])
		c.Rounds[0].Work = []trace.Work{{Of: []int{x.ID}, URL: "http://h/jobs/j1", Asked: []trace.Exchange{{Response: reply(200, tt.body).response}}}}
		l := Lesson(triedScripts(t), &trace.Endpoint{Facts: f, Control: c})
		path, value := "", ""
		if len(l.WorkDone) > 0 {
			path, value = l.WorkDone[0].Path, l.WorkDone[0].Values[0]
		}
		if l.Work == nil || path != tt.path || value != tt.value {
			t.Errorf("%s: work %+v, done %+v", tt.body, l.Work, l.WorkDone)
		}
	}
}

// TestLessonOfAMethod: the repeat of a method is read by what it changes. "Already gone" is a fine answer to it.
func TestLessonOfAMethod(t *testing.T) {
	found := func(rule string) trace.Result {
		return trace.Result{Verdict: trace.Fail, Findings: []trace.Finding{{Rule: rule}}}
	}
	pass := trace.Result{Verdict: trace.Pass}
	tests := []struct {
		name         string
		first, again answer
		judged       trace.Result
		outcome      string
		unchanged    int
		reason       string
	}{
		{"gone", reply(204, ""), reply(404, `{"e":"no such order"}`), pass, trace.AgainAllowed, 1, "what repeated-delete passes"},
		{"gone, and nobody looked", reply(204, ""), reply(404, `{"e":"no such order"}`), trace.Result{Verdict: trace.Inconclusive}, trace.AgainAllowed, 0, "an answer that breaks no rule"},
		{"the same", reply(204, ""), reply(204, ""), pass, trace.AgainSame, 1, "no other answer"},
		{"another body", order(3), reply(201, `{"id":"ord_3","qty":2}`, "Location: /orders/ord_3"), pass, trace.AgainAllowed, 1, "a method is no replay"},
		{"names another thing", order(3), order(4), pass, trace.AgainAllowed, 1, "what names a creation may be a time of the last change"},
		{"the same answer, and more happened", order(3), order(3), found("method-not-idempotent"), trace.AgainAnother, 0, "the state tells"},
		{"an error", reply(204, ""), reply(500, ""), found("retry-of-delete-fails"), trace.AgainUnknown, 0, "no answer of the endpoint"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tried := triedScripts(t)
			f := facts()
			f.Counters, f.States = nil, []string{"order"}
			ep := &trace.Endpoint{Name: "cancel order", Kind: "method", Facts: f, Control: twice(t, order(1), order(2))}
			ep.Control.Learned = Learn(ep.Facts, ep.Control)
			if !ep.Control.Learned.Sound {
				t.Fatalf("control: %+v", ep.Control.Learned.Reason)
			}
			round := record(tried.Again[1], 3).send("first", tt.first).read("once", 0, 0).send("again", tt.again).read(trace.ReadingAfter, 0, 0).round
			ep.Cases = []trace.Case{{Scenario: "repeat", Result: tt.judged, Trace: []trace.Round{round}}}
			l := Lesson(tried, ep)
			if l.Again == nil || l.Again.Outcome != tt.outcome || len(l.Again.Unchanged) != tt.unchanged {
				t.Errorf("%s: got %+v, want %s", tt.reason, l.Again, tt.outcome)
			}
		})
	}
}

package judge

import (
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// twice is a control of two rounds with the given answers, each counted once.
func twice(t *testing.T, a, b answer) *trace.Control {
	t.Helper()
	s := builtin(t, "first-request")
	return &trace.Control{Rounds: []trace.Round{
		record(s, 1).send("first", a).read("after", 1, 1).round,
		record(s, 2).send("first", b).read("after", 1, 1).round,
	}}
}

// Where one request had too many effects, the plan is not the only thing that may be wrong.
func TestRoseTooOften(t *testing.T) {
	for _, tt := range []struct {
		orders, mails int64
		marked        bool
		want          string
	}{
		{2, 1, false, "counters: {orders: 2}, if one request rightly does that; else the endpoint does it again by itself, or something on the way sends requests again, or others moved the counter, which has no {{marker}}"},
		{2, 1, true, "counters: {orders: 2}, if one request rightly does that; else the endpoint does it again by itself, or something on the way sends requests again"},
		{1, 0, true, "counters: {mails: 0}, if one request rightly does that"},
	} {
		r := record(builtin(t, "first-request"), 1).send("first", order(1)).read("after", tt.orders, tt.mails)
		f := facts()
		for i := range f.Counters {
			f.Counters[i].Marked = tt.marked
		}
		if l := Learn(f, &trace.Control{Rounds: []trace.Round{r.round}}); l.Reason == nil || l.Reason.Enable != tt.want {
			t.Errorf("%d orders, %d mails: %+v", tt.orders, tt.mails, l.Reason)
		}
	}
}

func TestLearnReasons(t *testing.T) {
	one := func(a answer, orders, mails int64) func(*recorder) {
		return func(r *recorder) { r.send("first", a).read("after", orders, mails) }
	}
	tests := []struct {
		name   string
		round  func(*recorder)
		found  bool // what the answer's Location names exists
		code   trace.Code
		detail string // a part of it
		reason string
	}{
		{"sound", one(order(1), 1, 1), false, "", "", "answered and counted"},
		{"busy first", func(r *recorder) { r.send("first", busy, order(1)).read("after", 1, 1) }, false, "", "", "busy was waited out"},
		{"closed port", one(lost(trace.PhaseDial, "connection refused"), 0, 0), false, trace.Unreachable, "connection refused", "no connection"},
		{"dropped", one(lost(trace.PhaseAnswer, "EOF"), 0, 0), false, trace.Unreachable, "EOF", "no answer"},
		{"too slow", one(lost(trace.PhaseAnswer, "i/o timeout"), 0, 0), false, trace.Timeout, "i/o timeout", "no answer in time"},
		{"401", one(reply(401, `{"e":"who?"}`), 0, 0), false, trace.Auth, "who?", "the raw answer is shown"},
		{"403", one(html(403), 0, 0), false, trace.Auth, "403", "also as a page"},
		{"busy", one(busy, 0, 0), false, trace.StillBusy, "slow down", "kept turning away"},
		{"503", one(reply(503, ""), 0, 0), false, trace.FromIntermediary, "503", "cannot be told from a gateway's"},
		{"502", one(reply(502, ""), 0, 0), false, trace.FromIntermediary, "502", "a gateway"},
		{"redirect", one(reply(307, "", "Location: https://x/orders"), 0, 0), false, trace.ControlUnsound, `"https://x/orders"; redirects are answers, never followed`, "where to is shown"},
		{"redirect that may be success", one(reply(303, "", "Location: /orders/1"), 1, 1), false, trace.ControlUnsound, `"/orders/1"; redirects are answers`, "the plan does not say so"},
		{"login page", one(html(200), 0, 0), false, trace.ControlUnsound, "a login or error page?", "HTML for JSON, with success"},
		{"404", one(html(404), 0, 0), false, trace.ControlUnsound, "404", "nothing there"},
		{"405", one(reply(405, ""), 0, 0), false, trace.ControlUnsound, "method and path", "nothing takes it"},
		{"415", one(reply(415, ""), 0, 0), false, trace.ControlUnsound, "content type", "wrong type"},
		{"422", one(mismatch, 0, 0), false, trace.ControlUnsound, "other body", "the raw answer is shown"},
		{"500", one(broken, 0, 0), false, trace.ControlUnsound, "boom", "the raw answer is shown"},
		{"rose by two", one(order(1), 2, 1), false, trace.ControlUnsound, "counter orders rose by 2, expected 1", "a ledger of two rows must be in the plan"},
		{"one of two did not rise", one(order(1), 1, 0), false, trace.ControlUnsound, "counter mails rose by 0, expected 1", "named"},
		{"none rose, resource there", one(order(1), 0, 0), true, trace.ControlUnsound, "the resource exists at http://127.0.0.1:8080/orders/ord_1", "the counter looks at the wrong thing"},
		{"none rose", one(order(1), 0, 0), false, trace.ControlUnsound, "no counter rose", "with what the counter said"},
		{"unreadable", func(r *recorder) {
			r.send("first", order(1)).read("after", 1, 1)
			r.round.Readings[1].Values[0].Error = "expected JSON"
		}, false, trace.CounterUnreadable, "expected JSON (asked: GET http://127.0.0.1:8080/orders)", "what was asked and answered"},
		{"not counted", func(r *recorder) { r.send("first", order(1)) }, false, trace.CounterUnreadable, "not read", "no reading after"},
		{"set-up failed", func(r *recorder) {
			r.round.Setup = append(r.round.Setup, trace.Exchange{Request: trace.Request{Method: "POST", URL: "http://h/carts"}, Response: &trace.Response{Status: 500}})
		}, false, trace.SetupFailed, "POST http://h/carts", "the request could not be sent"},
		{"nothing sent", func(r *recorder) {}, false, trace.ControlUnsound, "not sent", "nothing to learn from"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := record(builtin(t, "first-request"), 1)
			tt.round(r)
			c := &trace.Control{Rounds: []trace.Round{r.round}}
			if tt.found {
				c.Located = &trace.Exchange{Request: trace.Request{Method: "GET", URL: "http://127.0.0.1:8080/orders/ord_1"}, Response: &trace.Response{Status: 200}}
			}
			l := Learn(facts(), c)
			var code trace.Code
			var detail string
			if l.Reason != nil {
				code, detail = l.Reason.Code, l.Reason.Detail
			}
			if code != tt.code || !strings.Contains(detail, tt.detail) || l.Sound != (tt.code == "") {
				t.Errorf("%s: got sound %v, %s %q, want %s with %q", tt.reason, l.Sound, code, detail, tt.code, tt.detail)
			}
		})
	}
}

func TestLearnNoise(t *testing.T) {
	f := facts()
	f.Counters[0].Marked = false
	c := twice(t, order(1), order(2))
	idle := c.Rounds[0].Readings[0]
	idle.Name, idle.Values = trace.ReadingIdle, slices.Clone(idle.Values)
	idle.Values[0].N = -1
	c.Rounds[0].Readings = append([]trace.Reading{idle}, c.Rounds[0].Readings...)
	if l := Learn(f, c); l.Sound || l.Reason.Code != trace.CounterNoise {
		t.Errorf("an unmarked counter moved by itself: got %+v", l.Reason)
	}
	f.Counters[0].Marked = true
	if l := Learn(f, c); !l.Sound {
		t.Errorf("a marked counter is not watched: got %+v", l.Reason)
	}
}

// dated is an answer with a Date beside the moments that the tests use.
func dated(body string) answer {
	return reply(201, body, "Date: Thu, 09 Oct 2025 08:53:20 GMT")
}

func TestCreationFields(t *testing.T) {
	json := func(body string, headers ...string) answer { return reply(201, body, headers...) }
	text := func(body string) answer {
		a := reply(201, body)
		a.response.Headers[1].Value = "text/plain"
		return a
	}
	tests := []struct {
		name   string
		a, b   answer // of rounds 1 and 2
		ignore []string
		want   string
		reason string
	}{
		{"id and location", order(1), order(2), nil, "$.id, header Location", "both name the creation"},
		{"nothing differs", order(1), order(1), nil, "", "answers cannot tell"},
		{"number", json(`{"id":1}`), json(`{"id":2}`), nil, "$.id", "numbers too"},
		{"nested and odd names", json(`{"items":[{"id":"a"}],"a b":"x","it's":1}`), json(`{"items":[{"id":"b"}],"a b":"y","it's":2}`), nil, `$.items[0].id, $['a b'], $['it\'s']`, "places are JSONPaths"},
		{"marker", json(`{"id":1,"reference":"order marker1 of you"}`), json(`{"id":2,"reference":"order marker2 of you"}`), nil, "$.id", "an echo inside a text"},
		{"marker inside a word", json(`{"id":1,"slug":"xmarker1"}`), json(`{"id":2,"slug":"xmarker2"}`), nil, "$.id", "long enough not to be an accident"},
		{"key", json(`{"key":"key-1-a"}`), json(`{"key":"key-2-a"}`), nil, "", "an echo"},
		{"capture as number", json(`{"cart":31,"id":5}`), json(`{"cart":32,"id":6}`), nil, "$.id", "an echo whose type changed"},
		{"short capture inside a word", json(`{"id":"x31"}`), json(`{"id":"x32"}`), nil, "$.id", "31 is no echo within x31"},
		{"short capture in a path", json(`{"href":"/carts/31/x"}`), json(`{"href":"/carts/32/x"}`), nil, "", "31 stands alone there"},
		{"times", dated(`{"at":"2026-01-01T00:00:00Z","ms":1760000000123,"s":1760000000,"t":"1760000000123","net":"/Date(1760000000123)/"}`),
			dated(`{"at":"2026-01-01T00:00:01.5+02:00","ms":1760000000999,"s":1760000009,"t":"1760000000999","net":"/Date(1760000000999)/"}`), nil, "", "when, not what"},
		{"numbers like times", dated(`{"id":1200000001}`), dated(`{"id":1200000002}`), nil, "$.id", "far from the Date of the answer"},
		{"no Date", json(`{"id":1760000000}`), json(`{"id":1760000001}`), nil, "$.id", "nothing to tell a time by"},
		{"time on one side", json(`{"n":5}`), json(`{"n":1760000000}`), nil, "$.n", "a number that happens to look like a time"},
		{"volatile", json(`{"request_id":"a","traceId":"b","took_ms":3}`), json(`{"request_id":"c","traceId":"d","took_ms":4}`), nil, "", "built-in names"},
		{"ignored", json(`{"meta":{"n":1},"id":1}`), json(`{"meta":{"n":2},"id":2}`), []string{"$.meta"}, "$.id", "the plan says so"},
		{"one side only", json(`{"a":1}`), json(`{"b":2}`), nil, "", "not comparable"},
		{"other types", json(`{"a":1,"b":null,"c":true}`), json(`{"a":"1","b":"x","c":false}`), nil, "", "a creation is named by a string or a number"},
		{"text", text("order 17"), text("order 18"), nil, "body word 2", "a body that is no JSON"},
		{"text of another build", text("order 17"), text("your order 18"), nil, "", "words cannot be laid beside each other"},
		{"text with a time", text("done at 2026-01-01 10:00:00"), text("done at 2026-01-01 10:00:01"), nil, "", "only the time differs"},
		{"no body", reply(204, ""), reply(204, ""), nil, "", "nothing to see"},
		{"exact numbers", json(`{"id":12345678901234567890}`), json(`{"id":12345678901234567891}`), nil, "$.id", "beyond float64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := facts()
			f.IgnoreJSON = tt.ignore
			got := Learn(f, twice(t, tt.a, tt.b)).CreationFields
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}

func TestLearnFromRequestParts(t *testing.T) {
	c := twice(t, reply(201, `{"id":1,"token":"3f2a"}`), reply(201, `{"id":2,"token":"9c1b"}`))
	c.Rounds[0].Exchanges[0].Request.Body.Text = `{"uuid":"3f2a"}`
	c.Rounds[1].Exchanges[0].Request.Body.Text = `{"uuid":"9c1b"}`
	if got := Learn(facts(), c).CreationFields; !slices.Equal(got, []string{"$.id"}) {
		t.Errorf("what the request carried is no creation field: got %q", got)
	}
}

func TestLearnValues(t *testing.T) {
	c := twice(t, order(1), order(2).slow(31*ms))
	c.Rounds[1].Readings[1].Lag = 70 * ms
	l := Learn(facts(), c)
	if l.SuccessStatus != 201 || l.ContentType != "application/json" || l.Server != "shop" || l.Handling != 30*ms || l.CountLag != 70*ms {
		t.Errorf("got %+v", l)
	}
}

func TestLearnBodies(t *testing.T) {
	tests := []struct {
		name, variant string
		round         func(*recorder)
		usable        bool
		reason        string
	}{
		{"other accepted", "other", func(r *recorder) { r.send("first", order(3)) }, true, "a refusal of it later means something"},
		{"other refused", "other", func(r *recorder) { r.send("first", mismatch) }, false, "it would be refused under any key"},
		{"other not sent", "other", func(r *recorder) {}, false, "unknown"},
		{"fail fails", "fail", func(r *recorder) { r.send("first", broken) }, true, "as asked"},
		{"fail succeeds", "fail", func(r *recorder) { r.send("first", order(3)) }, false, "nothing fails"},
		{"fail looks like a gateway", "fail", func(r *recorder) { r.send("first", reply(503, "")) }, false, "503 cannot be told from a gateway's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := twice(t, order(1), order(2))
			r := record(builtin(t, "first-request"), 3)
			tt.round(r)
			r.round.Variant = tt.variant
			c.Variants = append(c.Variants, r.round)
			why, tried := Learn(facts(), c).Bodies[tt.variant]
			if !tried || (why == nil) != tt.usable {
				t.Errorf("%s: got tried %v, %+v", tt.reason, tried, why)
			}
		})
	}
}

func TestIsIdentity(t *testing.T) {
	for _, c := range []struct {
		path   string
		want   bool
		reason string
	}{
		{"$.id", true, "the plain case"},
		{"$.order_id", true, "with a prefix"},
		{"$.orderId", true, "in camel case"},
		{"$.data.order.number", true, "nested"},
		{"$['order-id']", true, "quoted"},
		{"$.ids[0].id", true, "in a list"},
		{"$.items[0]", false, "no name"},
		{"$.meta.rid", false, "an id of the request, most likely"},
		{"$.paid", false, "ends with id by accident"},
		{"$.grid", false, "so does this"},
		{"$.token", false, "may be new with every answer"},
		{"header Location", true, "where the thing is"},
		{"body word 2", true, "there are no names in a text"},
	} {
		if got := isIdentity(c.path); got != c.want {
			t.Errorf("isIdentity(%q) = %v: %s", c.path, got, c.reason)
		}
	}
}

package judge

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

const ms = trace.Nanos(1_000_000)

// recorder writes down a round as the engine does, 10 ms for each exchange unless told otherwise.
type recorder struct {
	s     *scenarios.Scenario
	round trace.Round
	now   trace.Nanos
	id    int
}

func record(s *scenarios.Scenario, n int) *recorder {
	r := &recorder{s: s, now: trace.Nanos(n) * 60_000 * ms, id: n * 100}
	r.round = trace.Round{N: n, Scopes: []trace.Scope{
		{Name: "A", Key: fmt.Sprintf("key-%d-a", n), Marker: fmt.Sprintf("marker%d", n), Captures: map[string]string{"cart": fmt.Sprint(30 + n)}},
		{Name: "none", Marker: fmt.Sprintf("keyless%d", n)},
	}}
	for i := range 3 {
		r.round.Scopes = append(r.round.Scopes, trace.Scope{Name: fmt.Sprintf("fresh-%d", i+1), Key: fmt.Sprintf("key-%d-fresh-%d", n, i+1),
			Marker: fmt.Sprintf("marker%d", n)})
	}
	return r.read(trace.ReadingBefore, 0, 0)
}

// answer is what one exchange got: a response, or how it broke.
type answer struct {
	response *trace.Response
	broke    trace.Phase
	err      string
	seen     bool        // the counters showed its effect before the next send
	takes    trace.Nanos // from sent to done; 0 means 10 ms
}

func (r *recorder) exchange(label string, copy, repeat int, scope string, started trace.Nanos, a answer) {
	r.id++
	takes := max(a.takes, 0)
	if takes == 0 {
		takes = 10 * ms
	}
	x := trace.Exchange{ID: r.id, Step: r.step(label), Label: label, Copy: copy, Repeat: repeat, Scope: scope, Wire: 1, Conn: r.id,
		Started: started, Sent: started + ms, FirstByte: started + takes - ms, Done: started + takes,
		Response: a.response, Broke: a.broke, Error: a.err}
	for _, sc := range r.round.Scopes {
		if sc.Name == scope {
			x.Key = sc.Key
		}
	}
	x.Request = trace.Request{Method: "POST", URL: "http://127.0.0.1:8080/orders",
		Headers: []trace.Header{{Name: "Host", Value: "127.0.0.1:8080"}, {Name: "Content-Type", Value: "application/json"}, {Name: "Idempotency-Key", Value: x.Key}},
		Body:    trace.Body{Text: `{"qty":1}`, Size: 9}}
	if a.response == nil {
		x.FirstByte = 0
		if a.broke == trace.PhaseCut {
			x.Cut = &trace.Cut{At: "sent", By: "close", Done: x.Done}
		}
	}
	if a.broke == trace.PhaseDial {
		x.Started, x.Sent, x.Wire = 0, 0, 0
	}
	if a.seen {
		x.EffectSeen = x.Done + ms
	}
	r.round.Exchanges = append(r.round.Exchanges, x)
	r.now = max(r.now, x.Done)
}

func (r *recorder) step(label string) int {
	for i, st := range r.s.Steps {
		if st.Send != nil && st.Send.Label == label {
			return i
		}
	}
	return -1
}

// send records one send after everything before it; several answers are attempts of `until: final`.
func (r *recorder) send(label string, attempts ...answer) *recorder {
	return r.copies(label, []string{"A"}, attempts)
}

// series records copies one after another, one answer each.
func (r *recorder) series(label string, answers ...answer) *recorder {
	for i, a := range answers {
		r.exchange(label, i, 0, "A", r.now+5*ms, a)
	}
	return r
}

func (r *recorder) copies(label string, scopes []string, attempts []answer) *recorder {
	for i, a := range attempts {
		r.exchange(label, 0, i, scopes[0], r.now+5*ms, a)
	}
	return r
}

// fresh records sends with a key of their own each.
func (r *recorder) fresh(label string, answers ...answer) *recorder {
	for i, a := range answers {
		r.exchange(label, i, 0, fmt.Sprintf("fresh-%d", i+1), r.now+5*ms, a)
	}
	return r
}

// burst records copies released at the same instant.
func (r *recorder) burst(label string, answers ...answer) *recorder {
	at := r.now + 5*ms
	for i, a := range answers {
		r.exchange(label, i, 0, "A", at, a)
	}
	r.round.Bursts = append(r.round.Bursts, trace.Burst{Step: r.step(label), Technique: "http/1.1 last byte", Copies: len(answers), Connections: len(answers), Spread: 40_000, FirstGap: 9_000})
	return r
}

func (r *recorder) wait(d trace.Nanos) *recorder { r.now += d; return r }

// read records a reading of the counters orders and mails.
func (r *recorder) read(name string, orders, mails int64) *recorder {
	r.now += ms
	scopes := []string{"A", "fresh-1", "fresh-2", "fresh-3"}
	value := func(counter string, n int64, scopes ...string) trace.Value {
		return trace.Value{Counter: counter, Scopes: scopes, N: n, Source: "GET http://127.0.0.1:8080/" + counter, Raw: fmt.Sprintf(`200 {"count": %d}`, n)}
	}
	r.round.Readings = append(r.round.Readings, trace.Reading{Name: name, At: r.now, Still: 300 * ms, Polls: 3, Values: []trace.Value{
		value("orders", orders, scopes...), value("orders", 0, "none"), value("mails", mails, scopes...), value("mails", 0, "none"),
	}})
	return r
}

func (r *recorder) last() *trace.Exchange { return &r.round.Exchanges[len(r.round.Exchanges)-1] }

// reply is an answer with a JSON body and the headers of the shop.
func reply(status int, body string, headers ...string) answer {
	a := &trace.Response{Status: status, Headers: []trace.Header{{Name: "Server", Value: "shop"}}}
	if body != "" {
		a.Headers = append(a.Headers, trace.Header{Name: "Content-Type", Value: "application/json"})
		a.Body = trace.Body{Text: body, Size: int64(len(body))}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		a.Headers = append(a.Headers, trace.Header{Name: name, Value: value})
	}
	return answer{response: a}
}

// order is the honest answer to a creation.
func order(id int) answer {
	return reply(201, fmt.Sprintf(`{"id":"ord_%d","qty":1,"request_id":"r"}`, id), fmt.Sprintf("Location: /orders/ord_%d", id))
}

func html(status int) answer {
	a := reply(status, "")
	a.response.Headers = []trace.Header{{Name: "Content-Type", Value: "text/html; charset=utf-8"}, {Name: "Server", Value: "nginx"}}
	a.response.Body = trace.Body{Text: "<h1>sorry</h1>", Size: 14}
	return a
}

func lost(phase trace.Phase, err string) answer { return answer{broke: phase, err: err} }

func (a answer) slow(d trace.Nanos) answer { a.takes = d; return a }

func (a answer) shown() answer { a.seen = true; return a }

func facts() trace.Facts {
	return trace.Facts{
		Key:             trace.KeyPlace{In: "header", Name: "Idempotency-Key"},
		Counters:        []trace.CounterFact{{Name: "orders", Rise: 1, Marked: true}, {Name: "mails", Rise: 1, Marked: true}},
		Statuses:        trace.Statuses{Mismatch: []int{400, 409, 422}, MissingKey: []int{400}, InProgress: []int{202, 409, 425}},
		FreshKey:        "creates",
		Lenient:         true,
		InProgressLimit: 4000 * ms,
	}
}

// control is a sound control of an honest shop.
func control(t *testing.T, f trace.Facts) *trace.Control {
	t.Helper()
	s := builtin(t, "first-request")
	c := &trace.Control{}
	for n := 1; n <= 2; n++ {
		r := record(s, n).send("first", order(n)).read(trace.ReadingAfter, 1, 1)
		c.Rounds = append(c.Rounds, r.round)
	}
	c.Learned = Learn(f, c)
	return c
}

var (
	builtins = sync.OnceValues(scenarios.Builtin)
	allRules = sync.OnceValues(scenarios.Rules)
)

func builtin(t *testing.T, id string) *scenarios.Scenario {
	t.Helper()
	all, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no scenario %q", id)
	return nil
}

func catalogue(t *testing.T) Catalogue {
	t.Helper()
	rules, err := allRules()
	if err != nil {
		t.Fatal(err)
	}
	c := Catalogue{}
	for _, r := range rules {
		c[r.ID] = r
	}
	return c
}

// input is a case with the given rounds on the honest shop.
func input(t *testing.T, scenario string, f trace.Facts, rounds ...*recorder) Input {
	t.Helper()
	in := Input{Scenario: builtin(t, scenario), Facts: f, Control: control(t, f), Rules: catalogue(t), Case: &trace.Case{Scenario: scenario}}
	for _, r := range rounds {
		in.Case.Trace = append(in.Case.Trace, r.round)
	}
	return in
}

// told gives findings as "rule" or "rule/severity" where that is not the catalogue's.
func told(rules Catalogue, fs []trace.Finding) string {
	var out []string
	for _, f := range fs {
		text := f.Rule
		if f.Severity != rules[f.Rule].Severity {
			text += "/" + string(f.Severity)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

package count

import (
	"context"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

func TestReadState(t *testing.T) {
	const hash = "sha256 "
	large := `{"rows":"` + strings.Repeat("x", stateLimit) + `"}`
	for _, c := range []struct {
		reason    string
		get       Get
		how       plan.State
		want, err string
	}{
		{"a number, as it is written", answer(200, "", `{"balance": 10.50}`), plan.State{Value: "$.balance"}, "10.50", ""},
		{"a text", answer(200, "", `{"status": "<paid>"}`), plan.State{Value: "$.status"}, `"<paid>"`, ""},
		{"null is a value", answer(200, "", `{"paid": null}`), plan.State{Value: "$.paid"}, "null", ""},
		{"an object, names sorted", answer(200, "", `{"a": {"c": [1, 2], "b": 1e3}}`), plan.State{Value: "$.a"}, `{"b":1e3,"c":[1,2]}`, ""},
		{"nothing there", answer(200, "", `{}`), plan.State{Value: "$.balance"}, "", "matches 0 places"},
		{"several places come in no order", answer(200, "", `{"a": 1, "b": 2}`), plan.State{Value: "$.*"}, "", "matches 2 places"},
		{"no JSON", answer(200, "", `<html>`), plan.State{Value: "$.a"}, "", "expected JSON"},
		{"more than one JSON text", answer(200, "", `{"a": 1} {"a": 2}`), plan.State{Value: "$.a"}, "", "found more behind the end of it"},
		{"a value in an error", answer(404, "", `{"a": 1}`), plan.State{Value: "$.a"}, "", "expected a 2xx answer, found status 404"},
		{"a header", answer(200, "W/\"1\"", ""), plan.State{Header: "x-total"}, `W/"1"`, ""},
		{"no header", answer(200, "", ""), plan.State{Header: "ETag"}, "", "the answer has no header ETag"},
		{"a whole answer", answer(200, "", "plain text"), plan.State{}, "200 plain text", ""},
		{"the same JSON in another spelling", answer(200, "", "{ \"b\": 1,\n \"a\": 2 }"), plan.State{}, `200 {"a":2,"b":1}`, ""},
		{"gone is a state", answer(404, "", ""), plan.State{}, "404", ""},
		{"busy is none", answer(429, "", "slow down"), plan.State{}, "", "expected an answer about the state, found status 429"},
		{"broken is none", answer(503, "", ""), plan.State{}, "", "found status 503"},
		{"an expired token is none", answer(401, "", ""), plan.State{}, "", "found status 401"},
		{"no answer", answer(0, "", ""), plan.State{}, "", "no answer: connection refused"},
		{"a long answer", answer(200, "", large), plan.State{}, "200 [4107 bytes, " + hash, ""},
		{"a long value", answer(200, "", large), plan.State{Value: "$"}, "[4107 bytes, " + hash, ""},
		{"no text", answer(200, "", "\xff\x00"), plan.State{}, "200 [2 bytes, " + hash, ""},
	} {
		c.how.Name = "wallet"
		r := &Reader{Get: c.get, Timeout: time.Second}
		v := r.ReadState(t.Context(), c.how, nil)
		same := v.Value == c.want || strings.HasSuffix(c.want, hash) && strings.HasPrefix(v.Value, c.want)
		if !same || (v.Error == "") != (c.err == "") || !strings.Contains(v.Error, c.err) {
			t.Errorf("%s: got %q, %q; want %q, %q", c.reason, v.Value, v.Error, c.want, c.err)
		}
		if v.State != "wallet" || v.Source != "GET http://127.0.0.1/count" {
			t.Errorf("%s: state %q, source %q", c.reason, v.State, v.Source)
		}
	}
}

// TestLongStatesDiffer: what is not shown is compared all the same.
func TestLongStatesDiffer(t *testing.T) {
	read := func(body trace.Body) string {
		text, err := wholeAnswer(&trace.Response{Status: 200, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	long := strings.Repeat("x", stateLimit)
	if a, b := read(trace.Body{Text: long + "a"}), read(trace.Body{Text: long + "b"}); a == b {
		t.Errorf("both are %s", a)
	}
	cut := trace.Body{Text: "beginning", Size: 9000, SHA256: "abc", Truncated: true}
	if got := read(cut); got != "200 [9000 bytes, sha256 abc]" {
		t.Errorf("got %s", got)
	}
	if _, err := stateValue(&trace.Response{Status: 200, Body: cut}, plan.State{Value: "$.a"}); err == nil || !strings.Contains(err.Error(), "larger than limits.body") {
		t.Errorf("got %v", err)
	}
}

// TestReadStateAsksAsPlanned: request, headers and caller of the state are handed on.
func TestReadStateAsksAsPlanned(t *testing.T) {
	p, err := plan.Parse("p", []byte(`version: 1
target: http://127.0.0.1:1
callers: {alice: {headers: {A: b}}}
states: {wallet: {http: GET /w, caller: alice, headers: {X-A: "1"}}}
endpoints: [{name: a, request: PATCH /w, states: [wallet]}]
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var asked plan.HTTPCounter
	r := &Reader{Get: func(_ context.Context, c *plan.HTTPCounter, _ plan.Values) trace.Exchange {
		asked = *c
		return trace.Exchange{Response: &trace.Response{Status: 204}}
	}}
	if v := r.ReadState(t.Context(), p.States["wallet"], nil); v.Value != "204" {
		t.Errorf("got %+v", v)
	}
	if asked.Request.String() != "GET /w" || asked.Caller != "alice" || len(asked.Headers) != 1 {
		t.Errorf("asked %+v", asked)
	}
}

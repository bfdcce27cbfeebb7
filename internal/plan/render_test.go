package plan

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func sprint(v any) string { return fmt.Sprint(v) }

func TestURL(t *testing.T) {
	v := values{"marker": "a/b c&d", "key": "..", "uuid": "é"}
	for _, c := range []struct{ reason, request, target, want string }{
		{"path", "GET /orders", "http://h:1", "http://h:1/orders"},
		{"target with path and slash", "GET /orders", "http://h/api/", "http://h/api/orders"},
		{"value as segment", "GET /o/{{marker}}/x", "http://h", "http://h/o/a%2Fb%20c&d/x"},
		{"value in query", "GET /o?r={{marker}}&x=1", "http://h", "http://h/o?r=a%2Fb+c%26d&x=1"},
		{"first in the path, then in the query", "GET /{{uuid}}?u={{uuid}}", "http://h", "http://h/%C3%A9?u=%C3%A9"},
		{"value that is a step up", "DELETE /o/{{key}}", "http://h", "http://h/o/%2E%2E"},
		{"length", "GET /o?r={{marker:8}}", "http://h", "http://h/o?r=a%2Fb+c%26d"},
		{"absolute", "GET https://localhost:1/x?{{uuid}}", "http://h", "https://localhost:1/x?%C3%A9"},
		{"literal text stays", "GET /a%20b?q=%2F", "http://h", "http://h/a%20b?q=%2F"},
	} {
		r := mustParse(t, strings.Replace(endpoint("key: {query: k}"), "POST /x", strconv.Quote(c.request), 1)).Endpoints[0].Request
		if got := r.URL(c.target, v); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
		if r.String() != c.request {
			t.Errorf("%s: shown as %s", c.reason, r)
		}
	}
}

func TestQueryKey(t *testing.T) {
	for _, c := range []struct{ reason, url, key, want string }{
		{"first parameter", "http://h/x", "k 1", "http://h/x?request+id=k+1"},
		{"more parameters", "http://h/x?b=%2F&a", "k", "http://h/x?b=%2F&a&request+id=k"},
		{"in place of another", "http://h/x?request+id=old&a=1&request%20id=o", "k", "http://h/x?a=1&request+id=k"},
		{"taken away", "http://h/x?request+id=old", "", "http://h/x"},
		{"nothing to take away", "http://h/x?a=1", "", "http://h/x?a=1"},
	} {
		if got := WithQuery(c.url, "request id", c.key); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
}

func TestHeader(t *testing.T) {
	h := mustParse(t, endpoint(`headers: {Authorization: "Bearer {{marker}}"}`)).Endpoints[0].Headers[0]
	if got, err := h.Render(values{"marker": "m"}); got != "Bearer m" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := h.Render(values{"marker": "m\r\nX: y"}); got != "" || err == nil || !strings.Contains(err.Error(), `found the character '\r'`) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestNumberInBody: a capture can be written as a number, so that services with numeric ids take it.
func TestNumberInBody(t *testing.T) {
	body := mustParse(t, endpoint(`setup: [{request: POST /users, capture: {user: $.id}}]`, `body: {userId: "{{user:number}}", name: "{{user}}"}`)).Endpoints[0].Body
	for value, want := range map[string]string{"12": `{"userId":12,"name":"12"}`, "12345678901234567890": `{"userId":12345678901234567890,"name":"12345678901234567890"}`} {
		if got, err := body.Render(values{"user": value}); string(got) != want || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
	}
	if _, err := body.Render(values{"user": "u1"}); err == nil || err.Error() != "render body: expected a number for {{user:number}}, found \"u1\": write it without `:number`" {
		t.Errorf("got %v", err)
	}
	if !body.Uses("user") {
		t.Error("user is not used")
	}
}

func TestPerRequestInHeaders(t *testing.T) {
	e := mustParse(t, endpoint("headers: {X-Trace: \"{{send.uuid}}-{{ now }}\"}")).Endpoints[0]
	got, err := e.Headers[0].Render(values{"send.uuid": "u", "now": "n"})
	if got != "u-n" || err != nil || !e.Headers[0].Value.Uses("send.uuid") || e.Headers[0].Value.Uses("uuid") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestVariablesAreData(t *testing.T) {
	env := func(n string) (string, bool) { return map[string]string{"V": "{{marker}}", "N": "5"}[n], true }
	p, err := Parse("p", []byte(endpoint(`body: {a: "${V}{{key}}", n: "${N}", m: 1}`, "key: {query: k}")), env)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Endpoints[0].Body.Render(values{"marker": "m", "key": "k"})
	if want := `{"a":"{{marker}}k","n":"5","m":1}`; string(got) != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestPlainVariablesAreNumbers(t *testing.T) {
	env := func(n string) (string, bool) { return map[string]string{"N": "5", "B": "true", "T": "x"}[n], true }
	p, err := Parse("p", []byte(endpoint("body:", "  n: ${N}", "  b: ${B}", "  t: ${T}", "  q: \"${N}\"")), env)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Endpoints[0].Body.Render(values{}); string(got) != `{"n":5,"b":true,"t":"x","q":"5"}` {
		t.Errorf("got %s", got)
	}
}

func TestBodies(t *testing.T) {
	v := values{"marker": "m&1", "key": "<k>"}
	for _, c := range []struct{ reason, lines, want, media string }{
		{"order and numbers as written", `body: {z: 1.0, a: 1e3, n: 12345678901234567890, t: true, f: FALSE, x: null, e: , l: [1, {b: []}]}`, `{"z":1.0,"a":1e3,"n":12345678901234567890,"t":true,"f":false,"x":null,"e":null,"l":[1,{"b":[]}]}`, "application/json"},
		{"texts stay texts", `body: {a: "1", b: 2020-01-01, c: 'true', d: yes, e: ""}`, `{"a":"1","b":"2020-01-01","c":"true","d":"yes","e":""}`, "application/json"},
		{"placeholders", `body: {a: "x{{marker}}", b: ["{{key}}"]}`, `{"a":"xm&1","b":["<k>"]}`, "application/json"},
		{"keys that look like numbers", `body: {1: a, true: b}`, `{"1":"a","true":"b"}`, "application/json"},
		{"a text alone", `body: "{{marker}}"`, `"m&1"`, "application/json"},
		{"text", `text: "a={{marker}}\n"`, "a=m&1\n", "text/plain; charset=utf-8"},
		{"form", `form: {b: "{{marker}}", "a b": 1, c: true}`, "b=m%261&a+b=1&c=true", "application/x-www-form-urlencoded"},
		{"no body", `tags: []`, "", ""},
	} {
		e := mustParse(t, endpoint(c.lines, "key: {query: k}")).Endpoints[0]
		got, err := e.Body.Render(v)
		if string(got) != c.want || err != nil || e.Body.ContentType() != c.media {
			t.Errorf("%s: got %s (%s), %v; want %s (%s)", c.reason, got, e.Body.ContentType(), err, c.want, c.media)
		}
	}
	e := mustParse(t, endpoint("file: ../plan/hosts.go")).Endpoints[0]
	got, err := e.Body.Render(v)
	if !strings.HasPrefix(string(got), "package plan\n") || err != nil || e.Body.ContentType() != "application/octet-stream" {
		t.Errorf("file: got %.20q, %v", got, err)
	}
}

func TestKeyInBody(t *testing.T) {
	for _, c := range []struct{ reason, body, path, key, want string }{
		{"replaced in its place", `{"id": "x", "b": 1}`, "$.id", "k", `{"id":"k","b":1}`},
		{"created", `{"b": 1}`, "$.id", "k\"{{", `{"b":1,"id":"k\"{{"}`},
		{"created with what is around it", `{"b": 1}`, "$.meta['req id']", "k", `{"b":1,"meta":{"req id":"k"}}`},
		{"taken away", `{"id": "{{key}}", "b": 1}`, "$.id", "", `{"b":1}`},
		{"nothing to take away", `{"b": 1}`, "$.meta.id", "", `{"b":1}`},
		{"no body yet", ``, "$.id", "k", `{"id":"k"}`},
	} {
		var b Body
		if c.body != "" {
			b = mustParse(t, endpoint("body: "+c.body, "key: {query: k}")).Endpoints[0].Body
		}
		keyed, err := b.WithKey(c.path, c.key)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		if got, err := keyed.Render(values{}); string(got) != c.want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
}

// TestPatches are the examples of RFC 7396, appendix A, and what forms and texts make of a patch.
func TestPatches(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		e := mustParse(t, endpoint("body: "+c[0], "other_body: "+c[1])).Endpoints[0]
		got, err := e.OtherBody.Render(values{})
		if string(got) != c[2] || err != nil {
			t.Errorf("%s patched by %s: got %s, %v; want %s", c[0], c[1], got, err, c[2])
		}
		if before, _ := e.Body.Render(values{}); string(before) != c[0] {
			t.Errorf("patching changed %s to %s", c[0], before)
		}
	}
	for _, c := range []struct{ reason, lines, want string }{
		{"form", "form: {a: 1, b: 2, c: 3}\n    other_body: {b: x, c: }", "a=1&b=x"},
		{"text", "text: a\n    other_body: b", "b"},
		{"a body where there was none", "other_body: {a: 1}", `{"a":1}`},
	} {
		e := mustParse(t, endpoint(c.lines)).Endpoints[0]
		if got, err := e.OtherBody.Render(values{}); string(got) != c.want || err != nil || !e.HasOther {
			t.Errorf("%s: got %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
	e := mustParse(t, endpoint("body: {a: 1}\n    fail: {headers: {X-Fail: 1}, body: {fail: true}}")).Endpoints[0]
	if got, _ := e.Fail.Body.Render(values{}); string(got) != `{"a":1,"fail":true}` || len(e.Fail.Headers) != 1 {
		t.Errorf("fail: got %s", got)
	}
}

func TestOtherBody(t *testing.T) {
	for _, c := range []struct{ reason, lines, why, want string }{
		{"a quantity before other numbers", `body: {price: 1, qty: 7}`, "changed $.qty from 7 to 8", `{"price":1,"qty":8}`},
		{"the smallest quantity", `body: {amount: 2500, items: [{quantity: 3}]}`, "changed $.items[0].quantity from 3 to 4", `{"amount":2500,"items":[{"quantity":4}]}`},
		{"digits behind the point stay", `body: {amount: 12.50}`, "changed $.amount from 12.50 to 13.50", `{"amount":13.50}`},
		{"negative", `body: {amount: -1}`, "changed $.amount from -1 to 0", `{"amount":0}`},
		{"another number", `body: {id: 5, customer_id: 6, orderId: 7, year: 2020, weight: 8}`, "changed $.weight from 8 to 9", ""},
		{"a number before text", `body: {note: hello, weight: 8}`, "changed $.weight from 8 to 9", ""},
		{"free text by name", `body: {sku: A1, note: hello}`, `changed $.note from "hello" to "hello (other)"`, `{"sku":"A1","note":"hello (other)"}`},
		{"free text by its look", `body: {greeting: good morning}`, `changed $.greeting from "good morning" to "good morning (other)"`, ""},
		{"a form", `form: {ref: x, qty: 2}`, "changed qty from 2 to 3", "ref=x&qty=3"},
		{"names with capitals", `body: {totalAmount: 5, createdAt: 3, Amount: 9}`, "changed $.Amount from 9 to 10", ""},
		{"the key is no leaf", `body: {amount: 3, note: x}` + "\n    key: {json: $.amount}", `changed $.note from "x" to "x (other)"`, ""},
		{"placeholders", `body: {note: "a {{marker}}"}`, "none", ""},
		{"e-mail", `body: {note: a@example.com}`, "none", ""},
		{"URL", `body: {note: "https://example.com/a b"}`, `changed $.note from "https://example.com/a b" to "https://example.com/a b (other)"`, ""},
		{"URL alone", `body: {note: "https://example.com/ab"}`, "none", ""},
		{"UUID", `body: {note: 6ba7b810-9dad-11d1-80b4-00c04fd430c8}`, "none", ""},
		{"IBAN with spaces", `body: {note: DE89 3704 0044 0532 0130 00}`, "none", ""},
		{"date and time", `body: {note: "2020-01-02T03:04:05Z", title: "Mon, 02 Jan 2006 15:04:05 GMT", text: "2020-01-02 03:04:05"}`, "none", ""},
		{"phone number", `body: {note: "+49 30 123 456"}`, "none", ""},
		{"currency and country", `body: {currency: EUR, country: DE, label: USD}`, "none", ""},
		{"one word may be from a fixed list", `body: {method: card}`, "none", ""},
		{"an epoch", `body: {valid: 1700000000}`, "none", ""},
		{"an exponent", `body: {weight: 1e3}`, "none", ""},
		{"ids in a list", `body: {item_ids: [1, 2]}`, "none", ""},
		{"truth and nothing", `body: {a: true, b: null, c: []}`, "none", ""},
		{"a number alone", `body: 5`, "none", ""},
		{"text", `text: hello world`, "a text body cannot be changed without knowing its format: say `other_body`", ""},
		{"the plan's", "body: {qty: 1}\n    other_body: {qty: 9}", "other_body of the plan", `{"qty":9}`},
	} {
		e := mustParse(t, endpoint(c.lines)).Endpoints[0]
		why := c.why
		if why == "none" {
			why = "the body has no number or free text that could be changed harmlessly: say `other_body`"
		}
		got, err := e.OtherBody.Render(byName{})
		if e.OtherWhy != why || err != nil || c.want != "" && string(got) != c.want {
			t.Errorf("%s: got %s: %s, %v; want %s", c.reason, got, e.OtherWhy, err, why)
		}
		if changed := strings.HasPrefix(why, "changed") || c.want != ""; changed != e.HasOther || changed == e.Body.sameAs(e.OtherBody) && changed {
			t.Errorf("%s: HasOther is %v", c.reason, e.HasOther)
		}
	}
}

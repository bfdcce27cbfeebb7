package requests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"retrysafe/internal/draft"
)

// exchange is an entry of a recording: "POST /orders", the body that was sent, and what was answered.
type exchange struct{ request, body, answer string }

// recording is the draft of a recording of exchanges with one host.
func recording(t *testing.T, exchanges ...exchange) draft.Draft {
	t.Helper()
	var entries []any
	for _, x := range exchanges {
		method, path, _ := strings.Cut(x.request, " ")
		entries = append(entries, map[string]any{
			"request":  map[string]any{"method": method, "url": "http://127.0.0.1:8080" + path, "postData": map[string]any{"mimeType": "application/json", "text": x.body}},
			"response": map[string]any{"status": 200, "content": map[string]any{"text": x.answer}},
		})
	}
	text, err := json.Marshal(map[string]any{"log": map[string]any{"entries": entries}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := HAR("x.har", text)
	if err != nil {
		t.Fatal(err)
	}
	acceptable(t, d)
	return d
}

func TestCounters(t *testing.T) {
	created := exchange{"POST /orders", `{"reference": "abc", "qty": 1}`, `{"id": "o1"}`}
	for _, c := range []struct{ get, answer, want string }{
		{"/orders/count?reference=abc", `{"count": 1}`, "GET /orders/count?reference={{marker}} $.count "},
		{"/orders/count", `7`, "GET /orders/count $ "},
		{"/orders", `[{"id": "o1"}]`, "GET /orders  $"},
		{"/orders?ref=abc&limit=5&page=2", `{"items": [], "meta": {"totalCount": 0}}`, "GET /orders?ref={{marker}}&limit=5 $.meta.totalCount "},
		{"/orders", `{"Orders": [], "next": null}`, "GET /orders  $.Orders"},
		{"/orders?api_key=secret1", `{"data": [], "links": {}}`, "GET /orders?api_key=${API_KEY}  $.data"},
		{"/orders", `{"error": "no"}`, ""},
		{"/customers", `[]`, ""},
		{"/orders/o1", `{"count": 1}`, ""},
	} {
		d := recording(t, created, exchange{"GET " + c.get, "", c.answer})
		got := ""
		for _, counter := range d.Counters {
			got = fmt.Sprint(counter.Request, " ", counter.Value, " ", counter.Length)
		}
		if got != c.want || len(d.Endpoints[0].Counters) != len(d.Counters) {
			t.Errorf("%s %s: got %q, want %q", c.get, c.answer, got, c.want)
		}
	}
	both := recording(t, created, exchange{"GET /orders", "", "[]"}, exchange{"GET /orders?reference=abc", "", "[]"})
	if len(both.Counters) != 1 || both.Counters[0].Request != "GET /orders?reference={{marker}}" {
		t.Errorf("the one that filters is surer: %+v", both.Counters)
	}
	two := recording(t, created, exchange{"POST /carts/c1/orders", `{"reference": "x"}`, `{}`}, exchange{"GET /orders", "", "[]"}, exchange{"GET /carts/c1/orders", "", "[]"})
	if len(two.Counters) != 2 || two.Counters[0].Name != "orders" || two.Counters[1].Name != "orders_2" {
		t.Errorf("two collections of one name: %+v", two.Counters)
	}
}

func TestCleanups(t *testing.T) {
	created := exchange{"POST /orders", `{"reference": "abc"}`, `{"order": {"id": "o-4711-x"}}`}
	removed := exchange{"DELETE /orders/o-4711-x", "", ""}
	c := recording(t, created, removed).Endpoints[0].Cleanup
	if c == nil || c.Request != "DELETE /orders/{{order}}" || c.Capture[0] != (draft.Capture{Name: "order", From: "$.order.id"}) {
		t.Errorf("%+v", c)
	}
	if c := recording(t, created, exchange{"DELETE /carts/o-4711-x", "", ""}).Endpoints[0].Cleanup; c != nil {
		t.Errorf("another collection: %+v", c)
	}
	if c := recording(t, created, exchange{"DELETE /orders/17", "", ""}).Endpoints[0].Cleanup; c != nil {
		t.Errorf("the answer does not say where the id is: %+v", c)
	}
}

func TestSetups(t *testing.T) {
	cart := exchange{"POST /carts", `{"sku": "A1"}`, `{"id": "c-4711-x", "n": 17, "list": [{"id": "l-4711-x"}]}`}
	for _, c := range []struct {
		name        string
		then        exchange
		request     string
		steps       int
		body, about string
	}{
		{"an id in the path", exchange{"POST /carts/c-4711-x/pay", "", ""}, "POST /carts/{{cart}}/pay", 1, "", ""},
		{"an id in the body", exchange{"POST /orders", `{"cart": "c-4711-x"}`, ""}, "POST /orders", 1, `"{{cart}}"`, ""},
		{"an id under a name that refers", exchange{"POST /orders", `{"basketId": "c-4711-x"}`, ""}, "POST /orders", 1, `"{{basket}}"`, ""},
		{"an id of a list", exchange{"POST /lines/l-4711-x/drop", "", ""}, "POST /lines/l-4711-x/drop", 0, "", "guess: l-4711-x in the path is an id, and must exist; better capture it in a set-up"},
		{"a short number of something else", exchange{"POST /shops/17/open", "", ""}, "POST /shops/17/open", 0, "", "guess: 17 in the path is an id, and must exist; better capture it in a set-up"},
		{"a version", exchange{"POST /api/2/orders", "", ""}, "POST /api/2/orders", 0, "", ""},
		{"an unknown id", exchange{"PUT /carts/c-9", "{}", ""}, "PUT /carts/c-9", 0, "", ""},
	} {
		d := recording(t, cart, c.then)
		e := d.Endpoints[1]
		if e.Request != c.request || len(e.Setup) != c.steps || !strings.Contains(show(t, d), c.body) {
			t.Errorf("%s:\n%s", c.name, show(t, d))
		}
		if c.about != "" && !strings.Contains(strings.Join(e.Comments, "\n"), c.about) {
			t.Errorf("%s: %q", c.name, e.Comments)
		}
	}
	before := recording(t, exchange{"POST /carts/c-4711-x/pay", "", ""}, cart)
	if e := before.Endpoints[0]; len(e.Setup) != 0 {
		t.Errorf("an id that was made later: %+v", e.Setup)
	}
}

func TestKeysInBodies(t *testing.T) {
	const drawn = "6f1e2d3c-0000-4000-8000-000000000001"
	for _, c := range []struct {
		x    exchange
		want draft.Key
		body string
	}{
		{exchange{"POST /a", `{"idempotencyKey": "1", "n": 1}`, ""}, draft.Key{JSON: "$.idempotencyKey"}, "    n: 1\n"},
		{exchange{"POST /a", `{"opt": {"idempotency key": "1"}}`, ""}, draft.Key{JSON: "$.opt['idempotency key']"}, "    opt: {}\n"},
		{exchange{"POST /a", `[{"idempotency_key": "1"}]`, ""}, draft.Key{Header: "Idempotency-Key", Guess: "the source sends no key; this is the header that most conventions have"}, `- idempotency_key: "{{key}}"`},
		{exchange{"POST /a?requestId=" + drawn + "&x=1", `{}`, ""}, draft.Key{Query: "requestId"}, "endpoint POST /a: POST /a?x=1\n"},
		{exchange{"PUT /a", `{"n": 1}`, ""}, draft.Key{}, ""},
	} {
		d := recording(t, c.x)
		if e := d.Endpoints[0]; e.Key != c.want || !strings.Contains(show(t, d), c.body) {
			t.Errorf("%+v: got %+v in\n%s", c.x, e.Key, show(t, d))
		}
	}
	form := oneCurl(t, "curl http://127.0.0.1/a -d idempotency_key=1 -d n=2")
	if form.Key.Header == "" || form.Body.Form.Content[1].Value != "{{key}}" {
		t.Errorf("a key in a form: %+v", form)
	}
	both := oneCurl(t, `curl http://127.0.0.1/a -H 'Idempotency-Key: 1' --json '{"idempotency_key": "1"}'`)
	if both.Key.Header == "" || both.Body.JSON.Content[1].Value != "{{key}}" {
		t.Errorf("a key in two places: %+v", both)
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		x    exchange
		left string
	}{
		{exchange{"GET /a", "", "{}"}, "GET /a is safe"},
		{exchange{"POST /search", `{"q": "x"}`, ""}, "seems to search only"},
		{exchange{"POST /auth/login", `{"password": "x"}`, ""}, "is about credentials"},
		{exchange{"POST /graphql", `{"query": "query A { a }"}`, ""}, "POST /graphql A only asks (a GraphQL query)"},
		{exchange{"POST /graphql", `{"query": "# x\n{ a }"}`, ""}, "only asks"},
		{exchange{"POST /graphql", `{"query": "query A { a } mutation B { b }", "operationName": "A"}`, ""}, "only asks"},
		{exchange{"POST /graphql", `{"query": "query A { a } mutation B { b }", "operationName": "B"}`, ""}, ""},
		{exchange{"POST /graphql", `{"query": "mutation { b }"}`, ""}, ""},
		{exchange{"POST /orders", `{"query": "all"}`, ""}, ""},
		{exchange{"PUT /search", `{}`, ""}, ""},
	} {
		d := recording(t, c.x)
		left := strings.Join(d.Left, "\n")
		if (c.left == "") != (len(d.Endpoints) == 1) || !strings.Contains(left, c.left) {
			t.Errorf("%+v: %d endpoints, left %q, want %q", c.x, len(d.Endpoints), left, c.left)
		}
	}
}

func TestFieldsThatMustDiffer(t *testing.T) {
	const drawn = "6f1e2d3c-0000-4000-8000-000000000001"
	for _, c := range []struct{ body, want string }{
		{`{"reference": "a", "note": "b"}`, `{"reference":"{{marker}}","note":"b"}`},
		{`{"note": "a", "name": "b"}`, `{"note":"{{marker}}","name":"b"}`},
		{`{"deep": {"description": "a"}, "name": "b"}`, `{"deep":{"description":"a"},"name":"{{marker}}"}`},
		{`{"items": [{"name": "a"}]}`, `{"items":[{"name":"a"}]}`},
		{`{"items": [{"external_id": "a"}]}`, `{"items":[{"external_id":"{{marker}}"}]}`},
		{`{"username": "ann", "email": "ann@example.com"}`, `{"username":"{{marker:12}}","email":"{{email}}"}`},
		{`{"id": "` + drawn + `", "shop": "` + drawn + `"}`, `{"id":"{{uuid}}","shop":"` + drawn + `"}`},
		{`{"reference": 17, "amount": 1.50, "big": 12345678901234567890, "e": 1e400, "yes": true, "none": null, "no": "no", "date": "2024-01-01"}`,
			`{"reference":17,"amount":1.50,"big":12345678901234567890,"e":"1e400","yes":true,"none":null,"no":"no","date":"2024-01-01"}`},
		{`{"~": "null", "1": "1.0", "": "", "a{{b}}": "{{c}}", "<<": "y", "n": "0x1F"}`, `{"~":"null","1":"1.0","":"","a{{b}}":"{{c}}","<<":"y","n":"0x1F"}`},
		{`[1, "a", []]`, `[1,"a",[]]`},
	} {
		d := recording(t, exchange{"POST /a", c.body, ""})
		p := acceptable(t, d)
		if p == nil {
			t.Fatalf("%s is no plan", c.body)
		}
		got, err := p.Endpoints[0].Body.Render(placeholders{})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: the plan sends %s, want %s (%v)", c.body, got, c.want, err)
		}
	}
}

// placeholders leaves them as they are written.
type placeholders struct{}

func (placeholders) Lookup(name string, limit int) string {
	if limit > 0 {
		return fmt.Sprintf("{{%s:%d}}", name, limit)
	}
	return "{{" + name + "}}"
}

func TestCallers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"curl -XPOST h/a", ""},
		{"curl -XPOST h/a -H 'Authorization: Bearer x'\ncurl -XPOST h/b -H 'Authorization: Bearer x'", "caller: Authorization Bearer ${TOKEN}\n"},
		{"curl -XPOST h/a -H 'Authorization: Bearer x'\ncurl -XPOST h/b -H 'Authorization: Bearer y'", "caller: Authorization Bearer ${TOKEN}\ncaller-2: Authorization Bearer ${TOKEN_2}\n"},
		{"curl -XPOST h/a -H 'Authorization: Bearer x'\ncurl -XPOST h/b -H 'X-Api-Key: y'", "caller: Authorization Bearer ${TOKEN}\n"},
		{"curl -XPOST h/a -H 'Authorization: Bearer $TOKEN'\ncurl -XPOST h/b -H 'Authorization: Bearer y'", "caller: Authorization Bearer ${TOKEN}\ncaller-2: Authorization Bearer ${TOKEN_2}\n"},
		{"curl -XPOST h/a -H 'Authorization: secret words'", "caller: Authorization ${AUTHORIZATION}\n"},
		{"curl -XPOST h/a -H 'Authorization: Token abc'", "caller: Authorization Token ${AUTHORIZATION}\n"},
		{"curl -XPOST h/a -u ann:b -H 'Cookie: a=b'", "caller: Authorization Basic ${BASIC_CREDENTIALS}, Cookie ${COOKIE}\n"},
	} {
		d, err := Curl("curl", c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, caller := range d.Callers {
			var headers []string
			for _, h := range caller.Headers {
				headers = append(headers, h.Name+" "+h.Value.Value)
			}
			got += caller.Name + ": " + strings.Join(headers, ", ") + "\n"
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
	d, err := Curl("curl", "curl -XPOST h/a -H 'Authorization: Bearer x'\ncurl -XPOST h/b -H 'X-Api-Key: y'")
	if h := d.Endpoints[1].Headers; err != nil || len(h) != 1 || h[0].Value.Value != "${API_KEY}" {
		t.Errorf("credentials of another scheme: %+v", h)
	}
}

func TestNamesAreDifferent(t *testing.T) {
	d, err := HTTP("a.http", []byte("### x\nPOST http://h/a\n### x\nPOST http://h/b\n### x (2)\nPOST http://h/c\n###\nPOST http://h/d"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range d.Endpoints {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, ", "); got != "x, x (2), x (2) (2), POST /d" {
		t.Error(got)
	}
}

// A text that the source itself makes up is a marker, and nothing is said to be missing.
func TestMarkersOfTheSource(t *testing.T) {
	d, err := Postman("p.json", []byte(`{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
		"item": [{"request": {"method": "POST", "url": "http://127.0.0.1/orders", "body": {"mode": "raw", "raw": "{\"reference\": \"{{$randomWord}}\"}", "options": {"raw": {"language": "json"}}}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if e := d.Endpoints[0]; len(e.Comments) > 0 || e.Body.JSON.Content[1].Value != "{{marker}}" {
		t.Errorf("got %q and comments %q, want {{marker}} and none", e.Body.JSON.Content[1].Value, e.Comments)
	}
}

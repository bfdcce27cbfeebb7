package requests

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/plan"
)

// inPlan is what a plan sends for a text of a body that stands in it.
func inPlan(t *testing.T, text string, env map[string]string) string {
	t.Helper()
	quoted, err := yaml.Marshal(map[string]any{
		"version": 1, "target": "http://127.0.0.1",
		"endpoints": []any{map[string]any{"name": "e", "request": "POST /", "key": map[string]string{"header": "K"}, "body": []any{&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Parse("plan.yaml", quoted, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	body, err := p.Endpoints[0].Body.Render(named{})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// named fills each placeholder with its own name.
type named struct{}

func (named) Lookup(name string, _ int) string { return "<" + name + ">" }

func TestTextsKeepTheirMeaningInAPlan(t *testing.T) {
	env := map[string]string{"A": "{{1}}", "B": "{"}
	for _, c := range []struct{ text, want string }{
		{"plain", "plain"},
		{"{{marker}}", "{{marker}}"},
		{"${A} $A $$ $${A} $$${A}", "${A} $A $$ $${A} $$${A}"},
		{"{{{x}}}", "{{{x}}}"},
		{"${{x}}", "${{x}}"},
		{"$" + hole("A") + "{" + hole("B"), "${{1}}{{"},
		{"$$" + hole("A") + "$${" + hole("A") + "${{" + placeholder("now"), "$${{1}}$${{{1}}${{<now>"},
		{"{" + placeholder("marker"), "{<marker>"},
		{"$" + placeholder("marker"), "$<marker>"},
		{"{{" + hole("A") + "}}", "{{{{1}}}}"},
		{placeholder("uuid") + "{{" + placeholder("marker:20"), "<uuid>{{<marker>"},
	} {
		if got := inPlan(t, planText(c.text), env); got != c.want {
			t.Errorf("%q became %q in the plan, which sends %q, want %q", c.text, planText(c.text), got, c.want)
		}
	}
}

func FuzzTextsKeepTheirMeaning(f *testing.F) {
	for _, seed := range []string{"${", "{{", "$${{{", "a{{b}}c${d}", "\\\"\n\t", "$$$$${{{{{}}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || clean(text) != text {
			t.Skip("no text that gets here")
		}
		if got := inPlan(t, planText(text), nil); got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{snake("customerId"), "customer_id"}, {snake("X-Request-ID"), "x_request_id"},
		{variableName("orderId"), "ORDER_ID"}, {variableName("X_Y"), "X_Y"}, {variableName("9lives"), "VALUE_9LIVES"}, {variableName("-"), "VALUE"},
		{singular("orders"), "order"}, {singular("categories"), "category"}, {singular("boxes"), "box"}, {singular("status"), "status"},
		{singular("addresses"), "address"}, {singular("houses"), "house"}, {singular("series"), "sery"}, {singular("access"), "access"},
		{parameterName("orders", ""), "order"}, {parameterName("keys", ""), "key_id"}, {parameterName("", hole("TENANT_ID")), "tenant_id"}, {parameterName("", ""), "id"},
		{member("id"), ".id"}, {member("a b"), "['a b']"}, {member("it's"), `['it\'s']`},
		{lastName("$.data.id"), "id"}, {lastName("$.items[*]"), "items"}, {lastName("$['a b']"), "a b"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	base := hole("BASE")
	for _, c := range []struct {
		raw  string
		want address
	}{
		{"https://Api.Example.com/a/b?c=d#e", address{base: "https://api.example.com", path: "/a/b", query: "c=d"}},
		{"http://u:p@h:8080", address{base: "http://h:8080", user: "u:p", path: "/"}},
		{"localhost:3000/x", address{base: "http://localhost:3000", path: "/x"}},
		{"/orders", address{path: "/orders"}},
		{base + "/orders?x", address{base: base, path: "/orders", query: "x"}},
		{base, address{base: base, path: "/"}},
		{base + ":8080/orders", address{base: "http://" + base + ":8080", path: "/orders"}},
		{"https://" + base + "/orders/" + hole("ID"), address{base: "https://" + base, path: "/orders/" + hole("ID")}},
		{"http://h//a b/{x}/ä%2F%z", address{base: "http://h", path: "/a%20b/%7Bx%7D/%C3%A4%2F%25z"}},
	} {
		if got := parseAddress(c.raw); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.raw, got, c.want)
		}
	}
}

func TestIDsInPaths(t *testing.T) {
	for _, id := range []string{"17", "0190a0a0-0000-7000-8000-000000000001", "ord_8Kd2", "INV-2024-17", "507f1f77bcf86cd799439011", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "aB3dEf6hIj9kLm2nOp5qRs8t"} {
		if !looksID(id) {
			t.Errorf("%s is no id", id)
		}
	}
	for _, name := range []string{"orders", "v1", "v2beta1", "order-items", "oauth2", "payment_methods", "me", "retry-safety-test-results"} {
		if looksID(name) {
			t.Errorf("%s is an id", name)
		}
	}
}

func TestSecretNames(t *testing.T) {
	for _, name := range []string{"Authorization", "X-Api-Key", "apiKey", "password", "newPassword", "client_secret", "X-Auth-Token", "csrfToken", "sessionId", "PHPSESSID", "cvv", "X-Amz-Signature", "access_key", "JWT"} {
		if !secretName(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{"Idempotency-Key", "author", "tokenType", "keyboard", "pinned", "token_count", "expires_in", "monkey", "passenger", "sku", "shipping", "max_tokens"} {
		if secretName(name) {
			t.Errorf("%s is one", name)
		}
	}
}

func TestKeyPlaces(t *testing.T) {
	for _, name := range []string{"Idempotency-Key", "x-idempotency-key", "PayPal-Request-Id", "Repeatability-Request-ID", "X-Payout-Idempotency", "My-Idempotent-Id"} {
		if !isKeyHeader(name) {
			t.Errorf("header %s", name)
		}
	}
	const drawn = "6f1e2d3c-0000-4000-8000-000000000001"
	for _, c := range []struct {
		path, name, value string
		want              bool
	}{
		{"$.idempotency_key", "idempotency_key", "1", true},
		{"$.options.idempotencyKey", "idempotencyKey", "1", true},
		{"$.request_id", "request_id", drawn, true},
		{"$.request_id", "request_id", "17", false},
		{"$.clientToken", "clientToken", drawn, true},
		{"$.order.request_id", "request_id", drawn, false},
		{"$.id", "id", drawn, false},
	} {
		if got := isKeyField(c.path, c.name, c.value); got != c.want {
			t.Errorf("%s %s: got %v", c.path, c.value, got)
		}
	}
	if isKeyHeader("X-Request-Id") || isKeyHeader("Key") || !isKeyParameter("requestId", drawn) || isKeyParameter("requestId", "1") {
		t.Error("what may be anything else is taken for a key")
	}
}

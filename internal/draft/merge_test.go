package draft

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
)

// merged is a plan with the sample merged in.
func merged(t testing.TB, existing string, d Draft) (string, MergeReport) {
	t.Helper()
	got, report, err := Merge([]byte(existing), "retrysafe.yaml", d)
	if err != nil {
		t.Fatalf("%v\n%s", err, existing)
	}
	if !embedded(existing, string(got)) {
		t.Fatalf("bytes are lost:\n%s\nis\n%s", existing, got)
	}
	return string(got), report
}

// embedded is true when a text holds another one's bytes in their order.
func embedded(part, whole string) bool {
	for i := 0; i < len(part); i++ {
		at := strings.IndexByte(whole, part[i])
		if at < 0 {
			return false
		}
		whole = whole[at+1:]
	}
	return true
}

// order is a draft of one endpoint with a counter.
func order() Draft {
	return Draft{
		Source: "api.yaml", Target: Text{Value: "http://127.0.0.1:8080"},
		Counters:  []Counter{{Name: "orders", Request: "GET /orders/count?reference={{marker}}", Value: "$.count"}},
		Endpoints: []Endpoint{{Name: "create order", Place: "api.yaml:3:5", Request: "POST /orders", Template: "/orders", Body: Body{JSON: reference()}, Counters: []string{"orders"}}},
	}
}

func TestMergeAdds(t *testing.T) {
	d := order()
	const (
		counter  = "orders: {http: \"GET /orders/count?reference={{marker}}\", value: $.count}\n"
		endpoint = "# api.yaml:3:5\n  - name: create order\n    request: POST /orders\n    body: {reference: \"{{marker}}\"}\n    counters: {orders: 1}\n"
	)
	for _, c := range []struct{ name, existing, want string }{
		{"what it needs above the endpoints",
			"version: 1\ntarget: http://127.0.0.1:1\n\n# All of them.\nendpoints:\n  - name: a\n    request: POST /a\n",
			"version: 1\ntarget: http://127.0.0.1:1\n\ncounters:\n  " + counter + "\n# All of them.\nendpoints:\n  - name: a\n    request: POST /a\n\n  " + endpoint},
		{"no target",
			"version: 1\nendpoints:\n  - {name: a, request: POST http://127.0.0.1:1/a}\n",
			"version: 1\ntarget: ${RETRYSAFE_TARGET:-http://127.0.0.1:8080}\n\ncounters:\n  " + counter + "\nendpoints:\n  - {name: a, request: POST http://127.0.0.1:1/a}\n\n  " + endpoint},
		{"beside other counters, in one line",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters: {a: {http: GET /a, value: $}}  # ours\nendpoints:\n  - name: a\n    request: POST /a\n  - name: b\n    request: POST /b\n",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters: {a: {http: GET /a, value: $}, " + strings.TrimSpace(counter) + "}  # ours\nendpoints:\n  - name: a\n    request: POST /a\n  - name: b\n    request: POST /b\n  " + endpoint},
		{"beside other counters, in lines",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n    a: {http: GET /a, value: $}\n    # last\nendpoints:\n    - name: a\n      request: POST /a\n# end",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n    a: {http: GET /a, value: $}\n    # last\n    " + counter + "endpoints:\n    - name: a\n      request: POST /a\n\n    " +
				strings.ReplaceAll(endpoint, "\n  ", "\n    ") + "# end"},
		{"counters without a value",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\nendpoints:\n- name: a\n  request: POST /a",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n- name: a\n  request: POST /a\n\n" + strings.ReplaceAll(endpoint, "\n  ", "\n")},
		{"empty counters",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters: { }\nendpoints:\n- name: a\n  request: POST /a\n",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters: { " + strings.TrimSpace(counter) + "}\nendpoints:\n- name: a\n  request: POST /a\n\n" + strings.ReplaceAll(endpoint, "\n  ", "\n")},
		{"a counter that is there under another name",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  mine: {value: $.count, http: \"GET /orders/count?reference={{marker}}\"}\nendpoints:\n- name: a\n  request: POST /a\n",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  mine: {value: $.count, http: \"GET /orders/count?reference={{marker}}\"}\nendpoints:\n- name: a\n  request: POST /a\n\n" +
				strings.ReplaceAll(strings.ReplaceAll(endpoint, "\n  ", "\n"), "{orders:", "{mine:")},
		{"another counter of the name",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  orders: {http: GET /o, value: $}\nendpoints:\n- name: a\n  request: POST /a\n",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  orders: {http: GET /o, value: $}\n  " + strings.Replace(counter, "orders", "orders-2", 1) + "endpoints:\n- name: a\n  request: POST /a\n\n" +
				strings.ReplaceAll(strings.ReplaceAll(endpoint, "\n  ", "\n"), "{orders:", "{orders-2:")},
		{"another endpoint of the name",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n- name: create order\n  request: POST /old\n",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n- name: create order\n  request: POST /old\n\n" +
				strings.Replace(strings.ReplaceAll(endpoint, "\n  ", "\n"), "create order", "create order 2", 1)},
		{"endpoints in the middle",
			"endpoints:\n  - name: a\n    request: POST /a\n\n    # - name: b\n\n# The rest.\ncounters:\n  " + counter + "target: http://127.0.0.1:1\nversion: 1\n",
			"endpoints:\n  - name: a\n    request: POST /a\n\n  " + endpoint + "\n    # - name: b\n\n# The rest.\ncounters:\n  " + counter + "target: http://127.0.0.1:1\nversion: 1\n"},
		{"a text of several lines at the end",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n  - name: a\n    request: POST /a\n    text: |\n      # no comment\n\n      x\n\n",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n  - name: a\n    request: POST /a\n    text: |\n      # no comment\n\n      x\n\n  " + endpoint + "\n"},
		{"a text that keeps its blank lines",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n  - {name: b, request: POST /b}\n  - name: a\n    request: POST /a\n    text: |+\n      x\n\n\n",
			"version: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n  - {name: b, request: POST /b}\n  - name: a\n    request: POST /a\n    text: |+\n      x\n\n\n  " + endpoint},
		{"the end of the document",
			"---\nversion: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n  - name: a\n    request: POST /a\n...\n",
			"---\nversion: 1\ntarget: http://127.0.0.1:1\ncounters:\n  " + counter + "endpoints:\n  - name: a\n    request: POST /a\n\n  " + endpoint + "...\n"},
		{"a plan that is indented",
			"  version: 1\n  target: http://127.0.0.1:1\n  endpoints:\n    - name: a\n      request: POST /a\n",
			"  version: 1\n  target: http://127.0.0.1:1\n  counters:\n    " + counter + "\n  endpoints:\n    - name: a\n      request: POST /a\n\n    " + strings.ReplaceAll(endpoint, "\n  ", "\n    ")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n"} {
				existing, want := strings.ReplaceAll(c.existing, "\n", eol), strings.ReplaceAll(c.want, "\n", eol)
				got, report := merged(t, existing, d)
				if got != want {
					t.Fatalf("got\n%s\nwant\n%s", got, want)
				}
				read(t, got)
				if len(report.Added) != 1 || report.Kept != 0 {
					t.Errorf("%+v", report)
				}
				again, report := merged(t, got, d)
				if again != got || report.Kept != 1 || report.Added != nil {
					t.Errorf("again: %+v\n%s", report, again)
				}
			}
		})
	}
}

// TestMergeStates: a state comes with the endpoints that need it, and what people wrote of states stays.
func TestMergeStates(t *testing.T) {
	d := Draft{
		Source: "api.yaml", Target: Text{Value: "http://127.0.0.1:8080"},
		States: []State{{Name: "order", Request: "GET /orders/{{order}}", Guess: "it shows it"}},
	}
	for _, method := range []string{"PUT", "DELETE"} {
		d.Endpoints = append(d.Endpoints, Endpoint{
			Name: method, Request: method + " /orders/{{order}}", Template: "/orders/{id}", States: []string{"order"},
			Setup: []Step{{Request: "POST /orders", Capture: []Capture{{"order", "$.id"}}}},
		})
	}
	const (
		state = `order: {http: "GET /orders/{{order}}"}`
		other = `order: {http: "GET /orders/{{order}}", value: $.status}`
		both  = "  - {name: a, setup: [{request: POST /orders, capture: {order: $.id}}], request: \"PUT /orders/{{order}}\"}\n" +
			"  - {name: b, setup: [{request: POST /orders, capture: {order: $.id}}], request: \"DELETE /orders/{{order}}\"}\n"
		one = "  - {name: a, setup: [{request: POST /orders, capture: {order: $.id}}], request: \"PUT /orders/{{order}}\"}\n"
	)
	for _, c := range []struct{ reason, states, endpoints, want, uses string }{
		{"a plan without one", "", "  - {name: a, request: POST /a}\n", "states:\n  " + state + "  # guess: it shows it\n\n", "[order]"},
		{"below another one", "states:\n  # mine\n  a: {http: GET /a}\n", one, "states:\n  # mine\n  a: {http: GET /a}\n  " + state + "  # guess: it shows it\n", "[order]"},
		{"in a line", "states: {a: {http: GET /a}}  # mine\n", one, "states: {a: {http: GET /a}, " + state + "}  # mine\n", "[order]"},
		{"one of the name that asks for something else", "states:\n  " + other + "\n", one, "states:\n  " + other + "\n  order-2: ", "[order-2]"},
		{"the same under another name", "states: {mine: {http: \"GET /orders/{{order}}\"}}\n", one, "states: {mine: {http: \"GET /orders/{{order}}\"}}\nendpoints", "[mine]"},
		{"the same as another caller sees it", "states: {order: {http: \"GET /orders/{{order}}\", headers: {Accept: a/b}}}\n", one, ", order-2: ", "[order-2]"},
		{"endpoints that are there already", "", both, "", ""},
		{"one that is there already", "", one, "states:\n  " + state + "  # guess: it shows it\n\n", "[order]"},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			existing := strings.ReplaceAll("version: 1\ntarget: http://127.0.0.1:1\n"+c.states+"endpoints:\n"+c.endpoints, "\n", eol)
			got, report := merged(t, existing, d)
			if c.want == "" {
				if got != existing || report.States != nil {
					t.Errorf("%s: changed to\n%s", c.reason, got)
				}
				continue
			}
			read(t, got)
			if !strings.Contains(got, strings.ReplaceAll(c.want, "\n", eol)) || !strings.Contains(got, "states: "+c.uses+eol) {
				t.Errorf("%s: got\n%s\nwant\n%s", c.reason, got, c.want)
			}
			if again, report := merged(t, got, d); again != got || report.Added != nil {
				t.Errorf("%s: again: %+v\n%s", c.reason, report, again)
			}
		}
	}
}

// TestSelectStates: a state that no endpoint needs any more is not written.
func TestSelectStates(t *testing.T) {
	d := sample(t)
	d.Select(d.Endpoints[:2])
	if len(d.States) != 0 || len(d.Counters) != 1 {
		t.Errorf("states %+v, counters %+v", d.States, d.Counters)
	}
}

func TestMergeKnows(t *testing.T) {
	refund := order()
	refund.Endpoints[0] = Endpoint{Name: "refund", Request: "POST /orders/{{order}}/refunds", Template: "/orders/{orderId}/refunds"}
	recorded := order()
	recorded.Endpoints[0] = Endpoint{Name: "refund", Request: "POST /orders/o-17/refunds"}
	search := order()
	search.Endpoints[0] = Endpoint{Name: "search", Request: "POST /orders/search/refunds"}
	two := order()
	two.Endpoints = append(two.Endpoints, Endpoint{Name: "order gift", Request: "POST /orders"})
	for _, c := range []struct {
		name, endpoints string
		d               Draft
		kept            int
		added           string
	}{
		{"by method and path", "{name: mine, request: POST /orders}", order(), 1, ""},
		{"whatever the query", `{name: mine, request: "POST /orders?x={{marker}}"}`, order(), 1, ""},
		{"not by another method", "{name: mine, request: PUT /orders}", order(), 0, "create order"},
		{"with the whole URL", "{name: mine, request: POST http://127.0.0.1:1/orders}", order(), 1, ""},
		{"not at another host", "{name: mine, request: POST http://localhost:2/orders}", order(), 0, "create order"},
		{"a parameter as a capture", `{name: mine, setup: [{request: POST /a, capture: {id: $.id}}], request: "POST /orders/{{id}}/refunds"}`, refund, 1, ""},
		{"a parameter as a variable", `{name: mine, request: "POST /orders/${ORDER}/refunds"}`, refund, 1, ""},
		{"a parameter as a value", `{name: mine, request: POST /orders/mine/refunds}`, refund, 1, ""},
		{"a value as a capture", `{name: mine, setup: [{request: POST /a, capture: {id: $.id}}], request: "POST /orders/{{id}}/refunds"}`, recorded, 1, ""},
		{"no word as a capture", `{name: mine, setup: [{request: POST /a, capture: {id: $.id}}], request: "POST /orders/{{id}}/refunds"}`, search, 0, "search"},
		{"two of one path", "{name: mine, request: POST /orders}", two, 1, "order gift"},
		{"two of one path, by name", "{name: order gift, request: POST /orders}", two, 1, "create order"},
		{"in a comment", "{name: x, request: POST /x}\n  # - name: create order\n  #   request: POST /orders\n", order(), 0, ""},
		{"in a comment of one line", "{name: x, request: POST /x}\n  # - {name: create order, request: POST /orders}\n", order(), 0, ""},
		{"not as a set-up in a comment", "{name: x, request: POST /x}\n  #     - request: POST /orders\n  #     - {request: POST /orders}\n", order(), 0, "create order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			existing := "version: 1\ntarget: http://127.0.0.1:1\nendpoints:\n  - " + c.endpoints + "\n"
			got, report := merged(t, existing, c.d)
			if report.Kept != c.kept || strings.Join(report.Added, ",") != c.added {
				t.Errorf("%+v\n%s", report, got)
			}
			if c.added == "" && got != existing {
				t.Errorf("changed:\n%s", got)
			}
		})
	}
}

func TestMergeTells(t *testing.T) {
	d := order()
	d.Target.Value = "https://api.example.com"
	_, report := merged(t, "version: 1\ntarget: ${T:-https://staging.example.com}\nendpoints:\n  - {name: old, request: POST /old}\n  # - {name: create order, request: POST /x}\n", d)
	if len(report.Gone) != 1 || report.Gone[0].Name != "old" || report.Gone[0].Pos.Line != 4 {
		t.Errorf("gone: %+v", report.Gone)
	}
	if report.Target != "https://api.example.com" || !slices.Equal(report.Counters, []string{"orders"}) {
		t.Errorf("%+v", report)
	}
	_, report = merged(t, "version: 1\ntarget: ${T:-https://staging.example.com}\nendpoints:\n  - {name: old, request: POST /old}\n  # - {name: create order, request: POST /orders}\n", d)
	if !slices.Equal(report.Out, []string{"POST /orders"}) || report.Target != "" || report.Counters != nil {
		t.Errorf("%+v", report)
	}
}

// TestMergeBase: a source that names the same host with another base path means the same URLs.
func TestMergeBase(t *testing.T) {
	for _, c := range []struct{ target, base, path, want string }{
		{"https://h/v1", "https://h", "/v1/orders", "POST /orders"},
		{"${T:-https://h/v1}", "https://h/", "/v1/orders", "POST /orders"},
		{"https://h", "https://h/v1", "/orders", "POST /v1/orders"},
		{"https://h/v1", "https://h/v1", "/orders", "POST /orders"},
		{"https://h/v1", "https://h", "/v2/orders", "POST https://h/v2/orders"},
		{"https://h/v1", "https://h", "/v10/orders", "POST https://h/v10/orders"},
		{"http://127.0.0.1:1", "https://h/v1", "/orders", "POST /orders"},
		{"${T}", "https://h/v1", "/orders", "POST /orders"},
	} {
		d := order()
		d.Target.Value = c.base
		d.Endpoints[0].Request, d.Endpoints[0].Template = "POST "+c.path, c.path
		d.Endpoints[0].States, d.States = []string{"state"}, []State{{Name: "state", Request: "GET " + c.path}}
		got, _ := merged(t, "version: 1\ntarget: "+c.target+"\nendpoints:\n  - {name: x, request: POST /x}\n", d)
		if !strings.Contains(got, "\n    request: "+c.want+"\n") {
			t.Errorf("%s behind %s, %s: want %s in\n%s", c.base, c.target, c.path, c.want, got)
		}
		if read := "state: {http: " + strings.Replace(c.want, "POST", "GET", 1) + "}\n"; !strings.Contains(got, read) {
			t.Errorf("%s behind %s, %s: want %s in\n%s", c.base, c.target, c.path, read, got)
		}
		if again, _ := merged(t, got, d); again != got {
			t.Errorf("%s behind %s, %s: again\n%s", c.base, c.target, c.path, again)
		}
	}
}

func TestMergeCallers(t *testing.T) {
	d := order()
	d.Callers = []Caller{
		{Name: "first", Comment: "a token", Headers: []Header{{Name: "Authorization", Value: Text{Value: "Bearer ${FIRST}"}}}},
		{Name: "shop", Headers: []Header{{Name: "X-Api-Key", Value: Text{Value: "${KEY}"}}}},
		{Name: "nobody"},
	}
	for existing, want := range map[string]string{
		"": "callers:\n  # a token\n  first: {headers: {Authorization: \"Bearer ${FIRST}\"}}\n  shop: {headers: {X-Api-Key: \"${KEY}\"}}\n",
		"callers: {me: {headers: {authorization: x}}}\n":                          "callers: {me: {headers: {authorization: x}}, shop: {headers: {X-Api-Key: \"${KEY}\"}}}\n",
		"callers:\n  me: {headers: {authorization: x, x-api-key: y}}\n":           "callers:\n  me: {headers: {authorization: x, x-api-key: y}}\n\ncounters",
		"callers:\n  me: {exec: [token]}\n":                                       "callers:\n  me: {exec: [token]}\n\ncounters",
		"callers:\n  first: {headers: {Cookie: x}}\n  shop: {exec: [\"}\", y]}\n": "callers:\n  first: {headers: {Cookie: x}}\n  shop: {exec: [\"}\", y]}\n\ncounters",
		"callers: {a: {headers: {Cookie: 'it''s }'}} # }\n  }\n":                  "callers: {a: {headers: {Cookie: 'it''s }'}} # }\n  , first: {headers: {Authorization: \"Bearer ${FIRST}\"}}, shop: {headers: {X-Api-Key: \"${KEY}\"}}}\n",
	} {
		got, _ := merged(t, "version: 1\ntarget: http://127.0.0.1:1\n"+existing+"\nendpoints:\n  - {name: x, request: POST /x}\n", d)
		if !strings.Contains(got, want) {
			t.Errorf("%s: want\n%s\nin\n%s", existing, want, got)
		}
		read(t, got)
	}
}

// TestMergeIncludes: what included files have is known, and nothing is added to them.
func TestMergeIncludes(t *testing.T) {
	const counter = "counters: {mine: {http: \"GET /orders/count?reference={{marker}}\", value: $.count}}\n"
	common := File{"common.yaml", []byte("target: http://127.0.0.1:1\n" + counter + "callers: {me: {headers: {Authorization: x}}}\n")}
	team := File{"teams/a.yaml", []byte("endpoints:\n  - {name: create order, request: POST /carts}\n  # - {name: b, request: POST /b}\n")}
	d := order()
	d.Callers = []Caller{{Name: "first", Headers: []Header{{Name: "Authorization", Value: Text{Value: "${X}"}}}}}
	d.Endpoints = append(d.Endpoints, Endpoint{Name: "cart", Request: "POST /carts"}, Endpoint{Name: "b", Request: "POST /b"})
	const includes = "version: 1\ninclude: [common.yaml, teams/*.yaml]\n"
	for existing, want := range map[string]string{
		includes + "# end": includes + "# end\n\nendpoints:\n",
		"  " + strings.TrimSuffix(strings.ReplaceAll(includes, "\n", "\n  "), "  "): "  version: 1\n  include: [common.yaml, teams/*.yaml]\n\n  endpoints:\n",
		includes + "endpoints:\n- {name: x, request: POST /x}\n":                    includes + "endpoints:\n- {name: x, request: POST /x}\n\n",
	} {
		got, report, err := Merge([]byte(existing), "p.yaml", d, common, team)
		if err != nil {
			t.Errorf("%q: %v", existing, err)
			continue
		}
		if text := string(got); !strings.HasPrefix(text, want) || !strings.Contains(text, "name: create order 2\n") || !strings.Contains(text, "counters: {mine: 1}\n") || strings.Contains(text, "callers") {
			t.Errorf("%q: got\n%s", existing, text)
		}
		if report.Kept != 1 || !slices.Equal(report.Out, []string{"POST /b"}) || !slices.Equal(report.Added, []string{"create order 2"}) || report.Counters != nil {
			t.Errorf("%q: %+v", existing, report)
		}
		again, _, err := Merge(got, "p.yaml", d, common, team)
		if err != nil || string(again) != string(got) {
			t.Errorf("%q: again: %v\n%s", existing, err, again)
		}
	}
	got := Includes(File{"p.yaml", []byte("include: [a.yaml, \"${DIR}/*.yaml\"]\n")}, env)
	if !slices.Equal(got, []string{"a.yaml", "value-of-DIR/*.yaml"}) || Includes(File{"p.yaml", []byte("include: x")}, env) != nil || Includes(File{}, env) != nil {
		t.Errorf("includes %q", got)
	}
}

func TestMergeBegins(t *testing.T) {
	d := sample(t)
	for _, existing := range []string{"", "\n", "# ours\n", "# ours", "\ufeff", "\ufeff# ours\r\n", "---\n# ours\n"} {
		got, report := merged(t, existing, d)
		read(t, got)
		if !strings.HasPrefix(got, existing) || !strings.HasSuffix(got, written(t, d)) || len(report.Added) != len(d.Endpoints) {
			t.Errorf("%q: %+v\n%s", existing, report, got)
		}
		if again, _ := merged(t, got, d); again != got {
			t.Errorf("%q: again\n%s", existing, again)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	d := order()
	for existing, want := range map[string]string{
		"a: [":                     "p.yaml:1:",
		"[]":                       "p.yaml:1:1: expected a plan, found a list",
		"text":                     "p.yaml:1:1: expected a plan, found text",
		"version: 1":               "p.yaml: expected a plan, found no `endpoints`",
		"version: 1\nendpoints:\n": "p.yaml:2:1: expected a list of endpoints",
		"{version: 1, endpoints: [{name: x, request: POST /x}]}":                             "p.yaml:1:1: the plan is one {...}",
		"version: 1\nendpoints: [{name: x, request: POST /x}]\n":                             "p.yaml:2:12: the endpoints are one [...], .*--output",
		"version: 1\nx: &a {}\ny: *a\nendpoints:\n  - {name: x, request: POST /x}\n":         "p.yaml:3:4: aliases are not supported",
		"version: 1\nendpoints:\n  - {name: x, request: POST /x}\nendpoints:\n  - {name: y}": "p.yaml:4:1: duplicate field",
		"version: 1\nendpoints:\n  - name: x\n    request: POST /x\n    text: |-\n      a":   "",
	} {
		got, _, err := Merge([]byte(existing), "p.yaml", d)
		want, more, _ := strings.Cut(want, ".*")
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", existing, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), more) || got != nil {
			t.Errorf("%q: got %v, want %s", existing, err, want)
		}
	}
	if _, _, err := Merge(nil, "p.yaml", Draft{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("a draft of nothing: %v", err)
	}
}

// FuzzMerge: nothing is lost of any file, a second time changes nothing, and what was a plan stays one.
func FuzzMerge(f *testing.F) {
	for _, s := range []string{
		"", "# x", "\ufeff", "version: 1", "endpoints:\n- a", "endpoints:\n  - {name: x,\nrequest: POST /x}\nversion: 1", "endpoints:\r- {name: x, request: POST /x}\rversion: 1\r",
		"? endpoints\n: - {name: x}\n", "endpoints: !!seq\n  - {name: x}\n", "endpoints: &a\n  - {name: x}\n", "endpoints:\n  -\n    name: x\n", "endpoints:\n  - \"a\n  b\"\n",
		"counters: {a: {http: \"}\", value: $}}\nendpoints:\n  - {name: a}\n", "counters: # x\nendpoints:\n - - a\n", "counters: ~\nendpoints:\n - a\n", "counters: 'x'\nendpoints:\n - a\n",
		"\u2028endpoints:\n - a", "endpoints:\u0085 - a\u0085", "%YAML 1.1\n---\nendpoints:\n - a\n...\n# end\n", "version: 1\ntarget: http://127.0.0.1:1\nendpoints:\n  - name: a\n    request: POST /a\n    text: >+\n\n      x\n\n",
		"\tendpoints:\n - a", "endpoints:\n - a\n#\tx\n \t# y", "{endpoints: [a]}", "endpoints: [a]", "callers: []\nendpoints:\n- {name: x}",
	} {
		f.Add([]byte(s))
	}
	for _, existing := range []string{written(f, sample(f)), strings.ReplaceAll(written(f, order()), "\n", "\r\n")} {
		f.Add([]byte(existing))
	}
	d := sample(f)
	d.Endpoints = append(d.Endpoints, order().Endpoints...)
	d.Endpoints[3].Name, d.Endpoints[3].Request, d.Endpoints[3].Template = "create other", "POST /others/{{x}}", "/others/{x}"
	f.Fuzz(func(t *testing.T, existing []byte) {
		was := bytes.Clone(existing)
		got, _, err := Merge(existing, "p.yaml", d)
		if !bytes.Equal(was, existing) {
			t.Fatal("the caller's bytes were changed")
		}
		if err != nil {
			if got != nil {
				t.Fatalf("both a plan and %v", err)
			}
			return
		}
		if !embedded(string(existing), string(got)) {
			t.Fatalf("bytes are lost: %q is %q", existing, got)
		}
		again, report, err := Merge(got, "p.yaml", d)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("again: %v, %+v\n%s\nis\n%s", err, report, got, again)
		}
		if mistakes(existing) == 0 && mistakes(got) != 0 {
			t.Fatalf("a good plan is none any more:\n%s", got)
		}
	})
}

// mistakes is how many mistakes a plan has, but for hosts, which only a user can allow.
func mistakes(text []byte) int {
	_, err := plan.ParseWith("p.yaml", text, env, plan.Overrides{AllowHosts: []string{"api.example.com"}})
	var found strict.Errors
	errors.As(err, &found)
	return len(found)
}

// reference is a body that carries the marker.
func reference() *yaml.Node {
	f := newFields()
	f.add("reference", str("{{marker}}"))
	return f.node
}

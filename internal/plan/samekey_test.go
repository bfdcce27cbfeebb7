package plan

import (
	"slices"
	"testing"
	"time"

	"retrysafe/internal/webhook"
)

func TestSameKeyMistakes(t *testing.T) {
	two := func(own, other string) string {
		return head + "endpoints:\n  - {name: order, request: POST /o, " + own + "}\n  - {name: refund, request: POST /r, " + other + "}\n"
	}
	const keyed = "key: {header: K}"
	for _, c := range []mistake{
		{"same invalid body", endpoint("body: {a: 1}", "invalid_body: {a: 1}"), "p:7:19: expected invalid_body to change the body, found the same body: change a value to one that must be refused\n7 |     invalid_body: {a: 1}\n  |                   ^"},
		{"invalid and other body", endpoint("body: {a: 1}", "other_body: {a: 2}", "invalid_body: {a: 2}"), "p:8:19: expected invalid_body to differ from other_body, found the same body: one must be refused, the other accepted"},
		{"invalid body of a file", endpoint("file: plan_test.go", "invalid_body: {a: 1}"), "p:7:19: a file cannot be patched"},
		{"invalid body without the key's place", endpoint("key: {json: $.m.k}", "body: {m: {}}", "invalid_body: {m: 1}"), "p:5:19: cannot put the key at $.m.k: expected an object around \"k\", found a number"},
		{"other query of nothing", endpoint("other_query: {}"), "p:6:18: expected query parameters such as {dry_run: \"true\"}, found none"},
		{"other query as text", endpoint("other_query: gift=true"), "p:6:18: expected a mapping, found the text \"gift=true\""},
		{"other query without a name", endpoint("other_query: {\"\": 1}"), "p:6:19: expected the name of a query parameter, found nothing"},
		{"other query is the key", endpoint("key: {query: id}", "other_query: {id: 1}"), "p:7:19: query parameter \"id\" carries the key, which stays the same: name another one"},
		{"other query that is there", head + "endpoints: [{name: a, request: POST /x?gift=true, other_query: {gift: true}}]", "p:3:64: expected other_query to change the request, found what it has already: change a value"},
		{"other query that takes nothing away", endpoint("other_query: {gift: \"\"}"), "p:6:18: expected other_query to change the request"},
		{"unknown endpoint", two(keyed+", other_endpoint: refnud", keyed), "p:4:71: unknown endpoint \"refnud\"; did you mean \"refund\"? (other_endpoint is the name of another endpoint of this plan)"},
		{"no endpoint", two(keyed+", other_endpoint: \"\"", keyed), "p:4:72: unknown endpoint \"\""},
		{"itself", two(keyed+", other_endpoint: order", keyed), "p:4:71: expected another endpoint, found \"order\" itself: name one that the same key can be sent to"},
		{"without a key", two("other_endpoint: refund", keyed), "p:4:53: other_endpoint needs a key, and this endpoint has none: say where it travels with `key`"},
		{"to one without a key", two(keyed+", other_endpoint: refund", "tags: []"), "p:4:71: expected an endpoint with its key in the same place, header K; found no key at \"refund\""},
		{"key at another place", two(keyed+", other_endpoint: refund", "key: {query: K}"), "p:4:71: expected an endpoint with its key in the same place, header K; found query K at \"refund\""},
		{"key in another form", two(keyed+", other_endpoint: refund", "key: {header: K, format: sf-string}"), "p:4:71: expected an endpoint with its key in the same place, header K; found header K as sf-string at \"refund\""},
		{"window without unit", endpoint("retry_window: 72"), "p:6:19: expected a duration with a unit, found \"72\""},
		{"double click", endpoint("double_click: on"), "p:6:19: expected one or two, found \"on\""},
		{"refused where", endpoint("answers: {refused: {json: errors}}"), "p:6:31: expected a JSONPath such as $.count, found unexpected identifier"},
		{"answers of nothing", endpoint("answers: {}"), "p:6:14: expected refused or success, found neither"},
		{"success of nothing", endpoint("answers: {success: []}"), "p:6:24: expected status codes such as [422], found an empty list"},
		{"success by itself", endpoint("answers: {success: [303, 201]}"), "p:6:30: expected 301, 302 or 303, found 201: 2xx is success anyway, and no other status says that the request was carried out"},
		{"success elsewhere", endpoint("answers: {success: [307]}"), "p:6:25: expected 301, 302 or 303, found 307"},
		{"success that is no number", endpoint("answers: {success: [see other, 307]}"), "p:6:25: expected a whole number"},
		{"refused by a header", endpoint("answers: {refused: {json: $.e, header: X}}"), "p:6:36: unknown field \"header\""},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestSameKey(t *testing.T) {
	p := mustParse(t, head+`defaults: {key: {header: K}}
endpoints:
  - name: order
    request: POST /o?gift=false
    body: {qty: 1, note: x}
    invalid_body: {qty: -1, note: }
    other_query: {gift: true, for: "{{marker}}"}
    other_endpoint: refund
    retry_window: 72h
    double_click: one
    answers: {refused: {json: "$.errors[0]"}, success: [303, 302]}
  - {name: refund, request: POST /r, key: {header: K, format: bare}}
`)
	e := p.Endpoints[0]
	if got, err := e.InvalidBody.Render(values{}); string(got) != `{"qty":-1}` || err != nil || !e.HasInvalid {
		t.Errorf("invalid body %s, %v", got, err)
	}
	url := e.Request.URL(p.Target, values{})
	for _, q := range e.OtherQuery {
		url = WithQuery(url, q.Name, q.Value.Render(values{"marker": "m"}))
	}
	if url != "http://127.0.0.1:1/o?gift=true&for=m" {
		t.Errorf("other query %s", url)
	}
	if e.OtherEndpoint != "refund" || e.RetryWindow != 72*time.Hour || e.DoubleClick != "one" || e.RefusedWhere != "$.errors[0]" || !slices.Equal(e.SuccessStatuses, []int{303, 302}) {
		t.Errorf("endpoint %+v", e)
	}
	refund := p.Endpoints[1]
	if refund.HasInvalid || refund.OtherEndpoint != "" || refund.OtherQuery != nil || refund.RefusedWhere != "" || refund.SuccessStatuses != nil {
		t.Errorf("endpoint %+v", refund)
	}
}

// TestOtherBodyIsNoInvalidBody: what must be refused cannot be what must be accepted.
func TestOtherBodyIsNoInvalidBody(t *testing.T) {
	e := mustParse(t, endpoint("body: {qty: 1}", "invalid_body: {qty: 2}")).Endpoints[0]
	if e.HasOther || e.OtherWhy != "the change at hand is the invalid_body: say `other_body`" {
		t.Errorf("other body %v: %s", e.HasOther, e.OtherWhy)
	}
}

func TestWebhookMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"misspelt scheme", endpoint("webhook: {scheme: stirpe, secret: whsec_x}"), "p:6:23: expected standard-webhooks, svix, stripe, github, shopify or slack, found \"stirpe\"; did you mean \"stripe\"?\n6 |     webhook: {scheme: stirpe, secret: *******}\n  |                       ^~~~~~"},
		{"no scheme", endpoint("webhook: {secret: whsec_x}"), "p:6:14: missing field \"scheme\""},
		{"no secret", endpoint("webhook: {scheme: github}"), "p:6:14: missing field \"secret\""},
		{"empty secret", endpoint("webhook: {scheme: github, secret: \"\"}"), "p:6:39: expected the secret that deliveries are signed with, found nothing"},
		{"secret that is no base64", endpoint("webhook: {scheme: svix, secret: whsec_hunter2}"), "p:6:37: expected a secret of svix: whsec_ and base64 with padding; found another text\n6 |"},
		{"another kind", endpoint("kind: create", "webhook: {scheme: github, secret: abcdef}"), "p:6:11: expected kind webhook beside `webhook:`, found \"create\": remove one of them"},
		{"event id in a text", endpoint("webhook: {scheme: stripe, secret: abcdef}", "text: x"), "p:5:19: expected a JSON body to put the key at $.id, found a text body: use `body:`"},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestWebhooks(t *testing.T) {
	for scheme, want := range map[string]string{
		"standard-webhooks": "header webhook-id", "svix": "header svix-id", "github": "header X-GitHub-Delivery",
		"shopify": "header X-Shopify-Event-Id", "stripe": "json $.id", "slack": "json $.event_id",
	} {
		p := mustParse(t, head+"defaults: {key: {header: Idempotency-Key}}\nendpoints: [{name: a, request: POST /x, webhook: {scheme: "+scheme+", secret: whsec_c2VjcmV0}}]")
		e := p.Endpoints[0]
		if got := e.Key.In + " " + e.Key.Name; got != want || e.Kind != "webhook" || e.Webhook.Scheme != scheme || e.Webhook.Secret != "whsec_c2VjcmV0" {
			t.Errorf("%s: key %s, kind %s, %+v", scheme, got, e.Kind, e.Webhook)
		}
		if !slices.Contains(p.Secrets, "whsec_c2VjcmV0") || !slices.Contains(p.Secrets, "c2VjcmV0") {
			t.Errorf("%s: secrets %q", scheme, p.Secrets)
		}
	}
	for _, scheme := range webhook.Names() {
		if eventPlace(scheme).In == "" {
			t.Errorf("%s: no place of the event's id", scheme)
		}
	}
	e := mustParse(t, endpoint("webhook: {scheme: github, secret: abcdef}", "key: {json: $.delivery}", "body: {}")).Endpoints[0]
	if e.Key.Name != "$.delivery" {
		t.Errorf("the plan's own key: %+v", e.Key)
	}
	e = mustParse(t, endpoint("kind: webhook", "key: {header: X-Event}")).Endpoints[0]
	if e.Webhook != nil || e.Key.Name != "X-Event" {
		t.Errorf("unsigned: %+v", e)
	}
}

package draft

import (
	"testing"

	"go.yaml.in/yaml/v4"
)

// body is a JSON body written as YAML.
func body(t testing.TB, s string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(s), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

// sample is a draft with something of everything.
func sample(t testing.TB) Draft {
	return Draft{
		Source: "openapi.yaml",
		Title:  "Shop API",
		Target: Text{Value: "https://api.example.com/v1", Guess: "the first of 2 servers"},
		Callers: []Caller{
			{Name: "first", Comment: "bearerAuth, openapi.yaml:200:5: a token of a user", Headers: []Header{{Name: "Authorization", Value: Text{Value: "Bearer ${FIRST_TOKEN}"}}}},
			{Name: "second", Headers: []Header{{Name: "Authorization", Value: Text{Value: "Bearer ${SECOND_TOKEN}", Guess: "another user of the same scheme"}}}},
		},
		Counters: []Counter{
			{Name: "orders", Request: "GET /orders?reference={{marker}}", Length: "$.items", Guess: "the list of the same resource, filtered by the field that carries the marker"},
			{Name: "payments", Request: "GET /payments/count?reference={{marker}}", Value: "$.count"},
		},
		States: []State{
			{Name: "refund", Request: "GET /orders/{{order}}/refunds/{{refund}}", Guess: "GET /orders/{orderId}/refunds/{refundId} shows what is behind the path"},
			{Name: "shop", Request: "GET /shop"},
		},
		Endpoints: []Endpoint{
			{
				Name: "create order", Place: "openapi.yaml:12:5 createOrder", Request: "POST /orders", Template: "/orders",
				Kind:      Text{Value: "create"},
				Key:       Key{Header: "Idempotency-Key", Required: true},
				Headers:   []Header{{Name: "X-Shop", Value: Text{Value: "berlin"}}},
				Body:      Body{JSON: body(t, "qty: 1\nreference: \"{{marker}}\" # guess: free text, made unique\naddress: {street: \"12 Main St\", zip: \"01234\"}\n")},
				OtherBody: body(t, "{qty: 2}"),
				Setup:     []Step{{Request: "POST /carts", Body: Body{JSON: body(t, "{sku: A1}")}, Capture: []Capture{{"cart", "$.id"}}, Guess: "cart is an id of what POST /carts makes"}},
				Counters:  []string{"orders"},
				Cleanup:   &Step{Request: "DELETE /orders/{{id}}", Capture: []Capture{{"id", "$.id"}}},
				Tags:      []string{"orders"},
				Comments:  []string{"Look at qty: the source gives no example."},
			},
			{
				Name: "create refund", Place: "openapi.yaml:80:5 createRefund", Request: "POST /orders/{{order}}/refunds", Template: "/orders/{orderId}/refunds",
				Key:  Key{Header: "Idempotency-Key", Guess: "every other operation has it"},
				Body: Body{Form: body(t, "{amount: 500, note: \"yes\", on: 2024-01-01}")},
				Setup: []Step{
					{Request: "POST /carts", Body: Body{JSON: body(t, "{sku: A1}")}, Capture: []Capture{{"cart", "$.id"}}},
					{Request: "POST /orders", Headers: []Header{{Name: "Idempotency-Key", Value: Text{Value: "{{uuid}}"}}}, Body: Body{JSON: body(t, `{cart: "{{cart}}", qty: 1, reference: "{{marker}}", address: {street: "a very long street name that goes on", city: "Berlin"}}`)}, Capture: []Capture{{"order", "$.id"}}},
				},
			},
			{
				Name: "cancel refund", Request: "DELETE /orders/{{order}}/refunds/{{refund}}", Template: "/orders/{orderId}/refunds/{refundId}",
				Setup: []Step{
					{Request: "POST /orders", Capture: []Capture{{"order", "$.id"}}},
					{Request: "POST /orders/{{order}}/refunds", Capture: []Capture{{"refund", "$.id"}}},
				},
				States: []string{"refund", "shop"},
				Tags:   []string{"orders"},
			},
			{
				Name: "import", Request: "POST /import", Template: "/import", Headers: []Header{{Name: "Content-Type", Value: Text{Value: "application/xml"}}},
				Body: Body{Text: "<order>\n  <qty>1</qty>\n</order>"},
			},
		},
	}
}

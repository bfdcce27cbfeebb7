package cmd

import (
	"testing"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
)

func TestCoverage(t *testing.T) {
	operations := []openapi.Operation{
		{Method: "GET", Path: "/orders"}, {Method: "POST", Path: "/orders"}, {Method: "POST", Path: "/orders/{id}/refunds"},
		{Method: "POST", Path: "/orders/search/refunds"}, {Method: "DELETE", Path: "/orders/{id}"},
	}
	for _, c := range []struct {
		name, base, target, request string
		want                        int
	}{
		{"the same", "/v1", "http://h/v1", "POST /orders", 1},
		{"the plan's variable has no path", "/v1", "${T}", "POST /orders", 1},
		{"the base in the plan's path", "/v1", "http://h", "POST /v1/orders", 1},
		{"the base in the plan's target only", "", "http://h/v1", "POST /orders", 1},
		{"the whole URL", "/v1", "http://h", "POST https://x/v1/orders", 1},
		{"a query", "", "http://h", "POST /orders?x=/y", 1},
		{"a capture", "", "http://h", "POST /orders/{{order}}/refunds", 2},
		{"a value", "", "http://h", "POST /orders/17/refunds", 2},
		{"a value that has an operation of its own", "", "http://h", "POST /orders/search/refunds", 3},
		{"what is safe is in the API too", "", "http://h", "GET /orders", 0},
		{"another method", "", "http://h", "PUT /orders", -1},
		{"another path", "", "http://h", "POST /orders/{{order}}/refunds/{{refund}}", -1},
		{"another base", "/v1", "http://h", "POST /v2/orders", -1},
	} {
		a := newAPI("api.yaml", c.base, operations)
		e := planned{draft.Stated{Operation: draft.ParseOperation(c.request)}, draft.TargetPath(c.target)}
		if got := a.find(e); got != c.want {
			t.Errorf("%s: %s is operation %d, want %d", c.name, c.request, got, c.want)
		}
	}
}

func TestCoveredShare(t *testing.T) {
	a := newAPI("api.yaml", "", []openapi.Operation{{Method: "POST", Path: "/a"}, {Method: "POST", Path: "/b"}, {Method: "POST", Path: "/c"}, {Method: "GET", Path: "/d"}})
	plan := func(requests ...string) []planned {
		var all []planned
		for _, r := range requests {
			all = append(all, planned{draft.Stated{Request: r, Operation: draft.ParseOperation(r)}, ""})
		}
		return all
	}
	for _, c := range []struct {
		plan               []planned
		excluded           []bool
		operations, has    int
		percent            float64
		min                int
		enough             bool
		missing, notInSpec int
	}{
		{plan("POST /a", "POST /a"), make([]bool, 4), 3, 1, 33.3, 33, true, 2, 0},
		{plan("POST /a", "POST /b"), make([]bool, 4), 3, 2, 66.6, 67, false, 1, 0},
		{plan("POST /a", "POST /x"), []bool{false, true, true, false}, 1, 1, 100, 100, true, 0, 1},
		{plan("POST /a"), []bool{true, true, true, false}, 1, 1, 100, 100, true, 0, 0},
		{plan(), []bool{true, true, true, false}, 0, 0, 100, 100, true, 0, 0},
		{plan(), make([]bool, 4), 3, 0, 0, 0, true, 3, 0},
	} {
		got := cover(a, c.plan, c.excluded)
		got.Min = c.min
		if got.Operations != c.operations || got.Covered != c.has || got.Percent != c.percent || got.Enough() != c.enough ||
			len(got.Missing) != c.missing || len(got.Unknown) != c.notInSpec {
			t.Errorf("%+v: got %+v, enough %v", c, got, got.Enough())
		}
	}
}

func TestOperationGlob(t *testing.T) {
	for _, c := range []struct{ pattern, is, isNot string }{
		{"DELETE /internal/*", "DELETE /internal/x", "DELETE /internal/x/y"},
		{"delete /internal/**", "DELETE /internal/x/y", "POST /internal/x"},
		{"/internal/*", "POST /internal/x", "POST /x/internal/x"},
		{"* /a.b/{id}", "PUT /a.b/{id}", "PUT /axb/{id}"},
		{"POST /v?/x", "POST /v1/x", "POST /v12/x"},
	} {
		g := operationGlob(c.pattern)
		if !g.MatchString(c.is) || g.MatchString(c.isNot) {
			t.Errorf("%s: %v, %v", c.pattern, g.MatchString(c.is), g.MatchString(c.isNot))
		}
	}
}

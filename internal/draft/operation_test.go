package draft

import (
	"strings"
	"testing"
)

func TestParseOperation(t *testing.T) {
	for request, want := range map[string]Operation{
		"POST /orders":                               {"POST", "", "/orders"},
		"post /orders/?x={{marker}}":                 {"POST", "", "/orders"},
		"POST  /orders/{{order}}/refunds#x":          {"POST", "", "/orders/{}/refunds"},
		"POST /orders/{orderId}/refunds":             {"POST", "", "/orders/{}/refunds"},
		"POST /orders/:orderId/refunds":              {"POST", "", "/orders/{}/refunds"},
		"POST /orders/${ORDER:-a/b}.json":            {"POST", "", "/orders/{}.json"},
		"POST /orders/{id}:cancel":                   {"POST", "", "/orders/{}:cancel"},
		"POST ${BASE}/orders":                        {"POST", "", "/orders"},
		"PUT HTTPS://Shop.example.com:8443/v1/a?b":   {"PUT", "shop.example.com:8443", "/v1/a"},
		"PUT https://shop.example.com?b":             {"PUT", "shop.example.com", "/"},
		"DELETE /":                                   {"DELETE", "", "/"},
		"DELETE":                                     {"DELETE", "", "/"},
		"GET /redirect/http://x":                     {"GET", "", "/redirect/http://x"},
		"POST /graphql?query=mutation{pay(id:\"1\")": {"POST", "", "/graphql"},
	} {
		if got := ParseOperation(request); got != want {
			t.Errorf("%s: got %+v, want %+v", request, got, want)
		}
	}
}

func TestOperationCovers(t *testing.T) {
	for _, c := range []struct {
		operation, request string
		want               bool
	}{
		{"POST /orders/{id}", "POST /orders/17", true},
		{"POST /orders/{id}", "POST /orders/{{order}}", true},
		{"POST /orders/17", "POST /orders/{{order}}", false},
		{"POST /orders/{id}", "PUT /orders/17", false},
		{"POST /orders/{id}", "POST /orders/17/x", false},
		{"POST /files/{name}.{ext}", "POST /files/a.b.pdf", true},
		{"POST /files/{name}.json", "POST /files/a.pdf", false},
		{"POST /a-{x}-b", "POST /a--b", true},
		{"POST /a-{x}-b", "POST /a-b", false},
		{"POST /x", "POST https://h/x", false},
	} {
		if got := ParseOperation(c.operation).Covers(ParseOperation(c.request)); got != c.want {
			t.Errorf("%s covers %s: %v", c.operation, c.request, got)
		}
	}
}

func TestTargetPath(t *testing.T) {
	for target, want := range map[string]string{
		"http://h": "", "http://h/": "", "http://h/v1/": "/v1", "${T}": "", "${T}/v1": "/v1", "${T:-https://h/v1}": "/v1", "${T:-https://h}/v2": "/v2", "": "", "::": "",
	} {
		if got := TargetPath(target); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	for base, want := range map[string]string{"": "POST /a", "/": "POST /a", "/v1/": "POST /v1/a", "/{region}": "POST /{}/a"} {
		if got := ParseOperation("POST /a").Under(base).String(); got != want {
			t.Errorf("under %s: got %s, want %s", base, got, want)
		}
	}
}

// TestReadStated: endpoints are read from plans whose variables and hosts are not known.
func TestReadStated(t *testing.T) {
	found, base, err := ReadStated("p.yaml", []byte("version: 1\ntarget: ${T:-https://h/v1}\nendpoints:\n  - {name: a, request: \"POST /a/{{x}}\"}\n  - name: b\n  - 5\n"))
	if err != nil || base != "/v1" || len(found) != 3 {
		t.Fatalf("%v, %s, %v", err, base, found)
	}
	if a := found[0]; a.Name != "a" || a.Request != "POST /a/{{x}}" || a.Operation.String() != "POST /a/{}" || a.Pos.String() != "p.yaml:4:5" {
		t.Errorf("%+v", a)
	}
	if _, _, err := ReadStated("p.yaml", []byte("a: [")); err == nil {
		t.Error("what is no YAML was read")
	}
}

// FuzzOperation: what a request is read as is read as itself, and covers itself.
func FuzzOperation(f *testing.F) {
	for _, s := range []string{"POST /a/{b}/:c", "PUT https://h/x", "x", "{{}}/", "POST //a//b", "POST ${A}${B}/x", "GET /{}{}a{}", "0 $${}", "0 :A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, request string) {
		o := ParseOperation(request)
		if !strings.HasPrefix(o.Path, "/") || !o.Covers(o) || !o.resembles(o) {
			t.Fatalf("%q is %+v", request, o)
		}
		if o.Host != "" || strings.ContainsAny(o.Path, " \t\n\v\f\r\u0085\u00a0") || strings.Contains(o.Path, "://") || strings.Contains(o.Path, "/:") {
			return
		}
		if again := ParseOperation("POST " + o.Path); again.Path != o.Path {
			t.Fatalf("%q is %+v, and that is %+v", request, o, again)
		}
	})
}

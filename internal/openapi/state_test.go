package openapi

import (
	"strings"
	"testing"
)

// TestStates: what the same path shows is read for what changes it, unless the document gives a reason to think that it moves by itself.
func TestStates(t *testing.T) {
	thing := func(members string) string {
		return "{responses: {'200': {content: {application/json: {schema: {type: object, properties: {" + members + "}}}}}}}"
	}
	plain := thing("id: {type: string}, name: {type: string}")
	const create = "post: {responses: {'201': {content: {application/json: {schema: {properties: {id: {type: string}}}}}}}}"
	for _, c := range []struct{ reason, version, get, operation, want string }{
		{"PUT", v30, plain, "put: {}", "order GET /orders/{{order}}"},
		{"PATCH", v31, plain, "patch: {}", "order GET /orders/{{order}}"},
		{"DELETE", v30, plain, "delete: {responses: {'204': {description: gone}}}", "order GET /orders/{{order}}"},
		{"an answer that is not described", v30, "{}", "put: {}", "order GET /orders/{{order}}"},
		{"an answer of Swagger", v20, "{responses: {'200': {schema: {properties: {name: {type: string}}}}}}", "put: {}", "order GET /orders/{{order}}"},
		{"what the document wants in the query", v30, "{parameters: [{in: query, name: view, required: true, schema: {enum: [full]}}]}", "put: {}", "order GET /orders/{{order}}?view=full"},
		{"times and a version, which judging leaves out", v30, thing("updated_at: {type: string, format: date-time}, version: {type: integer}, _etag: {type: string}, lockVersion: {type: integer}"), "put: {}", "order GET /orders/{{order}}"},
		{"a status that stays", v30, thing("status: {type: string, enum: [open, closed]}"), "put: {}", "order GET /orders/{{order}}"},

		{"no GET", v30, "", "put: {}", ""},
		{"a key, so that the repeat is known again", v30, plain, "put: {parameters: [{in: header, name: Idempotency-Key, schema: {type: string}}]}", ""},
		{"a value that is made up", v30, "{parameters: [{in: query, name: view, required: true, schema: {type: string}}]}", "put: {}", ""},
		{"a header that the endpoint's reader does not send", v30, "{parameters: [{in: header, name: X-View, required: true, schema: {enum: [full]}}]}", "put: {}", ""},
		{"done later", v30, plain, "delete: {responses: {'202': {description: it will be gone}}}", ""},
		{"a status that moves on by itself", v30, thing("status: {type: string, enum: [pending, confirmed]}"), "put: {}", ""},
		{"deep inside, in a list", v30, thing("jobs: {type: array, items: {properties: {state: {enum: [IN_PROGRESS, DONE]}}}}"), "put: {}", ""},
		{"a version by another name", v30, thing("meta: {properties: {resourceVersion: {type: string}}}"), "put: {}", ""},
		{"a log of what was done", v30, thing("status_history: {type: array}"), "put: {}", ""},
		{"a page", v30, "{responses: {'200': {content: {text/html: {}}}}}", "put: {}", ""},
		{"XML of Swagger", v20, "{produces: [application/xml], responses: {'200': {schema: {type: object}}}}", "put: {}", ""},
		{"a body with the version that it replaces", v30, plain, "put: {requestBody: {content: {application/json: {schema: {type: object, required: [version], properties: {version: {type: integer}}}}}}}", ""},
		{"a PATCH with a list of changes", v30, plain, "patch: {requestBody: {content: {application/json-patch+json: {schema: {type: array}, example: [{op: add, path: /tags/-, value: a}]}}}}", ""},
	} {
		get := ""
		if c.get != "" {
			get = "get: " + c.get + ", "
		}
		paths := "paths:\n  /orders: {" + create + "}\n  /orders/{id}: {" + get + c.operation + "}\n"
		if c.version == v20 {
			paths = strings.Replace(paths, create, "post: {responses: {'201': {schema: {properties: {id: {type: string}}}}}}", 1)
		}
		d := drafted(t, c.version, paths)
		method, _, _ := strings.Cut(c.operation, ":")
		names := strings.Join(find(t, d, strings.ToUpper(method), "/orders/{id}").States, ",")
		got := ""
		for _, s := range d.States {
			got += s.Name + " " + s.Request
			if s.Guess == "" || s.Name != names {
				t.Errorf("%s: state %+v, used as %q", c.reason, s, names)
			}
		}
		if got != c.want || got == "" && names != "" {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

// TestSharedStates: endpoints that need the same state name the same one, and what is not captured has none.
func TestSharedStates(t *testing.T) {
	const paths = `
paths:
  /orders: {post: {}}
  /orders/{id}: {get: {}, put: {}, delete: {}}
  /orders/{orderId}/lines: {post: {}, get: {}, delete: {}}
  /orders/{orderId}/lines/{lineId}: {get: {}, patch: {}}
  /archive/orders: {post: {}}
  /archive/orders/{id}: {get: {}, delete: {}}
  /orders/{id}/cancel: {put: {}}
  /flags/{flag}: {get: {}, put: {}}
  /settings/{name}: {get: {}, put: {parameters: [{in: path, name: name, required: true, schema: {type: string, example: colour}}]}}
  /settings: {get: {}, put: {}}
`
	d := drafted(t, v30, paths)
	requests := map[string]string{}
	for _, s := range d.States {
		requests[s.Name] = s.Request
	}
	for _, c := range []struct{ reason, method, template, name, request string }{
		{"the first one", "PUT", "/orders/{id}", "order", "GET /orders/{{order}}"},
		{"shared", "DELETE", "/orders/{id}", "order", "GET /orders/{{order}}"},
		{"the list in what the set-up made", "DELETE", "/orders/{orderId}/lines", "line", "GET /orders/{{order}}/lines"},
		{"two ids", "PATCH", "/orders/{orderId}/lines/{lineId}", "line_2", "GET /orders/{{order}}/lines/{{line}}"},
		{"another one of the name", "DELETE", "/archive/orders/{id}", "order_2", "GET /archive/orders/{{order}}"},
		{"nothing at this path", "PUT", "/orders/{id}/cancel", "", ""},
		{"a made-up id", "PUT", "/flags/{flag}", "", ""},
		{"the document's id", "PUT", "/settings/{name}", "", ""},
		{"no id", "PUT", "/settings", "", ""},
		{"what creates is counted", "POST", "/orders/{orderId}/lines", "", ""},
	} {
		name := strings.Join(find(t, d, c.method, c.template).States, ",")
		if name != c.name || requests[name] != c.request {
			t.Errorf("%s: got %s %q, want %s %q", c.reason, name, requests[name], c.name, c.request)
		}
	}
	if len(d.States) != 4 {
		t.Errorf("got %+v", d.States)
	}
}

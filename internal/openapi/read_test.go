package openapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"retrysafe/internal/openapi"
	"retrysafe/internal/strict"
)

// v3 is a document of version 3.0 with the given paths, indented by two spaces, and components.
func v3(paths string, components ...string) string {
	return "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths:\n" + paths + "\n" + strings.Join(components, "\n")
}

func TestIs(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		want         bool
	}{
		{"YAML", "openapi: 3.0.0\npaths: {}\n", true},
		{"not at the top", "info: {}\nopenapi: '3.1.0'\n", true},
		{"JSON", "{\n  \"openapi\": \"3.0.0\"}", true},
		{"JSON in one line", `{"info":{},"swagger":"2.0"}`, true},
		{"Swagger in YAML", "swagger: \"2.0\"", true},
		{"version as a number", "swagger: 2.0", true},
		{"HAR", `{"log": {"version": "1.2", "entries": [{"text": "{\"openapi\": \"3.0.0\"}"}]}}`, false},
		{"Postman", `{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"}}`, false},
		{"curl", "curl -d 'openapi=1' http://localhost/openapi", false},
		{"a plan", "version: 1\ntarget: http://localhost/openapi\n", false},
		{"nothing", "", false},
	} {
		if got := openapi.Is([]byte(c.text)); got != c.want {
			t.Errorf("%s: got %v", c.reason, got)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"empty", "", "api:1:1: the file is empty"},
		{"no mapping", "- a", "api:1:1: expected an OpenAPI document, found a list"},
		{"a text", "hello", `api:1:1: expected an OpenAPI document, found "hello"`},
		{"another format", "version: 1\n", "api:1:1: expected an OpenAPI document with the field openapi or swagger, found neither"},
		{"old version", "swagger: '1.2'\n", `api:1:10: expected Swagger 2.0, found version "1.2": convert it to OpenAPI 3.0`},
		{"new version", "openapi: 4.0.0\n", `api:1:10: expected OpenAPI 3.0 or 3.1, found version "4.0.0"`},
		{"no paths", "openapi: 3.0.0\ninfo: {}\n", "api:1:1: expected paths with operations, found no field paths"},
		{"paths of the wrong type", "openapi: 3.0.0\npaths: [a]\n", "api:2:8: expected paths with operations, found a list as paths"},
		{"broken YAML", "openapi: 3.0.0\npaths:\n  /a: {get: [}\n", "api:3:14: invalid YAML"},
		{"a tab", "openapi: 3.0.0\npaths:\n\t/a: {}\n", "api:3:1: invalid YAML"},
		{"not UTF-8", "openapi: 3.0.0\nx: \xff\n", "api:2:4: expected UTF-8"},
		{"broken JSON", "{\"openapi\": \"3.0.0\",\n \"paths\": {\"/a\" 1}}", `api:2:17: invalid JSON`},
		{"cut JSON", "{\"openapi\": \"3.0.0\",\n \"paths\": {\"/a\": ", `api:2:18: invalid JSON: found the end of the text inside a value`},
		{"two texts of JSON", "{\"openapi\": \"3.0.0\", \"paths\": {}}\n}", `api:2:1: invalid JSON`},
		{"deep JSON", `{"openapi": "3.0.0", "paths": ` + strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600) + "}", "levels deep, found a deeper one"},
		{"deep YAML", "openapi: 3.0.0\npaths: " + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "\n", "levels deep, found a deeper one"},
	} {
		_, err := openapi.Read("api", []byte(c.text), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.reason, err, c.want)
			continue
		}
		var mistakes strict.Errors
		if !errors.As(err, &mistakes) {
			t.Errorf("%s: %v has no place", c.reason, err)
		}
	}
}

func TestOperations(t *testing.T) {
	for _, c := range []struct{ reason, text string }{
		{"YAML", v3("  /orders:\n    get: {}\n    post: {operationId: make, tags: [a, b], deprecated: true}\n  /orders/{id}:\n    delete: {}\n    x-note: a\n  x-internal: {get: {}}")},
		{"JSON", `{"openapi": "3.1.0", "paths": {"/orders": {
    "get": {},
    "post": {"operationId": "make", "tags": ["a", "b"], "deprecated": true}},
  "/orders/{id}": {
    "delete": {}, "x-note": "a"}}}`},
		{"Swagger", "swagger: '2.0'\n\n\npaths:\n  /orders:\n    get: {}\n    post: {operationId: make, tags: [a, b], deprecated: true}\n  /orders/{id}:\n    delete: {}\n"},
		{"path behind a reference", "openapi: 3.0.0\nx:\n  o:\n    get: {}\n\n\n    post: {operationId: make, tags: [a, b], deprecated: true}\npaths:\n  /orders: {$ref: '#/x/o'}\n  /orders/{id}: {delete: {}}\n"},
	} {
		d, err := openapi.Read("api", []byte(c.text), nil)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		var found []string
		for _, o := range d.Operations() {
			found = append(found, fmt.Sprintf("%s %s %s %v %v %v", o.Method, o.Path, o.ID, o.Tags, o.Deprecated, o.Unsafe()))
			if o.Line < 1 || o.Col < 1 {
				t.Errorf("%s: %s %s has no place", c.reason, o.Method, o.Path)
			}
		}
		want := "GET /orders  [] false false|POST /orders make [a b] true true|DELETE /orders/{id}  [] false true"
		if got := strings.Join(found, "|"); got != want {
			t.Errorf("%s: got %s, want %s", c.reason, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, text := range []string{
		"openapi: 3.0.0\npaths:\n  /a:\n    post: {}\n",
		"{\"openapi\": \"3.0.0\",\n\"paths\":\n{\"/ä\": {\"x\": \"\\ud83d\\ude00 \\/\",\n    \"post\": {}}}}",
	} {
		d, err := openapi.Read("api", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if o := d.Operations()[0]; o.Line != 4 || o.Col != 5 {
			t.Errorf("%q: got %d:%d", text, o.Line, o.Col)
		}
	}
}

func TestBroken(t *testing.T) {
	schema := func(s string) string {
		return v3("  /a:\n    post:\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}", "components:\n  schemas:\n"+s)
	}
	for _, c := range []struct{ reason, text, left string }{
		{"missing schema", schema("    B: {}"), `api:6:65: $ref #/components/schemas/A leads nowhere: there is no "A": what it stands for is left out`},
		{"schema in another file", v3("  /a:\n    post:\n      requestBody: {$ref: 'bodies.yaml#/A'}"), "api:6:27: $ref bodies.yaml#/A leads to another file, which is not read: what it stands for is left out"},
		{"schema on the network", v3("  /a:\n    post:\n      requestBody: {$ref: 'http://example.com/a.yaml'}"), "leads to the network, which is not asked"},
		{"reference to itself", v3("  /a:\n    post:\n      requestBody: {$ref: '#/components/requestBodies/A'}", "components: {requestBodies: {A: {$ref: '#/components/requestBodies/A'}}}"), "api:7:33: $ref #/components/requestBodies/A leads back to itself"},
		{"schema that is all of itself", schema("    A: {allOf: [{$ref: '#/components/schemas/A'}]}"), ""},
		{"schema that requires itself", schema("    A: {type: object, required: [a], properties: {a: {$ref: '#/components/schemas/A'}}}"), ""},
		{"schema that is one of itself", schema("    A: {oneOf: [{$ref: '#/components/schemas/A'}, {type: string}]}"), ""},
		{"schemas that lead to each other", schema("    A: {$ref: '#/components/schemas/B'}\n    B: {$ref: '#/components/schemas/A'}"), ""},
		{"schema that is a text", schema("    A: string"), `api:9:8: expected a schema, found "string": read as any value`},
		{"properties that are a list", schema("    A: {type: object, properties: [a, b], required: {a: 1}, enum: 3}"), ""},
		{"content that is a list", v3("  /a:\n    post: {requestBody: {content: [a]}}"), "api:5:25: expected the content of the body of POST /a, found a list: left out"},
		{"operation that is a text", v3("  /a: {post: {}}\n  /b: {post: soon}"), `api:5:14: expected what POST /b does, found "soon": left out`},
		{"path that is a list", v3("  /a: {post: {}}\n  /b: [post]"), "api:5:7: expected operations of /b, found a list: left out"},
		{"path without slash", v3("  a: {post: {}}"), `api:4:3: expected a path that starts with /, found "a": read as /a`},
		{"parameter in nowhere", v3("  /a:\n    post: {parameters: [{name: x, in: nowhere, required: true}, 3, {in: query}]}"), `api:5:25: expected a parameter in path, query, header or cookie, found "nowhere": left out`},
		{"unknown scheme", v3("  /a: {post: {security: [{nobody: []}]}}"), `api:4:27: security scheme "nobody" is not described: left out`},
		{"path of an alias of itself", v3("  /a: &x\n    post: {requestBody: {content: {application/json: {schema: &s {properties: {a: *s}, required: [a]}}}}}"), ""},
	} {
		d, err := openapi.Read("api", []byte(c.text), nil)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		drafted := d.Draft()
		if len(drafted.Endpoints) != 1 || drafted.Endpoints[0].Request != "POST /a" {
			t.Errorf("%s: got endpoints %+v", c.reason, drafted.Endpoints)
		}
		if left := strings.Join(drafted.Left, "\n"); !strings.Contains(left, c.left) || c.left == "" && left != "" {
			t.Errorf("%s: left %q, want %q", c.reason, left, c.left)
		}
		if again := d.Draft(); fmt.Sprint(again.Left) != fmt.Sprint(drafted.Left) {
			t.Errorf("%s: drafted again, left %q", c.reason, again.Left)
		}
		valid(t, c.reason, drafted)
	}
}

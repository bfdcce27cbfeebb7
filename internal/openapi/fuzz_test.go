package openapi_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"retrysafe/internal/openapi"
	"retrysafe/internal/strict"
)

// FuzzDraft holds every document to what any must keep: a mistake has its place in the text, and a draft is a valid plan.
func FuzzDraft(f *testing.F) {
	f.Add(v3("  /orders/{id}/x:\n    post: {operationId: a, parameters: [{in: header, name: Idempotency-Key, required: true}, {in: query, name: q, required: true}]}"))
	f.Add(v3("  /orders:\n    post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}\n    get: {responses: {'200': {content: {application/json: {schema: {type: array}}}}}}\n  /orders/{a}:\n    delete: {}",
		"components: {schemas: {A: {type: object, required: [name, a_id], properties: {name: {type: string, maxLength: 9, pattern: 'x+'}, a_id: {type: string}, n: {type: number, minimum: 1e9, multipleOf: 0.3}}, oneOf: [{$ref: '#/components/schemas/A'}, {example: {b: '{{c}} ${d}'}}]}}}"))
	f.Add("swagger: '2.0'\nhost: h\nbasePath: /b\nconsumes: [multipart/form-data]\npaths: {/a: {post: {parameters: [{in: formData, name: f, type: file}, {in: body, schema: {}}]}}}\n")
	f.Add(`{"openapi": "3.1.0", "paths": {"/a/{b}.{c}": {"put": {"requestBody": {"content": {"text/plain": {}}}, "security": [{"k": []}]}}}, "components": {"securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": "k"}}}}`)
	f.Add(v3("  /a:\n    post: {requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: array, items: {type: object, properties: {b: {}}}}}, example: {'a b': [1, {c: 2}]}}}}}}"))
	f.Add("openapi: 3.0.0\nx: &a {b: *a, <<: *a}\npaths: {/a: {post: *a, <<: {put: {summary: '{{'}}}}\n")
	f.Add(v3("  /orders:\n    post: {responses: {'201': {links: {l: {operationId: o, parameters: {p: '$response.body#/a~1b/0'}}}}}}\n  /orders/{p}: {patch: {operationId: o, parameters: [{in: cookie, name: c, required: true, example: \"a\\r\\n\"}]}}"))
	f.Add(v3("  /a: {post: {requestBody: {$ref: 'other#/x'}}}\n  /b: {$ref: 'other#/paths/~1a'}\n  /c: {$ref: '../other'}", "x: {content: {application/json: {schema: {$ref: 'other#/s'}}}}\ns: {allOf: [{$ref: 'api#/s'}, {$ref: '#'}], discriminator: {propertyName: p, mapping: {q: '#/s'}}}"))
	f.Fuzz(func(t *testing.T, text string) {
		d, err := openapi.Read("api", []byte(text), fstest.MapFS{"other": {Data: []byte(text)}})
		var mistakes strict.Errors
		if err != nil && !errors.As(err, &mistakes) && text != "" {
			t.Fatalf("no strict.Errors: %v", err)
		}
		for _, m := range mistakes {
			if m.Line < 1 || m.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+2 && !strings.ContainsAny(text, "\u0085\u2028\u2029") || m.Col < 1 {
				t.Errorf("%s has no place in the text", m)
			}
		}
		if err != nil {
			return
		}
		drafted := d.Draft()
		unsafe := 0
		for _, o := range d.Operations() {
			if o.Unsafe() {
				unsafe++
			}
		}
		if unsafe != len(drafted.Endpoints) {
			t.Errorf("%d operations gave %d endpoints", unsafe, len(drafted.Endpoints))
		}
		valid(t, text, drafted)
	})
}

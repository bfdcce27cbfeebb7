package openapi_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
)

// parted is a document in the files that people part theirs into.
var parted = fstest.MapFS{
	"paths/refunds.yaml": {Data: []byte(`post:
  operationId: createRefund
  parameters: [{$ref: '../common/parts.json#/parameters/Key'}]
  requestBody: {content: {application/json: {schema: {$ref: ../common/Refund.yaml}}}}
`)},
	"common/Refund.yaml": {Data: []byte(`
type: object
required: [amount, way, order]
properties:
  amount: {type: integer, minimum: 100}
  way:
    oneOf: [{$ref: 'parts.json#/Card'}]
    discriminator: {propertyName: kind, mapping: {by_card: 'parts.json#/Card'}}
  order: {$ref: '../api.yaml#/components/schemas/Order'}
  again: {$ref: '#'}
`)},
	"common/parts.json": {Data: []byte(`{
"parameters": {"Key": {"name": "X-Idempotency-Key", "in": "header", "required": true, "schema": {"$ref": "#/text"}}},
"text": {"type": "string"},
"Card": {"type": "object", "required": ["kind", "bad"], "properties": {"kind": {"type": "string"}, "bad": {"$ref": "#/nowhere"}}}}`)},
	"broken.yaml": {Data: []byte("a: [\n")},
	"folder/x":    {},
}

const partedRoot = `openapi: 3.0.3
paths:
  /refunds: {$ref: ./paths/refunds.yaml}
  /a: {$ref: 'broken.yaml#/a'}
  /b: {$ref: 'broken.yaml#/b'}
  /c: {$ref: 'missing.yaml'}
  /d: {$ref: '../outside.yaml'}
  /e: {$ref: 'https://example.com/e.yaml'}
  /f: {$ref: 'folder'}
components: {schemas: {Order: {type: string, example: o1}}}
`

func TestFilesBeside(t *testing.T) {
	doc, err := openapi.Read("docs/api.yaml", []byte(partedRoot), parted)
	if err != nil {
		t.Fatal(err)
	}
	d := doc.Draft()
	var out strings.Builder
	if err := draft.Write(&out, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# docs/paths/refunds.yaml:1:1 createRefund", "request: POST /refunds", "key: {header: X-Idempotency-Key}", "amount: 100", "kind: by_card", "order: o1",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	for _, want := range []string{
		`docs/common/parts.json:4:116: $ref common/parts.json#/nowhere leads nowhere: there is no "nowhere"`,
		"docs/api.yaml:4:14: $ref broken.yaml#/a leads to a file that cannot be read (docs/broken.yaml:2:1: ",
		"docs/api.yaml:5:14: $ref broken.yaml#/b leads to a file that cannot be read (docs/broken.yaml:2:1: ",
		"docs/api.yaml:6:14: $ref missing.yaml leads to a file that cannot be read (open missing.yaml: file does not exist)",
		"docs/api.yaml:7:14: $ref ../outside.yaml leads out of the document's folder, where nothing is read",
		"docs/api.yaml:8:14: $ref https://example.com/e.yaml leads to the network, which is not asked",
		"docs/api.yaml:9:14: $ref folder leads to a file that cannot be read (expected a file, found d",
	} {
		if !slices.ContainsFunc(d.Left, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("no %q in\n%s", want, strings.Join(d.Left, "\n"))
		}
	}
	notes := strings.Join(d.Notes, "\n")
	for _, want := range []string{"npx @redocly/cli bundle docs/api.yaml", "are missing here: broken.yaml, folder, missing.yaml ("} {
		if !strings.Contains(notes, want) {
			t.Errorf("got notes %q, want %q", notes, want)
		}
	}
}

// Some part a document by having a whole section of it in a file.
func TestSectionsBeside(t *testing.T) {
	doc, err := openapi.Read("api.yaml", []byte(`openapi: 3.0.3
paths: {$ref: paths/_index.yaml}
security: [{bearer: []}]
components: {securitySchemes: {$ref: 'schemas.yaml#/Schemes'}, schemas: {$ref: schemas.yaml}, parameters: {$ref: '#/components/parameters/Key'}}
`), fstest.MapFS{
		"paths/_index.yaml": {Data: []byte(`/orders: {post: {requestBody: {content: {application/json: {schema: {$ref: '../api.yaml#/components/schemas/Order'}}}}}}
/refunds: {post: {parameters: [{$ref: '../api.yaml#/components/parameters/Key'}]}}
`)},
		"schemas.yaml": {Data: []byte("Order: {type: object, required: [sku], properties: {sku: {type: string, example: A1}}}\nSchemes: {bearer: {type: http, scheme: bearer}}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := doc.Draft()
	var out strings.Builder
	if err := draft.Write(&out, d); err != nil || len(d.Endpoints) != 2 || !strings.Contains(out.String(), "sku: A1") || !strings.Contains(out.String(), "Bearer ${BEARER_TOKEN}") {
		t.Errorf("got %v and\n%s", err, &out)
	}
	if left := strings.Join(d.Left, "\n"); !strings.Contains(left, "Key leads back to itself") {
		t.Errorf("left %q, want the reference that leads through itself", left)
	}
}

// Files that are all read ask for nothing.
func TestFilesBesideAllRead(t *testing.T) {
	root, _, _ := strings.Cut(partedRoot, "  /a:")
	doc, err := openapi.Read("api.yaml", []byte(root+"components: {schemas: {Order: {type: string}}}\n"), parted)
	if err != nil {
		t.Fatal(err)
	}
	if d := doc.Draft(); len(d.Endpoints) != 1 || len(d.Notes) != 0 {
		t.Errorf("got %d endpoints and notes %q, want one and none", len(d.Endpoints), d.Notes)
	}
}

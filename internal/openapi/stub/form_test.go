package stub

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestForm(t *testing.T) {
	var schema openapi3.SchemaRef
	if err := json.Unmarshal([]byte(`{"type": "object", "required": ["items"], "properties": {
		"items": {"type": "array", "minItems": 2, "items": {"type": "object", "required": ["qty"], "properties": {"qty": {"type": "integer"}}}},
		"tags": {"type": "array", "items": {"type": "string"}}, "live": {"type": "boolean"},
		"at": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["now"]}]}}}`), &schema); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		form, want string
		valid      bool
	}{
		{"items[0][qty]=1&items[1][qty]=2", `{"items":[{"qty":1},{"qty":2}]}`, true},
		{"items[10][qty]=2&items[9][qty]=1", `{"items":[{"qty":1},{"qty":2}]}`, true},
		{"items%5B0%5D%5Bqty%5D=1&items%5B1%5D%5Bqty%5D=2&at=now", `{"at":"now","items":[{"qty":1},{"qty":2}]}`, true},
		{"items[0][qty]=1&items[1][qty]=2&at=3&live=true", `{"at":3,"items":[{"qty":1},{"qty":2}],"live":true}`, true},
		{"items[0][qty]=1&items[1][qty]=2&tags=a&tags=b", `{"items":[{"qty":1},{"qty":2}],"tags":["a","b"]}`, true},
		{"items[0][qty]=1&items[1][qty]=2&tags[]=a&tags[]=b", `{"items":[{"qty":1},{"qty":2}],"tags":["a","b"]}`, true},
		{"items[0][qty]=1&items[1][qty]=many", `{"items":[{"qty":1},{"qty":"many"}]}`, false},
		{"items[0][qty]=1", `{"items":[{"qty":1}]}`, false},
		{"tags=a", `{"tags":["a"]}`, false},
		{"items[0][qty]=1&items[1][qty]=2&at=then", `{"at":"then","items":[{"qty":1},{"qty":2}]}`, false},
	} {
		v, err := form(strings.NewReader(tt.form), nil, &schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if valid := schema.Value.VisitJSON(v) == nil; string(got) != tt.want || valid != tt.valid {
			t.Errorf("%s: got %s, valid %v, want %s, %v", tt.form, got, valid, tt.want, tt.valid)
		}
	}
}

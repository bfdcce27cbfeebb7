package openapi

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// drafted is the draft of a document of the version with the given paths and components, in YAML.
func drafted(t testing.TB, version, paths string) draft.Draft {
	t.Helper()
	d, err := Read("api", []byte(version+"\n"+paths), nil)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, paths)
	}
	return d.Draft()
}

const v30, v31, v20 = "openapi: 3.0.3", "openapi: 3.1.0", "swagger: '2.0'"

// bodyOf is the body of a POST with that schema as JSON, placeholders as they are; parts stand beside the schema.
func bodyOf(t testing.TB, version, schema, parts string) *yaml.Node {
	t.Helper()
	e := drafted(t, version, "paths:\n  /things:\n    post: {requestBody: {content: {application/json: {schema: "+schema+parts+"}}}}\n"+
		"components:\n  schemas:\n    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, required: [lives], properties: {lives: {type: integer, default: 9}}}]}\n"+
		"    Pet: {type: object, required: [kind], properties: {kind: {type: string}}, discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat'}}}\n"+
		"    Tree: {type: object, required: [children, value], properties: {value: {type: integer, default: 1}, parent: {$ref: '#/components/schemas/Tree'}, children: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}\n").Endpoints[0]
	if e.Body.JSON == nil {
		t.Fatalf("no body for %s: %+v", schema, e)
	}
	return e.Body.JSON
}

func TestBodies(t *testing.T) {
	object := func(properties string) string { return "{type: object, properties: {" + properties + "}}" }
	for _, c := range []struct{ reason, version, schema, parts, want string }{
		{"example of the body", v30, "{type: object}", ", example: {a: 1, b: [x]}", `{"a":1,"b":["x"]}`},
		{"first of several examples", v30, "{type: object}", ", examples: {one: {value: {a: 1}}, two: {value: {a: 2}}}", `{"a":1}`},
		{"example of the schema", v30, "{type: object, example: {a: 1}}", "", `{"a":1}`},
		{"examples of 3.1", v31, "{type: object, examples: [{a: 1}, {a: 2}]}", "", `{"a":1}`},
		{"example of the wrong type", v30, "{type: object, required: [a], properties: {a: {type: integer, default: 3}}, example: text}", "", `{"a":3}`},
		{"member of an example that is not allowed", v30, "{type: object, properties: {a: {type: integer, minimum: 5}}, example: {a: 1}}", "", `{"a":5}`},
		{"what the example lacks", v30, "{type: object, required: [b], properties: {a: {type: integer}, b: {type: integer, default: 2}}, example: {a: 1}}", "", `{"a":1,"b":2}`},
		{"read only", v30, "{type: object, required: [id, a], properties: {id: {type: string, readOnly: true}, a: {type: integer, default: 1}}, example: {id: x}}", "", `{"a":1}`},
		{"required and those with examples", v30, "{type: object, required: [a], properties: {a: {type: boolean}, b: {type: integer, example: 4}, c: {type: integer}, d: {type: integer, default: 1}}}", "", `{"a":false,"b":4}`},
		{"nothing required", v30, object("a: {type: integer}, b: {type: array, items: {}}, c: {type: boolean}"), "", `{"a":1,"c":false}`},
		{"a wrapper", v30, object("data: {type: object, properties: {a: {type: integer}}}"), "", `{"data":{"a":1}}`},
		{"nothing known", v30, "{type: object}", "", `{}`},
		{"no schema", v30, "", "", `"{{marker}}"`},
		{"list", v30, "{type: array, items: {type: integer, minimum: 7}}", "", `[7]`},
		{"list without repetitions", v30, "{type: array, minItems: 3, uniqueItems: true, items: {type: string, enum: [a, b, c]}}", "", `["a","b","c"]`},
		{"numbers without repetitions", v30, "{type: array, minItems: 2, uniqueItems: true, items: {type: integer}}", "", `[1,2]`},
		{"list of an example", v30, "{type: array, items: {type: integer}, example: [1, 2, 3, 4, 5]}", "", `[1,2,3]`},
		{"list that must be empty", v30, "{type: array, maxItems: 0, items: {type: integer}}", "", `[]`},
		{"enum", v30, "{type: string, enum: [b, a]}", "", `"b"`},
		{"enum of numbers as text", v30, "{type: string, enum: [1, 2]}", "", `"1"`},
		{"enum with null", v30, "{type: string, nullable: true, enum: [null, a]}", "", `"a"`},
		{"const", v31, "{const: 7}", "", `7`},
		{"types of 3.1", v31, "{type: ['null', integer]}", "", `1`},
		{"only null", v31, "{type: 'null'}", "", `null`},
		{"true as a schema", v31, "{type: object, required: [a], properties: {a: true}}", "", `{"a":"{{marker}}"}`},
		{"all of", v30, "{allOf: [{type: object, required: [a], properties: {a: {type: integer}}}, {required: [b], properties: {a: {minimum: 4}, b: {type: boolean}}}]}", "", `{"a":4,"b":false}`},
		{"one of, null first", v31, "{oneOf: [{type: 'null'}, {type: integer, minimum: 3}, {type: string}]}", "", `3`},
		{"any of what is required", v30, "{type: object, properties: {a: {type: integer}, b: {type: integer}}, anyOf: [{required: [b]}, {required: [a]}]}", "", `{"b":1}`},
		{"discriminator", v30, "{oneOf: [{$ref: '#/components/schemas/Cat'}], discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat'}}}", "", `{"kind":"cat","lives":9}`},
		{"discriminator of the base", v30, "{$ref: '#/components/schemas/Pet'}", "", `{"kind":"cat","lives":9}`},
		{"kind of a base", v30, "{$ref: '#/components/schemas/Cat'}", "", `{"kind":"cat","lives":9}`},
		{"in circles", v30, "{$ref: '#/components/schemas/Tree'}", "", `{"value":1,"children":[]}`},
		{"members without names", v30, "{type: object, minProperties: 2, additionalProperties: {type: integer, minimum: 2}}", "", `{"member1":2,"member2":2}`},
		{"no members but the named ones", v30, "{type: object, additionalProperties: false, properties: {a: {type: integer}}, example: {a: 1, b: 2}}", "", `{"a":1}`},
		{"exact numbers", v30, "{type: object}", ", example: {a: 12345678901234567890, b: 0.10, c: -1e5}", `{"a":12345678901234567890,"b":0.10,"c":-1e5}`},
		{"numbers that only YAML has", v30, "{type: object}", ", example: {a: 0x10, b: +1}", `{"a":16,"b":1}`},
		{"texts that look like other things", v30, "{type: object}", ", example: {a: 'true', b: '12', c: 2020-01-01}", `{"a":"true","b":"12","c":"2020-01-01"}`},
		{"a number for a text", v30, "{type: object, properties: {a: {type: string, example: 123}}}", "", `{"a":"123"}`},
		{"placeholders in examples", v30, "{type: object}", ", example: {a: 'x {{name}} ${VAR}', b: '$${{a}}'}", `{"a":"x ${RETRYSAFE_BRACES:-{{}name}} $${VAR}","b":"${RETRYSAFE_BRACES:-$${{}a}}"}`},
	} {
		if got := jsonText(bodyOf(t, c.version, c.schema, c.parts)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ reason, schema, want string }{
		{"free", "{type: integer}", "1"},
		{"minimum", "{type: integer, minimum: 10}", "10"},
		{"above a minimum, 3.0", "{type: integer, minimum: 10, exclusiveMinimum: true}", "11"},
		{"above a minimum, 3.1", "{type: integer, exclusiveMinimum: 10}", "11"},
		{"maximum", "{type: integer, maximum: -3}", "-3"},
		{"below a maximum", "{type: number, maximum: 1, exclusiveMaximum: true}", "0"},
		{"between", "{type: number, exclusiveMinimum: 0, exclusiveMaximum: 1}", "0.5"},
		{"steps", "{type: integer, multipleOf: 5}", "5"},
		{"steps above a minimum", "{type: integer, multipleOf: 5, minimum: 12}", "15"},
		{"steps of cents", "{type: number, multipleOf: 0.01, minimum: 0.505}", "1"},
		{"half", "{type: number, minimum: 2.5, maximum: 2.75}", "2.5"},
		{"whole above a fraction", "{type: integer, minimum: 2.5}", "3"},
		{"large", "{type: integer, minimum: 12345678901234567890}", "12345678901234567890"},
		{"impossible", "{type: integer, minimum: 3, maximum: 2}", "1"},
		{"no number", "{type: integer, minimum: many}", "1"},
	} {
		if got := jsonText(bodyOf(t, v31, c.schema, "")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct{ reason, name, schema, want string }{
		{"free", "reference", "{type: string}", "{{marker}}"},
		{"free, in words", "orderTitle", "{type: string}", "{{marker}}"},
		{"external id", "external_id", "{type: string}", "{{marker}}"},
		{"free, with an example", "name", "{type: string, example: Joe}", "{{marker}}"},
		{"short", "name", "{type: string, maxLength: 20}", "{{marker:20}}"},
		{"as long as the marker", "name", "{type: string, maxLength: 26}", "{{marker}}"},
		{"too short", "name", "{type: string, maxLength: 5}", "1"},
		{"long", "name", "{type: string, minLength: 30}", "{{marker}}xxxx"},
		{"pattern that markers match", "name", "{type: string, pattern: '^[a-z0-9]+$'}", "{{marker}}"},
		{"pattern that no marker matches", "name", "{type: string, pattern: '^[A-Z]{3}-\\d{2}$'}", "AAA-11"},
		{"pattern of ECMAScript", "code", `{type: string, pattern: "^\\u0041+\\/x$"}`, "A/x"},
		{"pattern and length", "code", "{type: string, pattern: '^x[0-9]*$', minLength: 6}", "x11111"},
		{"alternatives", "code", "{type: string, pattern: '^(on|off)$'}", "on"},
		{"pattern that Go has not", "code", "{type: string, pattern: '^(?=a)a$', example: a}", "a"},
		{"enum", "name", "{type: string, enum: [Joe]}", "Joe"},
		{"mail by format", "contact", "{type: string, format: email}", "{{email}}"},
		{"mail by name", "userEmail", "{type: string}", "{{email}}"},
		{"short mail", "email", "{type: string, maxLength: 24}", "{{marker:12}}@example.com"},
		{"own id", "id", "{type: string, format: uuid}", "{{uuid}}"},
		{"somebody else's id", "parent", "{type: string, format: uuid}", "00000000-0000-4000-8000-000000000001"},
		{"example of a format", "parent", "{type: string, format: uuid, example: 9b2f1c7e-1111-4222-8333-444455556666}", "9b2f1c7e-1111-4222-8333-444455556666"},
		{"example against its format", "parent", "{type: string, format: uuid, example: abc}", "00000000-0000-4000-8000-000000000001"},
		{"time", "at", "{type: string, format: date-time}", "2030-01-01T00:00:00Z"},
		{"day", "on", "{type: string, format: date}", "2030-01-01"},
		{"link", "callback", "{type: string, format: uri}", "https://example.com/"},
		{"by name", "currency", "{type: string}", "EUR"},
		{"by name and length", "country", "{type: string, minLength: 3, maxLength: 3}", "DEx"},
		{"default", "mode", "{type: string, default: fast}", "fast"},
	} {
		n := bodyOf(t, v30, "{type: object, required: ["+c.name+", label], properties: {label: {type: string}, "+c.name+": "+c.schema+"}}", "")
		v := memberNode(n, c.name)
		if v.Value != c.want || v.Tag != "!!str" {
			t.Errorf("%s: got %q, want %q", c.reason, v.Value, c.want)
		}
		given := c.reason == "enum" || c.reason == "default" || strings.HasPrefix(c.reason, "example of") || c.reason == "pattern that Go has not"
		if guess := strings.HasPrefix(v.LineComment, "guess: "); guess == given {
			t.Errorf("%s: comment %q", c.reason, v.LineComment)
		}
	}
}

func TestMarkers(t *testing.T) {
	for _, c := range []struct{ reason, schema, want string }{
		{"free text that is required", "{type: object, required: [name, kind], properties: {kind: {type: string}, name: {type: string}}}", `{"kind":"sample","name":"{{marker}}"}`},
		{"free text that is not required", "{type: object, required: [kind], properties: {kind: {type: string}, note: {type: string}}}", `{"kind":"sample","note":"{{marker}}"}`},
		{"no free text", "{type: object, required: [kind, mode], properties: {kind: {type: string}, mode: {type: string}}}", `{"kind":"{{marker}}","mode":"sample"}`},
		{"nothing that can hold one", "{type: object, required: [kind], properties: {kind: {type: string, maxLength: 4}}}", `{"kind":"1"}`},
		{"within a part", "{type: object, required: [customer], properties: {customer: {type: object, required: [name], properties: {name: {type: string}}}}}", `{"customer":{"name":"{{marker}}"}}`},
	} {
		if got := jsonText(bodyOf(t, v30, c.schema, "")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
}

func TestOtherBody(t *testing.T) {
	for _, c := range []struct{ reason, schema, want string }{
		{"the plan raises a number", "{type: object, required: [qty, kind], properties: {qty: {type: integer}, kind: {enum: [a, b]}}}", ""},
		{"a number at its end", "{type: object, required: [qty, kind], properties: {qty: {type: integer, maximum: 1}, kind: {enum: [a, b]}}}", `{"kind":"b"}`},
		{"a truth", "{type: object, required: [on, name], properties: {on: {type: boolean}, name: {type: string}}}", `{"on":true}`},
		{"a text", "{type: object, required: [a, b], properties: {a: {type: string}, b: {type: string}}}", `{"b":"other"}`},
		{"nothing but the marker", "{type: object, required: [name], properties: {name: {type: string}}}", ""},
	} {
		e := drafted(t, v30, "paths: {/things: {post: {requestBody: {content: {application/json: {schema: "+c.schema+"}}}}}}").Endpoints[0]
		got := ""
		if e.OtherBody != nil {
			got = jsonText(e.OtherBody)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
		}
	}
}

func TestEscape(t *testing.T) {
	for _, s := range []string{"", "plain", "{{marker}}", "${VAR}", "$${VAR}", "${{ github.ref }}", "{{{a}}}", "$${{a", "}} {{", "${RETRYSAFE_BRACES:-{{}", "{ {", "$", "$$$${{{{$${"} {
		if got := unescape(escape(s)); got != s {
			t.Errorf("%q: got %q by %q", s, got, escape(s))
		}
	}
}

// TestMarkedByFilter: the marker stands in the member that the list can be asked for, and the counter asks for it.
func TestMarkedByFilter(t *testing.T) {
	for _, c := range []struct{ reason, required, properties, filter, body, counter string }{
		{"required, and another free text is not", "[guest, seats]", "guest: {type: string}, seats: {type: integer}, note: {type: string}", "guest", "guest={{marker}} seats=1", "?guest={{marker}}"},
		{"both required", "[note, guest]", "note: {type: string}, guest: {type: string}", "guest", "note={{marker}} guest={{marker}}", "?guest={{marker}}"},
		{"neither required", "[seats]", "seats: {type: integer}, note: {type: string}, guest: {type: string}", "guest", "seats=1 guest={{marker}}", "?guest={{marker}}"},
		{"by another name of the filter", "[tableName]", "tableName: {type: string}", "filter[table_name]", "tableName={{marker}}", "?filter%5Btable_name%5D={{marker}}"},
		{"a filter by what is no free text", "[state]", "state: {type: string, enum: [open]}, note: {type: string}", "state", "state=open note={{marker}}", ""},
		{"no filter", "[guest]", "guest: {type: string}, note: {type: string}", "page", "guest=sample note={{marker}}", ""},
	} {
		d := drafted(t, v30, "paths: {/r: {get: {parameters: [{name: '"+c.filter+"', in: query, schema: {type: string}}], responses: {'200': {content: {application/json: {schema: {type: array, items: {type: object}}}}}}}, "+
			"post: {requestBody: {content: {application/json: {schema: {type: object, required: "+c.required+", properties: {"+c.properties+"}}}}}}}}")
		var body []string
		tree := d.Endpoints[0].Body.JSON
		for i := 0; i+1 < len(tree.Content); i += 2 {
			body = append(body, tree.Content[i].Value+"="+tree.Content[i+1].Value)
		}
		if got := strings.Join(body, " "); got != c.body {
			t.Errorf("%s: body %q, want %q", c.reason, got, c.body)
		}
		if len(d.Counters) != 1 || d.Counters[0].Request != "GET /r"+c.counter {
			t.Errorf("%s: counters %+v, want %q", c.reason, d.Counters, c.counter)
		}
	}
}

package openapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
	"retrysafe/internal/plan"
)

// valid fails the test when the draft makes no valid plan.
func valid(t testing.TB, reason string, d draft.Draft) {
	t.Helper()
	if len(d.Endpoints) == 0 {
		return
	}
	_, err := plan.Parse("plan.yaml", write(t, d, "http://127.0.0.1:1"), env)
	if err != nil {
		t.Errorf("%s: not a valid plan: %v", reason, err)
	}
}

// large is a document of about ten million bytes.
func large() []byte {
	var out strings.Builder
	out.WriteString("openapi: 3.0.0\ninfo: {title: large}\npaths:\n")
	const resources = 2500
	for i := range resources {
		fmt.Fprintf(&out, "  /r%[1]d:\n    get: {responses: {'200': {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/S%[1]d'}}}}}}}\n"+
			"    post:\n      operationId: create%[1]d\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S%[1]d'}}}}\n"+
			"      responses: {'201': {content: {application/json: {schema: {$ref: '#/components/schemas/S%[1]d'}}}}}\n"+
			"  /r%[1]d/{id}:\n    put:\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S%[1]d'}}}}\n    delete: {}\n", i)
	}
	out.WriteString("components:\n  schemas:\n")
	for i := range resources {
		fmt.Fprintf(&out, "    S%d:\n      type: object\n      required: [name, next]\n      properties:\n        next: {$ref: '#/components/schemas/S%d'}\n", i, (i*7+1)%resources)
		for p := range 25 {
			fmt.Fprintf(&out, "        name%d: {type: string, description: %s, maxLength: %d}\n", p, strings.Repeat("words of a kind ", 6), 20+p)
		}
	}
	return []byte(out.String())
}

// within fails the test when what a document is read and drafted for takes a minute: a guard against hangs, not a measurement.
func within(t *testing.T, reason string, data []byte) (d draft.Draft) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		doc, err := openapi.Read("api", data, nil)
		if err == nil {
			d = doc.Draft()
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%s: %v", reason, err)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s: not done after a minute", reason)
	}
	return d
}

func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 10 MB: run it without -short")
	}
	data := large()
	if len(data) < 9<<20 {
		t.Fatalf("the document has %d bytes only", len(data))
	}
	if d := within(t, "large", data); len(d.Endpoints) != 7500 {
		t.Errorf("got %d endpoints", len(d.Endpoints))
	}
}

// TestLargeLine reads what generators ship: ten million bytes of JSON without a line break. The place in it is that of its only line.
func TestLargeLine(t *testing.T) {
	var out strings.Builder
	out.WriteString(`{"openapi":"3.0.0","info":{"title":"größe"},"paths":{`)
	for i := range 25_000 {
		fmt.Fprintf(&out, `"/r%d":{"post":{"description":"%s","requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}}}},`,
			i, strings.Repeat("words of a kind ", 18))
	}
	last := utf8.RuneCountInString(out.String()) + 1
	out.WriteString(`"/last":{"post":7}}}`)
	if out.Len() < 9<<20 {
		t.Fatalf("the document has %d bytes only", out.Len())
	}
	d := within(t, "one line", []byte(out.String()))
	if len(d.Endpoints) != 25_000 {
		t.Errorf("got %d endpoints", len(d.Endpoints))
	}
	want := fmt.Sprintf("api:1:%d: ", last+len(`"/last":{"post":`))
	if !slices.ContainsFunc(d.Left, func(note string) bool { return strings.HasPrefix(note, want) }) {
		t.Errorf("no note at %s, got %q", want, d.Left)
	}
}

// TestExplosive reads short documents that stand for more than a machine can hold.
func TestExplosive(t *testing.T) {
	if testing.Short() {
		t.Skip("drafts as much as a draft may be, several times: run it without -short")
	}
	doubling := func(keyword, each string) string {
		var out strings.Builder
		for i := range 60 {
			next := fmt.Sprintf("{$ref: '#/components/schemas/S%d'}", i+1)
			fmt.Fprintf(&out, "    S%d: {type: object, %s}\n", i, strings.ReplaceAll(strings.ReplaceAll(each, "NEXT", next), "KEYWORD", keyword))
		}
		out.WriteString("    S60: {type: string}\n")
		return v3("  /a:\n    post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}", "components:\n  schemas:\n"+out.String())
	}
	aliases := "openapi: 3.0.0\nx:\n  a0: &a0 [x, x, x, x, x, x, x, x]\n"
	for i := range 20 {
		aliases += fmt.Sprintf("  a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), ", "))
	}
	aliases += "paths: {/a: {post: {requestBody: {content: {application/json: {example: *a20}}}}}}\n"
	operations := "openapi: 3.0.0\nx: &p\n  parameters: &l [" + strings.Repeat("{name: x, in: query}, ", 500) + "]\n  post: {parameters: *l}\n  put: {}\npaths:\n"
	for i := range 1500 {
		operations += fmt.Sprintf("  /p%d: *p\n", i)
	}
	var refs strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&refs, "  /items/x%d/items: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S'}}}}, responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/S'}}}}}}, get: {responses: {'200': {content: {application/json: {schema: {type: array}}}}}}}\n", i)
	}
	var wide strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&wide, "        p%d: {type: array, minItems: 20, items: {type: object, required: [item_id], properties: {item_id: {type: string}}}}\n", i)
	}
	needed := strings.Repeat("x, ", 3) + "p0"
	for i := range 1200 {
		needed += fmt.Sprintf(", p%d", i)
	}
	for _, c := range []struct{ reason, text string }{
		{"all of twice the next", doubling("allOf", "allOf: [NEXT, NEXT, {properties: {a: NEXT}}]")},
		{"one of twice the next", doubling("oneOf", "oneOf: [NEXT, NEXT]")},
		{"twice the next required", doubling("", "required: [a, b], properties: {a: NEXT, b: NEXT}")},
		{"lists of twice the next", doubling("", "required: [a, b], properties: {a: {type: array, minItems: 20, items: NEXT}, b: NEXT}")},
		{"aliases", aliases},
		{"operations by aliases", operations},
		{"every operation a large body", v3(refs.String(), "components:\n  schemas:\n    S:\n      type: object\n      required: ["+needed+"]\n      properties:\n"+wide.String())},
		{"long texts", v3("  /a:\n    post: {requestBody: {content: {application/json: {schema: {type: string, minLength: 900000000, pattern: '^(a{1,1000}){1,1000}$'}}}}}")},
		{"large numbers", v3("  /a:\n    post: {requestBody: {content: {application/json: {schema: {type: number, minimum: 1e999999999, multipleOf: 1e-999999999}}}}}")},
	} {
		d := within(t, c.reason, []byte(c.text))
		if len(d.Endpoints) == 0 {
			t.Errorf("%s: no endpoints", c.reason)
		}
	}
}

func BenchmarkLarge(b *testing.B) {
	data := large()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		d, err := openapi.Read("api", data, nil)
		if err != nil {
			b.Fatal(err)
		}
		d.Draft()
	}
}

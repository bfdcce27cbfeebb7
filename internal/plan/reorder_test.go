package plan

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestReordered(t *testing.T) {
	for _, c := range []struct{ reason, lines, want string }{
		{"members", `body: {a: 1, b: "x", c: null}`, `{ "c": null, "b": "x", "a": 1 }`},
		{"deep", `body: {a: [{b: 1, c: {d: 2, e: 3}}, {}], f: []}`, `{ "f": [], "a": [ { "c": { "e": 3, "d": 2 }, "b": 1 }, {} ] }`},
		{"order of lists stays", `body: {a: [1, 2]}` + "\n    key: {json: $.k}", `{ "k": "key", "a": [ 1, 2 ] }`},
		{"a list of objects", `body: [{a: 1, b: 2}]`, `[ { "b": 2, "a": 1 } ]`},
		{"numbers as they are written", `body: {a: 1.50, b: 1e3}`, `{ "b": 1e3, "a": 1.50 }`},
		{"one member", `body: {a: {b: [1, 2]}}`, ""},
		{"no object", `body: [1, 2]`, ""},
		{"a text", `text: '{"a": 1, "b": 2}'`, ""},
		{"a form", `form: {a: 1, b: 2}`, ""},
		{"no body", `tags: []`, ""},
		{"a key alone", `key: {json: $.k}`, ""},
	} {
		e := mustParse(t, endpoint(c.lines)).Endpoints[0]
		got, err := e.Reordered.Render(values{})
		if string(got) != c.want || err != nil || e.HasReordered != (c.want != "") {
			t.Errorf("%s: got %s, %v, %v; want %s", c.reason, got, e.HasReordered, err, c.want)
		}
	}
}

// TestReorderedIsTheSame: the original is left alone, and the key goes into both alike.
func TestReorderedIsTheSame(t *testing.T) {
	e := mustParse(t, endpoint(`body: {a: "{{marker}}", m: {x: 1, y: "é<"}}`, "key: {json: $.m.k}")).Endpoints[0]
	render := func(b Body) []byte {
		b, err := b.WithKey(e.Key.Name, "k1")
		if err != nil {
			t.Fatal(err)
		}
		text, err := b.Render(values{"marker": "m1"})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first, second := render(e.Body), render(e.Reordered)
	if string(first) != `{"a":"m1","m":{"x":1,"y":"é<","k":"k1"}}` || string(second) != `{ "m": { "k": "k1", "y": "é<", "x": 1 }, "a": "m1" }` {
		t.Errorf("got %s and %s", first, second)
	}
	if !sameJSON(t, first, second) {
		t.Errorf("%s says something else than %s", second, first)
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	canonical := func(text []byte) []byte {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var doc any
		if err := dec.Decode(&doc); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	return bytes.Equal(canonical(a), canonical(b))
}

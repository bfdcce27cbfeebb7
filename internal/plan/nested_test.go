package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestNested(t *testing.T) {
	for _, c := range []struct{ reason, lines, want string }{
		{"one inside an object, one inside a list", `body: {qty: 1, a: {n: 2}, l: [{m: 3}]}`, "$.a.n $.l[0].m"},
		{"deeper ones tell more", `body: {qty: 1, a: {n: 2, b: {m: 3}}}`, "$.a.b.m"},
		{"numbers before texts", `body: {qty: 1, a: {note: "two words", b: 2}}`, "$.a.b"},
		{"a text where there is no number", `body: {qty: 1, a: {note: "two words"}}`, "$.a.note"},
		{"a name of its own before a quantity", `body: {qty: 1, l: [{qty: 1, pieces: 6}]}`, "$.l[0].pieces"},
		{"a name on the way will do", `body: {qty: 1, l: [{qty: 2, of: {qty: 9}}]}`, "$.l[0].of.qty"},
		{"the one that the other body changes", `body: {l: [{qty: 1}]}`, ""},
		{"the plan's other body changes it", "body: {a: {n: 1}, b: 5}\n    other_body: {a: {n: 7}}", ""},
		{"the plan's other body changes more", "body: {a: {n: 1}, b: 5}\n    other_body: {a: {n: 7}, b: 6}", "$.a.n"},
		{"a list of lists", `body: {qty: 1, l: [[1, 2]]}`, "$.l[0][0]"},
		{"a body that is a list", `body: [{note: "two words", n: 1}, {n: 2}]`, ""},
		{"what refers to something stays", `body: {qty: 1, a: {sku: "A 1", customer_id: 5}}`, ""},
		{"the key stays", "body: {qty: 1, a: {k: 1}}\n    key: {json: $.a.k}", ""},
		{"a marker stays", `body: {qty: 1, a: {note: "of {{marker}}"}}`, ""},
		{"nothing inside", `body: {qty: 1, amount: 2}`, ""},
		{"a form", `form: {qty: 1}`, ""},
		{"a text", `text: '{"a": {"n": 1}}'`, ""},
	} {
		e := mustParse(t, endpoint(c.lines)).Endpoints[0]
		var places []string
		for _, n := range e.Nested {
			places = append(places, n.Place)
			if got := changedPlaces(e.Body, n.Body); !slices.Equal(got, []string{n.Place}) {
				t.Errorf("%s: %s differs at %v", c.reason, n.Place, got)
			}
		}
		if got := strings.Join(places, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestOtherPlaces(t *testing.T) {
	for _, c := range []struct{ reason, lines, want string }{
		{"the default", `body: {qty: 1, note: x}`, "$.qty"},
		{"a member more, one less, another kind", "body: {a: 1, b: 2, c: {d: 3}}\n    other_body: {a: \"1\", b: null, c: {e: 4}}", "$.a $.b $.c.e"},
		{"another length", "body: {l: [1, 2]}\n    other_body: {l: [1]}", "$.l"},
		{"an item", "body: {l: [1, {m: 2}]}\n    other_body: {l: [1, {m: 3}]}", "$.l[1].m"},
		{"a form", "form: {qty: 1, a: b}\n    other_body: {a: c}", "a"},
		{"a text", "text: a\n    other_body: b", ""},
	} {
		e := mustParse(t, endpoint(c.lines)).Endpoints[0]
		if got := strings.Join(e.OtherPlaces, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

// A convention that compares some fields only owes no refusal for the others.
func TestNestedWhereFieldsAreCompared(t *testing.T) {
	text := endpoint(`body: {qty: 1, a: {n: 2}}`)
	p := mustParse(t, text)
	p.Dialect.Fingerprint = "fields"
	c := completion{plan: p}
	if e := p.Endpoints[0]; len(e.Nested) != 1 {
		t.Fatalf("got %v", e.Nested)
	}
	e := p.Endpoints[0]
	c.otherBodies(&e)
	if len(e.Nested) != 0 {
		t.Errorf("got %v", e.Nested)
	}
}

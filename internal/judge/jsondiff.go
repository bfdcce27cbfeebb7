package judge

import (
	"bytes"
	"encoding/json"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// difference is one place at which two JSON documents differ.
type difference struct {
	path string
	// a and b are the values as text; "nothing" where one side has none.
	a, b string
	// changed is true when both sides have a value of the same type there.
	changed bool
}

const nothing = "nothing"

// skipper decides which places do not count.
type skipper func(path, name string) bool

func skipNothing(string, string) bool { return false }

// diff lists the places at which a and b differ. Order of members does not matter, numbers are compared by
// value, and a member that occurs more than once must do so on both sides, with the same values in order.
func diff(a, b *value, skip skipper) []difference {
	return diffAt(a, b, "$", "", skip, nil)
}

func diffAt(a, b *value, path, name string, skip skipper, out []difference) []difference {
	switch {
	case skip(path, name):
		return out
	case a.kind != b.kind:
		return append(out, difference{path: path, a: a.show(), b: b.show()})
	case a.kind == isArray:
		return diffArrays(a, b, path, name, skip, out)
	case a.kind == isObject:
		return diffObjects(a, b, path, skip, out)
	case a.text == b.text, a.kind == isNumber && canonicalNumber(a.text) == canonicalNumber(b.text):
		return out
	}
	return append(out, difference{path: path, a: a.show(), b: b.show(), changed: true})
}

func diffArrays(a, b *value, path, name string, skip skipper, out []difference) []difference {
	for i := range max(len(a.items), len(b.items)) {
		at := childIndex(path, i)
		switch {
		case i < len(a.items) && i < len(b.items):
			out = diffAt(a.items[i], b.items[i], at, name, skip, out)
		case skip(at, name):
		case i < len(a.items):
			out = append(out, difference{path: at, a: a.items[i].show(), b: nothing})
		default:
			out = append(out, difference{path: at, a: nothing, b: b.items[i].show()})
		}
	}
	return out
}

func diffObjects(a, b *value, path string, skip skipper, out []difference) []difference {
	names, left := a.byName()
	more, right := b.byName()
	for _, n := range more {
		if left[n] == nil {
			names = append(names, n)
		}
	}
	for _, n := range names {
		at, l, r := childName(path, n), left[n], right[n]
		if len(l) == len(r) {
			for i := range l {
				out = diffAt(l[i], r[i], at, n, skip, out)
			}
		} else if !skip(at, n) {
			out = append(out, difference{path: at, a: showAll(l), b: showAll(r)})
		}
	}
	return out
}

func showAll(vs []*value) string {
	switch len(vs) {
	case 0:
		return nothing
	case 1:
		return vs[0].show()
	}
	return plural(len(vs), "member") + " of that name"
}

// selected gives the places of a document that any of the JSONPath queries selects, in this package's spelling.
// Queries that cannot be parsed select nothing; the plan has refused them before.
func selected(body []byte, queries []string, into map[string]bool) {
	if len(queries) == 0 {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil {
		return
	}
	for _, q := range queries {
		p, err := jsonpath.Parse(q)
		if err != nil {
			continue
		}
		for node := range p.SelectLocated(doc).Paths() {
			into[spelled(node)] = true
		}
	}
}

func spelled(p spec.NormalizedPath) string {
	path := "$"
	for _, s := range p {
		switch s := s.(type) {
		case spec.Name:
			path = childName(path, string(s))
		case spec.Index:
			path = childIndex(path, int(s))
		}
	}
	return path
}

package strict

import (
	"strings"
	"testing"
)

// TestParts: fields of two documents become one, and each mistake, warning and secret stays where it stands.
func TestParts(t *testing.T) {
	env := func(name string) (string, bool) { return "of-" + name, true }
	main := Parse("main", []byte("list: [1]\nfields: {a: \"${A}\"}\none: x\n"), env)
	part := Parse("part", []byte("\nlist: [two]\nfields: {b: \"${B}\", a: again}\none: y\nnew: {c: secret}\nleft: 1\n"), env)
	main.Add(part)
	main.Hide("secret")
	main.Join(part, map[string]Joining{"list": Items, "fields": Fields, "one": Once, "new": Fields})
	root := main.Root().Object("list", "fields", "one", "new")
	for _, item := range root.Get("list").List() {
		item.Int(0, 9)
	}
	var names []string
	for _, e := range root.Get("fields").Entries() {
		names = append(names, e.Key.Value+"="+e.Value.Text().Value+"@"+e.Value.Pos().String())
	}
	if got := strings.Join(names, " "); got != "a=of-A@main:2:13 b=of-B@part:3:13" {
		t.Errorf("fields %s", got)
	}
	root.Get("new").Entries()[0].Errorf("noted")
	main.Errorf(Pos{File: "part", Line: 6, Col: 1}, 4, "at its place")
	main.Warnf(Pos{File: "part", Line: 2, Col: 1}, 4, "warned")
	want := []string{
		"part:2:8: expected a whole number, found the text \"two\"", "part:3:21: duplicate field \"a\", the first one is at main:2:10: remove one",
		"part:4:1: duplicate field \"one\", the first one is at main:3:1: remove one", "part:5:7: noted", "part:6:1: at its place",
	}
	errs := main.Errors()
	for i, e := range errs {
		if i >= len(want) || e.Error() != want[i] || strings.Contains(e.Source, "secret") || e.Source == "" {
			t.Errorf("%s", e.Pretty())
		}
	}
	if len(errs) != len(want) || main.Warnings().Error() != "part:2:1: warned" || len(main.Variables()) != 2 {
		t.Errorf("%d mistakes, warnings %v, variables %v", len(errs), main.Warnings(), main.Variables())
	}
}

func TestSortedByFiles(t *testing.T) {
	at := func(file string, line int) *Error { return &Error{Pos: Pos{File: file, Line: line}} }
	got := Errors{at("b", 9), at("a", 5), at("b", 1), at("a", 2)}.Sorted().Error()
	if got != "b:1:0: \nb:9:0: \na:2:0: \na:5:0: " {
		t.Errorf("%q", got)
	}
}

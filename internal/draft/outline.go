package draft

import "retrysafe/internal/strict"

// outline finds the parts of a plan that merging is about, in the document as it was written.
type outline struct{ root strict.Value }

// entry is a field at the top level; false when it is not there.
func (o outline) entry(name string) (strict.Entry, bool) { return entryOf(o.root, name) }

func entryOf(v strict.Value, name string) (strict.Entry, bool) {
	if v.Kind() != strict.Mapping {
		return strict.Entry{}, false
	}
	for _, e := range v.Entries() {
		if e.Key.Value == name {
			return e, true
		}
	}
	return strict.Entry{}, false
}

// textOf is a text below a mapping; empty for anything else.
func textOf(v strict.Value, name string) string {
	e, ok := entryOf(v, name)
	if !ok || e.Value.Kind() != strict.String {
		return ""
	}
	return e.Value.Text().Value
}

func (o outline) target() string { return textOf(o.root, "target") }

func (o outline) endpoints() []Stated {
	e, ok := o.entry("endpoints")
	if !ok || e.Value.Kind() != strict.List {
		return nil
	}
	var found []Stated
	for _, item := range e.Value.List() {
		request := textOf(item, "request")
		found = append(found, Stated{Name: textOf(item, "name"), Request: request, Operation: ParseOperation(request), Pos: item.Pos()})
	}
	return found
}

// named are the entries of a mapping at the top level, such as the counters.
func (o outline) named(section string) []strict.Entry {
	e, ok := o.entry(section)
	if !ok || e.Value.Kind() != strict.Mapping {
		return nil
	}
	return e.Value.Entries()
}

package draft

import (
	"slices"

	"retrysafe/internal/strict"
)

// File is a file that a plan includes.
type File struct {
	Name string
	Text []byte
}

// Includes are the patterns of files that a plan or a part of one includes, as they are written, variables filled in.
func Includes(f File, env func(string) (string, bool)) []string {
	e, ok := outline{root: strict.Parse(f.Name, f.Text, env).Root()}.entry("include")
	if !ok || e.Value.Kind() != strict.List {
		return nil
	}
	var patterns []string
	for _, t := range e.Value.Texts() {
		patterns = append(patterns, t.Value)
	}
	return patterns
}

// outline finds the parts of a plan that merging is about, in the document as it was written, and in the files that it includes.
type outline struct {
	root  strict.Value
	parts []outline
}

// readOutline reads a plan and the files that it includes. Errors are strict.Errors.
func readOutline(file string, text []byte, included []File) (outline, error) {
	doc := strict.Parse(file, text, nil)
	if err := doc.Err(); err != nil {
		return outline{}, err
	}
	o := outline{root: doc.Root()}
	for _, f := range included {
		part, err := readOutline(f.Name, f.Text, nil)
		if err != nil {
			return outline{}, err
		}
		o.parts = append(o.parts, part)
	}
	return o, nil
}

// entry is a field at the top level of the plan itself; false when it is not there.
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

// has is true when the plan or a file that it includes has a field at its top level.
func (o outline) has(name string) bool {
	_, ok := o.entry(name)
	return ok || slices.ContainsFunc(o.parts, func(part outline) bool { return part.has(name) })
}

func (o outline) target() string {
	target := textOf(o.root, "target")
	for _, part := range o.parts {
		if target == "" {
			target = part.target()
		}
	}
	return target
}

// endpoints are those of the plan, then those of included files.
func (o outline) endpoints() []Stated {
	var found []Stated
	if e, ok := o.entry("endpoints"); ok && e.Value.Kind() == strict.List {
		for _, item := range e.Value.List() {
			request := textOf(item, "request")
			found = append(found, Stated{Name: textOf(item, "name"), Request: request, Operation: ParseOperation(request), Pos: item.Pos()})
		}
	}
	for _, part := range o.parts {
		found = append(found, part.endpoints()...)
	}
	return found
}

// named are the entries of a mapping at the top level, such as the counters, those of included files too.
func (o outline) named(section string) []strict.Entry {
	var found []strict.Entry
	if e, ok := o.entry(section); ok && e.Value.Kind() == strict.Mapping {
		found = e.Value.Entries()
	}
	for _, part := range o.parts {
		found = append(found, part.named(section)...)
	}
	return found
}

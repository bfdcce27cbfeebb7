package strict

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Entry is a field of a mapping.
type Entry struct {
	// Key is the field's name as it is written; variables are not filled in here.
	Key Text
	// Value is never absent, but may be Nothing.
	Value Value
}

// Errorf notes a mistake at the field's name.
func (e Entry) Errorf(format string, args ...any) {
	e.Key.doc.Errorf(nodePos(e.Key.node), width(e.Key.node), format, args...)
}

// Entries are the fields of a mapping in the order of the file, duplicates left out; nil after noting a mistake
// for anything else.
func (v Value) Entries() []Entry {
	if v.node == nil {
		return nil
	}
	if v.node.Kind != yaml.MappingNode {
		v.Expected("a mapping")
		return nil
	}
	var entries []Entry
	seen := map[string]bool{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key, known := v.doc.ownerOf(v.node.Content[i]).texts[v.node.Content[i]]
		if !known || seen[key.Value] {
			continue // noted by Parse
		}
		seen[key.Value] = true
		entries = append(entries, Entry{Key: key, Value: Value{v.doc.ownerOf(v.node.Content[i+1]), v.node.Content[i+1]}})
	}
	return entries
}

// Object is a mapping whose fields are known.
type Object struct {
	value   Value
	entries []Entry
}

// Object is the value as a mapping with these fields and no others. An unknown field is a mistake that names
// the nearest known one. A Value that is absent or no mapping gives an Object whose fields are all absent.
func (v Value) Object(fields ...string) Object {
	o := Object{value: v, entries: v.Entries()}
	for _, e := range o.entries {
		if !slices.Contains(fields, e.Key.Value) {
			e.Errorf("unknown field %s%s", e.Key.Show(), Suggestion(e.Key.Value, fields))
		}
	}
	return o
}

// Get is a field's value, absent when the field is not there.
func (o Object) Get(field string) Value {
	for _, e := range o.entries {
		if e.Key.Value == field {
			return e.Value
		}
	}
	return Value{}
}

// Has is true when the field is there, even without a value.
func (o Object) Has(field string) bool { return o.Get(field).Present() }

// Require is Get for a field that must be there; a missing one is noted at the mapping.
func (o Object) Require(field string) Value {
	v := o.Get(field)
	if !v.Present() && o.value.Kind() == Mapping {
		o.value.Errorf("missing field %q", field)
	}
	return v
}

// Entries are the fields that are there, unknown ones included, in the order of the file.
func (o Object) Entries() []Entry { return o.entries }

// OneOf is which of the fields is there. None, or more than one, is a mistake that names them; then it is empty.
func (o Object) OneOf(what string, fields ...string) string {
	found := ""
	for _, e := range o.entries {
		switch {
		case !slices.Contains(fields, e.Key.Value):
		case found != "":
			e.Errorf("expected one %s, found both %s and %s", what, found, e.Key.Value)
			return ""
		default:
			found = e.Key.Value
		}
	}
	if found == "" && o.value.Kind() == Mapping {
		o.value.Errorf("expected %s %s: %s", article(what), what, oneOf(fields))
	}
	return found
}

func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeio", rune(noun[0])) {
		return "an"
	}
	return "a"
}

package strict

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// Add makes another document a part of this one: its mistakes, warnings and variables are told with those of this one, behind them, and
// what is hidden or masked here is so there. Mistakes at places of its file are noted by this document's Errorf too.
func (d *Document) Add(part *Document) {
	part.owners, part.hidden = d.owners, slices.Clone(d.hidden)
	part.Mask(d.masks)
	d.parts = append(d.parts, part)
}

// whole is the document and its parts.
func (d *Document) whole() []*Document { return append([]*Document{d}, d.parts...) }

// at is the document, of this one and its parts, that a place is in.
func (d *Document) at(pos Pos) *Document {
	for _, part := range d.parts {
		if part.file == pos.File {
			return part
		}
	}
	return d
}

// ownerOf is the document in which a node below one of d stands.
func (d *Document) ownerOf(n *yaml.Node) *Document {
	if owner := d.owners[n]; owner != nil {
		return owner
	}
	return d
}

// Joining says what becomes of a field that several documents have.
type Joining int

// The ways to join a field.
const (
	// Once: the field may stand in one document only.
	Once Joining = iota
	// Items: the field is a list, and the lists become one.
	Items
	// Fields: the field is a mapping, and the mappings become one. A name that two have is a mistake.
	Fields
)

// Join puts the fields of a part's root, which must be a mapping, into the root of this document, those behind these. How says in which
// way, for each field; a field that is not in it stays where it is. A field, an item or a name keeps its place, in which its mistakes are
// told. Both roots are used up: the merged one is Root of this document.
func (d *Document) Join(part *Document, how map[string]Joining) {
	for _, e := range part.Root().Entries() {
		way, known := how[e.Key.Value]
		if !known {
			continue
		}
		at := slices.IndexFunc(d.Root().Entries(), func(own Entry) bool { return own.Key.Value == e.Key.Value })
		if at < 0 {
			d.grow(e)
			continue
		}
		d.join(d.Root().Entries()[at], e, way)
	}
}

// join puts the value of a field behind that of the same field of another document.
func (d *Document) join(own, more Entry, way Joining) {
	kind := map[Joining]Kind{Items: List, Fields: Mapping}[way]
	switch {
	case way == Once:
		more.Errorf("duplicate field %q, the first one is at %s: remove one", more.Key.Value, own.Key.Pos())
		return
	case more.Value.Kind() != kind:
		more.Value.Expected(string(kind))
		return
	case own.Value.Kind() != kind:
		return // noted where it is read
	}
	joined := *own.Value.node
	joined.Content = slices.Clone(own.Value.node.Content)
	for _, n := range own.Value.node.Content {
		d.owners[n] = own.Value.doc.ownerOf(n)
	}
	add := func(nodes ...*yaml.Node) {
		for _, n := range nodes {
			d.owners[n] = more.Value.doc.ownerOf(n)
		}
		joined.Content = append(joined.Content, nodes...)
	}
	if way == Items {
		add(more.Value.node.Content...)
	} else {
		taken := own.Value.Entries()
		for _, e := range more.Value.Entries() {
			if at := slices.IndexFunc(taken, func(t Entry) bool { return t.Key.Value == e.Key.Value }); at >= 0 {
				e.Errorf("duplicate field %q, the first one is at %s: remove one", e.Key.Value, taken[at].Key.Pos())
				continue
			}
			add(e.Key.node, e.Value.node)
		}
	}
	root := *d.root
	root.Content = slices.Clone(d.root.Content)
	root.Content[slices.Index(root.Content, own.Value.node)] = &joined
	d.owners[&joined] = own.Value.doc
	d.root = &root
}

// grow puts a field of another document behind those of the root.
func (d *Document) grow(e Entry) {
	root := *d.root
	root.Content = append(slices.Clone(d.root.Content), e.Key.node, e.Value.node)
	d.owners[e.Key.node], d.owners[e.Value.node] = e.Key.doc, e.Value.doc
	d.root = &root
}

// Or is the object with those fields of another one that it does not have itself.
func (o Object) Or(base Object) Object {
	out := Object{value: o.value, entries: slices.Clone(o.entries)}
	for _, e := range base.entries {
		if !o.Has(e.Key.Value) {
			out.entries = append(out.entries, e)
		}
	}
	return out
}

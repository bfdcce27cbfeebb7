package plan

import (
	"slices"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// reordered is the body with the members of all its objects in reverse order and with white space, which says the
// same (RFC 8259, sections 1 and 2); false for a body that is no JSON, or in which no object has two members. A key in
// the body is one of them.
func reordered(b Body, key trace.KeyPlace) (Body, bool) {
	if b.Kind != BodyJSON {
		return Body{}, false
	}
	if key.In == "json" {
		if keyed, err := b.WithKey(key.Name, "key"); err == nil {
			b = keyed
		}
	}
	tree, changed := b.tree.reversed()
	if !changed {
		return Body{}, false
	}
	b.tree, b.space = tree, " "
	return b, true
}

// reversed is n with the members of every mapping in it in reverse order; changed is false when no mapping has two.
func (n *node) reversed() (out *node, changed bool) {
	reversed := *n
	reversed.names, reversed.items = slices.Clone(n.names), slices.Clone(n.items)
	for i, item := range reversed.items {
		inner, did := item.reversed()
		reversed.items[i], changed = inner, changed || did
	}
	if n.kind == strict.Mapping && len(n.names) > 1 {
		slices.Reverse(reversed.names)
		slices.Reverse(reversed.items)
		changed = true
	}
	return &reversed, changed
}

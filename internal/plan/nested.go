package plan

import (
	"cmp"
	"fmt"
	"slices"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// Change is a body that differs from an endpoint's own in one value.
type Change struct {
	Body Body
	// Place is where the value is, such as "$.items[0].qty".
	Place string
}

// nested are bodies with one harmless value changed that is not at the top: one inside an object, where no list is around
// it, and one inside a list. A fingerprint that stops at the top, or that leaves lists out, overlooks one of them. A value that
// is the only thing which the other body changes is left out.
func nested(b Body, key trace.KeyPlace, changed []string) []Change {
	if b.Kind != BodyJSON {
		return nil
	}
	var leaves []leaf
	collect(b.tree, nil, "", "$", &leaves)
	var out []Change
	for _, inList := range []bool{false, true} {
		var among []leaf
		for _, l := range leaves {
			if len(l.route) > 1 && b.tree.throughList(l.route) == inList && l.harmless(key) {
				among = append(among, l)
			}
		}
		if len(among) == 0 {
			continue
		}
		best := slices.MinFunc(among, func(x, y leaf) int { return b.tree.telling(x, y) })
		if slices.Equal(changed, []string{best.path}) {
			continue
		}
		other := b
		other.tree = b.tree.replaced(best.route, best.changed)
		out = append(out, Change{Body: other, Place: best.path})
	}
	return out
}

// telling compares two leaves: numbers come before texts, names that no member at the top has before others (an encoder that
// is given the names at the top as a filter keeps the others), then the better tier, what is deeper, and the smaller number.
func (n *node) telling(x, y leaf) int {
	words := func(l leaf) int {
		if l.tier == tierText {
			return 1
		}
		return 0
	}
	return cmp.Or(words(x)-words(y), n.known(x)-n.known(y), x.tier-y.tier, len(y.route)-len(x.route), x.size.Cmp(y.size))
}

// known is 0 when a name on the way to the leaf, below the top, is the name of no member at the top; else 1.
func (n *node) known(l leaf) int {
	at := n
	for depth, i := range l.route {
		if depth > 0 && at.kind == strict.Mapping && n.get(at.names[i]) == nil {
			return 0
		}
		at = at.items[i]
	}
	return 1
}

// throughList reports whether the way to a value goes through a list.
func (n *node) throughList(route []int) bool {
	for _, i := range route {
		if n.kind == strict.List {
			return true
		}
		n = n.items[i]
	}
	return false
}

// changedPlaces are the places at which two bodies differ; none for bodies that have no members.
func changedPlaces(a, b Body) []string {
	if a.tree == nil || b.tree == nil || a.Kind != b.Kind {
		return nil
	}
	root := "$"
	if a.Kind == BodyForm {
		root = ""
	}
	var out []string
	differences(a.tree, b.tree, root, &out)
	return out
}

func differences(a, b *node, path string, out *[]string) {
	switch {
	case a == nil || b == nil || a.kind != b.kind, a.kind == strict.List && len(a.items) != len(b.items):
		*out = append(*out, path)
	case a.kind == strict.List:
		for i := range a.items {
			differences(a.items[i], b.items[i], fmt.Sprintf("%s[%d]", path, i), out)
		}
	case a.kind == strict.Mapping:
		for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.names, b.names)))) {
			differences(a.get(name), b.get(name), member(path, name), out)
		}
	case a.word != b.word || a.text.Render(byName{}) != b.text.Render(byName{}):
		*out = append(*out, path)
	}
}

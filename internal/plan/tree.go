package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"retrysafe/internal/strict"
)

// node is a JSON value whose texts may hold placeholders. Nodes are never changed after they were made:
// bodies share them.
type node struct {
	kind strict.Kind
	// word is a number as it was written, or true, false, null.
	word string
	text Template
	// names are the members of a mapping in order, items their values; or the items of a list.
	names []string
	items []*node
}

func mapping() *node { return &node{kind: strict.Mapping} }

// get is a member, nil when it is not there.
func (n *node) get(name string) *node {
	if i := slices.Index(n.names, name); n.kind == strict.Mapping && i >= 0 {
		return n.items[i]
	}
	return nil
}

// with is a copy of a mapping with a member set, added at the end, or removed for a nil value.
func (n *node) with(name string, value *node) *node {
	out := mapping()
	for i, have := range n.names {
		switch {
		case have != name:
			out.add(have, n.items[i])
		case value != nil:
			out.add(name, value)
		}
	}
	if value != nil && !slices.Contains(n.names, name) {
		out.add(name, value)
	}
	return out
}

func (n *node) add(name string, value *node) {
	n.names = append(n.names, name)
	n.items = append(n.items, value)
}

// patched is n with a merge patch applied (RFC 7396, section 2). Members keep their places.
func (n *node) patched(patch *node) *node {
	if patch.kind != strict.Mapping {
		return patch
	}
	out := mapping()
	if n != nil && n.kind == strict.Mapping {
		out = n
	}
	for i, name := range patch.names {
		if patch.items[i].kind == strict.Nothing {
			out = out.with(name, nil)
		} else {
			out = out.with(name, out.get(name).patched(patch.items[i]))
		}
	}
	return out
}

// each calls f for every text in the tree.
func (n *node) each(f func(Template)) {
	if n == nil {
		return
	}
	if n.kind == strict.String {
		f(n.text)
	}
	for _, item := range n.items {
		item.each(f)
	}
}

// members calls f for every member of every mapping in the tree.
func (n *node) members(f func(name string, value *node)) {
	if n == nil {
		return
	}
	for i, item := range n.items {
		if n.kind == strict.Mapping {
			f(n.names[i], item)
		}
		item.members(f)
	}
}

// write renders the tree as JSON, with space wherever white space means nothing.
func (n *node) write(out *bytes.Buffer, v Values, space string) error {
	switch n.kind {
	case strict.String:
		value := n.text.Render(v)
		if !n.text.number() {
			return writeText(out, value)
		}
		if !strict.IsNumber(value) {
			return fmt.Errorf("expected a number for %s, found %q: write it without `:%s`", n.text, value, numberWord)
		}
		out.WriteString(value)
		return nil
	case strict.List:
		return n.writeItems(out, v, space, '[', ']')
	case strict.Mapping:
		return n.writeItems(out, v, space, '{', '}')
	}
	out.WriteString(n.word)
	return nil
}

func (n *node) writeItems(out *bytes.Buffer, v Values, space string, open, end byte) error {
	out.WriteByte(open)
	for i, item := range n.items {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(space)
		if n.kind == strict.Mapping {
			if err := writeText(out, n.names[i]); err != nil {
				return err
			}
			out.WriteString(":" + space)
		}
		if err := item.write(out, v, space); err != nil {
			return err
		}
	}
	if len(n.items) > 0 {
		out.WriteString(space)
	}
	out.WriteByte(end)
	return nil
}

// writeText writes a JSON string; <, > and & stay, as every other JSON library has them.
func writeText(out *bytes.Buffer, s string) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the line end that Encode adds
	return nil
}

// yamlTree reads a body that is written as YAML.
func yamlTree(v strict.Value, allowed names) *node {
	switch kind := v.Kind(); kind {
	case strict.Mapping:
		out := mapping()
		for _, e := range v.Entries() {
			out.add(e.Key.Value, yamlTree(e.Value, allowed))
		}
		return out
	case strict.List:
		out := &node{kind: kind}
		for _, item := range v.List() {
			out.items = append(out.items, yamlTree(item, allowed))
		}
		return out
	case strict.String:
		return &node{kind: kind, text: parseTemplate(v.Text(), allowed.inJSON())}
	case strict.Number:
		word := v.Scalar()
		if !strict.IsNumber(word.Value) {
			v.Errorf("expected a number as JSON has it, found %s: write it in decimal, or quote it to send text", word.Value)
		}
		return &node{kind: kind, word: word.Value}
	case strict.Boolean:
		word := "false"
		if v.Bool() {
			word = "true"
		}
		return &node{kind: kind, word: word}
	}
	return &node{kind: strict.Nothing, word: "null"}
}

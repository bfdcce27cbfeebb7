package openapi

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// wide is how many members a mapping has before an index of it pays.
const wide = 16

// plain is the value that an alias stands for, and any other value itself; nil for what is no value.
func plain(n *yaml.Node) *yaml.Node {
	for range deepest {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// members are the members of a mapping in order, aliases followed; those that << merges in come first. Nothing for anything
// else.
func members(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] { return membersWithin(n, 10) }

func membersWithin(n *yaml.Node, merges int) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		n := plain(n)
		if n == nil || n.Kind != yaml.MappingNode || merges == 0 {
			return
		}
		for _, own := range []bool{false, true} {
			for i := 0; i+1 < len(n.Content); i += 2 {
				key, value := plain(n.Content[i]), plain(n.Content[i+1])
				merge := key != nil && key.Value == "<<" && key.Style == 0
				switch {
				case key == nil || value == nil || key.Kind != yaml.ScalarNode:
				case own && !merge && !yield(key, value):
					return
				case !own && merge:
					for k, v := range membersWithin(value, merges-1) {
						if !yield(k, v) {
							return
						}
					}
				}
			}
		}
	}
}

// get is what lies at a path of members; nil where one is missing or no mapping is around it. Where a member is written twice,
// the last one counts, as most readers have it.
func (d *Document) get(n *yaml.Node, path ...string) *yaml.Node {
	n = plain(n)
	for _, name := range path {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		n = d.member(n, name)
	}
	return n
}

func (d *Document) member(n *yaml.Node, name string) *yaml.Node {
	if len(n.Content) <= 2*wide {
		var found *yaml.Node
		for key, value := range members(n) {
			if key.Value == name {
				found = value
			}
		}
		return found
	}
	known, ok := d.index[n]
	if !ok {
		known = map[string]*yaml.Node{}
		for key, value := range members(n) {
			known[key.Value] = value
		}
		d.index[n] = known
	}
	return known[name]
}

// items are the values of a list; nil for anything else.
func items(n *yaml.Node) []*yaml.Node {
	n = plain(n)
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	var out []*yaml.Node
	for _, c := range n.Content {
		if c = plain(c); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// text is the text of a scalar, empty for anything else.
func text(n *yaml.Node) string {
	if n = plain(n); n == nil || n.Kind != yaml.ScalarNode || isNull(n) {
		return ""
	}
	return n.Value
}

// texts are the texts of a list of scalars, or of one scalar.
func texts(n *yaml.Node) []string {
	var out []string
	for _, item := range append(items(n), n) {
		if t := text(item); t != "" {
			out = append(out, t)
		}
	}
	return out
}

func isTrue(n *yaml.Node) bool { return strings.EqualFold(text(n), "true") }

func isNull(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func isText(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && slices.Contains([]string{"!!str", "!!timestamp", "!!binary"}, n.ShortTag())
}

// number is a whole number of at least 0; -1 for anything else.
func number(n *yaml.Node) int {
	value, err := strconv.ParseFloat(text(n), 64)
	if err != nil || value < 0 || value > 1e9 {
		return -1
	}
	return int(value)
}

// kindOf is a value in a message.
func kindOf(n *yaml.Node) string {
	switch {
	case n == nil || isNull(n):
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	const most = 40 // characters, what fits a line beside the rest
	value := []rune(n.Value)
	if len(value) > most {
		value = append(value[:most], []rune("...")...)
	}
	return fmt.Sprintf("%q", string(value))
}

func (d *Document) pos(n *yaml.Node) strict.Pos {
	if n == nil {
		return strict.Pos{File: d.name}
	}
	file, other := d.owner[n]
	if !other {
		file = d.name
	}
	return strict.Pos{File: file, Line: n.Line, Col: n.Column}
}

// leave notes what is not in the draft, once.
func (d *Document) leave(n *yaml.Node, format string, args ...any) {
	note := d.pos(n).String() + ": " + fmt.Sprintf(format, args...)
	if !d.told[note] {
		d.told[note] = true
		d.left = append(d.left, note)
	}
}

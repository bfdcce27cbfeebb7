package openapi

import (
	"strconv"

	"go.yaml.in/yaml/v4"
)

func count(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	total := 1
	for _, c := range n.Content {
		total += count(c)
	}
	return total
}

// copyTree is a value of the document as it stands in a plan; nil for what lies too deep.
func copyTree(n *yaml.Node, levels int) *yaml.Node {
	budget := mostValues
	return copyWithin(n, levels, &budget)
}

func copyWithin(n *yaml.Node, levels int, budget *int) *yaml.Node {
	*budget--
	if n = plain(n); n == nil || levels < 0 || *budget < 0 {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := object()
		for key, value := range members(n) {
			if copied := copyWithin(value, levels-1, budget); copied != nil {
				setMember(out, key.Value, copied)
			}
		}
		return out
	case yaml.SequenceNode:
		out := list()
		for _, item := range n.Content {
			if copied := copyWithin(item, levels-1, budget); copied != nil {
				out.Content = append(out.Content, copied)
			}
		}
		return out
	}
	switch n.ShortTag() {
	case "!!null":
		return null()
	case "!!bool":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(isTrue(n))}
	case "!!int", "!!float":
		if written, ok := literal(n); ok {
			return numeral(written)
		}
	}
	return quoted(escape(n.Value))
}

func object() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

func list() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"} }

// quoted is a text of a plan; it may hold placeholders.
func quoted(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func guessed(s, why string) *yaml.Node {
	n := quoted(s)
	n.LineComment = "guess: " + why
	return n
}

func numeral(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: numberTag(s), Value: s}
}

// setMember sets a member of a mapping, in its place where it is there already.
func setMember(n *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, word(name), value)
}

// memberNode is a member of a mapping that was made here, nil when it has none.
func memberNode(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

package openapi

import (
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// otherBody is a merge patch that makes another valid body, where the plan's own rule, which raises a number, finds none that the
// document allows; nil where nothing can be changed.
func (b *drafter) otherBody(t *schema, tree *yaml.Node) *yaml.Node {
	if tree.Kind != yaml.MappingNode {
		return nil
	}
	var patch *yaml.Node
	for i := 0; i+1 < len(tree.Content); i += 2 {
		name, v := tree.Content[i].Value, tree.Content[i+1]
		p, known := t.property(name)
		if !known || v.Kind != yaml.ScalarNode {
			continue
		}
		of := b.d.schema(p.nodes...)
		if value := rational(v); value != nil && !isText(v) && of.enum == nil && of.holds(value.Add(value, big.NewRat(1, 1))) {
			return nil
		}
		if other := of.another(v); other != nil && patch == nil {
			patch = object()
			other.LineComment = "guess: another value that the document allows"
			setMember(patch, name, other)
		}
	}
	return patch
}

// another is a value that differs from v and that the schema allows too; nil where none is known.
func (t *schema) another(v *yaml.Node) *yaml.Node {
	for _, other := range t.enum {
		if other.Kind == yaml.ScalarNode && !isNull(other) && other.Value != unescape(v.Value) {
			return t.scalar(other)
		}
	}
	switch {
	case t.enum != nil || strings.Contains(v.Value, "{{"):
		return nil
	case v.Tag == "!!bool":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.Value != "true")}
	case v.Tag == "!!str" && v.Value == fallbackText && t.fitsText("other"):
		return quoted("other")
	}
	return nil
}

package strict

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Kind is what a value is.
type Kind string

// The kinds of values. Absent is a field that is not there, Nothing a field without a value (or null).
const (
	Absent  Kind = ""
	Nothing Kind = "nothing"
	String  Kind = "text"
	Number  Kind = "a number"
	Boolean Kind = "true or false"
	List    Kind = "a list"
	Mapping Kind = "a mapping"
)

// Value is one value of a file. The zero Value is a field that is not there.
type Value struct {
	doc  *Document
	node *yaml.Node
}

// Present is true when the field is there, even without a value.
func (v Value) Present() bool { return v.node != nil }

// Pos is where the value starts; the zero Pos when it is absent.
func (v Value) Pos() Pos {
	if v.node == nil {
		return Pos{}
	}
	return Pos{File: v.doc.file, Line: v.node.Line, Col: v.node.Column}
}

// Kind is what the value is. A plain ${VAR} is what its value is: `qty: ${QTY}` is a number when QTY is 5,
// `qty: "${QTY}"` is text.
func (v Value) Kind() Kind {
	if v.node == nil {
		return Absent
	}
	switch v.node.Kind {
	case yaml.MappingNode:
		return Mapping
	case yaml.SequenceNode:
		return List
	case yaml.ScalarNode:
		return v.scalarKind()
	}
	return Nothing
}

func (v Value) scalarKind() Kind {
	switch v.node.ShortTag() {
	case "!!null":
		return Nothing
	case "!!int", "!!float":
		return Number
	case "!!bool":
		return Boolean
	}
	t := v.text()
	if v.node.Style != 0 || len(t.Variables()) == 0 {
		return String
	}
	switch {
	case IsNumber(t.Value):
		return Number
	case t.Value == "true" || t.Value == "false":
		return Boolean
	}
	return String
}

// Errorf notes a mistake at the value; nothing when it is absent, or holds a variable that is not set, which
// was noted already.
func (v Value) Errorf(format string, args ...any) {
	if v.node != nil && !v.doc.unset[v.node] {
		v.doc.Errorf(v.Pos(), width(v.node), format, args...)
	}
}

// Unset is true when the value holds a variable that is not set, which was noted already.
func (v Value) Unset() bool { return v.node != nil && v.doc.unset[v.node] }

// Expected notes that the value is not what it should be: "expected a number, found a list".
func (v Value) Expected(what string) {
	if v.node == nil || v.node.Kind == yaml.AliasNode || isPlaceholder(v.node) { // the last two have been noted already
		return
	}
	v.Errorf("expected %s, found %s", what, describe(v.node))
}

// isPlaceholder is true for {{name}} without quotes, which YAML reads as a mapping in a mapping.
func isPlaceholder(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode
}

// text is the scalar with variables filled in.
func (v Value) text() Text {
	if v.node == nil {
		return Text{}
	}
	if t, ok := v.doc.texts[v.node]; ok {
		return t
	}
	return Text{doc: v.doc, node: v.node}
}

// Variables are the names of all variables in the value and below it, in the order of the file.
func (v Value) Variables() []string {
	if v.node == nil {
		return nil
	}
	names := v.text().Variables()
	for _, c := range v.node.Content {
		names = append(names, Value{v.doc.ownerOf(c), c}.Variables()...)
	}
	return names
}

// List are the values of a list; nil after noting a mistake for anything else.
func (v Value) List() []Value {
	if v.node == nil {
		return nil
	}
	if v.node.Kind == yaml.ScalarNode && v.Kind() != Nothing {
		v.Errorf("expected a list, found %s: write [%s]", describe(v.node), v.text().Source())
		return nil
	}
	if v.node.Kind != yaml.SequenceNode {
		v.Expected("a list")
		return nil
	}
	values := make([]Value, len(v.node.Content))
	for i, c := range v.node.Content {
		values[i] = Value{v.doc.ownerOf(c), c}
	}
	return values
}

// Texts are the texts of a list of texts.
func (v Value) Texts() []Text {
	var texts []Text
	for _, item := range v.List() {
		if t := item.Text(); t.node != nil {
			texts = append(texts, t)
		}
	}
	return texts
}

// describe is a value in a message; a scalar as it is written, without the values of variables.
func describe(n *yaml.Node) string {
	switch kind := (Value{node: n, doc: &Document{}}).Kind(); kind {
	case String:
		return "the text " + show(n.Value)
	case Number:
		return "the number " + n.Value
	case Boolean:
		return "the truth value " + n.Value
	default:
		return string(kind)
	}
}

// show quotes a text for a message and cuts it to 40 characters, what fits a line beside the rest.
func show(s string) string {
	const most = 40
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// width is how many characters of a node's first line belong to it.
func width(n *yaml.Node) int {
	if n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 1
	}
	first, _, _ := strings.Cut(n.Value, "\n")
	w := len([]rune(first))
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		w += 2
	}
	return max(w, 1)
}

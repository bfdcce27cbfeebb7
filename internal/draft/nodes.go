package draft

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

func str(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func word(tag, s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s} }

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// fields is a mapping that grows.
type fields struct{ node *yaml.Node }

func newFields() fields { return fields{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}} }

// add adds a field, in place of one of the same name.
func (f fields) add(name string, value *yaml.Node) {
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		if f.node.Content[i].Value == name {
			f.node.Content[i+1] = value
			return
		}
	}
	f.node.Content = append(f.node.Content, str(name), value)
}

// guessed is a node with the comment that it is a guess, where there is a reason.
func guessed(n *yaml.Node, reason string) *yaml.Node {
	if reason != "" {
		n.LineComment = "guess: " + reason
	}
	return n
}

func (f fields) empty() bool { return len(f.node.Content) == 0 }

// The bounds of a body: far more than people send, and no more than a run could show.
const (
	deepest = 100
	largest = 100_000
)

// builder makes nodes of the parts of one endpoint or caller. Its texts may use the captures that are known.
type builder struct {
	captures []string
	names    bool // true for texts in which there are no placeholders
	json     bool // true for texts of which a placeholder can make a number
	values   int
	err      error
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// tree is a copy of a value of a body: aliases written out, texts in the language of plans, and of fields of one name the last one.
func (b *builder) tree(n *yaml.Node, depth int) *yaml.Node {
	b.values++
	switch {
	case depth > deepest:
		b.fail("the body is more than %d levels deep", deepest)
	case b.values > largest:
		b.fail("the body has more than %d values", largest)
	}
	if b.err != nil || n == nil {
		return word("!!null", "null")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return b.tree(n.Alias, depth+1)
	case yaml.DocumentNode:
		if len(n.Content) == 1 {
			return b.tree(n.Content[0], depth)
		}
	case yaml.MappingNode:
		out := newFields()
		for i := 0; i+1 < len(n.Content); i += 2 {
			value := b.tree(n.Content[i+1], depth+1)
			out.add(b.name(n.Content[i]), value)
			if c := notes(n.Content[i], value); c != "" {
				value.HeadComment, value.LineComment = "", c
			}
		}
		return b.noted(out.node, n)
	case yaml.SequenceNode:
		out := list()
		for _, c := range n.Content {
			out.Content = append(out.Content, b.tree(c, depth+1))
		}
		return b.noted(out, n)
	case yaml.ScalarNode:
		out := word(n.ShortTag(), n.Value)
		if out.Tag == "!!int" || out.Tag == "!!float" {
			if _, ok := jsonNumber(n.Value); !ok {
				out.Tag, out.LineComment = "!!str", "a number that cannot be written as one, sent as text"
				return out
			}
		}
		if !slices.Contains([]string{"!!null", "!!bool", "!!int", "!!float"}, out.Tag) {
			out.Tag, out.Value = "!!str", b.text(n.Value)
		}
		return b.noted(out, n)
	}
	return word("!!null", "null")
}

// text is a text of a body, in which a capture can stand for a number.
func (b *builder) text(s string) string {
	if m := asNumber.FindStringSubmatch(s); b.json && m != nil && slices.Contains(b.captures, m[1]) {
		return s
	}
	return b.meant(s, false)
}

func (b *builder) noted(out, n *yaml.Node) *yaml.Node {
	out.LineComment = notes(n)
	return out
}

// name is the name of a field, whatever YAML takes it for.
func (b *builder) name(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		b.fail("a field's name is no text")
	}
	return n.Value
}

// form is a mapping whose values are all texts.
func (b *builder) form(n *yaml.Node) *yaml.Node {
	out := b.tree(n, 0)
	for i := 1; i < len(out.Content); i += 2 {
		switch v := out.Content[i]; {
		case v.Kind != yaml.ScalarNode:
			b.fail("the field %q of a form is no text", out.Content[i-1].Value)
		case v.ShortTag() == "!!null":
			v.Tag, v.Value = "!!str", ""
		}
	}
	return out
}

// addBody adds the one field that holds a body; none for no body.
func (b *builder) addBody(f fields, body Body) {
	switch {
	case body.JSON != nil:
		b.json = true
		f.add("body", b.tree(body.JSON, 0))
		b.json = false
	case body.Form != nil:
		f.add("form", b.form(body.Form))
	case body.Text != "":
		f.add("text", str(b.meant(body.Text, false)))
	}
}

// addHeaders adds a mapping of header lines; none for no headers.
func (b *builder) addHeaders(f fields, headers []Header) {
	out := newFields()
	for _, h := range headers {
		value := strings.Join(strings.FieldsFunc(h.Value.Value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }), " ")
		out.add(h.Name, guessed(str(b.meant(value, true)), h.Value.Guess))
	}
	if !out.empty() {
		f.add("headers", out.node)
	}
}

// step is a request of a set-up or a clean-up. What it captures is known from then on.
func (b *builder) step(s Step) *yaml.Node {
	f := newFields()
	f.add("request", str(b.request(s.Request)))
	b.addHeaders(f, s.Headers)
	b.addBody(f, s.Body)
	b.addCaptures(f, s.Capture)
	return guessed(f.node, s.Guess)
}

func (b *builder) addCaptures(f fields, captures []Capture) {
	out := newFields()
	for _, c := range captures {
		out.add(c.Name, str(c.From))
		b.captures = append(b.captures, c.Name)
	}
	if !out.empty() {
		f.add("capture", out.node)
	}
}

package strict

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

var quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)

// load is the root node of the only document, nil after noting why there is none.
func (d *Document) load(source string) *yaml.Node {
	loader, err := yaml.NewLoader(strings.NewReader(source))
	if err != nil {
		d.Errorf(Pos{Line: 1, Col: 1}, 1, "cannot read YAML: %v", err)
		return nil
	}
	var first yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		d.Errorf(Pos{Line: 1, Col: 1}, 1, "the file is empty")
		return nil
	} else if err != nil {
		d.syntax(err)
		return nil
	}
	var second yaml.Node
	if err := loader.Load(&second); err == nil {
		d.Errorf(Pos{Line: second.Line, Col: second.Column}, 1, "expected one document, found a second one: remove the `---` or split the file")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	if len(first.Content) == 0 {
		d.Errorf(Pos{Line: 1, Col: 1}, 1, "the file is empty")
		return nil
	}
	return first.Content[0]
}

// syntax notes an error of the YAML library in our words.
func (d *Document) syntax(err error) {
	var load *yaml.LoadError
	if !errors.As(err, &load) || load.Mark.Line == 0 {
		d.Errorf(Pos{Line: 1, Col: 1}, 1, "invalid YAML: %v", err)
		return
	}
	line := min(load.Mark.Line, len(d.lines))
	pos := Pos{Line: line, Col: min(load.Mark.Column, len([]rune(d.lines[line-1]))+1)}
	message := "invalid YAML: " + load.Message
	if load.ContextMsg != "" {
		message += " " + load.ContextMsg
	}
	d.Errorf(pos, 1, "%s%s", message, d.hint(pos, load))
}

// hint guesses from the line what went wrong.
func (d *Document) hint(pos Pos, load *yaml.LoadError) string {
	line := []rune(d.lines[pos.Line-1])
	text := string(line)
	if load.ContextMark.Line > 0 && load.ContextMark.Line <= len(d.lines) {
		text += d.lines[load.ContextMark.Line-1]
	}
	var at rune
	if pos.Col <= len(line) {
		at = line[pos.Col-1]
	}
	switch {
	case at == '\t' || strings.HasPrefix(string(line), "\t"):
		return " (a tab cannot indent YAML: use spaces)"
	case at == '@' || at == '`' || at == '%':
		return " (a value that starts with " + string(at) + " must be quoted)"
	case strings.Contains(unquoted(text), "${") || strings.Contains(unquoted(text), "{{"):
		return ` (a value that holds ${...} or {{...}} must be quoted inside [...] and {...}, and where it starts with {{)`
	case strings.HasPrefix(load.Message, "did not find expected ','"):
		return " (inside [...] and {...} a value that holds [ ] { } or , must be quoted)"
	case strings.HasPrefix(load.Message, "mapping values are not allowed"):
		return " (a value that holds `: ` must be quoted)"
	}
	return ""
}

// unquoted is a line without its quoted parts.
func unquoted(line string) string {
	return quoted.ReplaceAllString(line, "")
}

// prepare fills variables in and notes mistakes that no field may make. It gives the node to read in place of this one: what an alias
// stands for, so that nothing that only follows from it is a mistake too.
func (d *Document) prepare(n *yaml.Node, at place) *yaml.Node {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != "!!str" {
		d.Errorf(nodePos(n), len(n.Tag), "tags are not supported, found %s: write the plain value", n.Tag)
	}
	at.nodes = append(at.nodes, n)
	switch n.Kind {
	case yaml.AliasNode:
		d.share(at, nodePos(n), len(n.Value)+1, "aliases are not supported, found *%s: write the value out", n.Value)
		return d.meant(n, at)
	case yaml.ScalarNode:
		d.texts[n] = d.expand(n)
	case yaml.SequenceNode:
		for i, c := range n.Content {
			n.Content[i] = d.prepare(c, at)
		}
	case yaml.MappingNode:
		d.prepareMapping(n, at)
	}
	return n
}

// place is where a node stands: below which fields, and in which nodes, the outermost first.
type place struct {
	fields []string
	nodes  []*yaml.Node
}

func (p place) below(field string) place {
	return place{fields: append(p.fields[:len(p.fields):len(p.fields)], field), nodes: p.nodes}
}

func (d *Document) prepareMapping(n *yaml.Node, at place) {
	seen := map[string]int{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			d.share(at, nodePos(key), 2, "merge keys are not supported: write the fields out")
			if value.Kind == yaml.AliasNode {
				value = d.meant(value, at)
			} else {
				value = d.prepare(value, at)
			}
			if value.Kind == yaml.MappingNode {
				merged = append(merged, value.Content...)
			}
			continue
		}
		d.prepareKey(key, seen)
		if key.Kind == yaml.ScalarNode {
			n.Content[i+1] = d.prepare(value, at.below(key.Value))
		}
	}
	for i := 0; i+1 < len(merged); i += 2 {
		if _, own := seen[merged[i].Value]; !own {
			n.Content = append(n.Content, merged[i], merged[i+1])
		}
	}
}

// mostMeant bounds how many values are read in place of aliases: each may stand for others that hold more of them.
const mostMeant = 10_000

// meant is what an alias stands for; the alias itself, of which nothing is known, where it stands within that, or where that is too much.
func (d *Document) meant(alias *yaml.Node, at place) *yaml.Node {
	if alias.Alias == nil || slices.Contains(at.nodes, alias.Alias) || d.meantSoFar > mostMeant {
		return alias
	}
	if d.meantSoFar += nodesIn(alias.Alias); d.meantSoFar > mostMeant {
		return alias
	}
	return alias.Alias
}

func nodesIn(n *yaml.Node) int {
	count := 1
	for _, c := range n.Content {
		count += nodesIn(c)
	}
	return count
}

// shared is a mistake that says that one value is used in several places, with the fields that it stands below.
type shared struct {
	mistake *Error
	fields  []string
}

func (d *Document) share(at place, pos Pos, width int, format string, args ...any) {
	d.Errorf(pos, width, format, args...)
	d.shares = append(d.shares, shared{d.errs[len(d.errs)-1], at.fields})
}

// Advise adds to the mistakes about aliases and merge keys where else the value could stand once, by the fields that it stands below; "" where
// nothing but writing it out helps.
func (d *Document) Advise(where func(fields []string) string) {
	for _, part := range d.whole() {
		for _, s := range part.shares {
			s.mistake.Message += where(s.fields)
		}
		part.shares = nil
	}
}

func (d *Document) prepareKey(key *yaml.Node, seen map[string]int) {
	pos := nodePos(key)
	switch {
	case key.Kind == yaml.MappingNode:
		d.Errorf(pos, 1, `expected a field name, found a mapping: quote placeholders ("{{marker}}")`)
		return
	case key.Kind != yaml.ScalarNode:
		d.Errorf(pos, 1, "expected a field name, found %s", describe(key))
		return
	case key.ShortTag() == "!!null" && key.Value == "":
		d.Errorf(pos, 1, "expected a field name before the colon, found nothing")
		return
	}
	d.texts[key] = Text{Value: key.Value, doc: d, node: key, spans: []span{{}}}
	if line, dup := seen[key.Value]; dup {
		d.Errorf(pos, width(key), "duplicate field %q, the first one is in line %d: remove one", key.Value, line)
		return
	}
	seen[key.Value] = key.Line
}

func nodePos(n *yaml.Node) Pos { return Pos{Line: n.Line, Col: n.Column} }

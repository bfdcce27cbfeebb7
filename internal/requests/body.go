package requests

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// body renders the body, with what must differ replaced, and takes a key out of it.
func (l *linker) body(s *sent, key *draft.Key, headers *[]draft.Header) draft.Body {
	f := &filler{l: l, of: s, key: key}
	contentType := func(value string) {
		*headers = append(*headers, draft.Header{Name: "Content-Type", Value: draft.Text{Value: planText(value)}})
	}
	switch {
	case s.json != nil:
		if media := mediaType(s.media); media != "" && media != jsonType && media != "text/json" {
			contentType(s.media)
		}
		f.chooseFree(s.json)
		return draft.Body{JSON: f.node(s.json, "$", "")}
	case len(s.form) > 0:
		return draft.Body{Form: f.form(s.form)}
	case len(s.body.parts) > 0:
		contentType(multipartType + "; boundary=" + boundary)
		return draft.Body{Text: f.multipart(s.body.parts)}
	case s.body.text != "":
		if s.media != "" && usableHeader(pair{"Content-Type", s.media}) {
			contentType(s.media)
		}
		text := l.b.vault.text(s.body.text)
		if filled, done := l.reference(s, text, "value"); done {
			text = filled
		}
		return draft.Body{Text: planText(text)}
	}
	return draft.Body{}
}

// filler replaces values of one body.
type filler struct {
	l   *linker
	of  *sent
	key *draft.Key // nil in a set-up
	// free is the path of the field that gets the marker because it may hold any text; empty for none.
	free string
	// inForm is true for forms, where a plan cannot put a key by itself.
	inForm bool
}

// chooseFree looks for a field that may hold any text, outside of lists, where no field is there for that; of several the one
// that is least deep, and of those the one whose name says it best.
func (f *filler) chooseFree(root *yaml.Node) {
	depth, rank, found := 0, 0, false
	var look func(n *yaml.Node, path string, level int)
	look = func(n *yaml.Node, path string, level int) {
		if n.Kind != yaml.MappingNode || found {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			at := path + member(name)
			if value.Tag != "!!str" {
				look(value, at, level+1)
				continue
			}
			if g, ok := unique(name, value.Value); ok && strings.Contains(g.text, "marker") {
				found, f.free = true, ""
				return
			}
			if !isFree(name, value.Value) {
				continue
			}
			if r := slices.Index(freeNames, snake(name)); f.free == "" || level < depth || level == depth && r < rank {
				f.free, depth, rank = at, level, r
			}
		}
	}
	look(root, "$", 0)
}

// node is a copy of a tree with values replaced.
func (f *filler) node(n *yaml.Node, path, name string) *yaml.Node {
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := path + member(key.Value)
			if value.Kind == yaml.ScalarNode && f.takeKey(at, key.Value, value.Value) {
				continue
			}
			out.Content = append(out.Content, textNode(key.Value), f.node(value, at, key.Value))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			out.Content = append(out.Content, f.node(item, fmt.Sprintf("%s[%d]", path, i), name))
		}
	default:
		f.scalar(out, path, name)
	}
	return out
}

// indexed matches a path through a list, where a plan cannot put a key.
var indexed = regexp.MustCompile(`\[\d+\](\.|\[|$)`)

// takeKey is true for the member that holds the key: the plan puts it there itself.
func (f *filler) takeKey(path, name, value string) bool {
	if f.key == nil || f.inForm || !isKeyField(path, name, value) || indexed.MatchString(path) {
		return false
	}
	if *f.key == (draft.Key{}) {
		f.key.JSON = path
	}
	return f.key.JSON == path
}

func (f *filler) scalar(out *yaml.Node, path, name string) {
	switch out.Tag {
	case "!!str":
		g := f.value(path, name, out.Value)
		if isBare(out.Value) {
			g.text = f.asNumber(g.text)
		}
		*out = *textNode(planText(g.text))
		if v, ok := bareVariable(g.text); ok {
			*out, g.why = *v, "without quotes in the source, so that its value says what it is"
		}
		out.LineComment = g.why
	case "!!int", "!!float":
		if secretName(name) {
			*out = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: planText(f.l.b.vault.hide(name, out.Value)), LineComment: secretWhy}
			return
		}
		if _, err := strconv.ParseFloat(out.Value, 64); err != nil {
			out.Tag, out.LineComment = "!!str", "guess: a plan can send a number of this size as text only"
		}
		if text, ok := f.made(name, out.Value); ok {
			*out = *textNode(planText(f.asNumber(text)))
		}
	}
}

func isBare(text string) bool { return strings.HasPrefix(text, string(open)+bare) }

// bareVariable is the node of a variable without quotes: it has no tag, since the plan takes it for what its value is.
func bareVariable(text string) (*yaml.Node, bool) {
	if content, _ := onlyHole(text); !isBare(text) || strings.ContainsAny(content, "{<") {
		return nil, false
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: planText(text)}, true
}

// textNode is a text. Double quotes keep what a plan fills in a text, whatever it looks like.
func textNode(value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if strings.Contains(value, "{{") || strings.Contains(value, "${") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

const secretWhy = "guess: a credential, which comes from the environment"

// value is what stands in place of a text.
func (f *filler) value(path, name, value string) guessed {
	if filled, done := f.l.reference(f.of, value, name); done {
		return guessed{text: filled}
	}
	if f.key == nil && isKeyField(path, name, value) {
		return guessed{f.stepKey(value), "guess: a key for this step alone"}
	}
	if isKeyField(path, name, value) {
		if f.key.Header == "" {
			f.l.comment(f.of, "the key stands in the field %s, where a plan puts it as {{key}} only: scenarios that change the key's form change the header", name)
		}
		return guessed{placeholder("key"), "guess: the key"}
	}
	if g, ok := unique(name, value); ok {
		return f.mark(name, value, g)
	}
	if text, ok := f.made(name, value); ok {
		return guessed{text: text}
	}
	if hidden, ok := f.l.b.vault.value(name, value); ok {
		return guessed{hidden, secretWhy}
	}
	if f.free != "" && path == f.free {
		return f.mark(name, value, guessed{placeholder("marker"), "guess: any text, by which effects can be told apart"})
	}
	if refersTo(name, value) && !hasHole(value) && looksID(value) {
		why := "guess: must exist"
		if f.l.b.read(value) {
			why += "; the source reads it, so it was there"
		}
		return guessed{value, why}
	}
	g := guessed{text: f.l.b.vault.text(value)}
	if strings.Contains(value, placeholder("marker")) { // the source itself makes the text up
		return f.mark(name, value, g)
	}
	return g
}

// made is the placeholder for an id that a request of the set-up is answered with: the source says so, or a field such as cart_id
// is named after what a request creates whose answer is not in the source.
func (f *filler) made(name, value string) (string, bool) {
	content, isHole := onlyHole(value)
	if strings.HasPrefix(strings.TrimPrefix(content, bare), "{") {
		return "", false
	}
	if p, ok := f.l.b.maker(f.of, value, name); ok && (refersTo(name, value) || p.about(name)) {
		return f.l.capture(p.by, p.path, thing(name), "its answer had the id that stands in "+name)
	}
	if by := f.l.b.creationOf(name); by != nil && by != f.of && (isHole || looksID(value)) {
		return f.l.capture(by, "$.id", thing(name), "its answer is not in the source; $.id is where most APIs have the id that "+name+" may be")
	}
	return "", false
}

// asNumber is a placeholder that a plan writes as a number, which only captures can be.
func (f *filler) asNumber(text string) string {
	content, ok := onlyHole(text)
	if name, is := strings.CutPrefix(content, "{"); ok && is && !f.inForm && !slices.Contains(builtins, name) {
		return placeholder(name + ":number")
	}
	return text
}

func (f *filler) stepKey(value string) string {
	text := f.l.stepKey(f.of, value)
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, "{{"), "}}")
	return placeholder(name) + rest
}

func (f *filler) mark(name, value string, g guessed) guessed {
	if f.of == f.l.of {
		if f.l.markers == nil {
			f.l.markers = map[string]marked{}
		}
		f.l.markers[snake(name)] = marked{value, planText(g.text)}
		f.l.marked = f.l.marked || strings.Contains(g.text, "{marker")
	}
	return g
}

// form is a mapping of the fields.
func (f *filler) form(pairs []pair) *yaml.Node {
	tree := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, p := range pairs {
		tree.Content = append(tree.Content, textNode(p.name), textNode(p.value))
	}
	f.chooseFree(tree)
	f.inForm = true
	return f.node(tree, "$", "")
}

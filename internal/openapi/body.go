package openapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// made is a body as it was drafted, and what is known of it.
type made struct {
	body draft.Body
	// contentType is the header that the body needs; empty where the plan adds the right one itself.
	contentType string
	// marked are the placeholders by the name of the member that holds one.
	marked map[string]string
	key    draft.Key
	// other is a merge patch that makes another valid body; nil where none is needed or known.
	other *yaml.Node
}

// rank is how well a plan can write a media type; 0 for not at all.
func rank(contentType string) int {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch kind = strings.TrimSpace(kind); {
	case kind == "application/json":
		return 7
	case isJSON(kind):
		return 6
	case kind == "*/*", kind == "application/*", kind == "":
		return 5
	case kind == "application/x-www-form-urlencoded":
		return 4
	case kind == "multipart/form-data":
		return 3
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "xml"):
		return 2
	case strings.HasPrefix(kind, "application/"), strings.HasPrefix(kind, "image/"):
		return 1
	}
	return 0
}

// makeBody drafts the body of an operation in the media type that can be written best. The comment says what a reader must fill in.
func (b *drafter) makeBody(o *operation, refer func(string) (string, string)) (m made, comment string) {
	if o.body == nil || len(o.body.media) == 0 {
		return made{}, ""
	}
	best := o.body.media[0]
	for _, media := range o.body.media[1:] {
		if rank(media.contentType) > rank(best.contentType) {
			best = media
		}
	}
	if b.values <= 0 {
		return made{}, "the document has too many large bodies to draft them all: give one"
	}
	s := b.d.sampler(true)
	defer func(before int) { b.values -= before - s.budget }(s.budget)
	s.refer, s.filters = refer, b.filters(o)
	if o.Method == "PATCH" {
		s.most = fewFree
	}
	switch r := rank(best.contentType); {
	case r >= 5:
		return b.jsonBody(s, o, best)
	case r == 4:
		return b.formBody(s, best)
	case r == 3:
		return b.multipartBody(s, best)
	case r == 0, r == 1 && !o.body.required:
		b.d.leave(best.node, "the body of %s %s is %s, which cannot be made up: left out, say `file: PATH` in the plan", o.Method, o.Path, best.contentType)
		return made{}, "the document wants a body of " + best.contentType + ": give one with `file: PATH`"
	}
	text, marker := "sample", false
	if best.example != nil && best.example.Kind == yaml.ScalarNode {
		text = escape(best.example.Value)
	} else if strings.HasPrefix(strings.ToLower(best.contentType), "text/") {
		text, marker = "{{marker}}", true
	}
	m = made{body: draft.Body{Text: text}, contentType: best.contentType}
	if !marker && best.example == nil {
		comment = "the document gives no example of the body of " + best.contentType + ": put one in, or say `file: PATH`"
	}
	return m, comment
}

func (b *drafter) jsonBody(s *sampler, o *operation, m media) (made, string) {
	out := made{marked: s.marked}
	if isJSON(m.contentType) && rank(m.contentType) < 7 {
		out.contentType = m.contentType
	}
	tree := s.value([]*yaml.Node{m.schema}, "", m.example, 0)
	t := b.d.schema(m.schema)
	comment := ""
	switch {
	case tree == nil:
		tree = object()
		comment = "the document does not say what the body holds: fill it in"
	case tree.Kind == yaml.MappingNode && len(tree.Content) == 0 && len(t.properties) == 0:
		comment = "the document does not say what the body holds: fill it in"
	}
	out.key = b.keyMember(t, tree)
	s.markFiltered()
	if o.Method == "POST" || o.Method == "PUT" {
		s.addMarked(t, tree)
	}
	s.spreadMarker()
	out.body.JSON, out.other = tree, b.otherBody(t, tree)
	return out, comment
}

// addMarked adds a text that is not required, where no other member holds the marker: one that a list filters by, else one that is free by
// its name.
func (s *sampler) addMarked(t *schema, tree *yaml.Node) {
	for _, fits := range []func(name string) bool{s.filtered, isFree} {
		if len(s.marked) == 0 && tree.Kind == yaml.MappingNode {
			s.addMarkedThat(fits, t, tree)
		}
	}
}

func (s *sampler) addMarkedThat(fits func(name string) bool, t *schema, tree *yaml.Node) {
	for _, p := range t.properties {
		of := s.d.schema(p.nodes...)
		if !fits(p.name) || of.readOnly || of.enum != nil || !of.is("string") || memberNode(tree, p.name) != nil {
			continue
		}
		n := s.unique(of, p.name, nil, 1)
		if n == nil && of.format == "" && of.sampleText(p.name) == fallbackText {
			n = quoted(fallbackText)
			s.mark(freeText{p.name, n, of})
		}
		if s.marked[p.name] != "" {
			n.LineComment = "guess: not required; " + whyMarker
			setMember(tree, p.name, n)
			return
		}
	}
}

// formBody drafts the fields of a form; members of objects and lists are written with brackets, as most servers read them.
func (b *drafter) formBody(s *sampler, m media) (made, string) {
	s.texts = true
	tree := s.value([]*yaml.Node{m.schema}, "", m.example, 0)
	if tree == nil || tree.Kind != yaml.MappingNode {
		return made{}, "the document does not say what the form holds: fill it in"
	}
	key := b.keyMember(b.d.schema(m.schema), tree)
	if key.JSON != "" {
		key = draft.Key{} // a plan puts keys into JSON bodies only
	}
	s.markFiltered()
	s.spreadMarker()
	form := object()
	for i := 0; i+1 < len(tree.Content); i += 2 {
		b.flatten(form, tree.Content[i].Value, tree.Content[i+1], b.isDeep(m, tree.Content[i].Value))
	}
	return made{body: draft.Body{Form: form}, marked: s.marked, key: key}, ""
}

// isDeep is true for a field whose lists are written with brackets too.
func (b *drafter) isDeep(m media, name string) bool {
	return text(b.d.get(m.encoding, name, "style")) == "deepObject"
}

func (b *drafter) flatten(form *yaml.Node, name string, v *yaml.Node, deep bool) {
	switch v.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(v.Content); i += 2 {
			b.flatten(form, name+"["+v.Content[i].Value+"]", v.Content[i+1], deep)
		}
	case yaml.SequenceNode:
		for i, item := range v.Content {
			switch {
			case deep || item.Kind != yaml.ScalarNode:
				b.flatten(form, fmt.Sprintf("%s[%d]", name, i), item, deep)
			case i == 0:
				b.flatten(form, name, item, deep)
			}
		}
	default:
		field := quoted(v.Value)
		field.LineComment = v.LineComment
		setMember(form, name, field)
	}
}

// boundary parts the fields of a multipart body; no value that is made up here holds it.
const boundary = "retrysafe-part"

// multipartBody writes the fields of a form with their content types (RFC 7578).
func (b *drafter) multipartBody(s *sampler, m media) (made, string) {
	s.texts = true
	tree := s.value([]*yaml.Node{m.schema}, "", m.example, 0)
	if tree == nil || tree.Kind != yaml.MappingNode || len(tree.Content) == 0 {
		return made{}, "the document does not say what the form holds: fill it in"
	}
	s.markFiltered()
	s.spreadMarker()
	t := b.d.schema(m.schema)
	var out strings.Builder
	for i := 0; i+1 < len(tree.Content); i += 2 {
		name, v := tree.Content[i].Value, tree.Content[i+1]
		fmt.Fprintf(&out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, quoteName(name))
		switch {
		case b.isFile(t, name):
			fmt.Fprintf(&out, "; filename=\"sample.txt\"\r\nContent-Type: %s\r\n\r\n%s\r\n", b.partType(m, name), escape(fallbackText))
		case v.Kind == yaml.ScalarNode:
			fmt.Fprintf(&out, "\r\n\r\n%s\r\n", v.Value)
		default:
			fmt.Fprintf(&out, "\r\nContent-Type: application/json\r\n\r\n%s\r\n", jsonText(v))
		}
	}
	out.WriteString("--" + boundary + "--\r\n")
	return made{body: draft.Body{Text: out.String()}, contentType: "multipart/form-data; boundary=" + boundary, marked: s.marked}, ""
}

func (b *drafter) partType(m media, name string) string {
	if kind := text(b.d.get(m.encoding, name, "contentType")); kind != "" && !strings.ContainsAny(kind, "*,\r\n") {
		return kind
	}
	return "application/octet-stream"
}

func (b *drafter) isFile(t *schema, name string) bool {
	p, known := t.property(name)
	if !known {
		return false
	}
	of := b.d.schema(p.nodes...)
	return of.is("file") || of.format == "binary"
}

func quoteName(name string) string {
	return strings.NewReplacer("\"", "%22", "\r", "%0D", "\n", "%0A").Replace(name)
}

// jsonText is a tree that was made here as JSON, placeholders as they are.
func jsonText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, jsonText(quoted(n.Content[i].Value))+":"+jsonText(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case yaml.SequenceNode:
		parts := make([]string, len(n.Content))
		for i, item := range n.Content {
			parts[i] = jsonText(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	if n.Tag != "!!str" {
		return n.Value
	}
	encoded, err := json.Marshal(n.Value)
	if err != nil {
		return `""`
	}
	return string(encoded)
}

package plan

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"retrysafe/internal/strict"
)

// The kinds of bodies.
const (
	BodyJSON = "json" // a tree, from `body:`
	BodyText = "text" // text with placeholders, from `text:`
	BodyForm = "form" // fields, URL-encoded, from `form:`
	BodyFile = "file" // the bytes of a file as they are, from `file:`
)

// Body is a request body whose texts may hold placeholders. The zero value is no body.
type Body struct {
	// Kind is one of the constants above; empty for no body.
	Kind  string
	tree  *node // BodyJSON and, as a mapping of texts, BodyForm
	text  Template
	bytes []byte
	media string
	space string // of BodyJSON, where white space means nothing
}

// Empty is true when there is no body.
func (b Body) Empty() bool { return b.Kind == "" }

// ContentType is the media type that fits the body; empty for no body.
func (b Body) ContentType() string { return b.media }

// Render fills the placeholders in: the bytes to send, nil for no body. The same values give the same bytes. JSON is
// written without white space (but for Endpoint.Reordered), members in the order of the plan, numbers as they are
// written there.
func (b Body) Render(v Values) ([]byte, error) {
	switch b.Kind {
	case BodyJSON:
		var out bytes.Buffer
		if err := b.tree.write(&out, v, b.space); err != nil {
			return nil, fmt.Errorf("render body: %w", err)
		}
		return out.Bytes(), nil
	case BodyText:
		return []byte(b.text.Render(v)), nil
	case BodyForm:
		return []byte(b.form(v)), nil
	case BodyFile:
		return slices.Clone(b.bytes), nil
	}
	return nil, nil
}

func (b Body) form(v Values) string {
	fields := make([]string, len(b.tree.names))
	for i, name := range b.tree.names {
		fields[i] = url.QueryEscape(name) + "=" + url.QueryEscape(b.tree.items[i].text.Render(v))
	}
	return strings.Join(fields, "&")
}

// Uses is true when the placeholder occurs in the body.
func (b Body) Uses(name string) bool {
	return slices.ContainsFunc(b.templates(), func(t Template) bool { return t.Uses(name) })
}

func (b Body) templates() []Template {
	found := []Template{b.text}
	b.tree.each(func(t Template) { found = append(found, t) })
	return found
}

// WithKey is the body with the key's value as text at a path of member names ("$.request_id"), for KeyPlace.In
// "json". Members that are missing are created, in an empty body too; an empty value removes the member, for a
// request without a key. It is an error when the body is no JSON, or when something other than an object
// stands on the way.
func (b Body) WithKey(path, value string) (Body, error) {
	members, err := memberPath(path)
	if err != nil {
		return Body{}, err
	}
	if b.Empty() {
		b = Body{Kind: BodyJSON, tree: mapping(), media: "application/json"}
	}
	if b.Kind != BodyJSON {
		return Body{}, fmt.Errorf("expected a JSON body to put the key at %s, found a %s body: use `body:`", path, b.Kind)
	}
	var leaf *node
	if value != "" {
		leaf = &node{kind: strict.String, text: literal(value)}
	}
	b.tree, err = b.tree.withPath(members, leaf)
	if err != nil {
		return Body{}, fmt.Errorf("cannot put the key at %s: %w", path, err)
	}
	return b, nil
}

// withPath is n with the value at a path of members set, or removed for nil.
func (n *node) withPath(members []string, value *node) (*node, error) {
	if n == nil {
		n = mapping()
	}
	if n.kind != strict.Mapping {
		return nil, fmt.Errorf("expected an object around %q, found %s", members[0], n.kind)
	}
	if len(members) == 1 {
		return n.with(members[0], value), nil
	}
	child := n.get(members[0])
	if child == nil && value == nil {
		return n, nil
	}
	child, err := child.withPath(members[1:], value)
	if err != nil {
		return nil, err
	}
	return n.with(members[0], child), nil
}

// memberPath are the member names of a JSONPath that goes through members only.
func memberPath(path string) ([]string, error) {
	parsed, err := jsonpath.Parse(path)
	if err != nil {
		return nil, pathError(err)
	}
	var members []string
	for _, segment := range parsed.Query().Segments() {
		selectors := segment.Selectors()
		name, ok := selectors[0].(spec.Name)
		if !ok || len(selectors) != 1 || segment.IsDescendant() {
			return nil, fmt.Errorf("expected member names only, such as $.request_id, found %q", path)
		}
		members = append(members, string(name))
	}
	if len(members) == 0 {
		return nil, errors.New("expected the path of a member such as $.request_id, found the whole body")
	}
	return members, nil
}

// patched is the body with another one merged in: for JSON and forms the merge patch of RFC 7396, a text replaces a
// text. It is an error when the two do not fit together.
func (b Body) patched(patch Body) (Body, error) {
	switch {
	case b.Empty():
		return patch, nil
	case b.Kind == BodyFile || patch.Kind == BodyFile:
		return Body{}, errors.New("a file cannot be patched: write the body as `body:`, `form:` or `text:`")
	case b.Kind == BodyText && patch.Kind == BodyText:
		b.text = patch.text
		return b, nil
	case b.Kind == BodyText || patch.Kind == BodyText || b.Kind != patch.Kind:
		return Body{}, fmt.Errorf("expected %s to patch a %s body, found %s", patchFor(b.Kind), b.Kind, patch.Kind)
	}
	b.tree = b.tree.patched(patch.tree)
	return b, nil
}

func patchFor(kind string) string {
	if kind == BodyText {
		return "a text"
	}
	return "a mapping"
}

// mediaOf is the media type of a file by its name; this short list instead of the system's, so that a plan
// sends the same everywhere.
func mediaOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return "application/json"
	case ".xml":
		return "application/xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	case ".csv":
		return "text/csv"
	}
	return "application/octet-stream"
}

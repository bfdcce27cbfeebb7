package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// deepest is how deep values may lie in a document. Descriptions in use stay below 50; what is deeper would only
// exhaust the stack.
const deepest = 500

// parse is the root of a text in JSON or YAML.
func parse(name string, data []byte) (*yaml.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var invalid error
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		root, err := parseJSON(name, data)
		if err == nil {
			return root, nil
		}
		invalid = err
	}
	root, err := parseYAML(name, data)
	switch {
	case err != nil && invalid != nil:
		return nil, invalid
	case err != nil:
		return nil, err
	}
	if n := tooDeep(root, deepest); n != nil {
		return nil, deepError(strict.Pos{File: name, Line: n.Line, Col: n.Column})
	}
	return root, nil
}

func deepError(pos strict.Pos) error {
	return strict.Errors{{Pos: pos, Width: 1, Message: fmt.Sprintf("expected values at most %d levels deep, found a deeper one", deepest)}}
}

// parseYAML is the root of the first document of a text.
func parseYAML(name string, data []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	var doc yaml.Node
	if err := loader.Load(&doc); err != nil || len(doc.Content) == 0 {
		return nil, invalidYAML(name, data, err)
	}
	return doc.Content[0], nil
}

// invalidYAML says what is wrong in the words that plans are told it in.
func invalidYAML(name string, data []byte, err error) error {
	if err := strict.Parse(name, data, nil).Err(); err != nil {
		return err
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: expected an OpenAPI document, found nothing", name)
	}
	return fmt.Errorf("%s: invalid YAML: %w", name, err)
}

// tooDeep is a value with more than levels around it, nil when there is none. Aliases are not followed.
func tooDeep(n *yaml.Node, levels int) *yaml.Node {
	if levels == 0 {
		return n
	}
	for _, c := range n.Content {
		if found := tooDeep(c, levels-1); found != nil {
			return found
		}
	}
	return nil
}

// jsonReader makes a tree with places from JSON. YAML has nearly all of JSON, but not the escapes of characters outside the
// basic plane, and takes ten times as long.
type jsonReader struct {
	name string
	data []byte
	dec  *json.Decoder
	// at is an offset whose line and column are known.
	at, line, col int
}

func parseJSON(name string, data []byte) (*yaml.Node, error) {
	r := &jsonReader{name: name, data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1, col: 1}
	r.dec.UseNumber()
	root, err := r.value(deepest)
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, r.mistake(int(r.dec.InputOffset()), "expected the end of the JSON text, found more behind it")
	}
	return root, nil
}

// pos is the place of an offset; offsets never go back, so that a document of one line is counted once, not for each value.
func (r *jsonReader) pos(offset int) strict.Pos {
	for ; r.at < offset; r.at++ {
		switch {
		case r.data[r.at] == '\n':
			r.line, r.col = r.line+1, 1
		case utf8.RuneStart(r.data[r.at]):
			r.col++
		}
	}
	return strict.Pos{File: r.name, Line: r.line, Col: r.col}
}

// mistake is an error at an offset, which may lie before the last one.
func (r *jsonReader) mistake(offset int, format string, args ...any) error {
	r.at, r.line, r.col = 0, 1, 1
	pos := r.pos(min(max(offset, 0), len(r.data)))
	return strict.Errors{{Pos: pos, Width: 1, Message: "invalid JSON: " + fmt.Sprintf(format, args...)}}
}

// start is where the next token starts.
func (r *jsonReader) start() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

func (r *jsonReader) value(levels int) (*yaml.Node, error) {
	start := r.start()
	token, err := r.dec.Token()
	if err != nil {
		return nil, r.tokenError(err)
	}
	if levels == 0 {
		return nil, deepError(r.pos(start))
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	pos := r.pos(start)
	n.Line, n.Column = pos.Line, pos.Col
	switch v := token.(type) {
	case json.Delim:
		return n, r.items(n, v, levels)
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = numberTag(v.String()), v.String()
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(v)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

func (r *jsonReader) items(n *yaml.Node, open json.Delim, levels int) error {
	n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	for r.dec.More() {
		item, err := r.value(levels - 1)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, item)
	}
	if _, err := r.dec.Token(); err != nil {
		return r.tokenError(err)
	}
	return nil
}

func (r *jsonReader) tokenError(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return r.mistake(r.wrong(int(syntax.Offset), err.Error()), "%v", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.mistake(len(r.data), "found the end of the text inside a value")
	}
	return r.mistake(int(r.dec.InputOffset()), "%v", err)
}

// wrong is the offset of the character that an error names: the library gives that of the character, or of what is behind it.
func (r *jsonReader) wrong(offset int, message string) int {
	quoted, rest, _ := strings.Cut(strings.TrimPrefix(message, "invalid character "), "' ")
	if rest != "" && offset < len(r.data) && strings.HasPrefix(quoted, "'"+string(r.data[offset])) {
		return offset
	}
	return offset - 1
}

// numberTag is the YAML tag of a number as JSON writes it.
func numberTag(s string) string {
	if strings.ContainsAny(s, ".eE") {
		return "!!float"
	}
	return "!!int"
}

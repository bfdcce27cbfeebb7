package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// deepest is how many levels of a JSON text are followed; no request body and no collection comes near it.
const deepest = 200

// parseJSON reads a JSON text into a tree that keeps the order of members, the digits of numbers, and line and column.
// Errors say where in the file they are.
func parseJSON(file string, text []byte) (*yaml.Node, error) { return readJSON(file, text, clean) }

func readJSON(file string, text []byte, clean func(string) string) (*yaml.Node, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	p := &jsonReader{file: file, text: text, places: newPlaces(text), clean: clean, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, p.mistake(err)
	}
	return p.value(0)
}

type jsonReader struct {
	file   string
	text   []byte
	places places
	clean  func(string) string
	dec    *json.Decoder
}

func (p *jsonReader) mistake(err error) error {
	e := &strict.Error{Message: "expected JSON: " + err.Error(), Width: 1}
	e.Pos = strict.Pos{File: p.file, Line: 1, Col: 1}
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(p.text)) == 0:
		e.Message = "expected JSON, found nothing"
	case errors.As(err, &syntax):
		e.Line, e.Col = p.places.at(int(syntax.Offset) - 1)
	}
	return strict.Errors{e}
}

func (p *jsonReader) value(depth int) (*yaml.Node, error) {
	start := p.dec.InputOffset()
	t, err := p.dec.Token()
	if err != nil {
		return nil, p.mistake(err)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	n.Line, n.Column = p.places.at(p.begin(int(start)))
	if depth > deepest {
		return nil, fileError(p.file, n.Line, n.Column, "expected JSON of at most %d levels, found more", deepest)
	}
	switch t := t.(type) {
	case string:
		n.Tag, n.Value = "!!str", p.clean(t)
	case json.Number:
		n.Tag, n.Value = numberTag(t.String()), t.String()
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(t)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case json.Delim:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if t == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		return n, p.items(n, depth)
	}
	return n, nil
}

// items reads what stands between brackets. Of two members of one name the last one counts, as every reader has it.
func (p *jsonReader) items(n *yaml.Node, depth int) error {
	seen := map[string]int{}
	for p.dec.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		if n.Kind != yaml.MappingNode {
			n.Content = append(n.Content, item)
			continue
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		if at, again := seen[item.Value]; again {
			n.Content[at+1] = value
			continue
		}
		seen[item.Value] = len(n.Content)
		n.Content = append(n.Content, item, value)
	}
	_, err := p.dec.Token()
	return err
}

// begin is where the next token starts, behind white space and separators.
func (p *jsonReader) begin(at int) int {
	for at < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[at]) >= 0 {
		at++
	}
	return at
}

func numberTag(word string) string {
	if strings.ContainsAny(word, ".eE") {
		return "!!float"
	}
	return "!!int"
}

// places turns offsets of a text into lines and columns.
type places struct {
	text  []byte
	lines []int // offsets of their first bytes
}

func newPlaces(text []byte) places {
	p := places{text: text, lines: []int{0}}
	for i, b := range text {
		if b == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

// at is the line and the column, both from 1. Columns of lines without end are counted in bytes, so that a file of one line
// takes no time that grows with its square.
func (p places) at(offset int) (line, col int) {
	const longLine = 10_000
	offset = min(max(offset, 0), len(p.text))
	line = sort.SearchInts(p.lines, offset+1)
	start := p.lines[line-1]
	if offset-start > longLine {
		return line, offset - start + 1
	}
	return line, utf8.RuneCount(p.text[start:offset]) + 1
}

// get is a member of a mapping; nil when there is none, and for anything else than a mapping.
func get(n *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		var found *yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				found = n.Content[i+1]
			}
		}
		n = found
	}
	return n
}

// textOf is the text of a scalar; empty for null, lists, mappings and nil.
func textOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// itemsOf are the items of a list; nil for anything else.
func itemsOf(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

func fileError(file string, line, col int, format string, args ...any) error {
	e := &strict.Error{Message: fmt.Sprintf(format, args...), Width: 1}
	e.File, e.Line, e.Col = file, line, col
	return strict.Errors{e}
}

// bodyJSON is a body as a tree. Holes outside of strings become values of their own. False when it is no object or list.
func bodyJSON(text string) (*yaml.Node, bool) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !slices.Contains([]byte("[{"), trimmed[0]) {
		return nil, false
	}
	tree, err := readJSON("", []byte(quoteBare(trimmed)), func(s string) string { return s })
	return tree, err == nil
}

// quoteBare puts quotes around each hole of a JSON text that stands outside of strings.
func quoteBare(text string) string {
	if !hasHole(text) {
		return text
	}
	var out strings.Builder
	quoted := false
	eachPart(text, func(part string, isHole bool) {
		switch {
		case isHole && quoted:
			out.WriteString(hole(part))
		case isHole:
			out.WriteString(`"` + hole(bare+part) + `"`)
		default:
			out.WriteString(part)
			for i := 0; i < len(part); i++ {
				switch {
				case part[i] == '\\' && quoted:
					i++
				case part[i] == '"':
					quoted = !quoted
				}
			}
		}
	})
	return out.String()
}

func eachNode(n *yaml.Node, f func(*yaml.Node)) {
	if n == nil {
		return
	}
	f(n)
	for _, c := range n.Content {
		eachNode(c, f)
	}
}

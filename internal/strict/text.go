package strict

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Text is a scalar with its variables filled in, which still knows where each of its characters stands in
// the file. The zero value is empty text from nowhere.
type Text struct {
	// Value is the text.
	Value string
	doc   *Document
	node  *yaml.Node
	spans []span
}

// span is a run of Value from start on: the same characters as in the decoded scalar from raw on, or the
// value of the variable that is named there.
type span struct {
	start, raw int
	variable   string
}

// String is Value.
func (t Text) String() string { return t.Value }

// Pos is where the text starts; the zero Pos for text from nowhere.
func (t Text) Pos() Pos { return t.At(0) }

// At is where the character at a byte offset of Value stands. Within the value of a variable, and behind
// escapes that it cannot follow, it is where the ${VAR} or the scalar starts.
func (t Text) At(offset int) Pos {
	if t.node == nil {
		return Pos{}
	}
	s, found := t.span(offset)
	switch {
	case !found:
		return Pos{File: t.doc.file, Line: t.node.Line, Col: t.node.Column}
	case s.variable != "":
		return t.rawPos(s.raw)
	}
	return t.rawPos(s.raw + offset - s.start)
}

// Literal is true when the byte at offset came from a variable: it is data, whatever it looks like.
func (t Text) Literal(offset int) bool {
	s, _ := t.span(offset)
	return s.variable != ""
}

// Variables are the names of the variables in the text, in order.
func (t Text) Variables() []string {
	var names []string
	for _, s := range t.spans {
		if s.variable != "" {
			names = append(names, s.variable)
		}
	}
	return names
}

// Slice is the part from byte i up to j, as slicing Value does.
func (t Text) Slice(i, j int) Text {
	out := Text{Value: t.Value[i:j], doc: t.doc, node: t.node}
	for n, s := range t.spans {
		before := n+1 < len(t.spans) && t.spans[n+1].start <= i
		if before || s.start >= j && s.start > i {
			continue
		}
		if s.start < i && s.variable == "" {
			s.raw += i - s.start
		}
		s.start = max(s.start-i, 0)
		out.spans = append(out.spans, s)
	}
	return out
}

// Source is the text with its variables as they are written, ${VAR}, instead of their values.
func (t Text) Source() string {
	var out strings.Builder
	for n, s := range t.spans {
		end := len(t.Value)
		if n+1 < len(t.spans) {
			end = t.spans[n+1].start
		}
		if s.variable != "" {
			out.WriteString("${" + s.variable + "}")
		} else {
			out.WriteString(t.Value[s.start:end])
		}
	}
	if len(t.spans) == 0 {
		return t.Value
	}
	return out.String()
}

// Errorf notes a mistake in the text: width characters (at least 1) from a byte offset of Value on. For text
// from nowhere it notes nothing, nor for text with a variable that is not set, which was noted already.
func (t Text) Errorf(offset, width int, format string, args ...any) {
	if t.doc != nil && !t.doc.unset[t.node] {
		t.doc.errs = append(t.doc.errs, t.Mistake(offset, width, format, args...))
	}
}

// Mistake is the error that Errorf notes, for mistakes that show only after the document's Err was asked for.
func (t Text) Mistake(offset, width int, format string, args ...any) *Error {
	if t.doc == nil {
		return &Error{Message: fmt.Sprintf(format, args...), Width: max(width, 1)}
	}
	return t.doc.mistake(t.At(offset), width, format, args...)
}

// Show is Source for messages, quoted and short.
func (t Text) Show() string { return show(t.Source()) }

func (t Text) span(offset int) (s span, found bool) {
	for _, next := range t.spans {
		if next.start > offset {
			break
		}
		s, found = next, true
	}
	return s, found
}

// rawPos is the place of a byte of the decoded scalar.
func (t Text) rawPos(raw int) Pos {
	start := Pos{File: t.doc.file, Line: t.node.Line, Col: t.node.Column}
	c := cursor{lines: t.doc.lines, style: t.node.Style}
	c.to(t.node.Line-1, t.node.Column-1)
	c.open()
	for at, r := range t.node.Value {
		if at >= raw {
			break
		}
		if !c.pass(r) {
			return start
		}
	}
	next, _ := utf8.DecodeRuneInString(t.node.Value[min(raw, len(t.node.Value)):])
	if raw < len(t.node.Value) && !c.seek(next) {
		return start
	}
	return Pos{File: t.doc.file, Line: c.line + 1, Col: c.col + 1}
}

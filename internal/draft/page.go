package draft

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"retrysafe/internal/strict"
)

// page is the text of a plan, by lines as YAML counts them.
type page struct {
	file  string
	text  string
	lines []line
	eol   string
	root  int // the column at which the fields of the top level begin, from 0
}

// line is where a line begins and where its text ends, as bytes.
type line struct{ from, to int }

func newPage(existing []byte, file string, o outline) (*page, error) {
	if o.root.Kind() != strict.Mapping {
		return nil, fmt.Errorf("%s: expected a plan, found %s", place(file, o.root.Pos()), o.root.Kind())
	}
	p := &page{file: file, text: string(existing), eol: "\n", root: o.root.Pos().Col - 1}
	if strings.Contains(p.text, "\r\n") {
		p.eol = "\r\n"
	}
	p.cut()
	if p.flow(o.root.Pos()) {
		return nil, p.mistake(o.root.Pos(), "the plan is one {...}, which nothing can be added to without changing it")
	}
	e, ok := o.entry("endpoints")
	switch {
	case !ok && len(o.endpoints()) > 0: // those of included files
	case !ok:
		return nil, fmt.Errorf("%s: expected a plan, found no `endpoints`: retrysafe validate says more", file)
	case e.Value.Kind() != strict.List:
		return nil, p.mistake(e.Key.Pos(), "expected a list of endpoints, found none to add to")
	case p.flow(e.Value.Pos()):
		return nil, p.mistake(e.Value.Pos(), "the endpoints are one [...], which nothing can be added to without changing it")
	}
	return p, nil
}

func place(file string, pos strict.Pos) string {
	pos.File = file
	return pos.String()
}

// mistake is an error about a layout, with what to do.
func (p *page) mistake(pos strict.Pos, format string, args ...any) error {
	return fmt.Errorf("%s: %s: write a `- name: ...` in a line of its own for each, or import into another file with --output",
		place(p.file, pos), fmt.Sprintf(format, args...))
}

// cut finds the lines.
func (p *page) cut() {
	from := 0
	if strings.HasPrefix(p.text, "\ufeff") {
		from = len("\ufeff")
	}
	for at := from; at < len(p.text); {
		width := breakAt(p.text[at:])
		if width == 0 {
			_, size := utf8.DecodeRuneInString(p.text[at:])
			at += size
			continue
		}
		p.lines = append(p.lines, line{from, at})
		at += width
		from = at
	}
	p.lines = append(p.lines, line{from, len(p.text)})
}

// breakAt is how many bytes the line end has with which a text begins; 0 for none.
func breakAt(s string) int {
	for _, end := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if strings.HasPrefix(s, end) {
			return len(end)
		}
	}
	return 0
}

// offset is the byte at a place.
func (p *page) offset(pos strict.Pos) int {
	l := p.lines[min(pos.Line, len(p.lines))-1]
	at := l.from
	for col := 1; col < pos.Col && at < l.to; col++ {
		_, size := utf8.DecodeRuneInString(p.text[at:])
		at += size
	}
	return at
}

// flow is true when a value at a place is written in {...} or [...].
func (p *page) flow(pos strict.Pos) bool {
	rest := p.text[p.offset(pos):]
	return strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[")
}

// of is the text of a line, from 0; empty behind the last one.
func (p *page) of(i int) string {
	if i >= len(p.lines) {
		return ""
	}
	return p.text[p.lines[i].from:p.lines[i].to]
}

// start is the byte at which a line begins; the end of the text behind the last one.
func (p *page) start(i int) int {
	if i >= len(p.lines) {
		return len(p.text)
	}
	return p.lines[i].from
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func isComment(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " \t"), "#") }

func column(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// end is the line behind the last one that may belong to a field of the top level: that of the next field, or of the document's end.
func (p *page) end(key strict.Pos, o outline) int {
	next := len(p.lines)
	for _, e := range o.root.Entries() {
		if at := e.Key.Pos().Line - 1; at > key.Line-1 {
			next = min(next, at)
		}
	}
	for i := key.Line; i < next; i++ {
		if s := p.of(i); strings.HasPrefix(s, "...") || strings.HasPrefix(s, "---") {
			return i
		}
	}
	return next
}

// gaps are bytes at which something can be added behind the last item of a field, best first: behind the item and the comments that are
// indented as far, then at the end of all that may belong to the field.
func (p *page) gaps(key strict.Pos, o outline) []int {
	end := p.end(key, o)
	last := end
	for last > key.Line && (blank(p.of(last-1)) || isComment(p.of(last-1))) {
		last--
	}
	behind := last
	for behind < end && isComment(p.of(behind)) && column(p.of(behind)) > p.root {
		behind++
	}
	return []int{p.start(behind), p.start(last), p.start(end)}
}

// above is the byte at which something can be added above a field of the top level: above its comments, unless these begin the file.
func (p *page) above(key strict.Pos) int {
	at := key.Line - 1
	for at > 0 && isComment(p.of(at-1)) {
		at--
	}
	if at == 0 {
		at = key.Line - 1
	}
	return p.start(at)
}

// closing is the byte of the bracket that closes the one at a byte; -1 without one.
func (p *page) closing(open int) int {
	depth, quote, before := 0, byte(0), byte(',')
	for at := open; at < len(p.text); at++ {
		c := p.text[at]
		switch {
		case quote == '"' && c == '\\':
			at++
		case quote == '\'' && strings.HasPrefix(p.text[at:], "''"):
			at++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.IndexByte("{[,:", before) >= 0:
			quote = c
		case c == '#' && strings.IndexByte(" \t\n\r", p.text[at-1]) >= 0:
			for at+1 < len(p.text) && breakAt(p.text[at+1:]) == 0 {
				at++
			}
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return at
			}
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			before = c
		}
	}
	return -1
}

package draft

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// The longest line that is written in one where it could be several, and the longest that a comment may make of it.
const (
	lineWidth    = 120
	commentWidth = 140
)

// printer lays YAML out as people write it: what is small in one line, in {...} and [...], what is not in lines of its own. Comments stand
// at the end of the line that they are about, or above where that would be long.
type printer struct{ out strings.Builder }

func pad(n int) string { return strings.Repeat(" ", n) }

// field writes a field of a mapping whose fields begin at a column; dash is true for the first field of an item of a list.
func (p *printer) field(at int, dash bool, key, value *yaml.Node) {
	head := pad(at)
	if dash {
		head = pad(at-2) + "- "
	}
	p.value(at, head+text(key.Value, asKey)+":", notes(key, value), value)
}

// item writes an item of a list whose dashes stand at a column.
func (p *printer) item(at int, value *yaml.Node) {
	if value.Kind != yaml.MappingNode || len(value.Content) == 0 || !noted(value) && fits(pad(at)+"- "+flow(value)) {
		p.value(at, pad(at)+"-", notes(value), value)
		return
	}
	p.above(at, notes(value))
	for i := 0; i+1 < len(value.Content); i += 2 {
		p.field(at+2, i == 0, value.Content[i], value.Content[i+1])
	}
}

// value writes a value behind its field or dash, which begins at a column.
func (p *printer) value(at int, head, comment string, value *yaml.Node) {
	switch {
	case value.Kind == yaml.ScalarNode:
		if block, ok := literal(value.Value, pad(at+2)); ok && value.ShortTag() == "!!str" {
			p.above(at, comment)
			p.line(head+" "+block, "")
			return
		}
		p.line(head+" "+scalar(value, inBlock), comment)
	case len(value.Content) == 0 || !noted(value) && fits(head+" "+flow(value)):
		p.line(head+" "+flow(value), comment)
	case value.Kind == yaml.MappingNode:
		p.line(head, comment)
		for i := 0; i+1 < len(value.Content); i += 2 {
			p.field(at+2, false, value.Content[i], value.Content[i+1])
		}
	default:
		p.line(head, comment)
		for _, c := range value.Content {
			p.item(at+2, c)
		}
	}
}

// line writes a line with a comment at its end, or above it where both are long.
func (p *printer) line(s, comment string) {
	first, _, _ := strings.Cut(s, "\n")
	switch {
	case comment == "":
		p.out.WriteString(s + "\n")
	case utf8.RuneCountInString(first)+utf8.RuneCountInString(comment)+4 <= commentWidth:
		p.out.WriteString(s + "  # " + comment + "\n")
	default:
		p.above(len(s)-len(strings.TrimLeft(s, " ")), comment)
		p.out.WriteString(s + "\n")
	}
}

// above writes comment lines that begin at a column; nothing for an empty comment.
func (p *printer) above(at int, comment string) {
	line := pad(at) + "#"
	for _, word := range strings.Fields(comment) {
		if len(line) > at+1 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > lineWidth {
			p.out.WriteString(line + "\n")
			line = pad(at) + "#"
		}
		line += " " + word
	}
	if len(line) > at+1 {
		p.out.WriteString(line + "\n")
	}
}

func fits(line string) bool { return utf8.RuneCountInString(line) <= lineWidth }

// flow is a value in one line. Comments have no place in it.
func flow(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, text(n.Content[i].Value, asKey)+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, c := range n.Content {
			parts = append(parts, flow(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(n, inFlow)
}

// noted is true when something inside the value has a comment, so that it needs a line of its own.
func noted(n *yaml.Node) bool {
	for _, c := range n.Content {
		if notes(c) != "" || noted(c) {
			return true
		}
	}
	return false
}

// notes are the comments of nodes as one, without # and line ends.
func notes(nodes ...*yaml.Node) string {
	var all []string
	for _, n := range nodes {
		for _, c := range []string{n.HeadComment, n.LineComment} {
			if c = oneLine(strings.TrimLeft(c, "# ")); c != "" {
				all = append(all, c)
			}
		}
	}
	return strings.Join(all, "; ")
}

// oneLine is a text in one line that may stand in a comment: no control characters, and one blank between words.
func oneLine(s string) string {
	words := strings.Fields(strings.ToValidUTF8(s, "?"))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xfeff || r == 0xfffe || r == 0xffff || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.Join(words, " "))
}

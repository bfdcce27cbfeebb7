package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// bodyLine is one line of an answer as the page shows it.
type bodyLine struct {
	// place is the JSONPath of what the line shows, or the number of the line in a body that is no JSON; empty for a closing bracket.
	place string
	// value is what is sideBySide: a JSON value, or the line. An opening bracket stands for an object or a list.
	value string
	text  string
}

// bodyLines are the lines of a body: JSON one value a line, in its own order and with its own numbers, else the text.
func bodyLines(b trace.Body) []bodyLine {
	if b.Text == "" {
		if len(b.Base64) > 0 {
			text := fmt.Sprintf("(%d bytes that are no text)", b.Size)
			return []bodyLine{{"body", string(b.Base64), text}}
		}
		return nil
	}
	if lines, ok := jsonLines(b.Text); ok && !b.Truncated {
		return lines
	}
	var out []bodyLine
	for text := range strings.SplitSeq(b.Text, "\n") {
		out = append(out, bodyLine{fmt.Sprintf("line %d", len(out)+1), text, text})
	}
	return out
}

// mostJSON is up to how many bytes, and mostIndent up to how many columns of indentation, a body is sideBySide by its fields. Others are
// sideBySide by their lines.
const (
	mostJSON   = 1 << 18
	mostIndent = 200
)

// jsonLines lays out a document; false when the text is none.
func jsonLines(text string) ([]bodyLine, bool) {
	if first := strings.TrimSpace(text[:min(len(text), 64)]); len(text) > mostJSON || first == "" || first[0] != '{' && first[0] != '[' {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	l := jsonLayout{d: d}
	if l.value("$", "", "") != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return l.lines, true
}

type jsonLayout struct {
	d     *json.Decoder
	lines []bodyLine
}

// value lays out the next value behind its name.
func (l *jsonLayout) value(place, indent, name string) error {
	t, err := l.d.Token()
	if err != nil {
		return err
	}
	if len(indent) > mostIndent {
		return fmt.Errorf("nested too deeply to be shown")
	}
	open, ok := t.(json.Delim)
	if !ok {
		literal, err := jsonLiteral(t)
		l.lines = append(l.lines, bodyLine{place, literal, indent + name + literal})
		return err
	}
	l.lines = append(l.lines, bodyLine{place, open.String(), indent + name + open.String()})
	for i := 0; l.d.More(); i++ {
		if i > 0 {
			l.lines[len(l.lines)-1].text += ","
		}
		inner, label := fmt.Sprintf("%s[%d]", place, i), ""
		if open == '{' {
			if t, err = l.d.Token(); err != nil {
				return err
			}
			if label, err = jsonLiteral(t); err != nil {
				return err
			}
			inner, label = place+member(fmt.Sprint(t), label), label+": "
		}
		if err := l.value(inner, indent+"  ", label); err != nil {
			return err
		}
	}
	if t, err = l.d.Token(); err != nil {
		return err
	}
	if last := &l.lines[len(l.lines)-1]; last.place == place { // empty
		last.text += fmt.Sprint(t)
		return nil
	}
	l.lines = append(l.lines, bodyLine{text: indent + fmt.Sprint(t)})
	return nil
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member is the part of a JSONPath that names a member of an object.
func member(name, literal string) string {
	if plainName.MatchString(name) {
		return "." + name
	}
	return "[" + literal + "]"
}

// jsonLiteral is a value as JSON writes it, without the escapes that only HTML needs.
func jsonLiteral(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// difference is one place in which two answers differ. An absent side is empty.
type difference struct {
	where, here, there string
	// volatile is true for what differs between any two answers, or may by the plan.
	volatile bool
}

// sideBySide is what two answers differ in.
type sideBySide struct {
	differences []difference
	// lines and headers are the indices of those of this answer that the other has not.
	lines, headers []int
}

// compareAnswers says in what an answer differs from another one. An exchange without an answer has none to compare.
func compareAnswers(facts *trace.Facts, here, there *trace.Response) sideBySide {
	var c sideBySide
	if here.Status != there.Status {
		c.differences = append(c.differences, difference{where: "status", here: fmt.Sprint(here.Status), there: fmt.Sprint(there.Status)})
	}
	c.compareHeaders(facts, here.Headers, there.Headers)
	c.compareBodies(here.Body, there.Body)
	return c
}

func (c *sideBySide) compareHeaders(facts *trace.Facts, here, there []trace.Header) {
	mine, others := headerValues(here), headerValues(there)
	for i, h := range here {
		name := strings.ToLower(h.Name)
		if mine[name] == others[name] {
			continue
		}
		c.headers = append(c.headers, i)
		if slices.IndexFunc(here, func(o trace.Header) bool { return strings.EqualFold(o.Name, h.Name) }) == i {
			c.differences = append(c.differences, difference{"header " + h.Name, mine[name], others[name], mayDiffer(facts, h.Name)})
		}
	}
	for i, h := range there {
		if _, ok := mine[strings.ToLower(h.Name)]; !ok && slices.IndexFunc(there, func(o trace.Header) bool { return strings.EqualFold(o.Name, h.Name) }) == i {
			c.differences = append(c.differences, difference{"header " + h.Name, "", others[strings.ToLower(h.Name)], mayDiffer(facts, h.Name)})
		}
	}
}

// headerValues are the values of each header, by its name in lower case.
func headerValues(hs []trace.Header) map[string]string {
	out := map[string]string{}
	for _, h := range hs {
		name := strings.ToLower(h.Name)
		if before, ok := out[name]; ok {
			out[name] = before + "\n" + h.Value
		} else {
			out[name] = h.Value
		}
	}
	return out
}

// mayDiffer reports whether a header is of the message (RFC 9110 sections 6.6.1 and 8.6, RFC 9111 section 5.1, RFC 9112 section 9.6), not of
// the result, or ignored by the plan. The judge's own list is longer; what differs otherwise is shown without saying that it is wrong.
func mayDiffer(facts *trace.Facts, name string) bool {
	same := func(o string) bool { return strings.EqualFold(o, name) }
	return slices.ContainsFunc([]string{"Date", "Age", "Connection", "Keep-Alive", "Content-Length"}, same) || slices.ContainsFunc(facts.IgnoreHeaders, same)
}

func (c *sideBySide) compareBodies(a, b trace.Body) {
	here, there := bodyLines(a), bodyLines(b)
	mine, others := valuesOf(here), valuesOf(there)
	n := len(c.differences)
	gone := "" // of what the other answer lacks, only the outermost is named
	for i, l := range here {
		value, ok := others[l.place]
		if l.place == "" || ok && value == l.value {
			continue
		}
		c.lines = append(c.lines, i)
		if ok || gone == "" || !within(l.place, gone) {
			c.differences = append(c.differences, difference{where: l.place, here: shown(l), there: value})
		}
		if !ok && (gone == "" || !within(l.place, gone)) {
			gone = l.place
		}
	}
	gone = ""
	for _, l := range there {
		if _, ok := mine[l.place]; ok || l.place == "" || gone != "" && within(l.place, gone) {
			continue
		}
		gone = l.place
		c.differences = append(c.differences, difference{where: l.place, there: shown(l)})
	}
	if len(c.differences) == n && !bytes.Equal(a.Bytes(), b.Bytes()) {
		c.differences = append(c.differences, difference{where: "bytes (the same JSON)", here: a.Text, there: b.Text})
	}
}

func valuesOf(lines []bodyLine) map[string]string {
	out := map[string]string{}
	for _, l := range lines {
		if l.place != "" {
			out[l.place] = l.value
		}
	}
	return out
}

// within reports whether a place is a part of another.
func within(place, whole string) bool {
	rest, ok := strings.CutPrefix(place, whole)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// shown is what stands at a place; an object or a list in short.
func shown(l bodyLine) string {
	switch l.value {
	case "{":
		return "{…}"
	case "[":
		return "[…]"
	}
	return l.value
}

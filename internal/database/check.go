package database

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Span is a part of a text, from byte Start up to End.
type Span struct{ Start, End int }

// Mistake is something in a statement that cannot work: Width characters from the byte Offset on.
type Mistake struct {
	Offset, Width int
	Message       string
}

// Check finds what is wrong with one statement before any database sees it: placeholders where no value can stand (in
// quotes, in a comment, joined to a word), parameters that are not placeholders, quotes that are not closed, more than one
// statement, and with reading a statement that changes something. placeholders are where they stand in the text, in order.
func Check(e Engine, text string, placeholders []Span, reading bool) []Mistake {
	c := &checker{engine: e, text: text, spans: placeholders}
	c.run()
	word, at := c.firstWord()
	switch {
	case word == "" && strings.TrimSpace(text) == "":
		c.mistake(Span{0, len(text)}, "expected a statement such as select count(*) from orders where reference = {{marker}}, found nothing")
	case reading && slices.Contains(changing, word):
		c.mistake(Span{at, at + len(word)}, "expected a query that only reads, such as select count(*), found %s: what changes something belongs to `hooks`", word)
	}
	return c.found
}

// changing are the first words of statements that never only read.
var changing = []string{
	"insert", "update", "delete", "replace", "merge", "upsert", "truncate", "create", "drop", "alter", "grant", "revoke", "rename",
	"vacuum", "reindex", "attach", "detach", "begin", "start", "commit", "rollback", "set", "lock", "copy", "load", "do", "call", "prepare",
}

type checker struct {
	engine Engine
	text   string
	spans  []Span
	found  []Mistake
	ended  bool // a semicolon was passed
}

func (c *checker) run() {
	for at := 0; at < len(c.text); {
		if end, ok := c.placeholder(at); ok {
			c.statement(Span{at, end})
			at = end
			continue
		}
		r, ok := c.region(at)
		if !ok {
			at += c.plain(at)
			continue
		}
		c.inRegion(r)
		at = r.End
	}
}

// placeholder notes a placeholder that is joined to a word or to another placeholder.
func (c *checker) placeholder(at int) (end int, ok bool) {
	i := slices.IndexFunc(c.spans, func(s Span) bool { return s.Start == at })
	if i < 0 {
		return 0, false
	}
	s := c.spans[i]
	joined := func(b byte) bool { return isWordByte(b) || b == '{' || b == '}' }
	if at > 0 && joined(c.text[at-1]) || s.End < len(c.text) && joined(c.text[s.End]) {
		c.mistake(s, "expected %s to stand alone, found it joined to other text: it is sent as a whole value; %s", c.shown(s), c.joining(s))
	}
	return s.End, true
}

// joining says how a text and a value are put together.
func (c *checker) joining(s Span) string {
	if c.engine == MySQL {
		return fmt.Sprintf("to add text, write concat('text', %s)", c.shown(s))
	}
	return fmt.Sprintf("to add text, write 'text' || %s", c.shown(s))
}

// region is a part of a statement in which nothing is a parameter.
type region struct {
	Span
	comment bool
	// inner is the text between the quotes.
	inner  string
	closed bool
}

// region reads the quoted text or the comment that begins at a byte.
func (c *checker) region(at int) (region, bool) {
	rest := c.text[at:]
	switch {
	case rest[0] == '\'':
		return c.quoted(at, '\'', c.engine == MySQL || c.engine == PostgreSQL && c.escapes(at)), true
	case rest[0] == '"':
		return c.quoted(at, '"', c.engine == MySQL), true
	case rest[0] == '`' && c.engine != PostgreSQL:
		return c.quoted(at, '`', false), true
	case rest[0] == '[' && c.engine == SQLite:
		return c.until(at, 1, "]", false), true
	case strings.HasPrefix(rest, "--") && (c.engine != MySQL || len(rest) == 2 || rest[2] <= ' '), rest[0] == '#' && c.engine == MySQL:
		r := c.until(at, 1, "\n", true)
		r.closed = true
		return r, true
	case strings.HasPrefix(rest, "/*"):
		return c.block(at), true
	case rest[0] == '$' && c.engine == PostgreSQL && (at == 0 || !isWordByte(c.text[at-1])):
		if tag := dollarTag(rest); tag != "" {
			return c.until(at, len(tag), tag, false), true
		}
	}
	return region{}, false
}

// escapes reports whether the quote at a byte opens a text in which a backslash means something: E'...'.
func (c *checker) escapes(at int) bool {
	return at > 0 && (c.text[at-1] == 'E' || c.text[at-1] == 'e') && (at == 1 || !isWordByte(c.text[at-2]))
}

func (c *checker) quoted(at int, quote byte, backslash bool) region {
	for i := at + 1; i < len(c.text); i++ {
		switch {
		case backslash && c.text[i] == '\\':
			i++
		case c.text[i] == quote && i+1 < len(c.text) && c.text[i+1] == quote:
			i++
		case c.text[i] == quote:
			return region{Span: Span{at, i + 1}, inner: c.text[at+1 : i], closed: true}
		}
	}
	return region{Span: Span{at, len(c.text)}, inner: c.text[at+1:]}
}

// until reads up to the end of a mark; skip is how long the opening one is.
func (c *checker) until(at, skip int, mark string, comment bool) region {
	i := strings.Index(c.text[at+skip:], mark)
	if i < 0 {
		return region{Span: Span{at, len(c.text)}, comment: comment}
	}
	return region{Span: Span{at, at + skip + i + len(mark)}, comment: comment, inner: c.text[at+skip : at+skip+i], closed: true}
}

// block reads a comment in /* */; they nest in PostgreSQL.
func (c *checker) block(at int) region {
	depth := 0
	for i := at; i+1 < len(c.text); i++ {
		switch c.text[i : i+2] {
		case "/*":
			if depth == 0 || c.engine == PostgreSQL {
				depth++
			}
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return region{Span: Span{at, i + 1}, comment: true, closed: true}
			}
		}
	}
	return region{Span: Span{at, len(c.text)}, comment: true}
}

// dollarTag is the $tag$ that opens a text in PostgreSQL; empty when there is none.
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '$':
			return s[:i+1]
		case !isWordByte(s[i]) || i == 1 && s[i] >= '0' && s[i] <= '9':
			return ""
		}
	}
	return ""
}

// inRegion notes placeholders that stand in quotes or in a comment, and what is not closed.
func (c *checker) inRegion(r region) {
	if !r.comment {
		c.statement(r.Span)
	}
	hit := false
	for _, s := range c.spans {
		switch {
		case s.Start < r.Start || s.Start >= r.End:
			continue
		case r.comment:
			c.mistake(s, "expected no placeholder in a comment, found %s, which counts nothing there: take it out", c.shown(s))
		case strings.TrimSpace(r.inner) == c.shown(s):
			c.mistake(s, "expected %s without quotes, found it in quotes, where it would be text: drop the quotes, it is sent as a parameter", c.shown(s))
		default:
			c.mistake(s, "expected %s without quotes, found it in quotes, where it would be text: it is sent as a parameter; %s", c.shown(s), c.joining(s))
		}
		hit = true
	}
	if !r.closed && !hit {
		what := "quote"
		if r.comment {
			what = "comment"
		}
		c.mistake(Span{r.Start, r.Start + 1}, "expected the end of the %s, found the end of the statement: close it", what)
	}
}

// plain passes over what means nothing in particular, and gives how many bytes that is.
func (c *checker) plain(at int) int {
	b := c.text[at]
	switch {
	case b <= ' ':
		return 1
	case b == ';':
		c.ended = true
		return 1
	}
	c.statement(Span{at, at + 1})
	end := at + 1
	for end < len(c.text) && isWordByte(c.text[end]) {
		end++
	}
	bare := at == 0 || !isWordByte(c.text[at-1])
	switch word := c.text[at:end]; {
	case b == '?' && c.engine != PostgreSQL,
		b == '$' && bare && len(word) > 1 && (c.engine == SQLite || c.engine == PostgreSQL && word[1] >= '0' && word[1] <= '9'),
		(b == ':' || b == '@') && len(word) > 1 && c.engine == SQLite:
		c.mistake(Span{at, end}, "expected a placeholder such as {{marker}}, found the parameter %s, for which there is no value: write the placeholder in its place", word)
		return end - at
	}
	if isWordByte(b) {
		return end - at
	}
	_, size := utf8.DecodeRuneInString(c.text[at:])
	return size
}

// statement notes what follows behind a semicolon, once.
func (c *checker) statement(s Span) {
	if c.ended {
		c.mistake(s, "expected one statement, found more behind the semicolon: take it out, or have a command run them with `exec`")
		c.ended = false
	}
}

func (c *checker) mistake(s Span, format string, args ...any) {
	c.found = append(c.found, Mistake{s.Start, utf8.RuneCountInString(c.text[s.Start:s.End]), fmt.Sprintf(format, args...)})
}

func (c *checker) shown(s Span) string { return c.text[s.Start:s.End] }

// firstWord is the first word of the statement in lower case, and where it stands.
func (c *checker) firstWord() (word string, at int) {
	for at < len(c.text) {
		if r, ok := c.region(at); ok {
			if !r.comment {
				return "", at
			}
			at = r.End
			continue
		}
		if c.text[at] > ' ' && c.text[at] != '(' && c.text[at] != ';' {
			break
		}
		at++
	}
	end := at
	for end < len(c.text) && isWordByte(c.text[end]) {
		end++
	}
	return strings.ToLower(c.text[at:end]), at
}

// isWordByte is true for what names are made of: letters of any script, digits, _ and $.
func isWordByte(b byte) bool {
	return b >= utf8.RuneSelf || b == '_' || b == '$' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

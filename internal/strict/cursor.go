package strict

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// cursor walks the source of a scalar in step with its decoded characters.
type cursor struct {
	lines     []string
	line, col int
	style     yaml.Style
	text      []rune // of the line
}

// to moves to a place; a line behind the last one is the end of the file.
func (c *cursor) to(line, col int) {
	c.line, c.col, c.text = line, col, nil
	if line < len(c.lines) {
		c.text = []rune(c.lines[line])
	}
}

// peek is the character under the cursor: '\n' at the end of a line, -1 at the end of the file.
func (c *cursor) peek(ahead int) rune {
	if c.line >= len(c.lines) {
		return -1
	}
	if at := c.col + ahead; at < len(c.text) {
		return c.text[at]
	}
	return '\n'
}

func (c *cursor) step() {
	if c.peek(0) == '\n' {
		c.to(c.line+1, 0)
	} else {
		c.col++
	}
}

// open moves from the start of the node to the first character of its text.
func (c *cursor) open() {
	for c.peek(0) == '!' || c.peek(0) == '&' {
		for !isSpace(c.peek(0)) && c.peek(0) != -1 {
			c.step()
		}
		for isSpace(c.peek(0)) {
			c.step()
		}
	}
	switch {
	case c.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		c.to(c.line+1, 0)
	case c.style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		c.step()
	}
}

// seek moves over indentation and folds to where r is written; false when the two do not match.
func (c *cursor) seek(r rune) bool {
	for {
		at := c.peek(0)
		switch {
		case at == -1:
			return false
		case at == r, c.escaped(at):
			return true
		case c.style&yaml.DoubleQuotedStyle != 0 && at == '\\' && c.peek(1) == '\n':
			c.step()
			c.step()
		case isSpace(at):
			if isSpace(r) {
				return true
			}
			c.step()
		default:
			return isSpace(r)
		}
	}
}

// pass moves behind the source of r.
func (c *cursor) pass(r rune) bool {
	if !c.seek(r) {
		return false
	}
	at := c.peek(0)
	switch {
	case c.escaped(at):
		for range escapeLength(c.peek(1)) {
			c.step()
		}
	case at == '\'' && c.style&yaml.SingleQuotedStyle != 0:
		c.step()
		c.step()
	case at == r || isSpace(at):
		c.step()
	}
	return true
}

func (c *cursor) escaped(at rune) bool {
	return at == '\\' && c.style&yaml.DoubleQuotedStyle != 0 && c.peek(1) != '\n'
}

// escapeLength is how long an escape of a double-quoted scalar is (YAML 1.2.2, section 5.7).
func escapeLength(letter rune) int {
	switch letter {
	case 'x':
		return 4
	case 'u':
		return 6
	case 'U':
		return 10
	}
	return 2
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\n", r) }

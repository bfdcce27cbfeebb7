// Package strict decodes YAML files that people write by hand, and says exactly where they are wrong.
//
// Parse reads the text into a Document, fills ${VAR} in, and notes every mistake that does not depend on the
// meaning: bad syntax, duplicate fields, aliases, unset variables. The caller then walks from Document.Root
// with the methods of Value, which note wrong types, unknown fields and bad values, and ends with
// Document.Err: all mistakes of the file, in order, each with file, line, column and source line.
//
// Methods of Value never fail: on a mistake they note it and return the zero value, so that one walk finds
// everything. The zero Value is a field that is not there; its methods return zero values and note nothing.
package strict

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Env looks a variable up; false means that it is not set.
type Env func(name string) (value string, set bool)

// Document is a parsed file together with the mistakes that were found in it so far.
type Document struct {
	file  string
	lines []string
	root  *yaml.Node
	env   Env
	texts map[*yaml.Node]Text
	vars  []Variable
	// unset are the scalars with a variable that is not set: what else is wrong with them is not known.
	unset map[*yaml.Node]bool
	// hidden are texts that no source line of a mistake shows.
	hidden []string
	// masks is what source lines and quotations in messages go through before they are shown; nil for nothing.
	masks func(string) string
	errs  Errors
	warns Errors
	// shares are those of errs that are about aliases and merge keys, meantSoFar is how many values were read in place of them.
	shares     []shared
	meantSoFar int
	// parts are the documents that were added, and owners says of nodes that were joined into another document where they stand.
	parts  []*Document
	owners map[*yaml.Node]*Document
}

// Parse reads one YAML document. A nil env leaves ${VAR} alone: text from the command line has been through
// a shell already. When the text is no YAML at all, Root is absent and Err says why.
func Parse(file string, text []byte, env Env) *Document {
	d := &Document{file: file, env: env, texts: map[*yaml.Node]Text{}, unset: map[*yaml.Node]bool{}, owners: map[*yaml.Node]*Document{}}
	source := strings.TrimPrefix(string(text), "\ufeff")
	d.lines = splitLines(source)
	if d.badCharacter(source) {
		return d
	}
	d.root = d.load(source)
	if d.root != nil {
		d.root = d.prepare(d.root, place{})
	}
	return d
}

// Root is the document's value; absent when the text is empty or no YAML.
func (d *Document) Root() Value {
	if d.root == nil {
		return Value{}
	}
	return Value{doc: d, node: d.root}
}

// Broken is true when the text is no YAML, so that there is no more to say of it than Err does.
func (d *Document) Broken() bool { return d.root == nil }

// File is the path as it was given.
func (d *Document) File() string { return d.file }

// Err is Errors as an error, nil when there is none.
func (d *Document) Err() error { return d.Errors().Err() }

// Errors are all mistakes noted so far, ordered by place, those of parts behind the others. The same message at the same place counts
// once, so that a value may be read twice.
func (d *Document) Errors() Errors {
	return slices.CompactFunc(d.told(func(part *Document) Errors { return part.errs }), sameError)
}

func sameError(a, b *Error) bool { return a.Pos == b.Pos && a.Message == b.Message }

// told are the errors or warnings of the document and its parts, ordered.
func (d *Document) told(of func(*Document) Errors) Errors {
	var all Errors
	for _, part := range d.whole() {
		all = append(all, of(part)...)
	}
	d.hideAll(all)
	return all.Sorted()
}

// Hide keeps a text, such as a password, out of the source lines of mistakes: asterisks stand in its place, as many as it
// has characters. Empty text hides nothing.
func (d *Document) Hide(text string) {
	if text == "" {
		return
	}
	for _, part := range d.whole() {
		part.hidden = append(part.hidden, text)
	}
}

// Mask has every source line of mistakes go through mask before it is shown, and what messages quote, also those that have been noted.
// It must keep the number of characters.
func (d *Document) Mask(mask func(string) string) {
	d.masks = mask
	for _, list := range []Errors{d.errs, d.warns} {
		for _, e := range list {
			e.Source, e.Message = d.mask(e.Source), d.maskQuotes(e.Message)
		}
	}
}

func (d *Document) hideAll(list Errors) {
	for _, e := range list {
		e.Source = d.hide(e.Source)
	}
}

func (d *Document) mask(s string) string {
	if d.masks == nil {
		return s
	}
	return d.masks(s)
}

// quotation is a value as messages quote it.
var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func (d *Document) maskQuotes(message string) string {
	return quotation.ReplaceAllStringFunc(message, d.mask)
}

func (d *Document) hide(line string) string {
	for _, text := range d.hidden {
		line = strings.ReplaceAll(line, text, strings.Repeat("*", utf8.RuneCountInString(text)))
	}
	return line
}

// Errorf notes a mistake at a place of this file. Width is how many characters are wrong; below 1 it
// counts as 1.
func (d *Document) Errorf(pos Pos, width int, format string, args ...any) {
	at := d.at(pos)
	at.errs = append(at.errs, at.mistake(pos, width, format, args...))
}

// Mistake is the error that Errorf notes, without noting it.
func (d *Document) Mistake(pos Pos, width int, format string, args ...any) *Error {
	return d.at(pos).mistake(pos, width, format, args...)
}

// Warnf notes what is allowed and most likely not meant, at a place as in Errorf.
func (d *Document) Warnf(pos Pos, width int, format string, args ...any) {
	at := d.at(pos)
	at.warns = append(at.warns, at.mistake(pos, width, format, args...))
}

// Warnings are all warnings noted so far, ordered and told once as in Errors.
func (d *Document) Warnings() Errors {
	return slices.CompactFunc(d.told(func(part *Document) Errors { return part.warns }), sameError)
}

func (d *Document) mistake(pos Pos, width int, format string, args ...any) *Error {
	e := &Error{Pos: pos, Message: d.maskQuotes(fmt.Sprintf(format, args...)), Width: max(width, 1)}
	e.File = d.file
	if pos.Line < 1 {
		return e
	}
	if pos.Line > len(d.lines) { // the library sees an empty value at the end behind the last line
		e.Line, e.Col = len(d.lines), math.MaxInt
	}
	e.Source = d.hide(d.mask(d.lines[e.Line-1]))
	e.Col = min(e.Col, len([]rune(e.Source))+1)
	return e
}

// splitLines cuts where YAML does: the library counts NEL, LS and PS as line ends too.
func splitLines(s string) []string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	return strings.Split(s, "\n")
}

// badCharacter notes the first byte that cannot be in a YAML file; the library knows no position for it.
func (d *Document) badCharacter(s string) bool {
	for i, line := range d.lines {
		col := 0
		for at := 0; at < len(line); {
			r, size := utf8.DecodeRuneInString(line[at:])
			col++
			pos := Pos{File: d.file, Line: i + 1, Col: col}
			if r == utf8.RuneError && size == 1 {
				d.Errorf(pos, 1, "expected UTF-8, found the byte 0x%02x: save the file as UTF-8", line[at])
				return true
			}
			if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
				d.Errorf(pos, 1, "expected text, found the control character U+%04X: remove it", r)
				return true
			}
			at += size
		}
	}
	return false
}

package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Error is one mistake in a file.
type Error struct {
	Pos
	// Message says what was expected, what was found and what to do. It never holds the value of a variable.
	Message string
	// Source is the line the mistake is in, without its line end; empty when there is none.
	Source string
	// Width is how many characters of Source are wrong, at least 1.
	Width int
	// Unset is the variable that is not set, where that is the mistake; empty for any other one.
	Unset string
}

// Error is "file:line:col: message" in one line.
func (e *Error) Error() string {
	if place := e.Pos.String(); place != "" {
		return place + ": " + e.Message
	}
	return e.Message
}

// Pretty is Error followed by the source line and a line that marks the mistake with ^~~~. It does not
// end with a line end.
func (e *Error) Pretty() string {
	if e.Source == "" || e.Line == 0 {
		return e.Error()
	}
	source, mark := excerpt(e.Source, e.Col, e.Width)
	gutter := fmt.Sprint(e.Line)
	blank := strings.Repeat(" ", len(gutter))
	return fmt.Sprintf("%s\n%s | %s\n%s | %s", e.Error(), gutter, source, blank, mark)
}

// Errors are all mistakes of a file, ordered by place. A nil or empty list means that there are none;
// return Err's result, not the list itself, as an error.
type Errors []*Error

// Error has one line for each mistake.
func (es Errors) Error() string { return es.join((*Error).Error) }

// Pretty has source line and caret for each mistake.
func (es Errors) Pretty() string { return es.join((*Error).Pretty) }

// Sorted is es ordered by line and column, file after file in the order in which they first occur; mistakes at the same place keep their
// order.
func (es Errors) Sorted() Errors {
	files := map[string]int{}
	for _, e := range es {
		if _, known := files[e.File]; !known {
			files[e.File] = len(files)
		}
	}
	return slices.SortedStableFunc(slices.Values(es), func(a, b *Error) int {
		return cmp.Or(files[a.File]-files[b.File], cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// Err is es as an error, nil when it is empty.
func (es Errors) Err() error {
	if len(es) == 0 {
		return nil
	}
	return es
}

func (es Errors) join(show func(*Error) string) string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = show(e)
	}
	return strings.Join(lines, "\n")
}

// Long lines are cut to this many characters before and after the mistake, so that the message,
// its line and the caret fit an 80-column terminal.
const (
	shownBefore = 40
	shownAfter  = 36
)

// excerpt is the part of a line around a column, and the caret line below it. Characters that a
// terminal would act on are shown as "?", tabs as one space.
func excerpt(line string, col, width int) (source, mark string) {
	runes := []rune(line)
	at := min(max(col-1, 0), len(runes))
	from, to := 0, len(runes)
	lead, trail := "", ""
	if at > shownBefore+3 {
		from, lead = at-shownBefore, "..."
	}
	if to-at > shownAfter+3 {
		to, trail = at+shownAfter, "..."
	}
	pad := len(lead)
	for _, r := range runes[from:at] {
		pad += columns(r)
	}
	marked := 0
	for _, r := range runes[at:min(at+max(width, 1), to)] {
		marked += columns(r)
	}
	shown := strings.Map(visible, string(runes[from:to]))
	return lead + shown + trail, strings.Repeat(" ", pad) + "^" + strings.Repeat("~", max(marked-1, 0))
}

func visible(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return '?'
	}
	return r
}

// columns is how many terminal columns a character takes: 0 for combining marks, 2 for the wide blocks of
// Unicode Standard Annex #11, 1 for all others.
func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200d' {
		return 0
	}
	for _, w := range [...][2]rune{
		{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
		{0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	} {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

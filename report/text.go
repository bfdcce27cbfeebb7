package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

// clean makes text from elsewhere harmless: line feeds stay, tabs become a space, everything else that does not
// print (escape sequences, carriage returns, text direction marks, broken UTF-8) is shown as an escape.
func clean(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// oneLine is clean text without line feeds.
func oneLine(s string) string {
	return strings.Join(strings.Fields(clean(s)), " ")
}

// shorten cuts clean text to so many columns and marks the cut.
func shorten(s string, columns int) string {
	if twwidth.Width(s) <= columns {
		return s
	}
	head, _ := cutAt(s, columns-1)
	return head + "…"
}

// limit cuts a long value to so many characters and says how many were left out.
func limit(s string, characters int) string {
	n := utf8.RuneCountInString(s)
	if n <= characters {
		return s
	}
	return fmt.Sprintf("%s… (%s more)", string([]rune(s)[:characters]), plural(n-characters, "character"))
}

// cutAt splits text before the first character that does not fit into so many columns. Head has at
// least one character.
func cutAt(s string, columns int) (head, tail string) {
	width := 0
	for i, r := range s {
		width += twwidth.Width(string(r))
		if width > columns && i > 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// wrap breaks clean text into lines of at most so many columns, between words where possible. Line feeds
// and the spaces at the beginning of a line are kept.
func wrap(s string, columns int) []string { return wrapBehind(s, columns, columns) }

// wrapBehind is wrap for text that begins behind something: its first line has less room. When there is
// room for no more than a syllable, the first line stays empty.
func wrapBehind(s string, first, columns int) []string {
	var lines []string
	room := first
	if first < min(8, columns) {
		lines, room = append(lines, ""), columns
	}
	for paragraph := range strings.SplitSeq(s, "\n") {
		lines = append(lines, wrapLine(paragraph, room, columns)...)
		room = columns
	}
	return lines
}

func wrapLine(s string, room, columns int) []string {
	text := strings.TrimLeft(s, " ")
	line := s[:min(len(s)-len(text), columns/2)]
	var lines []string
	flush := func(full, rest string) {
		lines, line, room = append(lines, full), rest, columns
	}
	empty := true
	for word := range strings.FieldsSeq(text) {
		switch {
		case empty:
			line, empty = line+word, false
		case twwidth.Width(line)+1+twwidth.Width(word) > room:
			flush(line, word)
		default:
			line += " " + word
		}
		for twwidth.Width(line) > room {
			flush(cutAt(line, room))
		}
	}
	return append(lines, line)
}

// pad fills text with spaces on the right up to so many columns.
func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-twwidth.Width(s)))
}

// padLeft fills text with spaces on the left up to so many columns.
func padLeft(s string, columns int) string {
	return strings.Repeat(" ", max(0, columns-twwidth.Width(s))) + s
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// span is a duration as people read it: "412 ms", "8.4 s", "2 min 5 s".
func span(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// millis is a moment in milliseconds; below one with three decimals, because copies of a burst are
// microseconds apart.
func millis(n trace.Nanos) string {
	ms := n.Micros() / 1e3
	if ms != 0 && ms < 1 && ms > -1 {
		return fmt.Sprintf("%.3f", ms)
	}
	return fmt.Sprintf("%.1f", ms)
}

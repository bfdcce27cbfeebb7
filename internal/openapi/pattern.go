package openapi

import (
	"regexp/syntax"
	"strings"
)

// fromPattern is a text of at least so many characters that a pattern matches, false where none was found. Repetitions are tried
// in several lengths.
func fromPattern(pattern string, least int) (string, bool) {
	if len(pattern) > mostPattern {
		return "", false
	}
	re, err := syntax.Parse(unicodeEscape.ReplaceAllString(pattern, `\x{$1$2}`), syntax.Perl)
	if err != nil {
		return "", false
	}
	check := compiled(pattern)
	for _, repeat := range []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 64, 128, 256} {
		w := patternWriter{repeat: repeat, room: max(1000, 2*least)}
		w.write(re)
		if s := w.out.String(); w.room >= 0 && len(s) >= least && check != nil && check.MatchString(s) {
			return s, true
		}
	}
	return "", false
}

// patternWriter writes a text that an expression matches, with repetitions that are as long as repeat where they may be.
type patternWriter struct {
	out    strings.Builder
	repeat int
	room   int
}

func (w *patternWriter) write(re *syntax.Regexp) {
	if w.room < 0 {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		w.add(string(re.Rune))
	case syntax.OpCharClass:
		w.add(string(readable(re.Rune)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.add("a")
	case syntax.OpCapture:
		w.write(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	case syntax.OpAlternate:
		w.write(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		w.times(re)
	}
}

func (w *patternWriter) times(re *syntax.Regexp) {
	low, high := 0, -1
	switch re.Op {
	case syntax.OpPlus:
		low = 1
	case syntax.OpQuest:
		high = 1
	case syntax.OpRepeat:
		low, high = re.Min, re.Max
	}
	n := max(low, w.repeat)
	if high >= 0 {
		n = min(n, high)
	}
	for range n {
		w.room--
		w.write(re.Sub[0])
	}
}

func (w *patternWriter) add(s string) {
	w.room -= len(s)
	w.out.WriteString(s)
}

// readable is a character of a class: a letter or digit where it has one.
func readable(ranges []rune) rune {
	for _, wanted := range [][2]rune{{'a', 'z'}, {'A', 'Z'}, {'1', '9'}, {'0', '0'}, {'!', '~'}} {
		for i := 0; i+1 < len(ranges); i += 2 {
			if low := max(ranges[i], wanted[0]); low <= min(ranges[i+1], wanted[1]) {
				return low
			}
		}
	}
	if len(ranges) > 0 {
		return ranges[0]
	}
	return 'a'
}

package requests

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// Texts of a source are carried as they are, but for what is filled in later: a hole stands between two characters that
// Unicode reserves for such use, so that it passes through URLs, forms and JSON untouched. In a hole stands the name of a
// variable; "{" and a placeholder of the plan; or "<" and, in hexadecimal, which answer is meant.
const (
	open, shut = '\uFDD0', '\uFDD1'
	// bare stands first in a hole that is a JSON value without quotes.
	bare = "\uFDD2"
)

// holes matches each hole; its first group is what stands in it.
var holes = regexp.MustCompile("\uFDD0([^\uFDD0\uFDD1]*)\uFDD1")

// clean takes characters out of a text that would be taken for holes.
func clean(s string) string {
	if !strings.ContainsAny(s, "\uFDD0\uFDD1\uFDD2") {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(strings.NewReplacer("\uFDD0", "\uFFFD", "\uFDD1", "\uFFFD", "\uFDD2", "\uFFFD").Replace(s), "\uFFFD")
}

func hole(content string) string { return string(open) + content + string(shut) }

// variable is the hole for a variable of a source, under a name that the plan takes.
func variable(name string) string { return hole(variableName(name)) }

// placeholderStart is how each placeholder's hole begins.
const placeholderStart = string(open) + "{"

// placeholder is the hole for a placeholder of the plan, such as "marker".
func placeholder(name string) string { return hole("{" + name) }

// reference is what a request of the source was answered with: a JSONPath, or "header NAME".
type reference struct{ of, from string }

// String is a name for people.
func (r reference) String() string {
	return r.of + "_" + lastName(strings.TrimPrefix(r.from, "header "))
}

func (r reference) hole() string { return hole("<" + hex.EncodeToString([]byte(r.of+"|"+r.from))) }

// referenceTo reads what stands in the hole of a reference; the zero value for another one.
func referenceTo(content string) reference {
	digits, found := strings.CutPrefix(strings.TrimPrefix(content, bare), "<")
	if !found {
		return reference{}
	}
	text, _ := hex.DecodeString(digits) // which wrote it
	of, from, _ := strings.Cut(string(text), "|")
	return reference{of, from}
}

// hasHole is true when something is to be filled in.
func hasHole(s string) bool { return strings.ContainsRune(s, open) }

// onlyHole is what stands in the hole when a text is nothing else.
func onlyHole(s string) (content string, ok bool) {
	rest, found := strings.CutPrefix(s, string(open))
	content, behind, closed := strings.Cut(rest, string(shut))
	return content, found && closed && behind == ""
}

// literalOf is a text without its holes.
func literalOf(s string) string {
	if !hasHole(s) {
		return s
	}
	return holes.ReplaceAllString(s, "")
}

// eachPart calls f for every literal stretch and every hole of a text, in order.
func eachPart(s string, f func(text string, isHole bool)) {
	at := 0
	for _, m := range holes.FindAllStringSubmatchIndex(s, -1) {
		if m[0] > at {
			f(s[at:m[0]], false)
		}
		f(s[m[2]:m[3]], true)
		at = m[1]
	}
	if at < len(s) {
		f(s[at:], false)
	}
}

// mapLiterals is the text with f applied to what is no hole.
func mapLiterals(s string, f func(string) string) string {
	if !hasHole(s) {
		return f(s)
	}
	var out strings.Builder
	eachPart(s, func(text string, isHole bool) {
		if isHole {
			out.WriteString(hole(text))
		} else {
			out.WriteString(f(text))
		}
	})
	return out.String()
}

// What a plan reads as the start of a variable or of a placeholder is written as a variable that is never set: its default
// is data.
const (
	dollar = "${RETRYSAFE_DOLLAR:-$}"
	brace  = "${RETRYSAFE_BRACE:-{}"
)

// planText is the text as the plan writes it: variables as ${NAME}, placeholders as {{name}}, and the rest such that the plan
// reads it as it is.
func planText(s string) string {
	if !strings.ContainsAny(s, "{\uFDD0") {
		return s
	}
	var out strings.Builder
	for s != "" {
		text, rest, followed := strings.Cut(s, string(open))
		out.WriteString(escaped(text, followed))
		content, behind, _ := strings.Cut(rest, string(shut))
		content = strings.TrimPrefix(content, bare)
		switch {
		case !followed:
		case strings.HasPrefix(content, "{"):
			out.WriteString("{" + content + "}}")
		case strings.HasPrefix(content, "<"):
			out.WriteString("${" + variableName(referenceTo(content).String()) + "}")
		default:
			out.WriteString("${" + content + "}")
		}
		s = behind
	}
	return out.String()
}

// escaped is a literal text as the plan writes it; followed by a variable or a placeholder, or by nothing. What stands behind a
// character decides on it, so that it is written from the end.
func escaped(s string, followed bool) string {
	out := make([]byte, 0, len(s))
	write := func(text string) {
		for i := len(text) - 1; i >= 0; i-- {
			out = append(out, text[i])
		}
	}
	variable, curly := followed, false // what stands behind
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '$' && variable:
			write(dollar)
		case s[i] == '$' && curly:
			write("$$")
			curly = false
		case s[i] == '{' && (variable || curly):
			write(brace)
			variable, curly = true, false
		default:
			write(s[i : i+1])
			variable, curly = false, s[i] == '{'
		}
	}
	slices.Reverse(out)
	return string(out)
}

var (
	hump    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	notName = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// snake is a name in small letters with _ between words: customerId and customer-id are customer_id.
func snake(name string) string {
	return strings.ToLower(strings.Trim(notName.ReplaceAllString(hump.ReplaceAllString(name, "${1}_${2}"), "_"), "_"))
}

// variableName is a name as the environment has it: orderId is ORDER_ID. What is a name already stays as it is.
func variableName(name string) string {
	if validVariable.MatchString(name) && name == strings.ToUpper(name) {
		return name
	}
	out := strings.ToUpper(snake(name))
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "VALUE_" + out
	}
	return strings.TrimSuffix(out, "_")
}

var validVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// oneLine is a text for a comment or a name: line breaks and what else is no letter of a line are blanks.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f && r < 0xa1 || r == '\u2028' || r == '\u2029' || r == '\ufeff'
	}), " ")
}

// shown is a text of a source in a message: its variables as ${NAME}, cut to what fits a line.
func shown(s string) string {
	const most = 60
	s = oneLine(planText(s))
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

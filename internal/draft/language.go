package draft

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// braces is how a plan says {{ as it is: what a variable yields is data, and this one is not set.
const braces = "${RETRYSAFE_BRACES:-{{}"

// Literal is a text from a source as a plan says it: $${ for ${, and what keeps {{ from beginning a placeholder. Importers put it around
// what they take over as it is; placeholders and variables of their own go beside it.
func Literal(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "${", "$${"), "{{", braces)
}

// label is a name or a tag as a plan has it: in one line. There are no placeholders in it.
func label(s string) string { return (&builder{names: true}).meant(oneLine(s), false) }

// variable is what a plan replaces by a variable of the environment.
var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// placeholder is {{name}} or {{name:20}}, asNumber a text that is {{name:number}}.
var (
	placeholder = regexp.MustCompile(`^\{\{ *([A-Za-z0-9_.-]+)(?::([0-9]+))? *\}\}`)
	asNumber    = regexp.MustCompile(`^\{\{([A-Za-z0-9_.-]+):number\}\}$`)
)

// meant is a text in which only known placeholders and whole variables are such: the rest of the braces are data.
func (b *builder) meant(s string, header bool) string {
	var out strings.Builder
	for at := 0; at < len(s); {
		rest := s[at:]
		length := 1
		switch {
		case strings.HasPrefix(rest, "$${"):
			length = 3
		case strings.HasPrefix(rest, "${"):
			if length = len(variable.FindString(rest)); length == 0 {
				out.WriteString("$")
				length = 2
			}
		case strings.HasPrefix(rest, "{{"):
			name := ""
			if name, length = b.placeholder(rest, header); length == 0 {
				name, length = braces, 2
			}
			out.WriteString(name)
			at += length
			continue
		}
		out.WriteString(rest[:length])
		at += length
	}
	return out.String()
}

// placeholder is the known placeholder with which a text begins, without blanks, and how long it is there; 0 without one.
func (b *builder) placeholder(s string, header bool) (string, int) {
	m := placeholder.FindStringSubmatch(s)
	switch {
	case b.names:
		return "{{", 2
	case m == nil:
		return "", 0
	}
	known := slices.Contains([]string{"marker", "key", "uuid", "email", "now"}, m[1]) || slices.Contains(b.captures, m[1]) ||
		header && (m[1] == "send.uuid" || m[1] == "send.now")
	if m[2] != "" {
		n, err := strconv.Atoi(m[2])
		known = err == nil && m[1] == "marker" && n >= 8 && n <= 255
	}
	if !known {
		return "", 0
	}
	return strings.ReplaceAll(m[0], " ", ""), len(m[0])
}

// request is a method with a path, in which what is no placeholder is escaped.
func (b *builder) request(s string) string {
	method, path, found := strings.Cut(strings.TrimSpace(s), " ")
	if !found {
		b.fail("expected a method and a path, found %q", s)
		return s
	}
	var out strings.Builder
	for _, r := range b.meant(strings.TrimSpace(path), false) {
		switch {
		case r == ' ' || r == '#' || r < ' ' || r == 0x7f:
			out.WriteString("%" + strings.ToUpper(strconv.FormatInt(0x100+int64(r), 16)[1:]))
		default:
			out.WriteRune(r)
		}
	}
	return method + " " + strings.ReplaceAll(out.String(), braces, "%7B%7B")
}

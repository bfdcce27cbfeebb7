package plan

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// credentialName is what says in a line that a credential follows: the name of a header or of a member that carries one.
	credentialName = regexp.MustCompile(`(?i)(?:authorization|cookie|token|api[-_]?key|access[-_]?key|auth[-_]?key|subscription-key|session-id|secrets?|` +
		`password|passwd|passphrase|assertion|code_verifier)[\\"']*\s*[:=][ \t]*`)
	urlPassword = regexp.MustCompile(`://[^\s:/"'@]*:([^\s/?#"']*)@`)
	// elsewhere is a value that does not stand in the line: a variable or a placeholder, behind a scheme such as Bearer, a place in an
	// answer, the sign of a text that follows, nothing.
	elsewhere = regexp.MustCompile(`^(?:(?:[A-Za-z]+ )?(?:\$\{[^}]*\}|\{\{[^}]*\}\})+|\$[.\[].*|[|>][-+0-9]*|)$`)
)

// conceal is a line of a plan, or a message that quotes one, with asterisks in place of the credentials that names in it tell of. It
// needs no plan that was understood: lines are shown most of all where it was not.
func conceal(line string) string {
	var out strings.Builder
	rest := urlPassword.ReplaceAllStringFunc(line, func(found string) string {
		at := urlPassword.FindStringSubmatchIndex(found)
		return found[:at[2]] + asterisks(found[at[2]:at[3]]) + found[at[3]:]
	})
	var around surroundings
	take := func(text string) {
		out.WriteString(text)
		around.pass(text)
	}
	for at := credentialName.FindStringIndex(rest); at != nil; at = credentialName.FindStringIndex(rest) {
		assigned := strings.Contains(rest[at[0]:at[1]], "=")
		take(rest[:at[1]])
		rest = rest[at[1]:]
		if strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "{{") {
			continue // its members have names of their own
		}
		end := credentialEnd(rest, around, assigned)
		take(asterisks(rest[:end]))
		rest = rest[end:]
	}
	return out.String() + rest
}

// remembering is f that is asked once for each text: a plan of one line may have a mistake in each of its endpoints.
func remembering(f func(string) string) func(string) string {
	known := map[string]string{}
	return func(s string) string {
		out, ok := known[s]
		if !ok {
			out = f(s)
			known[s] = out
		}
		return out
	}
}

// asterisks is a value, with its quotes, of which nothing can be read; a value that stands elsewhere is left as it is.
func asterisks(value string) string {
	inner := strings.Trim(value, `\"' `)
	if elsewhere.MatchString(inner) {
		return value
	}
	return strings.Replace(value, inner, strings.Repeat("*", utf8.RuneCountInString(inner)), 1)
}

// surroundings are what a place in a line stands in. The zero value is the start of the line.
type surroundings struct {
	quote byte // 0 for none
	depth int  // of brackets
	last  byte // before the place
}

// pass moves the place behind a text that follows it.
func (s *surroundings) pass(text string) {
	s.depth += nesting(text)
	for i := range len(text) {
		switch c := text[i]; {
		case s.quote == 0 && (c == '"' || c == '\'') && (s.last == 0 || strings.IndexByte(" \t[{(,:", s.last) >= 0):
			s.quote = c
		case c == s.quote && s.last != '\\':
			s.quote = 0
		}
		s.last = text[i]
	}
}

// credentialEnd is where a value ends: with its own quotes or brackets, before those around it, else where YAML lets a plain one end, or
// a form one that is assigned. What is not closed takes the whole line.
func credentialEnd(value string, around surroundings, assigned bool) int {
	for _, own := range [][2]string{{`\"`, `\"`}, {`"`, `"`}, {`'`, `'`}, {`[`, `]`}} {
		inner, opened := strings.CutPrefix(value, own[0])
		if !opened || own[0][0] == around.quote {
			continue
		}
		for i := 0; i < len(inner); i++ {
			switch {
			case own[0] == `"` && inner[i] == '\\', own[0] == `'` && strings.HasPrefix(inner[i:], "''"):
				i++
			case strings.HasPrefix(inner[i:], own[1]):
				return len(own[0]) + i + len(own[1])
			}
		}
		return len(value)
	}
	within := around.quote != 0 || around.depth > 0
	for i := range len(value) {
		behind := strings.TrimLeft(value[i+1:], ")}]")
		closed := within && (behind == "" || strings.IndexByte(" ,\t", behind[0]) >= 0 || behind[0] == around.quote)
		switch c := value[i]; {
		case c == around.quote && c != 0, c == ',' && closed, (c == '}' || c == ']') && closed && nesting(value[:i]) <= 0,
			c == ' ' && strings.HasPrefix(value[i:], " #"), assigned && (c == '&' || c == ' '):
			return i
		}
	}
	return len(value)
}

// nesting is how many brackets a text opens that it does not close.
func nesting(text string) int {
	return strings.Count(text, "{") + strings.Count(text, "[") - strings.Count(text, "}") - strings.Count(text, "]")
}

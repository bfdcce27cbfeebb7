package openapi

import "regexp"

// In a plan {{...}} is a placeholder and ${...} a variable. What a variable's default holds is neither, so braces of
// the document are written as the default of a variable that nobody sets; $${ is how a plan writes ${.
var (
	braces  = regexp.MustCompile(`\$*\{{2,}`)
	opening = regexp.MustCompile(`\$\{`)
)

// escape is a text of the document as it stands in a plan.
func escape(s string) string {
	out, at := "", 0
	for _, found := range braces.FindAllStringIndex(s, -1) {
		out += opening.ReplaceAllString(s[at:found[0]], "$$$${") + "${RETRYSAFE_BRACES:-" + s[found[0]:found[1]] + "}"
		at = found[1]
	}
	return out + opening.ReplaceAllString(s[at:], "$$$${")
}

var escaped = regexp.MustCompile(`\$\$\{|\$\{RETRYSAFE_BRACES:-(\$*\{+)\}`)

// unescape is the text of the document that escape was given.
func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(found string) string {
		if found == "$${" {
			return "${"
		}
		return found[len("${RETRYSAFE_BRACES:-") : len(found)-1]
	})
}

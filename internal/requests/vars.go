package requests

import (
	"regexp"
	"strings"
)

// braced matches a variable of an editor or of Postman: {{name}}.
var braced = regexp.MustCompile(`\{\{([^{}\n]{1,300})\}\}`)

// mostSubstituted is how long a text may become by its variables, and deepestVariable how many stand for each other.
const (
	mostSubstituted = 4 << 20
	deepestVariable = 8
)

// variables are those of a source that have values there.
type variables struct {
	values map[string]string
	// secret are those that a source calls secret by itself.
	secret map[string]bool
	// references is true where {{name.response.body.$.id}} is what a named request was answered with.
	references map[string]bool
	// hide remembers what hides found.
	hide map[string]bool
	size int
}

func newVariables() *variables {
	return &variables{values: map[string]string{}, secret: map[string]bool{}, references: map[string]bool{}, hide: map[string]bool{}}
}

// fill replaces {{name}} by its value, or by a hole where it has none or where it is a secret.
func (v *variables) fill(text string) string { return v.fillTo(clean(text), deepestVariable) }

func (v *variables) fillTo(text string, depth int) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return braced.ReplaceAllStringFunc(text, func(whole string) string {
		name := strings.TrimSpace(whole[2 : len(whole)-2])
		if name == "" {
			return whole
		}
		if text, ok := dynamic(name); ok {
			return text
		}
		if of, rest, ok := strings.Cut(name, ".response."); ok && v.references[of] {
			return answerOf(of, rest)
		}
		value := v.values[name]
		v.size += len(value)
		if value == "" || v.hides(name) || depth == 0 || v.size > mostSubstituted {
			return variable(name)
		}
		return v.fillTo(value, depth-1)
	})
}

// hides is true for a variable whose value is a credential: by what the source says, by its name, or by its look.
func (v *variables) hides(name string) bool {
	hidden, known := v.hide[name]
	if !known {
		value := v.values[name]
		hidden = v.secret[name] || secretName(name) && !braced.MatchString(value) || looksSecret(value)
		v.hide[name] = hidden
	}
	return hidden
}

// hidden are the values that are not filled in.
func (v *variables) hidden() []string {
	var found []string
	for name, value := range v.values {
		if v.hides(name) {
			found = append(found, value)
		}
	}
	return found
}

// answerOf is the hole for body.$.id, body.id or headers.NAME of a named request's answer.
func answerOf(of, rest string) string {
	of = strings.ReplaceAll(clean(of), "|", "")
	if name, ok := strings.CutPrefix(rest, "headers."); ok && token.MatchString(name) {
		return reference{of, "header " + name}.hole()
	}
	path, _ := strings.CutPrefix(rest, "body.")
	if !strings.HasPrefix(path, "$") {
		path = "$." + path
	}
	if !plainPath.MatchString(path) {
		return variable(of + "_" + path)
	}
	return reference{of, path}.hole()
}

// plainPath matches a JSONPath of members and indexes.
var plainPath = regexp.MustCompile(`^\$(\.[A-Za-z_][A-Za-z0-9_]*|\[\d{1,6}\]|\['[A-Za-z0-9_ .-]+'\])+$`)

// dynamic is what stands for a variable that is drawn anew for each request; false for another one.
func dynamic(name string) (string, bool) {
	name, isDynamic := strings.CutPrefix(name, "$")
	if !isDynamic {
		return "", false
	}
	name, argument, _ := strings.Cut(name, " ")
	switch lower := strings.ToLower(name); {
	case lower == "processenv" || lower == "dotenv" || lower == "env":
		return hole(safeVariable(strings.TrimLeft(strings.TrimSpace(argument), "%"))), true
	case strings.HasPrefix(lower, "env."):
		return hole(safeVariable(name[len("env."):])), true
	case strings.Contains(lower, "uuid") || strings.Contains(lower, "guid"):
		return placeholder("uuid"), true
	case strings.Contains(lower, "mail"):
		return placeholder("email"), true
	case strings.Contains(lower, "time") || strings.Contains(lower, "date"):
		return placeholder("now"), true
	case strings.Contains(lower, "int") || strings.Contains(lower, "price") || strings.Contains(lower, "float"):
		return "1", true
	}
	return placeholder("marker"), true
}

// safeVariable keeps a name that the environment has, and makes one of anything else.
func safeVariable(name string) string {
	if validVariable.MatchString(name) {
		return name
	}
	return variableName(name)
}

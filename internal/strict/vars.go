package strict

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// Variable is a ${VAR} that the file uses.
type Variable struct {
	// Name is what stands between the braces, Value what it was replaced by (the default included).
	Name, Value string
	// FromEnv is false when the value is the default of ${VAR:-default}.
	FromEnv bool
}

// Variables are the set variables that the file and its parts use, in the order of the files, once for every use.
func (d *Document) Variables() []Variable {
	var found []Variable
	for _, part := range d.whole() {
		found = append(found, part.vars...)
	}
	return found
}

// expand replaces ${VAR} and ${VAR:-default} in a scalar, and $${ by ${. It works on the decoded scalar, so
// a value can never become YAML structure.
func (d *Document) expand(n *yaml.Node) Text {
	t := Text{Value: n.Value, doc: d, node: n, spans: []span{{}}}
	if d.env == nil || !strings.Contains(n.Value, "${") {
		return t
	}
	var out strings.Builder
	t.spans = nil
	add := func(raw int, text, variable string) {
		t.spans = append(t.spans, span{start: out.Len(), raw: raw, variable: variable})
		out.WriteString(text)
	}
	for at := 0; at < len(n.Value); {
		i := strings.Index(n.Value[at:], "${")
		if i < 0 {
			add(at, n.Value[at:], "")
			break
		}
		dollar := at + i
		if dollar > at && n.Value[dollar-1] == '$' {
			add(at, n.Value[at:dollar-1], "")
			add(dollar, "${", "")
			at = dollar + 2
			continue
		}
		add(at, n.Value[at:dollar], "")
		end := strings.IndexByte(n.Value[dollar:], '}')
		if end < 0 {
			d.Errorf(t.rawPos(dollar), 2, "expected } after ${, found the end of the value: close it, or write $${ for the two characters")
			break
		}
		v, ok := d.variable(t, dollar, n.Value[dollar:dollar+end+1])
		if ok {
			add(dollar, v.Value, v.Name)
		} else {
			d.unset[n] = true
		}
		at = dollar + end + 1
	}
	t.Value = out.String()
	return t
}

func (d *Document) variable(t Text, at int, source string) (Variable, bool) {
	name, fallback, hasFallback := strings.Cut(source[2:len(source)-1], ":-")
	if !isVariableName(name) {
		d.Errorf(t.rawPos(at), len(source), "expected ${NAME} or ${NAME:-default}, found %s: names have letters, digits and _", source)
		return Variable{}, false
	}
	v := Variable{Name: name}
	v.Value, v.FromEnv = d.env(name)
	switch {
	case hasFallback && (!v.FromEnv || v.Value == ""):
		v.Value, v.FromEnv = fallback, false
	case !v.FromEnv:
		d.Errorf(t.rawPos(at), len(source), "variable %s is not set: export %s=..., or give a default with ${%s:-value}", name, name, name)
		d.errs[len(d.errs)-1].Unset = name
		return v, false
	}
	d.vars = append(d.vars, v)
	return v, true
}

func isVariableName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

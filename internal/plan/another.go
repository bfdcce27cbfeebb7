package plan

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// AnotherCaller is an entry of `callers` for somebody beside those that the plan has, identified as the first one is: the same headers,
// log-in or command, with variables of its own. The second text is the same with the certificate's files of the first caller, which alone
// are sure to exist. Both are empty for a plan without callers. No value of a variable is in them, and none that the plan writes out as a
// credential.
func (p *Plan) AnotherCaller() (entry, readable string) {
	if len(p.Callers) == 0 {
		return "", ""
	}
	first := p.Callers[0]
	a := another{caller: first.Name, name: p.freeCaller(), variables: len(first.Variables) > 0}
	entry = oneLine(a.name, a.callerLike(first.source))
	a.keepsFiles = true
	return entry, oneLine(a.name, a.callerLike(first.source))
}

// RenewedCaller is the entry of the first caller with a log-in in place of what identifies it, in the header in which that is. It is empty
// where no header identifies it.
func (p *Plan) RenewedCaller() string {
	if len(p.Callers) == 0 {
		return ""
	}
	first := p.Callers[0]
	headers := field(first.source, "headers")
	if headers.Kind() != strict.Mapping || len(headers.Entries()) == 0 {
		return ""
	}
	entries := headers.Entries()
	own := max(0, slices.IndexFunc(entries, func(e strict.Entry) bool { return len(e.Value.Variables()) > 0 }))
	header, before := entries[own], ""
	source := header.Value.Scalar().Source()
	if at := strings.LastIndex(source, " "); at > 0 {
		before = source[:at+1]
	}
	return fmt.Sprintf(`%s: {login: {request: POST /login, body: {user: %[1]s}, capture: {token: $.token}}, headers: {%s: "%s{{token}}"}}`,
		first.Name, header.Key.Value, before)
}

// freeCaller is a name that no caller has.
func (p *Plan) freeCaller() string {
	name := "other"
	for i := 2; slices.ContainsFunc(p.Callers, func(c Caller) bool { return c.Name == name }); i++ {
		name = fmt.Sprintf("other-%d", i)
	}
	return name
}

// another writes a caller that is like one that is there.
type another struct {
	// caller is the one that is there, name the new one's.
	caller, name string
	// variables is true where variables say who the caller is, so that plain texts beside them are the same for everybody.
	variables bool
	// keepsFiles leaves the paths of certificates as they are.
	keepsFiles bool
	// changed is true when anything differs.
	changed bool
}

func (a *another) callerLike(source strict.Value) *yaml.Node {
	a.changed = false
	out := a.value(source, "", nil)
	if command := commandIn(out); !a.changed && command != nil {
		command.Content = append(command.Content, written(a.name))
	}
	return out
}

// textFor is what a plain text becomes, by the name of its field.
type textFor func(name, text string) string

// value is a value of a caller for the other one; as is for the plain texts in it, nil where its fields say what they are.
func (a *another) value(v strict.Value, name string, as textFor) *yaml.Node {
	switch v.Kind() {
	case strict.Mapping:
		out := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, e := range v.Entries() {
			out.Content = append(out.Content, written(e.Key.Value), a.value(e.Value, e.Key.Value, a.within(e.Key.Value, as)))
		}
		return out
	case strict.List:
		out := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v.List() {
			out.Content = append(out.Content, a.value(item, name, as))
		}
		return out
	case strict.String:
		was := v.Text().Source()
		is := was
		if as != nil {
			is = as(name, was)
		}
		if variables.MatchString(was) && !(a.keepsFiles && (name == "cert" || name == "key")) {
			is = variables.ReplaceAllStringFunc(was, a.variable)
		}
		a.changed = a.changed || is != was
		return written(is)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: v.Scalar().Source()}
}

var variables = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}`)

// within is what plain texts become below a field of a caller, of its log-in or of its command.
func (a *another) within(field string, as textFor) textFor {
	switch {
	case as != nil:
		return as
	case field == "headers":
		return a.identity
	case field == "body", field == "form":
		return a.login
	case field == "vars":
		return a.own
	case field == "cert", field == "key":
		return a.file
	case field == "exec":
		return a.argument
	case field == "login", field == "sign":
		return nil
	}
	return func(_, text string) string { return text }
}

// variable is a variable of the other one's own: its name begins with that of the caller. A default would be the first one's.
func (a *another) variable(source string) string {
	name, _, _ := strings.Cut(source[2:len(source)-1], ":-")
	return "${" + upper(a.name) + "_" + strings.TrimPrefix(name, upper(a.caller)+"_") + "}"
}

// identity is a variable for a text that says who the caller is; a scheme such as Bearer stays before it.
func (a *another) identity(name, text string) string {
	if a.variables && !credentialName.MatchString(name+": ") {
		return text
	}
	if scheme, _, has := strings.Cut(text, " "); has && strings.EqualFold(name, "Authorization") && !strings.Contains(text, "{{") {
		return scheme + " ${" + upper(a.name) + "_TOKEN}"
	}
	return a.own(name, text)
}

// login is a variable for what a log-in says of who logs in: anything but how, which RFC 6749 and those after it say in parameters of these
// names.
func (a *another) login(name, text string) string {
	if slices.Contains([]string{"grant_type", "scope", "audience", "resource"}, name) {
		return text
	}
	return a.own(name, text)
}

// own is a variable in place of a text that has no placeholder.
func (a *another) own(name, text string) string {
	if strings.Contains(text, "{{") {
		return text
	}
	return "${" + upper(a.name) + "_" + upper(name) + "}"
}

func (a *another) file(_, path string) string {
	if a.keepsFiles {
		return path
	}
	dir, base := filepath.Split(path)
	if strings.Contains(base, a.caller) {
		return dir + strings.Replace(base, a.caller, a.name, 1)
	}
	return dir + a.name + "-" + base
}

func (a *another) argument(_, text string) string {
	if text == a.caller {
		return a.name
	}
	return text
}

// commandIn is the command that gives or signs a caller's credentials; nil without one.
func commandIn(caller *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(caller.Content); i += 2 {
		switch value := caller.Content[i+1]; {
		case caller.Content[i].Value == "exec" && value.Kind == yaml.SequenceNode:
			return value
		case caller.Content[i].Value == "sign" && value.Kind == yaml.MappingNode:
			return commandIn(value)
		}
	}
	return nil
}

// upper is a name as part of a variable's.
func upper(name string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name))
}

// written is a text as a plan has it in one line: in quotes where braces would be read as something else.
func written(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if strings.ContainsAny(text, "{}\n") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// oneLine is a field in one line; empty where it cannot be written.
func oneLine(name string, value *yaml.Node) string {
	out, err := yaml.Dump(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{written(name), value}}, yaml.WithLineWidth(-1))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(out), "\n")
}

package openapi

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// credentials are what one way to authenticate adds to a request.
type credentials struct {
	// name are the schemes, for people; empty for none.
	name    string
	headers []draft.Header
	query   []string
}

// security are the credentials of an operation: the first of its alternatives that can be written.
func (b *drafter) security(o *operation) credentials {
	list := b.d.firstOf("security", o.node, b.d.root)
	for _, alternative := range items(list) {
		if found, ok := b.alternative(alternative); ok {
			return found
		}
	}
	return credentials{}
}

func (b *drafter) alternative(n *yaml.Node) (credentials, bool) {
	var out credentials
	var names, cookies []string
	for name := range members(n) {
		scheme := b.scheme(name)
		if scheme == nil || !b.addScheme(&out, &cookies, name.Value, scheme) {
			return credentials{}, false
		}
		names = append(names, name.Value)
	}
	if len(cookies) > 0 {
		out.headers = append(out.headers, draft.Header{Name: "Cookie", Value: draft.Text{Value: strings.Join(cookies, "; ")}})
	}
	out.name = strings.Join(names, " and ")
	return out, true
}

func (b *drafter) scheme(name *yaml.Node) *yaml.Node {
	n := b.d.get(b.d.section("components", "securitySchemes"), name.Value)
	if b.d.swagger {
		n = b.d.get(b.d.section("securityDefinitions"), name.Value)
	}
	if n = b.d.deref(n); n == nil {
		b.d.leave(name, "security scheme %q is not described: left out", name.Value)
	}
	return n
}

// addScheme adds what a scheme sends; false for one that a plan cannot send.
func (b *drafter) addScheme(c *credentials, cookies *[]string, name string, n *yaml.Node) bool {
	header := func(name, value string) {
		c.headers = append(c.headers, draft.Header{Name: name, Value: draft.Text{Value: value}})
	}
	kind, http := text(b.d.get(n, "type")), strings.ToLower(text(b.d.get(n, "scheme")))
	switch {
	case kind == "basic", kind == "http" && http == "basic":
		header("Authorization", "Basic "+variable(name, "BASIC"))
	case kind == "http" && (http == "bearer" || http == ""), kind == "oauth2", kind == "openIdConnect":
		header("Authorization", "Bearer "+variable(name, "TOKEN"))
	case kind == "apiKey":
		return b.addAPIKey(c, cookies, name, n)
	case kind == "mutualTLS":
	default:
		b.d.leave(n, "security scheme %q of type %s %s cannot be written into a plan: left out", name, kind, http)
		return false
	}
	return true
}

func (b *drafter) addAPIKey(c *credentials, cookies *[]string, name string, n *yaml.Node) bool {
	field, value := text(b.d.get(n, "name")), variable(name, "KEY")
	switch in := text(b.d.get(n, "in")); {
	case in == "header" && isToken(field):
		c.headers = append(c.headers, draft.Header{Name: field, Value: draft.Text{Value: value}})
	case in == "query" && field != "":
		c.query = append(c.query, url.QueryEscape(field)+"="+value)
	case in == "cookie" && isToken(field):
		*cookies = append(*cookies, field+"="+value)
	default:
		b.d.leave(n, "expected the header, query parameter or cookie of security scheme %q, found none: left out", name)
		return false
	}
	return true
}

var notVariable = regexp.MustCompile(`[^A-Z0-9]+`)

// variable is the ${VARIABLE} that holds a credential: the scheme's name, ended by what it is.
func variable(name, kind string) string {
	name = strings.Trim(notVariable.ReplaceAllString(strings.ToUpper(strings.Join(words(name), "_")), "_"), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = strings.TrimSuffix("API_"+name, "_")
	}
	for _, known := range []string{"KEY", "TOKEN", "SECRET", "BASIC", "COOKIE", "SESSION"} {
		if name == known || strings.HasSuffix(name, "_"+known) {
			return "${" + name + "}"
		}
	}
	return "${" + name + "_" + kind + "}"
}

var tokens = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// isToken is true for the name of a header (RFC 9110, section 5.6.2).
func isToken(s string) bool { return tokens.MatchString(s) }

// chooseCaller makes what most operations want the default caller.
func (b *drafter) chooseCaller() {
	counts := map[string]int{}
	var order []credentials
	for _, o := range b.d.operations {
		if !o.Unsafe() {
			continue
		}
		c := b.security(o)
		if len(c.headers) == 0 {
			continue
		}
		if counts[c.name] == 0 {
			order = append(order, c)
		}
		counts[c.name]++
	}
	if len(order) == 0 {
		return
	}
	b.caller = slices.MaxFunc(order, func(x, y credentials) int { return counts[x.name] - counts[y.name] })
	first := b.caller.headers[0]
	other := strings.Replace(first.Value.Value, "${", "${OTHER_", 1)
	comment := fmt.Sprintf("credentials of the scheme %s, from the environment; a second caller, another user, lets more scenarios run: other: {headers: {%s: %q}}", b.caller.name, first.Name, other)
	for _, h := range b.caller.headers {
		if strings.HasPrefix(h.Value.Value, "Basic ") {
			comment += "; Basic takes the base64 of user:password"
		}
	}
	b.draft.Callers = []draft.Caller{{Name: "user", Headers: b.caller.headers, Comment: comment}}
}

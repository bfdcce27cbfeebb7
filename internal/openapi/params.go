package openapi

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// paramValue is a value of a parameter, not yet escaped for a plan, with the reason where it was made up. Of a list it is the first
// item, which is written the same in every style.
func (b *drafter) paramValue(p param) draft.Text {
	n := b.d.sampler(false).value([]*yaml.Node{p.schema}, p.name, p.example, 1)
	if n != nil && n.Kind == yaml.SequenceNode && len(n.Content) > 0 && !p.encoded {
		n = n.Content[0]
	}
	switch {
	case n == nil:
		return draft.Text{Value: fallbackText, Guess: whySample}
	case n.Kind == yaml.ScalarNode:
		return draft.Text{Value: unescape(n.Value), Guess: reason(n)}
	}
	return draft.Text{Value: unescape(jsonText(n)), Guess: reason(n)}
}

// reason is why a value was guessed; empty when the document gives it.
func reason(n *yaml.Node) string {
	for _, part := range append([]*yaml.Node{n}, n.Content...) {
		if why, ok := strings.CutPrefix(part.LineComment, "guess: "); ok {
			return why
		}
	}
	return ""
}

// query are the parameters that a request must have, but the key.
func (b *drafter) query(o *operation, comments *[]string) []string {
	var out []string
	for _, p := range o.params {
		if p.in != "query" || !p.required || p.isKey() {
			continue
		}
		if secretNames.MatchString(p.name) {
			out = append(out, url.QueryEscape(p.name)+"="+variable(p.name, "KEY"))
			continue
		}
		if n := b.d.sampler(false).value([]*yaml.Node{p.schema}, p.name, p.example, 1); p.style == "deepObject" && n != nil && n.Kind == yaml.MappingNode {
			form := object()
			b.flatten(form, p.name, n, true)
			for i := 0; i+1 < len(form.Content); i += 2 {
				out = append(out, queryPart(form.Content[i].Value, unescape(form.Content[i+1].Value)))
			}
			continue
		}
		value := b.paramValue(p)
		if value.Guess != "" {
			*comments = append(*comments, "guess: query parameter "+p.name+": "+value.Guess)
		}
		out = append(out, queryPart(p.name, value.Value))
	}
	return out
}

// queryPart is a parameter in a URL; no braces are left in it that a plan could read.
func queryPart(name, value string) string {
	return url.QueryEscape(name) + "=" + url.QueryEscape(value)
}

// secretNames are parameters that hold a credential, where no security scheme says so.
var secretNames = regexp.MustCompile(`(?i)^(x-)?(api[-_]?key|.*(access|auth|api)[-_]?token|authorization|.*secret)$`)

// headers are those that a request must have, but the key, and those that the caller sends.
func (b *drafter) headers(o *operation, c credentials) []draft.Header {
	var out []draft.Header
	if c.name != b.caller.name {
		out = slices.Clone(c.headers)
	}
	sent := append(slices.Clone(c.headers), b.caller.headers...)
	var cookies []string
	for _, p := range o.params {
		known := slices.ContainsFunc(sent, func(h draft.Header) bool { return strings.EqualFold(h.Name, p.name) })
		switch {
		case !p.required || p.isKey() || known:
		case p.in == "cookie" && isToken(p.name):
			cookies = append(cookies, p.name+"="+b.headerValue(p).Value)
		case p.in == "header" && isToken(p.name) && !slices.Contains(ownHeaders, strings.ToLower(p.name)):
			out = append(out, draft.Header{Name: p.name, Value: b.headerValue(p)})
		}
	}
	if len(cookies) > 0 {
		out = append(out, draft.Header{Name: "Cookie", Value: draft.Text{Value: strings.Join(cookies, "; "), Guess: whySample}})
	}
	return out
}

// ownHeaders follow from the request, or from its body.
var ownHeaders = []string{"content-type", "content-length", "connection", "expect", "te", "trailer", "transfer-encoding", "upgrade", "host"}

func (b *drafter) headerValue(p param) draft.Text {
	t := b.d.schema(p.schema)
	w := words(p.name)
	perRequest := len(w) > 1 && slices.Contains(w, "request") && (t.format == "uuid" || t.loose() && len(t.patterns) == 0 && t.enum == nil && p.example == nil)
	switch {
	case secretNames.MatchString(p.name):
		return draft.Text{Value: variable(p.name, "KEY")}
	case perRequest && t.maxLength < 0:
		return draft.Text{Value: "{{send.uuid}}", Guess: "it names one request, so each has its own"}
	case t.format == "uuid" && p.example == nil:
		return draft.Text{Value: "{{uuid}}", Guess: "an id of its own for each key"}
	}
	value := b.paramValue(p)
	value.Value = escape(oneLine(value.Value))
	return value
}

// oneLine is a text without line breaks and control characters, which no header can hold.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// target is the base URL.
func (b *drafter) target() draft.Text {
	const unknown = "http://127.0.0.1:8080"
	if b.d.swagger {
		return b.swaggerTarget(unknown)
	}
	for _, server := range items(b.d.get(b.d.root, "servers")) {
		address := text(b.d.get(server, "url"))
		for name, v := range members(b.d.get(server, "variables")) {
			value := text(b.d.get(v, "default"))
			if value == "" {
				value = text(b.d.firstItem(v, "enum"))
			}
			address = strings.ReplaceAll(address, "{"+name.Value+"}", value)
		}
		switch u, err := url.Parse(address); {
		case err != nil || strings.ContainsAny(address, "{} "):
			b.d.leave(server, "the server's URL %q has parts that the document does not give: left out", address)
		case u.Scheme != "" && u.Host != "" && u.User == nil:
			u.RawQuery, u.Fragment = "", ""
			return draft.Text{Value: strings.TrimRight(escape(u.String()), "/")}
		case u.Host != "" && u.User == nil:
			return draft.Text{Value: strings.TrimRight("https:"+escape(address), "/"), Guess: "the document gives no scheme"}
		case u.Host == "" && address != "":
			return draft.Text{Value: strings.TrimRight(unknown+"/"+strings.Trim(escape(u.Path), "/"), "/"), Guess: "the document gives the path only"}
		}
	}
	return draft.Text{}
}

// firstURL is that of the first of several servers.
func (d *Document) firstURL(servers *yaml.Node) *yaml.Node {
	for _, server := range items(servers) {
		return d.get(server, "url")
	}
	return nil
}

func (d *Document) firstItem(n *yaml.Node, name string) *yaml.Node {
	if list := items(d.get(n, name)); len(list) > 0 {
		return list[0]
	}
	return nil
}

func (b *drafter) swaggerTarget(unknown string) draft.Text {
	host, base := text(b.d.get(b.d.root, "host")), text(b.d.get(b.d.root, "basePath"))
	scheme := "https"
	if schemes := texts(b.d.get(b.d.root, "schemes")); len(schemes) > 0 && !slices.Contains(schemes, "https") {
		scheme = "http"
	}
	path := strings.TrimRight("/"+strings.Trim(base, "/"), "/")
	address := scheme + "://" + host + path
	u, err := url.Parse(address)
	switch {
	case host != "" && (err != nil || u.Host == "" || strings.ContainsAny(address, "{} ")):
		b.d.leave(b.d.get(b.d.root, "host"), "expected a host, found %q: left out", host)
		return draft.Text{}
	case host != "":
		return draft.Text{Value: escape(address)}
	case base != "":
		return draft.Text{Value: unknown + escape(path), Guess: "the document gives the path only"}
	}
	return draft.Text{}
}

package requests

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
	"retrysafe/internal/strict"
)

// IsPostman is true for a text that looks like a Postman collection of version 2.0 or 2.1.
func IsPostman(data []byte) bool {
	head := data[:min(len(data), start)]
	return bytes.Contains(head, []byte("schema.getpostman.com/json/collection/v2")) || bytes.Contains(head, []byte("schema.postman.com/json/collection/v2")) ||
		bytes.Contains(head, []byte(`"_postman_id"`)) && bytes.Contains(data, []byte(`"item"`))
}

// Postman makes a draft of a collection. Variables that have values there are filled in, but for secrets; scripts are not
// executed. Name is the file's, for messages. Errors are strict.Errors with line and column.
func Postman(name string, data []byte) (draft.Draft, error) {
	root, err := parseJSON(name, data)
	if err != nil {
		return draft.Draft{}, err
	}
	if inner := get(root, "collection"); inner != nil { // as Postman's API wraps it
		root = inner
	}
	items := get(root, "item")
	if items == nil || items.Kind != yaml.SequenceNode {
		return draft.Draft{}, expected(name, root, "a Postman collection with a list of items at item")
	}
	p := &postman{source: source{name: name, title: textOf(get(root, "info", "name"))}, vars: newVariables()}
	p.variables(get(root, "variable"))
	if p.items(items, "", get(root, "auth")); p.err != nil {
		return draft.Draft{}, p.err
	}
	p.script(root, "the collection")
	p.secrets = p.vars.hidden()
	return infer(p.source), nil
}

type postman struct {
	source
	vars *variables
	err  error
}

func (p *postman) variables(list *yaml.Node) {
	for _, n := range itemsOf(list) {
		name := textOf(get(n, "key"))
		if name == "" {
			name = textOf(get(n, "id"))
		}
		if name == "" || textOf(get(n, "disabled")) == "true" {
			continue
		}
		p.vars.values[name] = clean(textOf(get(n, "value")))
		p.vars.secret[name] = textOf(get(n, "type")) == "secret"
	}
}

// script notes that scripts exist.
func (p *postman) script(n *yaml.Node, whose string) {
	events := itemsOf(get(n, "event"))
	for _, e := range events {
		if len(strings.TrimSpace(lines(get(e, "script", "exec")))) > 0 {
			p.leave(p.pos(e), "the %s script of %s is not executed", oneLine(textOf(get(e, "listen"))), oneLine(whose))
		}
	}
}

func lines(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.SequenceNode {
		return textOf(n)
	}
	var out []string
	for _, line := range n.Content {
		out = append(out, textOf(line))
	}
	return strings.Join(out, "\n")
}

func (p *postman) pos(n *yaml.Node) strict.Pos {
	return strict.Pos{File: p.name, Line: n.Line, Col: n.Column}
}

// items reads requests and folders; auth is what those without their own have.
func (p *postman) items(list *yaml.Node, folder string, auth *yaml.Node) {
	for _, n := range itemsOf(list) {
		name := textOf(get(n, "name"))
		own := auth
		if a := get(n, "auth"); a != nil && a.Kind == yaml.MappingNode {
			own = a
		}
		switch in := get(n, "request"); {
		case get(n, "item") != nil:
			p.items(get(n, "item"), name, own)
		case in == nil:
			p.fail(n, "an item with a request or with items")
		case in.Kind == yaml.ScalarNode && in.Tag == "!!str":
			p.requests = append(p.requests, p.authorized(request{at: p.pos(n), name: name, method: "GET", url: p.vars.fill(in.Value)}, own))
		case in.Kind == yaml.MappingNode:
			p.request(n, in, name, own)
		default:
			p.fail(in, "a request")
		}
		p.script(n, name)
	}
}

func (p *postman) fail(n *yaml.Node, what string) {
	if p.err == nil {
		p.err = expected(p.name, n, what)
	}
}

func (p *postman) request(item, in *yaml.Node, name string, auth *yaml.Node) {
	r := request{at: p.pos(item), name: name, method: textOf(get(in, "method"))}
	if r.method == "" {
		r.method = "GET"
	}
	if a := get(in, "auth"); a != nil && a.Kind == yaml.MappingNode {
		auth = a
	}
	r.url = p.url(get(in, "url"))
	if r.url == "" {
		p.leave(r.at, "%s has no URL", oneLine(name))
		return
	}
	switch headers := get(in, "header"); {
	case headers != nil && headers.Kind == yaml.ScalarNode: // lines, as version 2.0 allows
		for line := range strings.SplitSeq(textOf(headers), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok {
				r.headers = append(r.headers, pair{strings.TrimSpace(name), p.vars.fill(strings.TrimSpace(value))})
			}
		}
	default:
		r.headers = p.pairs(headers)
	}
	p.body(&r, get(in, "body"))
	for _, example := range itemsOf(get(item, "response")) {
		a := &answer{}
		fmt.Sscan(textOf(get(example, "code")), &a.status)
		if a.json, _ = parseJSON("", []byte(textOf(get(example, "body")))); a.status >= 200 && a.status < 300 {
			r.answer = a
			break
		}
	}
	p.requests = append(p.requests, p.authorized(r, auth))
}

// pairs are the names and values of a list that are not switched off.
func (p *postman) pairs(list *yaml.Node) []pair {
	var pairs []pair
	for _, n := range itemsOf(list) {
		name := p.vars.fill(textOf(get(n, "key")))
		if textOf(get(n, "disabled")) != "true" && name != "" {
			pairs = append(pairs, pair{name, p.vars.fill(textOf(get(n, "value")))})
		}
	}
	return pairs
}

// url is the whole URL: a text, or an object of its parts. Path parameters (":id") have their values, or are variables.
func (p *postman) url(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.MappingNode {
		return p.vars.fill(textOf(n))
	}
	raw := textOf(get(n, "raw"))
	base, query, hasQuery := strings.Cut(raw, "?")
	if host := joined(get(n, "host"), "."); host != "" {
		base = host
		if scheme := textOf(get(n, "protocol")); scheme != "" {
			base = scheme + "://" + base
		}
		if port := textOf(get(n, "port")); port != "" {
			base += ":" + port
		}
		if path := joined(get(n, "path"), "/"); path != "" {
			base += "/" + strings.TrimPrefix(path, "/")
		}
		query, hasQuery = "", false
	}
	parameters := map[string]string{}
	for _, v := range itemsOf(get(n, "variable")) {
		name := textOf(get(v, "key"))
		if name == "" {
			name = textOf(get(v, "id"))
		}
		parameters[name] = textOf(get(v, "value"))
	}
	segments := strings.Split(base, "/")
	for i, s := range segments {
		name, ok := strings.CutPrefix(s, ":")
		if value := parameters[name]; ok && name != "" && value != "" {
			segments[i] = p.vars.fill(value)
		} else if ok && name != "" {
			segments[i] = variable(name)
		} else {
			segments[i] = p.vars.fill(s)
		}
	}
	out := strings.Join(segments, "/")
	switch list := get(n, "query"); {
	case list != nil && list.Kind == yaml.SequenceNode:
		if pairs := p.pairs(list); len(pairs) > 0 {
			out += "?" + encodeForm(pairs)
		}
	case hasQuery:
		out += "?" + p.vars.fill(query)
	}
	return out
}

// joined is a text, or the texts of a list put together.
func joined(n *yaml.Node, separator string) string {
	if n == nil || n.Kind != yaml.SequenceNode {
		return textOf(n)
	}
	var parts []string
	for _, item := range n.Content {
		if text := textOf(get(item, "value")); item.Kind == yaml.MappingNode {
			parts = append(parts, text)
		} else {
			parts = append(parts, textOf(item))
		}
	}
	return strings.Join(parts, separator)
}

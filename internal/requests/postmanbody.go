package requests

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// body reads the body in the mode that is chosen.
func (p *postman) body(r *request, n *yaml.Node) {
	if n == nil || textOf(get(n, "disabled")) == "true" {
		return
	}
	switch mode := textOf(get(n, "mode")); mode {
	case "raw":
		r.body.text = p.vars.fill(textOf(get(n, "raw")))
		language := textOf(get(n, "options", "raw", "language"))
		if media := map[string]string{"json": jsonType, "xml": "application/xml", "html": "text/html", "javascript": "application/javascript"}[language]; media != "" {
			r.body.media = media
		}
	case "urlencoded":
		if list := get(n, "urlencoded"); list != nil && list.Kind == yaml.ScalarNode {
			r.body.text, r.body.media = p.vars.fill(list.Value), formType
		} else {
			r.body.form, r.body.media = p.pairs(list), formType
		}
	case "formdata":
		for _, f := range itemsOf(get(n, "formdata")) {
			if textOf(get(f, "disabled")) == "true" {
				continue
			}
			field := part{name: p.vars.fill(textOf(get(f, "key"))), value: p.vars.fill(textOf(get(f, "value"))), media: clean(textOf(get(f, "contentType")))}
			if textOf(get(f, "type")) == "file" {
				src := joined(get(f, "src"), ",")
				field.file, field.value = "file", ""
				if src != "" {
					field.file = src[strings.LastIndexAny(src, `/\`)+1:]
				}
			}
			r.body.parts = append(r.body.parts, field)
		}
	case "file":
		src := textOf(get(n, "file", "src"))
		if src == "" {
			src = "FILE"
		}
		r.note("the request sends the file %s: say `file: %[1]s` here, beside the plan", shown(src[strings.LastIndexAny(src, `/\`)+1:]))
	case "graphql":
		p.graphql(r, get(n, "graphql"))
	case "":
	default:
		r.note("the body has the mode %s, which is not known: write it here", shown(mode))
	}
}

// graphql is the JSON that Postman makes of a document and its variables.
func (p *postman) graphql(r *request, n *yaml.Node) {
	values := p.vars.fill(textOf(get(n, "variables")))
	r.body.media = jsonType
	r.body.text = graphqlBody(p.vars.fill(textOf(get(n, "query"))), textOf(get(n, "operationName")), values, func() {
		r.note("the variables of the GraphQL operation are no JSON object, and are left out")
	})
}

// authorized adds what the collection, the folder or the request says of who asks.
func (p *postman) authorized(r request, auth *yaml.Node) request {
	if auth == nil {
		return r
	}
	kind := textOf(get(auth, "type"))
	value := func(name string) string { return p.vars.fill(setting(get(auth, kind), name)) }
	switch kind {
	case "", "noauth":
	case "bearer":
		r.addCredential("Authorization", "Bearer "+value("token"))
	case "basic":
		r.user = value("username") + ":" + value("password")
	case "apikey":
		name := value("key")
		if name == "" {
			name = "X-Api-Key"
		}
		if value("in") == "query" {
			mark := "?"
			if strings.Contains(r.url, "?") {
				mark = "&"
			}
			secret := value("value")
			r.secrets = append(r.secrets, secret)
			if literalOf(secret) != "" {
				secret = variable(name)
			}
			r.url += mark + encodeForm([]pair{{name, secret}})
			return r
		}
		r.addCredential(name, value("value"))
		r.credential = name
	case "oauth2":
		token := value("accessToken")
		if token == "" {
			token = variable("ACCESS_TOKEN")
		}
		r.addCredential("Authorization", "Bearer "+token)
	default:
		r.note("the source signs in by %s, which the plan does not say: see `callers`", shown(kind))
	}
	return r
}

// addCredential adds a header that the request does not have by itself; of an empty value it makes a variable.
func (r *request) addCredential(name, value string) {
	if r.header(name) != "" {
		return
	}
	if before, found := strings.CutSuffix(value, "Bearer "); found {
		value = before + "Bearer " + variable("TOKEN")
	} else if value == "" {
		value = variable(name)
	}
	r.headers = append(r.headers, pair{name, value})
}

// setting is a value of a kind of authentication: version 2.1 has a list of names and values, 2.0 an object.
func setting(n *yaml.Node, name string) string {
	for _, item := range itemsOf(n) {
		if textOf(get(item, "key")) == name {
			return textOf(get(item, "value"))
		}
	}
	return textOf(get(n, name))
}

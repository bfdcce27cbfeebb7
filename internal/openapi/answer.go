package openapi

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// wrappers are members that hold the answer proper.
var wrappers = []string{"data", "result", "results", "item", "attributes", "response", "payload", "meta", "pagination", "page", "paging", "pageinfo"}

// mostFields is how many members of an answer are looked at.
const mostFields = 100

// field is a member of an answer.
type field struct {
	// path is its JSONPath, name its words in small letters, joined.
	path, name string
	of         *schema
}

type answerKey struct {
	of       *schema
	resource string
}

// fields are the members of an answer: its own, then those within a wrapper or within a member named as the resource.
func (b *drafter) fields(t *schema, resource string) []field {
	key := answerKey{t, resource}
	if found, known := b.found[key]; known {
		return found
	}
	var found []field
	add := func(at string, of *schema) {
		for _, p := range of.properties[:min(len(of.properties), mostFields)] {
			found = append(found, field{memberPath(at, p.name), strings.Join(words(p.name), ""), b.d.schema(p.nodes...)})
		}
	}
	add("$", t)
	for _, f := range slices.Clone(found) {
		if slices.Contains(wrappers, f.name) || singular(f.name) == strings.ReplaceAll(resource, "_", "") {
			add(f.path, f.of)
		}
	}
	b.found[key] = found
	return found
}

// idPath is where the answer of an operation has the id of what it made, for a parameter of that name. Known is false where the
// document does not describe the answer, ok where it describes one without an id.
func (b *drafter) idPath(o *operation, param string) (path string, known, ok bool) {
	n, described := b.d.answer(o)
	if !described || n == nil {
		return "$.id", false, b.mayAnswer(o)
	}
	t := b.d.schema(n)
	if len(t.properties) == 0 {
		return "$.id", false, t.is("object") || len(t.types) == 0 && len(t.items) == 0
	}
	resource := o.resource()
	names := idNames(param, resource)
	best := len(names)
	for _, f := range b.fields(t, resource) {
		if i := slices.Index(names, f.name); i >= 0 && i < best && !f.of.is("object") && !f.of.is("array") {
			best, path = i, f.path
		}
	}
	return path, true, path != ""
}

// idNames are the names that an id may have, the likeliest first: words in small letters, joined.
func idNames(param, resource string) []string {
	w := words(param)
	joined := strings.Join(w, "")
	names := []string{joined}
	if len(w) > 0 && slices.Contains([]string{"name", "slug", "code", "number", "login", "username", "handle"}, w[len(w)-1]) {
		names = append(names, w[len(w)-1])
	}
	resource = strings.ReplaceAll(resource, "_", "")
	names = append(names, "id", resource+"id", "uuid", "guid", "gid", resource+"uuid", "identifier", "key")
	return append(names, joined+"id", resource)
}

// mayAnswer is false for an operation whose success has no content, says the document.
func (b *drafter) mayAnswer(o *operation) bool {
	responses := b.d.get(o.node, "responses")
	for _, status := range []string{"204", "205"} {
		if b.d.get(responses, status) != nil && b.d.get(responses, "200") == nil && b.d.get(responses, "201") == nil {
			return false
		}
	}
	return true
}

// link is how the answer of an operation leads to another one.
type link struct {
	from         *operation
	param, where string
}

func (b *drafter) readLinks(byID map[string]*operation) {
	byNode := map[*yaml.Node]*operation{}
	for _, o := range b.d.operations {
		byNode[o.node] = o
	}
	for _, from := range b.d.operations {
		if from.Method != "POST" {
			continue
		}
		for status, r := range members(b.d.get(from.node, "responses")) {
			if !strings.HasPrefix(status.Value, "2") || b.d.get(r, "links") == nil && b.d.reference(r) == "" {
				continue
			}
			for _, n := range members(b.d.get(b.d.deref(r), "links")) {
				b.readLink(from, b.d.deref(n), byID, byNode)
			}
		}
	}
}

func (b *drafter) readLink(from *operation, n *yaml.Node, byID map[string]*operation, byNode map[*yaml.Node]*operation) {
	to := byID[text(b.d.get(n, "operationId"))]
	if ref := text(b.d.get(n, "operationRef")); ref != "" {
		target, why := b.d.lookup(ref)
		if target == nil {
			b.d.leave(n, "operationRef %s %s: left out", ref, why)
			return
		}
		to = byNode[target]
	}
	if to == nil {
		return
	}
	for name, expression := range members(b.d.get(n, "parameters")) {
		if where := captureOf(text(expression)); where != "" {
			b.links[to] = append(b.links[to], link{from, strings.TrimPrefix(name.Value, "path."), where})
		}
	}
}

// captureOf is where a plan finds what a runtime expression of the document names; empty for what it cannot find.
func captureOf(expression string) string {
	expression = strings.TrimSuffix(strings.TrimPrefix(expression, "{"), "}")
	if pointer, ok := strings.CutPrefix(expression, "$response.body#/"); ok {
		path := "$"
		for _, name := range strings.Split(pointer, "/") {
			path = memberPath(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
		return path
	}
	if name, ok := strings.CutPrefix(expression, "$response.header."); ok && isToken(name) {
		return "header " + name
	}
	return ""
}

// cleanup is the DELETE of what an operation made; nil where there is none, or where it needs more than the answer holds.
func (b *drafter) cleanup(o *operation, c *chain) *draft.Step {
	segments := len(o.segments)
	if slices.Contains(makers, o.segments[segments-1]) {
		segments--
	}
	remover := b.routes[strings.TrimPrefix(o.route(segments)+"/{}", "/")]["DELETE"]
	if remover == nil || remover.body != nil && remover.body.required {
		return nil
	}
	step := &draft.Step{Guess: "DELETE " + remover.Path + " looks like what removes it"}
	path := ""
	for i, segment := range remover.segments {
		path += "/" + segment
		if !isParam(segment) {
			if paramName.MatchString(segment) {
				return nil
			}
			continue
		}
		name := strings.Trim(segment, "{}")
		where, known, ok := b.idPath(o, name)
		last := i == len(remover.segments)-1
		if !last {
			where, ok = b.parentPath(o, name, singular(remover.segments[max(i-1, 0)]))
			known = true
		}
		if !ok {
			return nil
		}
		if !known {
			step.Guess += ", and the document does not say where the answer has its id"
		}
		capture := captureFor(name, last)
		if slices.ContainsFunc(step.Capture, func(have draft.Capture) bool { return have.Name == capture }) {
			return nil
		}
		step.Capture = append(step.Capture, draft.Capture{Name: capture, From: where})
		path = strings.TrimSuffix(path, segment) + "{{" + capture + "}}"
	}
	var notes []string
	security := b.security(remover)
	if query := append(b.query(remover, &notes), security.query...); len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	for _, h := range b.headers(remover, security) {
		if strings.Contains(h.Value.Value, "{{") {
			return nil // nothing is drawn for a clean-up
		}
		step.Headers = append(step.Headers, h)
	}
	step.Request = "DELETE " + path
	return step
}

// captureFor is the name under which a clean-up captures a parameter.
func captureFor(param string, last bool) string {
	if last {
		return "id"
	}
	name := strings.Join(words(param), "_")
	if name == "" || name == "id" || slices.Contains([]string{"marker", "key", "uuid", "email", "now"}, name) {
		return "parent_" + name
	}
	return name
}

// parentPath is where an answer names what the resource belongs to: the parameter, or the id of the parent.
func (b *drafter) parentPath(o *operation, param, parent string) (path string, ok bool) {
	n, _ := b.d.answer(o)
	if n == nil {
		return "", false
	}
	joined := strings.Join(words(param), "")
	parent = strings.ReplaceAll(parent, "_", "")
	wanted := []string{joined, joined + "id", parent + "id"}
	if joined == "id" {
		wanted = wanted[2:]
	}
	for _, f := range b.fields(b.d.schema(n), o.resource()) {
		if slices.Contains(wanted, f.name) && !f.of.is("object") && !f.of.is("array") {
			return f.path, true
		}
	}
	return "", false
}

package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// state is the name of what a GET of the path of an operation shows, before and after; empty where there is none that is sure to stay as it
// is when the operation is repeated. The path needs an id, and every id in it must be one that the set-up captures: a made-up one would
// be corrected in the request, and stay wrong in the state, which then sees nothing.
func (b *drafter) state(c *chain, o *operation, body draft.Body) string {
	reader := b.routes[o.route(len(o.segments))]["GET"]
	if reader == nil || b.later(o) || saysVersion(body.JSON) || listsChanges(o, body.JSON) || !b.still(reader) {
		return ""
	}
	var notes []string
	before := len(c.steps)
	path := c.path(reader, &notes)
	ids, security := strings.Count(path, "{{"), b.security(reader)
	query := append(b.query(reader, &notes), security.query...)
	if len(c.steps) > before || len(notes) > 0 || len(b.headers(reader, security)) > 0 || ids == 0 || ids != len(paramName.FindAllString(reader.Path, -1)) {
		c.steps = c.steps[:before]
		return "" // it needs more than the endpoint has
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return b.addState(draft.State{Request: "GET " + path, Guess: fmt.Sprintf("GET %s shows what is behind the path", reader.Path)}, reader.resource())
}

// addState is the name of a state, of an earlier one where that asks the same.
func (b *drafter) addState(s draft.State, resource string) string {
	for _, have := range b.draft.States {
		if have.Request == s.Request {
			return have.Name
		}
	}
	s.Name = resource
	if s.Name == "" {
		s.Name = "state"
	}
	s.Name = distinct(b.stateNames, s.Name)
	b.draft.States = append(b.draft.States, s)
	return s.Name
}

// listsChanges is true for a PATCH with a list, such as JSON Patch (RFC 6902): what is added to a list twice is in it twice, rightly.
func listsChanges(o *operation, body *yaml.Node) bool {
	return o.Method == "PATCH" && body != nil && body.Kind == yaml.SequenceNode
}

// later is true for an operation that may be done after its answer, says the document: nobody can tell when the state is final.
func (b *drafter) later(o *operation) bool { return b.d.get(o.node, "responses", "202") != nil }

// still is true for a GET whose answer does not change by itself, nor with a request that only writes again what is there, as far as the
// document says. Times, ids of requests and a plain version, revision or etag may change: judging leaves them out. Pages and pictures have
// parts that nobody can leave out.
func (b *drafter) still(o *operation) bool {
	types := b.d.answerTypes(o)
	if len(types) > 0 && !slices.ContainsFunc(types, func(s string) bool { return isJSON(s) || strings.HasPrefix(s, "*/*") }) {
		return false
	}
	n, _ := b.d.answer(o)
	return n == nil || !b.moves(b.d.schema(n), 0, map[*schema]bool{})
}

// answerTypes are the content types of the answer that says success; none where the document does not say.
func (d *Document) answerTypes(o *operation) []string {
	if d.swagger {
		return texts(d.firstOf("produces", o.node, d.root))
	}
	for _, status := range []string{"200", "2XX", "2xx", "default"} {
		var types []string
		for contentType := range members(d.get(d.deref(d.get(o.node, "responses", status)), "content")) {
			types = append(types, contentType.Value)
		}
		if len(types) > 0 {
			return types
		}
	}
	return nil
}

// stateDepth is how deep an answer is looked into, mostMembers how many members of it are looked at.
const (
	stateDepth  = 4
	mostMembers = 500
)

// moves is true for a schema with a member that moves by itself or with every write.
func (b *drafter) moves(t *schema, depth int, seen map[*schema]bool) bool {
	if depth > stateDepth || seen[t] || len(seen) > mostMembers {
		return false
	}
	seen[t] = true
	if len(t.items) > 0 && b.moves(b.d.schema(t.items...), depth+1, seen) {
		return true
	}
	return slices.ContainsFunc(t.properties, func(p property) bool {
		of := b.d.schema(p.nodes...)
		return logs(p.name) || versionOf(p.name) == otherVersion || slices.ContainsFunc(of.enum, underway) || b.moves(of, depth+1, seen)
	})
}

// logs is true for a member that tells what was done, or how often.
func logs(name string) bool {
	w := words(name)
	return len(w) > 0 && slices.Contains([]string{
		"history", "histories", "log", "logs", "audit", "audits", "events", "activity", "activities", "changes", "changelog", "versions",
		"revisions", "generation", "sequence", "seq", "views", "hits",
	}, w[len(w)-1])
}

// underway is true for a value of an enumeration that something has while work on it goes on, so that it moves on by itself.
func underway(n *yaml.Node) bool {
	return slices.Contains([]string{
		"pending", "queued", "processing", "in_progress", "running", "provisioning", "creating", "updating", "deleting", "starting", "stopping",
	}, strings.Join(words(n.Value), "_"))
}

// What a member says of the number of writes: nothing, a version by one of the names that judging leaves out, or one by another name.
type versionKind int

const (
	noVersion versionKind = iota
	plainVersion
	otherVersion
)

func versionOf(name string) versionKind {
	w := words(name)
	switch {
	case slices.Contains([]string{"version", "lockversion", "rowversion", "revision", "rev", "etag", "v"}, strings.Join(w, "")):
		return plainVersion
	case slices.ContainsFunc(w, func(s string) bool { return slices.Contains([]string{"version", "revision", "etag", "rev"}, s) }):
		return otherVersion
	}
	return noVersion
}

// saysVersion is true for a body that says which version it replaces: its repeat is rightly refused.
func saysVersion(body *yaml.Node) bool {
	if body == nil || body.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(body.Content); i += 2 {
		if versionOf(body.Content[i].Value) != noVersion {
			return true
		}
	}
	return false
}

package requests

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// product is a value that an answer gave, and where in it.
type product struct {
	by   *sent
	path string // JSONPath
}

// products notes the ids that answers gave.
func (b *builder) products() {
	b.produced = map[string][]product{}
	for _, s := range b.sent {
		if s.answer == nil || !s.succeeded() || s.method == "DELETE" || b.session && s.addr.base != b.base {
			continue
		}
		b.collect(s, s.answer.json, "$", "")
	}
}

func (b *builder) collect(s *sent, n *yaml.Node, path, name string) {
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			b.collect(s, n.Content[i+1], path+member(n.Content[i].Value), n.Content[i].Value)
		}
	case n.Kind == yaml.SequenceNode:
		// Which item of a list stands at the front is chance, so that a list says only that the id was there.
		for _, item := range n.Content {
			b.collect(s, item, path+"[*]", name)
		}
	case isIDName(name) && (n.Tag == "!!str" || n.Tag == "!!int") && n.Value != "" && len(n.Value) <= 200:
		b.produced[n.Value] = append(b.produced[n.Value], product{s, path})
	}
}

var idName = regexp.MustCompile(`(^|_)(id|uuid|guid|ulid|key|slug|number|no|code|reference|ref|token|handle)$`)

func isIDName(name string) bool { return idName.MatchString(snake(name)) }

func (b *builder) isProduct(text string) bool {
	for _, p := range b.produced[text] {
		if isIDName(lastName(p.path)) && len(text) > 1 {
			return true
		}
	}
	return false
}

func lastName(path string) string {
	path = strings.TrimSuffix(path, "[*]")
	return strings.Trim(path[strings.LastIndexAny(path, ".[")+1:], "']")
}

var plainMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member is a step of a JSONPath (RFC 9535).
func member(name string) string {
	if plainMember.MatchString(name) {
		return "." + name
	}
	return "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(name) + "']"
}

// maker is the creation whose answer gave a value first to a later request that has it under a name; false when none did. A
// short value proves nothing, so that names must agree then. The shortest path wins.
func (b *builder) maker(of *sent, value, name string) (product, bool) {
	var best product
	for _, p := range b.produced[value] {
		if p.by == of || p.by.method != "POST" || b.session && p.by.index > of.index || strings.Contains(p.path, "[*]") || b.safe(p.by) != "" {
			continue
		}
		if !p.about(name) && (len(value) < 8 || numeric.MatchString(value)) {
			continue
		}
		if best.by == nil || p.by == best.by && len(p.path) < len(best.path) {
			best = p
		}
	}
	return best, best.by != nil
}

// creationOf is the only creation of what a name such as order_id refers to, when the source does not have its answer; else nil.
func (b *builder) creationOf(name string) *sent {
	about := thing(name)
	if made := b.things[about]; about != snake(name) && len(made) == 1 && !answered(made[0]) && b.safe(made[0]) == "" {
		return made[0]
	}
	return nil
}

// about is true when the value is called so by the path that it was created at, or in the answer.
func (p product) about(name string) bool {
	name = thing(name)
	outer, inner := p.path, lastName(p.path)
	outer = outer[:max(strings.LastIndexAny(outer, ".["), 0)]
	collection := p.by.segments[len(p.by.segments)-1].text
	return name == thing(inner) || name == thing(lastName(outer)) || name == thing(collection)
}

// thing is what a name such as order_id or Orders is about.
func thing(name string) string {
	name = snake(name)
	for _, end := range []string{"_id", "_uuid", "_key", "_number"} {
		name = strings.TrimSuffix(name, end)
	}
	return singular(name)
}

// read is true when another request read the value, so that it exists in the system under test.
func (b *builder) read(value string) bool {
	for _, p := range b.produced[value] {
		if p.by.method == "GET" {
			return true
		}
	}
	return false
}

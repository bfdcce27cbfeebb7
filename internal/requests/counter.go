package requests

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// totals are members that say how many there are, lists those that hold them; the surest first.
var (
	totals = []string{"count", "total", "total_count", "total_items", "total_elements", "total_results", "num_found"}
	lists  = []string{"items", "data", "results", "records", "content", "entries", "rows", "list", "values", "value", "_embedded"}
	around = []string{"meta", "pagination", "page", "paging", "page_info", "_meta"}
)

// count proposes a GET of the source on the same collection as the counter of a creation.
func (b *builder) count(e *draft.Endpoint, s *sent, l *linker) {
	type candidate struct {
		draft.Counter
		marked bool
	}
	var best *candidate
	for _, g := range b.reads[s.place()] {
		c := candidate{}
		c.Value, c.Length = whereCounted(g, s)
		if c.Value == "" && c.Length == "" {
			continue
		}
		query, isMarked := b.counterQuery(g, l)
		suffix := strings.TrimPrefix(g.template, s.template)
		path, _, _ := strings.Cut(strings.TrimPrefix(e.Request, s.method+" "), "?")
		c.Request = "GET " + path + suffix + query
		c.marked = isMarked
		c.Guess = "GET " + g.template + " is about the same collection"
		switch {
		case !answered(g):
			c.Guess += "; its answer is not in the source"
		case !isMarked && c.Length != "":
			c.Guess += "; it may stop at the end of a page: filter by {{marker}} where the API can"
		case !isMarked:
			c.Guess += "; filter by {{marker}} where the API can"
		}
		if best == nil || c.marked && !best.marked {
			best = &c
		}
	}
	if best == nil {
		return
	}
	for _, have := range b.draft.Counters {
		if have.Request == best.Request && have.Value == best.Value && have.Length == best.Length {
			e.Counters = []string{have.Name}
			return
		}
	}
	best.Name = b.counterName(s)
	b.draft.Counters = append(b.draft.Counters, best.Counter)
	e.Counters = []string{best.Name}
}

func (b *builder) counterName(s *sent) string {
	name := snake(s.segments[len(s.segments)-1].text)
	if name == "" {
		name = "effects"
	}
	out := name
	for n := 2; slices.ContainsFunc(b.draft.Counters, func(c draft.Counter) bool { return c.Name == out }); n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	return out
}

// whereCounted is where the answer of a GET has the number, or the list, of what a creation makes. Both are empty when the
// answer has neither.
func whereCounted(g, s *sent) (value, length string) {
	if !answered(g) {
		if strings.HasSuffix(g.template, "/count") {
			return "$.count", ""
		}
		return "", ""
	}
	root := g.answer.json
	switch {
	case root.Tag == "!!int":
		return "$", ""
	case root.Kind == yaml.SequenceNode:
		return "", "$"
	}
	if path := number(root, "$"); path != "" {
		return path, ""
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if name := root.Content[i].Value; slices.Contains(around, snake(name)) {
			if path := number(root.Content[i+1], "$"+member(name)); path != "" {
				return path, ""
			}
		}
	}
	collection := snake(s.segments[len(s.segments)-1].text)
	for _, name := range append([]string{collection}, lists...) {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if snake(root.Content[i].Value) == snake(name) && root.Content[i+1].Kind == yaml.SequenceNode {
				return "", "$" + member(root.Content[i].Value)
			}
		}
	}
	return "", ""
}

// number is the path of the member of a mapping that says how many there are.
func number(n *yaml.Node, path string) string {
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for _, name := range totals {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if snake(n.Content[i].Value) == name && n.Content[i+1].Tag == "!!int" {
				return path + member(n.Content[i].Value)
			}
		}
	}
	return ""
}

// counterQuery is the query of a counter with "?", in which what the creation puts into a field is filtered by.
func (b *builder) counterQuery(g *sent, l *linker) (query string, isMarked bool) {
	var out []string
	for _, p := range g.addr.parameters() {
		field, known := l.markers[snake(p.name)]
		if !known {
			for _, m := range l.markers {
				if m.literal == p.value && p.value != "" {
					field, known = m, true
				}
			}
		}
		switch value, hidden := b.vault.value(p.name, p.value); {
		case known:
			out = append(out, planText(encodeForm([]pair{{p.name, ""}}))+field.placeholder)
			isMarked = isMarked || strings.Contains(field.placeholder, "marker")
		case hidden || !slices.Contains([]string{"page", "offset", "cursor", "after", "before", "page_token"}, snake(p.name)):
			if !hidden && snake(p.name) == "key" {
				value = b.vault.hide("API_KEY", p.value)
			}
			out = append(out, planText(encodeForm([]pair{{p.name, value}})))
		}
	}
	if len(out) == 0 {
		return "", false
	}
	return "?" + strings.Join(out, "&"), isMarked
}

// cleanup proposes the DELETE of the source that removes what a creation made.
func (b *builder) cleanup(e *draft.Endpoint, s *sent, l *linker) {
	d := b.removals[s.place()]
	if d == nil || len(l.steps) > 0 && strings.Contains(e.Request, "{{") { // a clean-up knows nothing of the set-up
		return
	}
	name := d.segments[len(d.segments)-1].name
	step := &draft.Step{Request: "DELETE " + b.foreign(s) + s.planPath() + "/{{" + name + "}}", Guess: d.method + " " + d.template + " is in the source"}
	from := "$.id"
	if p, ok := b.maker(d, d.segments[len(d.segments)-1].text, name); ok && p.by.place() == s.place() {
		from = p.path
	} else if !answered(s) {
		step.Guess += "; $.id is where most APIs have the id"
	} else if get(s.answer.json, "id") == nil {
		return
	}
	step.Capture = []draft.Capture{{Name: name, From: from}}
	e.Cleanup = step
}

// planPath is the path as the source has it.
func (s *sent) planPath() string { return planText(s.addr.path) }

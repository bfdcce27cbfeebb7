package draft

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// merger adds what is missing to a plan.
type merger struct {
	*page
	outline outline
	report  *MergeReport
	edits   []edit
	growth  growth
}

// edit is a text that is added at a byte.
type edit struct {
	at   int
	text string
}

// add is the plan with endpoints of the draft, and what they need.
func (m *merger) add(d *Draft, missing []Endpoint) ([]byte, error) {
	m.growth = growth{}
	missing = slices.Clone(missing)
	counters, states := m.counters(d, missing), m.states(d, missing)
	m.rename(missing)
	whole := Draft{Endpoints: missing, Counters: counters, States: states}
	top, err := m.sections(d, &whole)
	if err != nil {
		return nil, err
	}
	if top != "" {
		top = m.indented(top) + "\n"
	}
	e, ok := m.outline.entry("endpoints")
	if ok {
		err = m.endpoints(e, missing)
	} else {
		top, err = m.newEndpoints(top, missing)
	}
	if err != nil {
		return nil, err
	}
	if top != "" {
		gaps := []int{m.start(m.end(m.last(), m.outline))}
		if ok {
			gaps = []int{m.above(e.Key.Pos())}
		}
		if err := m.try("the plan", growth{fields: m.growth.fields}, gaps, top); err != nil {
			return nil, err
		}
	}
	text := m.edited(m.edits)
	if !m.growth.holds(m.text, text) || strict.Parse(m.file, []byte(text), nil).Err() != nil {
		return nil, fmt.Errorf("%s: cannot add to the plan without changing it: import into another file with --output", m.file)
	}
	return []byte(text), nil
}

// indented is text of the top level at the column at which that begins here.
func (m *merger) indented(s string) string {
	if m.root == 0 {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i, l := range lines {
		if !blank(l) {
			lines[i] = pad(m.root) + l
		}
	}
	return strings.Join(lines, "")
}

// last is where the last field of the top level begins.
func (m *merger) last() strict.Pos {
	entries := m.outline.root.Entries()
	return entries[len(entries)-1].Key.Pos()
}

// newEndpoints is the text of new fields of the top level with that of endpoints, for a plan whose endpoints are all in files that it
// includes.
func (m *merger) newEndpoints(top string, missing []Endpoint) (string, error) {
	var p printer
	for i := range missing {
		if i > 0 {
			p.out.WriteString("\n")
		}
		if err := missing[i].print(&p, m.root+2); err != nil {
			return "", err
		}
		m.report.Added = append(m.report.Added, oneLine(missing[i].Name))
	}
	m.growth.fields = append(m.growth.fields, "endpoints")
	return "\n" + top + pad(m.root) + "endpoints:\n" + p.out.String(), nil
}

// endpoints adds them behind the last one.
func (m *merger) endpoints(e strict.Entry, missing []Endpoint) error {
	items := e.Value.List()
	at := e.Value.Pos().Col - 1
	var p printer
	for i := range missing {
		if m.spaced(items) {
			p.out.WriteString("\n")
		}
		if err := missing[i].print(&p, at); err != nil {
			return err
		}
		m.report.Added = append(m.report.Added, oneLine(missing[i].Name))
	}
	m.growth.endpoints = len(missing)
	return m.try("`endpoints`", growth{endpoints: len(missing)}, m.gaps(e.Key.Pos(), m.outline), p.out.String())
}

// spaced is true when items of a list have blank lines between them, and where there is only one.
func (m *merger) spaced(items []strict.Value) bool {
	for i := 1; i < len(items); i++ {
		for l := items[i-1].Pos().Line; l < items[i].Pos().Line-1; l++ {
			if blank(m.of(l)) {
				return true
			}
		}
	}
	return len(items) < 2
}

// try adds a text at the first of some bytes at which the plan grows as it should and nothing else in it changes.
func (m *merger) try(what string, grown growth, gaps []int, text string) error {
	for _, at := range gaps {
		e := edit{at, text}
		if at == len(m.text) && at > 0 && at > m.lines[len(m.lines)-1].from {
			e.text = "\n" + text // the last line has no end
		}
		e.text = strings.ReplaceAll(e.text, "\n", m.eol)
		if grown.holds(m.text, m.edited([]edit{e})) {
			m.edits = append(m.edits, e)
			return nil
		}
	}
	return fmt.Errorf("%s: cannot add to %s without changing what is there: write it with each entry in a line of its own, or import into another file with --output", m.file, what)
}

// edited is the plan with texts added; two at the same byte stay in order.
func (m *merger) edited(edits []edit) string {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b edit) int { return a.at - b.at })
	var out strings.Builder
	from := 0
	for _, e := range sorted {
		out.WriteString(m.text[from:e.at] + e.text)
		from = e.at
	}
	out.WriteString(m.text[from:])
	return out.String()
}

// growth is by how much a plan grows at the end of its parts.
type growth struct {
	endpoints, counters, states, callers int
	fields                               []string // of the top level, new ones
}

// holds is true when the new text has all that the old one has, in the same order, and as much more as it should.
func (g growth) holds(before, after string) bool {
	old, grown := root(before), root(after)
	if old == nil || grown == nil || len(grown.Content) != len(old.Content)+2*len(g.fields) {
		return false
	}
	was := map[string]*yaml.Node{}
	for i := 0; i+1 < len(old.Content); i += 2 {
		was[old.Content[i].Value] = old.Content[i+1]
	}
	for i := 0; i+1 < len(grown.Content); i += 2 {
		name, is := grown.Content[i].Value, grown.Content[i+1]
		more := map[string]int{"endpoints": g.endpoints, "counters": 2 * g.counters, "states": 2 * g.states, "callers": 2 * g.callers}[name]
		if had, ok := was[name]; ok {
			if !begins(is, had, more) {
				return false
			}
		} else if !slices.Contains(g.fields, name) {
			return false
		}
	}
	return true
}

func root(text string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	return doc.Content[0]
}

// begins is true when a value begins as it was, and has a number of nodes more.
func begins(is, was *yaml.Node, more int) bool {
	if more > 0 && was.Kind == yaml.ScalarNode && was.ShortTag() == "!!null" { // a field without a value yet
		return len(is.Content) == more
	}
	if is.Kind != was.Kind || is.ShortTag() != was.ShortTag() || is.Value != was.Value || is.Anchor != was.Anchor || len(is.Content) != len(was.Content)+more {
		return false
	}
	for i, c := range was.Content {
		if !begins(is.Content[i], c, 0) {
			return false
		}
	}
	return true
}

package draft

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// counters are those that missing endpoints need and the plan does not have, and makes the endpoints name them as they are called there.
func (m *merger) counters(d *Draft, missing []Endpoint) []Counter {
	return needed(d.Counters, missing, need[Counter]{
		taken: m.names("counters", "sinks"),
		name:  func(c *Counter) *string { return &c.Name },
		same:  func(c Counter) string { return m.sameCounter(c, d.captures()) },
		of:    func(e *Endpoint) *[]string { return &e.Counters },
	})
}

// states are the same for states.
func (m *merger) states(d *Draft, missing []Endpoint) []State {
	return needed(d.States, missing, need[State]{
		taken: m.names("states"),
		name:  func(s *State) *string { return &s.Name },
		same:  func(s State) string { return m.sameState(s, d.captures()) },
		of:    func(e *Endpoint) *[]string { return &e.States },
	})
}

// need is how a kind of thing that endpoints name is found in the plan.
type need[T any] struct {
	taken []string                  // names that the plan has
	name  func(*T) *string          // of a thing
	same  func(T) string            // the name under which the plan has a thing; empty when it has none of the same content
	of    func(*Endpoint) *[]string // the names that an endpoint uses
}

// needed are the things that endpoints name and the plan does not have. One that the plan has under another name keeps that one, and a
// name that the plan has for something else is changed.
func needed[T any](have []T, endpoints []Endpoint, n need[T]) []T {
	var out []T
	named := map[string]string{}
	for i := range endpoints {
		names := n.of(&endpoints[i])
		*names = slices.Clone(*names)
		for j, name := range *names {
			if _, done := named[name]; !done {
				named[name] = name
				if at := slices.IndexFunc(have, func(t T) bool { return *n.name(&t) == name }); at >= 0 {
					t := have[at]
					if same := n.same(t); same != "" {
						named[name] = same
					} else {
						*n.name(&t) = free(name, "-", n.taken)
						named[name] = *n.name(&t)
						n.taken = append(n.taken, named[name])
						out = append(out, t)
					}
				}
			}
			(*names)[j] = named[name]
		}
	}
	return out
}

// names are the names in sections of the plan.
func (m *merger) names(sections ...string) []string {
	var out []string
	for _, s := range sections {
		for _, e := range m.outline.named(s) {
			out = append(out, e.Key.Value)
		}
	}
	return out
}

// sameCounter is the name under which the plan has a counter; empty when it has none of the same content.
func (m *merger) sameCounter(c Counter, captures []string) string {
	b := builder{captures: captures}
	request := b.request(c.Request)
	for _, e := range m.outline.named("counters") {
		if textOf(e.Value, "http") == request && textOf(e.Value, "value") == c.Value && textOf(e.Value, "length") == c.Length {
			return e.Key.Value
		}
	}
	return ""
}

// sameState is the name under which the plan has a state; empty when it has none that asks the same in the same way.
func (m *merger) sameState(s State, captures []string) string {
	b := builder{captures: captures}
	request := b.request(s.Request)
	for _, e := range m.outline.named("states") {
		if textOf(e.Value, "http") == request && len(e.Value.Entries()) == 1 {
			return e.Key.Value
		}
	}
	return ""
}

// rename gives endpoints names that the plan does not have yet.
func (m *merger) rename(missing []Endpoint) {
	var taken []string
	for _, e := range m.outline.endpoints() {
		taken = append(taken, strings.ReplaceAll(e.Name, "$${", "${"))
	}
	for i := range missing {
		missing[i].Name = free(oneLine(missing[i].Name), " ", taken)
		taken = append(taken, missing[i].Name)
	}
}

// free is a name that is not taken: with a number behind it where it must be.
func free(name, separator string, taken []string) string {
	out := name
	for n := 2; slices.Contains(taken, out); n++ {
		out = fmt.Sprintf("%s%s%d", name, separator, n)
	}
	return out
}

// callers are those of the draft that the plan lacks: their headers are in none of its callers.
func (m *merger) callers(d *Draft) []Caller {
	var out []Caller
	have := m.outline.named("callers")
	for _, c := range d.usedCallers() {
		if !slices.ContainsFunc(have, func(e strict.Entry) bool { return e.Key.Value == c.Name || identifies(e.Value, c) }) {
			out = append(out, c)
		}
	}
	return out
}

// identifies is true when a caller of the plan sets all headers of another one, or gets them by a command. People rename callers and
// change where credentials come from.
func identifies(v strict.Value, c Caller) bool {
	if _, ok := entryOf(v, "exec"); ok {
		return true
	}
	headers, ok := entryOf(v, "headers")
	if !ok || headers.Value.Kind() != strict.Mapping {
		return false
	}
	for _, h := range c.Headers {
		if !slices.ContainsFunc(headers.Value.Entries(), func(e strict.Entry) bool { return strings.EqualFold(e.Key.Value, h.Name) }) {
			return false
		}
	}
	return true
}

// sections adds counters, states and callers to those of the plan, and gives the fields of the top level that the plan lacks as text.
func (m *merger) sections(d, whole *Draft) (top string, err error) {
	var p printer
	if !m.outline.has("target") && slices.ContainsFunc(whole.Endpoints, func(e Endpoint) bool { return e.operation().Host == "" }) {
		p.target(d.Target)
		m.growth.fields = append(m.growth.fields, "target")
	}
	captures := whole.captures()
	callers, counters, states := m.callers(d), whole.Counters, whole.States
	m.growth.callers, m.growth.counters, m.growth.states = len(callers), len(counters), len(states)
	for _, c := range callers {
		m.report.Callers = append(m.report.Callers, c.Name)
	}
	for _, c := range counters {
		m.report.Counters = append(m.report.Counters, c.Name)
	}
	for _, s := range states {
		m.report.States = append(m.report.States, s.Name)
	}
	err = m.section(&p, "callers", len(callers), func(i int) (string, *yaml.Node, error) { return callers[i].Name, callers[i].node(), nil },
		func(p *printer, i, at int) error { callers[i].print(p, at); return nil })
	if err != nil {
		return "", err
	}
	err = m.section(&p, "counters", len(counters), func(i int) (string, *yaml.Node, error) {
		n, err := counters[i].node(captures)
		return counters[i].Name, n, err
	}, func(p *printer, i, at int) error { return counters[i].print(p, at, captures) })
	if err != nil {
		return "", err
	}
	err = m.section(&p, "states", len(states), func(i int) (string, *yaml.Node, error) {
		n, err := states[i].node(captures)
		return states[i].Name, n, err
	}, func(p *printer, i, at int) error { return states[i].print(p, at, captures) })
	return p.out.String(), err
}

// section adds n entries to a field of the top level; where the plan lacks that, to the text of new fields.
func (m *merger) section(top *printer, name string, n int, node func(i int) (string, *yaml.Node, error), print func(p *printer, i, at int) error) error {
	e, ok := m.outline.entry(name)
	switch {
	case n == 0:
		return nil
	case !ok:
		m.growth.fields = append(m.growth.fields, name)
		if top.out.Len() > 0 {
			top.out.WriteString("\n")
		}
		top.out.WriteString(name + ":\n")
		for i := range n {
			if err := print(top, i, 2); err != nil {
				return err
			}
		}
		return nil
	case e.Value.Kind() == strict.Mapping && m.flow(e.Value.Pos()):
		return m.intoFlow(e, name, n, node)
	}
	var p printer
	at, gaps := m.root+2, []int{m.start(e.Key.Pos().Line)}
	if e.Value.Kind() == strict.Mapping {
		at, gaps = e.Value.Pos().Col-1, m.gaps(e.Key.Pos(), m.outline)
	}
	for i := range n {
		if err := print(&p, i, at); err != nil {
			return err
		}
	}
	return m.try("`"+name+"`", sectionGrowth(name, n), gaps, p.out.String())
}

func sectionGrowth(name string, n int) growth {
	switch name {
	case "callers":
		return growth{callers: n}
	case "states":
		return growth{states: n}
	}
	return growth{counters: n}
}

// intoFlow adds entries to a mapping in {...}, before the bracket that closes it.
func (m *merger) intoFlow(e strict.Entry, name string, n int, node func(i int) (string, *yaml.Node, error)) error {
	f := newFields()
	for i := range n {
		key, value, err := node(i)
		if err != nil {
			return err
		}
		f.add(key, value)
	}
	end := m.closing(m.offset(e.Value.Pos()))
	if end < 0 {
		end = len(m.text)
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(flow(f.node), "{"), "}")
	if before := strings.TrimRight(m.text[:end], " \t\r\n"); !strings.HasSuffix(before, "{") && !strings.HasSuffix(before, ",") {
		inner = ", " + inner
	}
	return m.try("`"+name+"`", sectionGrowth(name, n), []int{end}, inner)
}

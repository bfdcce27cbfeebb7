package draft

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// node is an endpoint as a plan has it, its fields in the order of plan.EndpointFields.
func (e *Endpoint) node() (*yaml.Node, error) {
	b, f := &builder{}, newFields()
	f.add("name", str(label(e.Name)))
	if e.Kind.Value != "" {
		f.add("kind", guessed(str(e.Kind.Value), e.Kind.Guess))
	}
	if len(e.Setup) > 0 {
		setup := list()
		for _, s := range e.Setup {
			setup.Content = append(setup.Content, b.step(s))
		}
		f.add("setup", setup)
	}
	f.add("request", str(b.request(e.Request)))
	if key := e.Key.node(); key != nil {
		f.add("key", key)
	}
	if e.Key.Required {
		f.add("required", word("!!bool", "true"))
	}
	b.addHeaders(f, e.Headers)
	b.addBody(f, e.Body)
	if e.OtherBody != nil {
		f.add("other_body", b.tree(e.OtherBody, 0))
	}
	if len(e.Counters) > 0 {
		counters := newFields()
		for _, c := range e.Counters {
			counters.add(c, word("!!int", "1"))
		}
		f.add("counters", counters.node)
	}
	if len(e.States) > 0 {
		states := list()
		for _, s := range e.States {
			states.Content = append(states.Content, str(s))
		}
		f.add("states", states)
	}
	if e.Cleanup != nil {
		own := builder{captures: captureNames(e.Cleanup.Capture)}
		c := newFields()
		c.add("request", str(own.request(e.Cleanup.Request)))
		own.addHeaders(c, e.Cleanup.Headers)
		own.addCaptures(c, e.Cleanup.Capture)
		f.add("cleanup", guessed(c.node, e.Cleanup.Guess))
		if own.err != nil {
			b.fail("%w", own.err)
		}
	}
	if len(e.Tags) > 0 {
		tags := list()
		for _, t := range e.Tags {
			tags.Content = append(tags.Content, str(label(t)))
		}
		f.add("tags", tags)
	}
	if b.err != nil {
		return nil, fmt.Errorf("cannot write endpoint %q: %w", e.Name, b.err)
	}
	return f.node, nil
}

func captureNames(captures []Capture) []string {
	var names []string
	for _, c := range captures {
		names = append(names, c.Name)
	}
	return names
}

// node is the place of the key; nil for an endpoint whose source declares none.
func (k Key) node() *yaml.Node {
	f := newFields()
	switch {
	case k.Header != "":
		f.add("header", str(k.Header))
	case k.JSON != "":
		f.add("json", str(k.JSON))
	case k.Query != "":
		f.add("query", str(k.Query))
	default:
		return nil
	}
	return guessed(f.node, k.Guess)
}

// print writes the endpoint as an item of a list whose dashes stand at a column, with its place and comments above.
func (e *Endpoint) print(p *printer, at int) error {
	n, err := e.node()
	if err != nil {
		return err
	}
	p.above(at, oneLine(e.Place))
	for _, c := range e.Comments {
		p.above(at, oneLine(c))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		p.field(at+2, i == 0, n.Content[i], n.Content[i+1])
	}
	return nil
}

// node is a counter as a plan has it. It may use the captures of all endpoints.
func (c *Counter) node(captures []string) (*yaml.Node, error) {
	b, f := &builder{captures: captures}, newFields()
	f.add("http", str(b.request(c.Request)))
	if c.Length != "" {
		f.add("length", str(c.Length))
	} else {
		f.add("value", str(c.Value))
	}
	if b.err != nil {
		return nil, fmt.Errorf("cannot write counter %q: %w", c.Name, b.err)
	}
	return guessed(f.node, c.Guess), nil
}

// node is a state as a plan has it. It may use the captures of all endpoints.
func (s *State) node(captures []string) (*yaml.Node, error) {
	b, f := &builder{captures: captures}, newFields()
	f.add("http", str(b.request(s.Request)))
	if b.err != nil {
		return nil, fmt.Errorf("cannot write state %q: %w", s.Name, b.err)
	}
	return guessed(f.node, s.Guess), nil
}

// node is a caller as a plan has it.
func (c *Caller) node() *yaml.Node {
	b, f := &builder{}, newFields()
	b.addHeaders(f, c.Headers)
	return f.node
}

func (c *Caller) print(p *printer, at int) {
	p.above(at, oneLine(c.Comment))
	p.field(at, false, str(c.Name), c.node())
}

func (c *Counter) print(p *printer, at int, captures []string) error {
	n, err := c.node(captures)
	if err != nil {
		return err
	}
	p.field(at, false, str(c.Name), n)
	return nil
}

func (s *State) print(p *printer, at int, captures []string) error {
	n, err := s.node(captures)
	if err != nil {
		return err
	}
	p.field(at, false, str(s.Name), n)
	return nil
}

// captures are the names that set-ups capture, which counters and states may use.
func (d *Draft) captures() []string {
	var names []string
	for _, e := range d.Endpoints {
		for _, s := range e.Setup {
			names = append(names, captureNames(s.Capture)...)
		}
	}
	return names
}

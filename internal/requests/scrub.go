package requests

import (
	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// scrub replaces the secrets that were found in their places wherever else they occur in the draft.
func (b *builder) scrub() {
	if len(b.vault.found) == 0 {
		return
	}
	r := b.vault.scrubber()
	fix := func(texts ...*string) {
		for _, t := range texts {
			*t = r.Replace(*t)
		}
	}
	headers := func(list []draft.Header) {
		for i := range list {
			fix(&list[i].Value.Value)
		}
	}
	body := func(d *draft.Body) {
		fix(&d.Text)
		for _, root := range []*yaml.Node{d.JSON, d.Form} {
			eachNode(root, func(n *yaml.Node) {
				if was := n.Value; n.Tag == "!!str" {
					if fix(&n.Value); n.Value != was {
						n.Style = yaml.DoubleQuotedStyle
					}
				}
				fix(&n.LineComment)
			})
		}
	}
	step := func(s *draft.Step) {
		fix(&s.Request, &s.Guess)
		headers(s.Headers)
		body(&s.Body)
	}
	fix(&b.draft.Title, &b.draft.Target.Value)
	for i := range b.draft.Counters {
		c := &b.draft.Counters[i]
		fix(&c.Request, &c.Guess)
	}
	for i := range b.draft.Endpoints {
		e := &b.draft.Endpoints[i]
		fix(&e.Name, &e.Place, &e.Request, &e.Template)
		headers(e.Headers)
		body(&e.Body)
		for j := range e.Setup {
			step(&e.Setup[j])
		}
		if e.Cleanup != nil {
			step(e.Cleanup)
		}
		for j := range e.Comments {
			fix(&e.Comments[j])
		}
	}
	for i := range b.draft.Left {
		fix(&b.draft.Left[i])
	}
}

package openapi

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/draft"
)

// drafter makes a draft of a document.
type drafter struct {
	d     *Document
	draft draft.Draft
	// routes are the operations by their route and method.
	routes map[string]map[string]*operation
	// creators are the POST operations by the resource that they make, the shortest path first.
	creators map[string][]*operation
	// links are how one operation's answer leads to another, by the other.
	links  map[*operation][]link
	caller credentials
	// names are those of endpoints, the others those of counters and states, with how often each was asked for.
	names, counterNames, stateNames map[string]int
	// counts are the names of counters by what they ask.
	counts map[string]string
	// found are the members of answers that were looked at.
	found map[answerKey][]field
	// values is how many values may still be made; bodies that are asked for when it is used up are small.
	values int
}

// Draft is a plan in the making: every operation that changes something is an endpoint. The document stays as it is, and the
// same document gives the same draft.
func (d *Document) Draft() draft.Draft {
	b := &drafter{
		d: d, routes: map[string]map[string]*operation{}, creators: map[string][]*operation{}, links: map[*operation][]link{},
		names: map[string]int{}, counterNames: map[string]int{}, stateNames: map[string]int{}, counts: map[string]string{}, values: mostDrafted, found: map[answerKey][]field{},
	}
	b.draft.Source, b.draft.Title = d.name, text(d.get(d.root, "info", "title"))
	b.draft.Target = b.target()
	b.index()
	b.chooseCaller()
	safe := 0
	for _, o := range d.operations {
		if o.Unsafe() {
			b.draft.Endpoints = append(b.draft.Endpoints, b.endpoint(o))
		} else {
			safe++
		}
	}
	if safe > 0 {
		d.leave(d.get(d.root, "paths"), "%s without a test: left out", unchanging(safe))
	}
	if d.elsewhere > 0 {
		remedy := fmt.Sprintf("bundle it into one file first, such as with `npx @redocly/cli bundle %s --output bundled.yaml`", d.name)
		if d.beside == nil {
			remedy = "name the file itself, since those in its folder and below are then read"
		}
		b.draft.Notes = append(b.draft.Notes, d.name+" refers to files that are not read, so that operations and fields are missing here: "+remedy)
	}
	if names := d.unread(); len(names) > 0 {
		b.draft.Notes = append(b.draft.Notes, fmt.Sprintf("%s refers to what cannot be read, so that operations and fields are missing here: %s (`retrysafe init --verbose` says why)",
			d.name, strings.Join(names, ", ")))
	}
	b.draft.Left = slices.Clone(d.left)
	return b.draft
}

func unchanging(n int) string {
	if n == 1 {
		return "1 operation changes nothing and is"
	}
	return fmt.Sprintf("%d operations change nothing and are", n)
}

func (b *drafter) index() {
	byID := map[string]*operation{}
	for _, o := range b.d.operations {
		route := o.route(len(o.segments))
		if b.routes[route] == nil {
			b.routes[route] = map[string]*operation{}
		}
		if b.routes[route][o.Method] == nil {
			b.routes[route][o.Method] = o
		}
		byID[o.ID] = o
		if o.Method == "POST" && !isParam(o.segments[len(o.segments)-1]) {
			name := o.resource()
			b.creators[name] = append(b.creators[name], o)
		}
	}
	for _, list := range b.creators {
		slices.SortStableFunc(list, func(x, y *operation) int { return len(x.segments) - len(y.segments) })
	}
	b.readLinks(byID)
}

func (b *drafter) endpoint(o *operation) draft.Endpoint {
	c := b.newChain(o)
	r := c.request(o)
	e := draft.Endpoint{
		Name: b.name(o), Place: place(o), Template: o.Path, Request: r.line, Headers: r.headers, Body: r.made.body, OtherBody: r.made.other,
		Key: keyOf(o, r.made.key), Setup: c.steps, Tags: o.Tags, Comments: c.comments,
	}
	if servers := b.d.firstOf("servers", o.node, o.item); servers != nil {
		e.Comments = append(e.Comments, "the document sends this to a server of its own: "+text(b.d.firstURL(servers)))
	}
	for name := range members(b.d.get(o.node, "callbacks")) {
		e.Comments = append(e.Comments, fmt.Sprintf("the API calls back (%s), which has no endpoint here: `sinks` of a plan count such calls", name.Value))
	}
	if o.Deprecated {
		e.Comments = append(e.Comments, "deprecated, says the document")
	}
	if o.Method == "POST" {
		if name := b.counter(c, o, r.made.marked); name != "" {
			e.Counters = []string{name}
		}
		e.Cleanup = b.cleanup(o, c)
	} else if e.Key == (draft.Key{}) {
		if name := b.state(c, o, e.Body); name != "" {
			e.States = []string{name}
		}
	}
	return e
}

// place is where an operation is described, with its id.
func place(o *operation) string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d:%d %s", o.File, o.Line, o.Col, o.ID))
}

const longestName = 60

// mostDrafted bounds the values in the bodies of a draft. A document of a thousand operations takes a tenth of it.
const mostDrafted = 500_000

// distinct is a name that was not given before: the base, or the base with a number.
func distinct(used map[string]int, base string) string {
	name := base
	for used[name] > 0 {
		used[base]++
		name = fmt.Sprintf("%s_%d", base, used[base])
	}
	used[name]++
	return name
}

// name is a name of its own for an endpoint: its operationId in words, else its summary, else method and path.
func (b *drafter) name(o *operation) string {
	plainPath := o.Method + " " + o.Path
	name := strings.Join(words(o.ID), " ")
	if summary := strings.Join(strings.Fields(o.summary), " "); name == "" && len(summary) <= longestName {
		name = strings.TrimRight(summary, ".")
	}
	if name == "" {
		name = plainPath
	}
	name = escape(oneLine(name))
	if b.names[name] > 0 && name != plainPath {
		name += " (" + escape(plainPath) + ")"
	}
	return distinct(b.names, name)
}

package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"retrysafe/internal/draft"
)

// counter proposes the list of what an operation makes as a counter, and is its name; empty for none.
func (b *drafter) counter(c *chain, o *operation, marked map[string]string) string {
	segments := len(o.segments)
	if segments > 1 && slices.Contains(makers, o.segments[segments-1]) {
		segments--
	}
	route := o.route(segments)
	for _, candidate := range []string{route + "/count", route} {
		lister := b.routes[candidate]["GET"]
		if lister == nil {
			continue
		}
		if name := b.counterOf(c, lister, marked); name != "" {
			return name
		}
	}
	return ""
}

func (b *drafter) counterOf(c *chain, lister *operation, marked map[string]string) string {
	found := b.measure(lister)
	if found.Value == "" && found.Length == "" {
		return ""
	}
	var notes []string
	before := len(c.steps)
	path := c.path(lister, &notes)
	if len(c.steps) > before || len(notes) > 0 || len(b.headers(lister, b.security(lister))) > 0 {
		c.steps = c.steps[:before]
		return "" // it needs more than the endpoint has
	}
	query := append(b.query(lister, &notes), b.security(lister).query...)
	filter, guess := b.filter(lister, marked)
	if filter != "" {
		query = append(query, filter)
	} else if size := b.pageSize(lister); size != "" && found.Length != "" {
		query = append(query, size)
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	found.Request, found.Guess = "GET "+path, guess
	return b.addCounter(found, lister.noun())
}

// addCounter is the name of a counter, of an earlier one where that asks the same.
func (b *drafter) addCounter(found draft.Counter, resource string) string {
	asks := found.Request + " " + found.Value + found.Length
	if name, known := b.counts[asks]; known {
		return name
	}
	if base := strings.Join(words(resource), "_"); base != "" {
		found.Name = distinct(b.counterNames, base)
	} else {
		found.Name = distinct(b.counterNames, "created")
	}
	b.counts[asks] = found.Name
	b.draft.Counters = append(b.draft.Counters, found)
	return found.Name
}

var totals = []string{"total", "count", "totalcount", "totalitems", "totalresults", "totalrecords", "totalelements", "totalentries", "numfound", "size", "recordstotal"}

// measure is where the answer of a list has the number: a total where it has one, else the list.
func (b *drafter) measure(o *operation) draft.Counter {
	n, _ := b.d.answer(o)
	if n == nil {
		return draft.Counter{}
	}
	t := b.d.schema(n)
	switch t.kindFor(nil) {
	case "array":
		return draft.Counter{Length: "$"}
	case "integer", "number":
		return draft.Counter{Value: "$"}
	case "object":
	default:
		return draft.Counter{}
	}
	var out draft.Counter
	best := len(totals)
	for _, f := range b.fields(t, o.resource()) {
		i := slices.Index(totals, f.name)
		switch {
		case f.of.is("integer") || f.of.is("number"):
			if i >= 0 && i < best {
				best, out.Value = i, f.path
			}
		case f.of.is("array") && out.Length == "":
			out.Length = f.path
		}
	}
	// `size` and `count` beside a list may be those of the page; alone they are the number.
	if out.Length != "" && out.Value != "" && best != 0 && (totals[best] == "size" || totals[best] == "count") {
		out.Value = ""
	}
	if out.Value != "" {
		out.Length = ""
	}
	return out
}

// filter is the query parameter by which a list can be asked for a marked member, with the reason.
func (b *drafter) filter(o *operation, marked map[string]string) (query, guess string) {
	for _, p := range o.params {
		w := b.filteredBy(p)
		for _, name := range slices.Sorted(maps.Keys(marked)) {
			if w == nil || !slices.Equal(w, words(name)) {
				continue
			}
			why := fmt.Sprintf("GET %s lists what was made, and its parameter %s looks like a filter by the marked field", o.Path, p.name)
			return queryName(p.name) + "=" + marked[name], why
		}
	}
	if paramName.MatchString(o.Path) {
		return "", fmt.Sprintf("GET %s lists what was made in the place that the set-up made", o.Path)
	}
	return "", fmt.Sprintf("GET %s lists what was made; no parameter filters by a marked field, so it counts what others make too", o.Path)
}

// filteredBy are the words of the member by which a parameter of a list filters; nil for one that does not, or not by any text.
func (b *drafter) filteredBy(p param) []string {
	if p.in != "query" || p.required || !b.d.schema(p.schema).loose() {
		return nil
	}
	w := words(p.name)
	for len(w) > 1 && slices.Contains([]string{"filter", "by", "search", "where"}, w[0]) {
		w = w[1:]
	}
	return w
}

// filters are the words of the members by which the list of what an operation makes or changes can be asked for.
func (b *drafter) filters(o *operation) [][]string {
	segments := len(o.segments)
	for segments > 1 && (isParam(o.segments[segments-1]) || slices.Contains(makers, o.segments[segments-1])) {
		segments--
	}
	var out [][]string
	for _, route := range []string{o.route(segments) + "/count", o.route(segments)} {
		if lister := b.routes[route]["GET"]; lister != nil {
			for _, p := range lister.params {
				if w := b.filteredBy(p); w != nil {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

func queryName(name string) string { return strings.TrimSuffix(queryPart(name, ""), "=") }

var pageSizes = []string{"limit", "perpage", "pagesize", "pagelimit", "maxresults", "maxitems", "top", "first"}

// pageSize is the largest page that a list gives; empty where the document does not say.
func (b *drafter) pageSize(o *operation) string {
	for _, p := range o.params {
		if p.in != "query" || p.required || !slices.Contains(pageSizes, strings.Join(words(p.name), "")) {
			continue
		}
		if t := b.d.schema(p.schema); t.maximum != nil && !t.exclusiveMaximum && t.whole() {
			if most, ok := literal(t.maximum); ok {
				return queryPart(p.name, most)
			}
		}
	}
	return ""
}

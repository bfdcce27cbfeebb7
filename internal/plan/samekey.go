package plan

import (
	"net/url"
	"strings"

	"retrysafe/internal/strict"
)

// otherQuery reads the query parameters that make another request of it.
func otherQuery(v strict.Value, e *Endpoint, allowed names) []QueryParameter {
	var found []QueryParameter
	for _, entry := range v.Entries() {
		name := entry.Key.Value
		switch {
		case name == "":
			entry.Errorf("expected the name of a query parameter, found nothing")
			continue
		case e.Key.In == "query" && e.Key.Name == name:
			entry.Errorf("query parameter %s carries the key, which stays the same: name another one", entry.Key.Show())
			continue
		}
		found = append(found, QueryParameter{Name: name, Value: parseTemplate(entry.Value.Scalar(), allowed)})
	}
	switch {
	case v.Kind() == strict.Mapping && len(v.Entries()) == 0:
		v.Errorf("expected query parameters such as {dry_run: \"true\"}, found none")
	case len(found) > 0 && sameQuery(e.Request, found):
		v.Errorf("expected other_query to change the request, found what it has already: change a value")
	}
	return found
}

// sameQuery is true when the request has these parameters already.
func sameQuery(r RequestTemplate, params []QueryParameter) bool {
	u, err := url.Parse(r.URL("http://localhost", byName{}))
	if err != nil {
		return false
	}
	query := u.Query()
	for _, p := range params {
		have, value := query[p.Name], p.Value.Render(byName{})
		if len(have) > 1 || value != strings.Join(have, "") { // an empty value takes the parameter away
			return false
		}
	}
	return true
}

// otherEndpoint fills in the endpoint that the same key is sent to as well, and notes one that it cannot be sent to.
func (c *completion) otherEndpoint(e *Endpoint, name strict.Text) {
	if name.Pos() == (strict.Pos{}) {
		return
	}
	var known []string
	var other *Endpoint
	for i := range c.plan.Endpoints {
		known = append(known, c.plan.Endpoints[i].Name)
		if c.plan.Endpoints[i].Name == name.Value {
			other = &c.plan.Endpoints[i]
		}
	}
	width := len([]rune(name.Source()))
	switch {
	case other == nil:
		name.Errorf(0, width, "unknown endpoint %s%s (other_endpoint is the name of another endpoint of this plan)", name.Show(), strict.DidYouMean(name.Value, known))
	case other == e || other.Name == e.Name:
		name.Errorf(0, width, "expected another endpoint, found %s itself: name one that the same key can be sent to", name.Show())
	case e.Key.In == "":
		name.Errorf(0, width, "other_endpoint needs a key, and this endpoint has none: say where it travels with `key`")
	case keyWords(other) != keyWords(e):
		name.Errorf(0, width, "expected an endpoint with its key in the same place, %s; found %s at %s", keyWords(e), keyWords(other), name.Show())
	default:
		e.OtherEndpoint = other.Name
	}
}

// keyWords say where a key travels, and how unless it is bare.
func keyWords(e *Endpoint) string {
	if e.Key.In == "" {
		return "no key"
	}
	words := e.Key.In + " " + e.Key.Name
	if e.Key.Format == "sf-string" {
		words += " as sf-string"
	}
	return words
}

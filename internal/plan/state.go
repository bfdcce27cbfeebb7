package plan

import (
	"maps"
	"slices"

	"retrysafe/internal/strict"
)

func (d *decoder) states(v strict.Value) map[string]State {
	states := map[string]State{}
	for _, e := range v.Entries() {
		checkName(e.Key)
		states[e.Key.Value] = d.state(e)
	}
	return states
}

func (d *decoder) state(e strict.Entry) State {
	o := e.Value.Object("http", "sql", "value", "header", "caller", "headers")
	allowed := names{captures: d.captures, vars: d.vars}
	s := State{Pos: e.Key.Pos(), Name: e.Key.Value}
	switch o.OneOf("way to read the state", "http", "sql") {
	case "http":
		s.Request = d.get(o.Get("http"), allowed, "a state", "reading must change nothing")
	case "sql":
		s.SQL = d.sql(o.Get("sql"), allowed, true)
		for _, field := range []string{"value", "header", "caller", "headers"} {
			o.Get(field).Errorf("%s belongs to a state with `http:`, a query says by itself what it reads: remove it", field)
		}
		return s
	}
	if o.Has("value") || o.Has("header") {
		switch o.OneOf("place of the state", "value", "header") {
		case "value":
			s.Value = jsonPath(o.Get("value"))
		case "header":
			s.Header = headerName(o.Get("header"))
		}
	}
	s.Caller = d.caller(o.Get("caller"))
	s.Headers = parseHeaders(o.Get("headers"), allowed)
	return s
}

// stateNames reads the states of an endpoint, each declared and readable with what the endpoint captures.
func (d *decoder) stateNames(v strict.Value, captures []string) []string {
	var found []string
	for _, t := range v.Texts() {
		width := len([]rune(t.Value))
		s, ok := d.plan.States[t.Value]
		switch {
		case !ok:
			known := slices.Sorted(maps.Keys(d.plan.States))
			t.Errorf(0, width, "unknown state %s%s (declare it under `states`)", t.Show(), strict.DidYouMean(t.Value, known))
			continue
		case slices.Contains(found, t.Value):
			t.Errorf(0, width, "duplicate state %s: remove one", t.Show())
			continue
		}
		d.checkCaptures(t, "state", s.templates(), captures)
		found = append(found, t.Value)
	}
	return found
}

// templates are all templates of a state.
func (s State) templates() []Template {
	if s.SQL != nil {
		return []Template{s.SQL.Query}
	}
	found := []Template{s.Request.Path}
	for _, h := range s.Headers {
		found = append(found, h.Value)
	}
	return found
}

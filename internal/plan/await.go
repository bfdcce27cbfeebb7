package plan

import (
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// await reads where the work behind an answer is asked for, and what is found there at its end. The limit is filled in by
// completion.
func await(v strict.Value) *trace.Await {
	if !v.Present() {
		return nil
	}
	o := v.Object("follow", "until", "failed")
	a := &trace.Await{Follow: followed(o.Require("follow")), Until: matches(o.Require("until")), Failed: matches(o.Get("failed"))}
	return a
}

// followed is a JSONPath or the name of a header; empty after noting a mistake.
func followed(v strict.Value) string {
	if strings.HasPrefix(v.Text().Value, "$") {
		return jsonPath(v)
	}
	if v.Kind() != strict.String {
		return "" // noted by Text
	}
	if t := v.Text(); !isToken(t.Value) {
		v.Errorf("expected a header such as Location, or a JSONPath such as $.links.status, found %s", t.Show())
		return ""
	}
	return v.Text().Value
}

// matches reads JSONPaths with the value, or one of the values, that is found there.
func matches(v strict.Value) []trace.Match {
	var found []trace.Match
	if v.Kind() == strict.Mapping && len(v.Entries()) == 0 {
		v.Errorf("expected a JSONPath and its value, such as {$.status: done}, found an empty mapping")
	}
	for _, e := range v.Entries() {
		found = append(found, trace.Match{Path: parsedPath(e.Key), Values: matchValues(e.Value)})
	}
	return found
}

func matchValues(v strict.Value) []string {
	items := []strict.Value{v}
	if v.Kind() == strict.List {
		if items = v.List(); len(items) == 0 {
			v.Errorf("expected a value such as done, or several, found an empty list")
		}
	}
	var found []string
	for _, item := range items {
		found = append(found, item.Scalar().Value)
	}
	return found
}

package judge

import (
	"bytes"
	"encoding/json"

	"github.com/theory/jsonpath"

	"retrysafe/internal/trace"
)

// saysRefused reports whether an answer holds an error where plan or dialect say that answers of any status hold them.
func saysRefused(f trace.Facts, r *trace.Response) bool {
	return holdsError(r, f.RefusedWhere) || holdsError(r, f.ErrorsAt)
}

// errorPlaces are where APIs that report errors with status 200 report them.
func errorPlaces() []string { return []string{"$.errors", "$.error"} }

// seemsRefused is the first of those places at which an answer of 2xx holds an error; empty where none does.
func seemsRefused(r *trace.Response) string {
	for _, at := range errorPlaces() {
		if r.Status/100 == 2 && holdsError(r, at) {
			return at
		}
	}
	return ""
}

// holdsError reports whether a query finds an error in an answer. Null, false, "" and an empty list are no errors. An empty query finds
// nothing, and neither does one that cannot be parsed; the plan has refused it before.
func holdsError(r *trace.Response, at string) bool {
	if at == "" || r.Body.Truncated {
		return false
	}
	p, err := jsonpath.Parse(at)
	if err != nil {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(content(r)))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil {
		return false
	}
	for _, found := range p.Select(doc) {
		switch v := found.(type) {
		case nil:
		case bool:
			if v {
				return true
			}
		case string:
			if v != "" {
				return true
			}
		case []any:
			if len(v) > 0 {
				return true
			}
		default:
			return true
		}
	}
	return false
}

package judge

import (
	"bytes"
	"encoding/json"

	"github.com/theory/jsonpath"

	"retrysafe/internal/trace"
)

// saysRefused reports whether the plan's query finds an error in an answer, as for APIs that report errors with status
// 200. Null, false, "" and an empty list are no errors. A query that cannot be parsed finds nothing; the plan has refused
// it before.
func saysRefused(f trace.Facts, r *trace.Response) bool {
	if f.RefusedWhere == "" || r.Body.Truncated {
		return false
	}
	p, err := jsonpath.Parse(f.RefusedWhere)
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

package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"retrysafe/internal/trace"
)

// capture takes named values out of an answer: by JSONPath, or "header NAME". The error names the first one
// that could not be taken.
func capture(x *trace.Exchange, what map[string]string) (map[string]string, error) {
	if !x.Complete() || len(what) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(what)) {
		value, err := captureOne(x.Response, what[name])
		if err != nil {
			return out, fmt.Errorf("capture %s: %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

func captureOne(a *trace.Response, where string) (string, error) {
	if header, ok := strings.CutPrefix(where, "header "); ok {
		for _, h := range a.Headers {
			if strings.EqualFold(h.Name, strings.TrimSpace(header)) {
				return h.Value, nil
			}
		}
		return "", fmt.Errorf("expected a header %s, found none", header)
	}
	dec := json.NewDecoder(bytes.NewReader(a.Body.Bytes()))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return "", fmt.Errorf("expected JSON: %w", err)
	}
	path, err := jsonpath.Parse(where)
	if err != nil {
		return "", err
	}
	found := path.Select(doc)
	if len(found) != 1 {
		return "", fmt.Errorf("expected one value at %s, found %d", where, len(found))
	}
	switch v := found[0].(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("expected a text or a number at %s", where)
}

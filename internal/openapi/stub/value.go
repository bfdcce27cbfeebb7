package stub

import (
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// deepest is how deep an answer is.
const deepest = 5

// value is the n-th answer of a schema: all members that it names, to some depth.
func value(s *openapi3.Schema, n, depth int) any {
	if s == nil {
		return nil
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		if len(list) > 0 && len(s.Properties) == 0 {
			return value(list[0].Value, n, depth)
		}
	}
	switch {
	case s.Type.Includes("string"):
		return text(s, n)
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		if s.Min != nil && *s.Min > float64(n) {
			return *s.Min
		}
		return n
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("array"):
		if s.Items == nil || depth >= deepest {
			return []any{}
		}
		return []any{value(s.Items.Value, n, depth+1)}
	}
	return object(s, n, depth)
}

func text(s *openapi3.Schema, n int) string {
	switch s.Format {
	case "uuid":
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	case "date-time":
		return "2030-01-01T00:00:00Z"
	case "date":
		return "2030-01-01"
	}
	if example, ok := s.Example.(string); ok && s.Pattern != "" {
		return example
	}
	out := fmt.Sprintf("x%d", n)
	for uint64(len(out)) < s.MinLength {
		out += "x"
	}
	return out
}

func object(s *openapi3.Schema, n, depth int) map[string]any {
	out := map[string]any{}
	if depth > deepest {
		return out
	}
	for _, part := range s.AllOf {
		if inner, ok := value(part.Value, n, depth+1).(map[string]any); ok {
			maps.Copy(out, inner)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out[name] = value(s.Properties[name].Value, n, depth+1)
	}
	return out
}

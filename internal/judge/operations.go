package judge

import (
	"regexp"
	"strings"

	"retrysafe/internal/trace"
)

// Operations tells the calls of a client that belong to one operation. Calls with the same key do; so do calls with the
// same value of a named header; else calls of the same method, path and content, once what is drawn for each call is taken
// out of it. The zero value has seen none. Calls have to be added in the order of their arrival.
type Operations struct {
	// Header is the name of the header that tells operations apart; empty for none.
	Header string

	byKey, byContent map[string]int
	n                int
}

// NeedsKey reports whether a retry of the call could have a second effect: other methods are idempotent by themselves
// (RFC 9110 section 9.2.2).
func NeedsKey(c *trace.Call) bool {
	return c != nil && (c.Request.Method == "POST" || c.Request.Method == "PATCH")
}

// Add gives the number of the operation that a call belongs to, from 0.
func (o *Operations) Add(c *trace.Call) int {
	if o.byKey == nil {
		o.byKey, o.byContent = map[string]int{}, map[string]int{}
	}
	key, content := c.Operation(), o.content(c)
	op, known := o.byKey[key]
	if key == "" || !known || o.named(c) {
		op, known = o.byContent[content]
	}
	if !known {
		op = o.n
		o.n++
	}
	if _, known := o.byKey[key]; key != "" && !known {
		o.byKey[key] = op
	}
	if _, known := o.byContent[content]; !known {
		o.byContent[content] = op
	}
	return op
}

// named reports whether the call says itself which operation it belongs to.
func (o *Operations) named(c *trace.Call) bool {
	return o.Header != "" && firstHeader(c.Request.Headers, o.Header) != ""
}

// drawnParts are what clients draw anew for each call: UUIDs, times (RFC 3339, seconds and milliseconds since 1970).
var drawnParts = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b` +
	`|\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})?` +
	`|\b1[6-9]\d{8}(\d{3})?(\.\d+)?\b`)

// content is what a call asks for, without its key and what is drawn for each call.
func (o *Operations) content(c *trace.Call) string {
	if o.named(c) {
		return "header " + firstHeader(c.Request.Headers, o.Header)
	}
	text := c.Request.URL + "\n" + string(c.Request.Body.Bytes())
	if c.Key != "" {
		text = strings.ReplaceAll(text, c.Key, "KEY")
	}
	return c.Request.Method + " " + drawnParts.ReplaceAllString(text, "DRAWN")
}

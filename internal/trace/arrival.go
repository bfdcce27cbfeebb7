package trace

import (
	"fmt"
	"strings"
)

// Arrival is one thing that a sink got from the system under test: a mail, or a call of a service that the sink
// stands for.
type Arrival struct {
	// ID is unique among the arrivals of a run and rises with the order of arrival, from 1.
	ID int `json:"id"`
	// Sink is the name of the sink.
	Sink string `json:"sink"`
	// Scopes are the names of the round's scopes whose text it holds; empty where nothing was looked for.
	Scopes []string `json:"scopes,omitempty"`
	// At is when it had come completely.
	At Nanos `json:"at_ns"`
	// Call is set for a call, Mail for a mail.
	Call *Call `json:"call,omitempty"`
	Mail *Mail `json:"mail,omitempty"`
}

// Call is a request that a sink got.
type Call struct {
	// Request is what was read. Its URL is path and query as they were sent.
	Request Request `json:"request"`
	// Key is the idempotency key; empty when there is none.
	Key string `json:"key,omitempty"`
	// Status is what the sink answered; 0 when it gave no answer.
	Status int `json:"status,omitempty"`
	// Failed says how the sink failed the call on purpose: one of the constants below, or empty when it did not.
	Failed string `json:"failed,omitempty"`
	// Again is true for a call with a key that the sink had served before: it has no second effect.
	Again bool `json:"again,omitempty"`
	// RetryAfter is how long the answer asked to wait; 0 when it did not ask.
	RetryAfter Nanos `json:"retry_after_ns,omitempty"`
}

// The ways in which a sink fails a call.
const (
	FailedStatus  = "status"  // an answer with a status of 4xx or 5xx
	FailedDrop    = "drop"    // the connection was closed after the request had been read
	FailedTimeout = "timeout" // no answer came for as long as the client waited
)

// Mail is a message that a sink got.
type Mail struct {
	// From and To are those of the envelope; a long list of recipients is cut.
	From string   `json:"from"`
	To   []string `json:"to"`
	// Subject is decoded.
	Subject string `json:"subject,omitempty"`
	// Text is the beginning of the decoded text.
	Text string `json:"text,omitempty"`
	// Size is the length of the message in bytes.
	Size int64 `json:"size"`
}

// Operation tells the operations at a service apart: calls with the same one are attempts of one operation. It is
// empty for a call without a key, which is an operation of its own each time.
func (c *Call) Operation() string {
	if c.Key == "" {
		return ""
	}
	return c.Request.Method + " " + c.Path() + " " + c.Key
}

// Path is the URL up to its query.
func (c *Call) Path() string {
	for i := range len(c.Request.URL) {
		if c.Request.URL[i] == '?' {
			return c.Request.URL[:i]
		}
	}
	return c.Request.URL
}

// Operations is how many things were asked for: mails, calls without a key, and keys.
func Operations(as []Arrival) int64 {
	var n int64
	seen := map[string]bool{}
	for i := range as {
		op := ""
		if as[i].Call != nil {
			op = as[i].Call.Operation()
		}
		if op == "" || !seen[op] {
			n++
		}
		seen[op] = true
	}
	return n
}

// Effects is how many of them a service would have done: once for each key, while it remembers it. A call that the sink
// failed on purpose has none, so that a retry of it is no second effect.
func Effects(as []Arrival) int64 {
	var n int64
	for _, a := range as {
		if a.Call == nil || a.Call.Failed == "" && !a.Call.Again {
			n++
		}
	}
	return n
}

// SinkFact says what a counter that is a sink stands for.
type SinkFact struct {
	// Kind is "smtp" or "http".
	Kind string `json:"kind"`
	// Address is host:port.
	Address string `json:"address"`
	// Key is the header that carries the idempotency key of calls; empty for a service without keys, and for mails.
	Key string `json:"key,omitempty"`
	// IgnoreJSON are JSONPath queries (RFC 9535) of parts of a call's body that may differ between attempts.
	IgnoreJSON []string `json:"ignore_json,omitempty"`
}

// String shows an arrival in one line.
func (a Arrival) String() string {
	if m := a.Mail; m != nil {
		return fmt.Sprintf("mail to %s, %q", strings.Join(m.To, ", "), m.Subject)
	}
	c := a.Call
	if c == nil {
		return ""
	}
	key := "no key"
	if c.Key != "" {
		key = "key " + c.Key
	}
	return fmt.Sprintf("%s %s with %s, %s", c.Request.Method, c.Request.URL, key, c.Outcome())
}

// Outcome says what the sink did with a call.
func (c *Call) Outcome() string {
	switch c.Failed {
	case FailedDrop:
		return "dropped on purpose"
	case FailedTimeout:
		return "left without an answer on purpose"
	case FailedStatus:
		return fmt.Sprintf("answered %d on purpose", c.Status)
	}
	return fmt.Sprintf("answered %d", c.Status)
}

package dialect

import "time"

// Companion is a header that goes with the key: a request with the key and without it is not valid.
type Companion struct {
	// Header is the name.
	Header string
	// Kind says what the value is; IMFFixdate is the only one. It is drawn once per key, like the key: a retry sends
	// the same value.
	Kind string
}

// IMFFixdate is the kind of a header whose value is when the request was first sent, as a date in the preferred form of
// HTTP (RFC 9110, section 5.6.7).
const IMFFixdate = "imf-fixdate"

// The values of Dialect.KeySyntax.
const (
	// UUID is any UUID in the usual form with hyphens (RFC 9562, section 4).
	UUID = "uuid"
	// UUID4 is a random UUID (RFC 9562, section 5.4).
	UUID4 = "uuid4"
)

// Codes are machine-readable error codes of answers by situation. An empty one is not documented. Where in the answer
// a code stands is not part of the data.
type Codes struct {
	// Mismatch: the same key came with another body.
	Mismatch string
	// MissingKey: a required key is missing.
	MissingKey string
	// InProgress: a copy came while the first is still running.
	InProgress string
	// Failed: the first attempt with this key failed, and that stays so.
	Failed string
	// StoreDown: keys cannot be looked up at the moment, nothing was executed.
	StoreDown string
}

// Replay is what a retry of a finished operation gets. The zero value: nothing is documented.
type Replay struct {
	// Status is SameStatus or AnyStatus; empty when Statuses has a list, or when nothing is documented.
	Status string
	// Statuses are the documented statuses of a replay, where they do not follow from the first answer.
	Statuses []int
	// Body is Snapshot, Bytes, Current or Conflict; empty when not documented.
	Body string
	// Marker is a header that marks a replay.
	Marker Marker
	// EchoesKey is true when answers carry the key in a header of the name that carries it in the request.
	EchoesKey bool
	// AllHeaders is true when all headers of the first answer are replayed, not only those that matter.
	AllHeaders bool
	// Pointer is a JSONPath to the id of the first result in an answer of the kind Conflict; empty otherwise.
	Pointer string
	// Code is the error code of an answer of the kind Conflict; empty otherwise.
	Code string
}

// The values of Replay.Status.
const (
	// SameStatus: a replay has the status of the first answer.
	SameStatus = "same"
	// AnyStatus: the convention leaves the status of a replay open.
	AnyStatus = "any"
)

// The values of Replay.Body.
const (
	// Snapshot: the stored body comes back; its bytes may be laid out otherwise.
	Snapshot = "snapshot"
	// Bytes: the stored body comes back byte by byte.
	Bytes = "bytes"
	// Current: the body may show the state of the resource at the time of the replay.
	Current = "current"
	// Conflict: a finished operation answers with a refusal that points at its result.
	Conflict = "conflict"
)

// The values of Dialect.Fingerprint, besides Bytes: a body whose bytes differ is another one.
const (
	// JSON: bodies are compared as values. White space and the order of fields do not count.
	JSON = "json"
	// Ordered: another order of fields makes another body; what else counts is not documented.
	Ordered = "ordered"
	// Fields: only some of the fields count.
	Fields = "fields"
)

// Marker is a header of a replay. The zero value: no marker is documented.
type Marker struct {
	Header, Value string
	// First is true when the first answer carries it too, so that it tells nothing apart.
	First bool
}

// Lifetime is how long a key is remembered, counted from its first request at the earliest.
type Lifetime struct {
	// Min is what the convention promises at least; 0 when not documented.
	Min time.Duration
	// After says what a request with a key behind its lifetime gets: Executed or Refused (Dialect.Expired); empty
	// when not documented.
	After string
}

// Scope is where a key means the same operation. Outside it the same key is a key of its own, except where Endpoint says
// otherwise.
type Scope struct {
	// Caller is "account", "organization", "identity", "api-key" or "token"; empty when not documented. With the last two
	// a renewed credential is another caller.
	Caller string
	// Endpoint is Checked, Independent, ByPath, ByMethodPath, ByURI or Shared; empty when not documented.
	Endpoint string
}

// ByCredential is true when a renewed credential is another caller, for whom a key is new.
func (s Scope) ByCredential() bool { return s.Caller == "api-key" || s.Caller == "token" }

// The values of Scope.Endpoint: what the same key means at another endpoint.
const (
	// Checked: it is refused like another body.
	Checked = "checked"
	// Independent: it is a key of its own.
	Independent = "independent"
	// ByPath: it is a key of its own where the path differs.
	ByPath = "path"
	// ByMethodPath: it is a key of its own where method or path differ.
	ByMethodPath = "method-path"
	// ByURI: it is a key of its own where path or query differ.
	ByURI = "uri"
	// Shared: it is the same key, and gets the first endpoint's answer.
	Shared = "none"
)

// ErrorBody is the shape of error answers. The zero value: not documented.
type ErrorBody struct {
	// Type is the media type, such as "application/problem+json" (RFC 9457).
	Type string
	// Fields are the fields of the body that the convention names.
	Fields []string
	// Link is the relation of a Link header that may stand in for such a body; empty when none may.
	Link string
	// At is a JSONPath to where answers of any status hold errors, and others hold nothing; empty where the status tells.
	At string
}

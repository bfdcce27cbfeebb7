package trace

import "time"

// ClientSchemaV1 names the format of a ClientRun.
const ClientSchemaV1 = "retrysafe/sink/v1"

// ClientRun is what a client under test did towards a sink that failed its calls: the document that
// `retrysafe sink --report json=FILE` writes.
type ClientRun struct {
	// Schema is ClientSchemaV1.
	Schema string     `json:"schema"`
	Info   ClientInfo `json:"run"`
	// Calls are everything that arrived, in order.
	Calls []Arrival `json:"calls"`
	// Operations are the calls that belong together, in the order of their first ones.
	Operations []Operation `json:"operations"`
	Summary    Conclusion  `json:"summary"`
}

// ClientInfo says how the sink behaved and why it ended.
type ClientInfo struct {
	// Started is the wall clock at the start, UTC; ElapsedMS how long it took, in milliseconds.
	Started   time.Time `json:"started"`
	ElapsedMS int64     `json:"elapsed_ms"`
	// URL is where the sink listened.
	URL  string `json:"url"`
	Tool Tool   `json:"tool"`
	// Key is the header that carries the key. OperationHeader is the header whose value tells operations apart; empty
	// when key and content do.
	Key             string `json:"key"`
	OperationHeader string `json:"operation_header,omitempty"`
	// IgnoreJSON are JSONPath queries (RFC 9535) of parts of a body that may differ between attempts.
	IgnoreJSON []string `json:"ignore_json,omitempty"`
	// First is how the first Times calls of each operation were failed: a status, "drop" or "timeout".
	First string `json:"first"`
	Times int    `json:"times"`
	// Announced is how many operations the user said the client would perform.
	Announced int `json:"announced"`
	// Ended says why the sink stopped listening.
	Ended string `json:"ended"`
	// Interrupted is true when it was a signal.
	Interrupted bool `json:"interrupted,omitempty"`
	// Lost says why something that was sent is missing; empty when nothing is.
	Lost string `json:"lost,omitempty"`
	// FailOn is the least severity that fails.
	FailOn Severity `json:"fail_on"`
}

// Operation is the calls of one operation of a client, and what was concluded about them.
type Operation struct {
	// Request is method and path, such as "POST /charges".
	Request string `json:"request"`
	// Calls are the ids of the calls, in their order.
	Calls []int `json:"calls"`
	Result
}

// Conclusion is the outcome of a ClientRun.
type Conclusion struct {
	Verdict  Verdict `json:"verdict"`
	ExitCode int     `json:"exit_code"`
	// Detail says what keeps it from being a pass where no operation does; empty otherwise.
	Detail string `json:"detail,omitempty"`
	// Enable is a flag that would change that; may be empty.
	Enable string `json:"enable,omitempty"`
}

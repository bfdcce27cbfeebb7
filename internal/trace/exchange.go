package trace

import (
	"slices"
	"time"
)

// Exchange is one request and what came back.
type Exchange struct {
	// ID is unique in the run and rises with the order of sending.
	ID int `json:"id"`
	// Step is the index of the script's step, from 0; -1 for set-up, clean-up and control extras.
	Step int `json:"step"`
	// Label is the step's `as`; empty when it has none.
	Label string `json:"label,omitempty"`
	// Copy is the index within a burst or a series, from 0.
	Copy int `json:"copy,omitempty"`
	// Repeat counts the attempts of `until: final` and of waiting out a busy answer, from 0.
	Repeat int `json:"repeat,omitempty"`
	// Scope names the Scope that the request was rendered under.
	Scope string `json:"scope"`
	// Key is the value of the key that was sent; empty when the request carried none.
	Key string `json:"key,omitempty"`
	// Body is the variant of the body: original, other, invalid, reordered, fail, or nested-1 and nested-2.
	Body string `json:"body"`
	// OtherEndpoint is true for a request to the plan's other endpoint.
	OtherEndpoint bool `json:"other_endpoint,omitempty"`
	// Replica is the number of the instance that it was sent to, from 1; 0 for the target.
	Replica int `json:"replica,omitempty"`
	// Caller is the name of the credentials used; empty when the plan has none.
	Caller string `json:"caller,omitempty"`
	// Planted is when an earlier run sent the request; its times here are those at which this run went on with it. Zero for
	// what this run sent.
	Planted time.Time `json:"planted,omitzero"`
	// Request is what was written.
	Request Request `json:"request"`
	// Response is what came back completely; nil for a request without a complete answer,
	// after which the server may or may not have acted.
	Response *Response `json:"response,omitempty"`
	// Broke is the phase in which an exchange without a Response ended; empty with one.
	Broke Phase `json:"broke,omitempty"`
	// Error is what the system said when the exchange broke; empty with a Response.
	Error string `json:"error,omitempty"`
	// Cut is set when the client left on purpose.
	Cut *Cut `json:"cut,omitempty"`
	// Wire is how many times the request was started on the wire: 1, or 0 when the connection could not be made.
	Wire int `json:"wire"`
	// Conn is the number of the connection, unique in the run, from 1; 0 when none was made.
	Conn int `json:"conn,omitempty"`
	// Protocol is what was spoken, such as "HTTP/1.1", "HTTP/2" or "HTTP/2 over TLS 1.3".
	Protocol string `json:"protocol,omitempty"`
	// Started is when the first byte was handed to the connection.
	Started Nanos `json:"started_ns,omitempty"`
	// Sent is when the last byte had been handed to the connection; 0 when it never was.
	Sent Nanos `json:"sent_ns,omitempty"`
	// FirstByte is when the first byte of the answer was read; 0 when none came.
	FirstByte Nanos `json:"first_byte_ns,omitempty"`
	// Done is when the answer was complete or the exchange broke.
	Done Nanos `json:"done_ns,omitempty"`
	// EffectSeen is, for an exchange without a Response, when the counters had shown its effect and were
	// still; 0 when they never did or there are none.
	EffectSeen Nanos `json:"effect_seen_ns,omitempty"`
	// Class is how the answer was read when it came. The judge reads it again.
	Class Class `json:"class"`
}

// Complete reports whether the exchange ended with a whole answer.
func (x *Exchange) Complete() bool { return x.Response != nil }

// Request is a request as it was written.
type Request struct {
	Method string `json:"method"`
	// URL is absolute.
	URL string `json:"url"`
	// Headers in the order of writing, Host and Content-Length included. Over HTTP/2 the names are in lower case
	// and host stands for :authority.
	Headers []Header `json:"headers"`
	Body    Body     `json:"body,omitzero"`
}

// Response is a complete answer.
type Response struct {
	Status int `json:"status"`
	// Headers in the order of arrival; a repeated header has one entry for each line.
	Headers []Header `json:"headers"`
	Body    Body     `json:"body,omitzero"`
}

// Header is one header line. Names keep the spelling of the wire.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Body is a message body, or the beginning of one that was larger than the limit.
// The zero value is an empty body.
type Body struct {
	// Text is the body when it is valid UTF-8.
	Text string `json:"text,omitempty"`
	// Base64 is the body otherwise (encoding/json encodes bytes as base64).
	Base64 []byte `json:"base64,omitempty"`
	// Size is the length of the whole body in bytes, also of one that is not kept whole.
	Size int64 `json:"size,omitempty"`
	// SHA256 is the hexadecimal digest of the whole body, set only when it is not kept whole.
	SHA256 string `json:"sha256,omitempty"`
	// Truncated is true when Text or Base64 holds the beginning only, at most 16 KiB.
	Truncated bool `json:"truncated,omitempty"`
}

// Bytes is the body as far as it was kept.
func (b Body) Bytes() []byte {
	if b.Base64 != nil {
		return b.Base64
	}
	return []byte(b.Text)
}

// Phase is a part of an exchange.
type Phase string

// The phases, in order. PhaseDial and PhaseTLS end before anything of the request was written.
const (
	PhaseDial   Phase = "dial"
	PhaseTLS    Phase = "tls"
	PhaseWrite  Phase = "write"
	PhaseAnswer Phase = "answer" // the request was sent, no byte of the answer came
	PhaseHead   Phase = "head"   // status line and headers were incomplete or malformed
	PhaseBody   Phase = "body"
	PhaseCut    Phase = "cut" // the client left on purpose
)

// Cut says where a client leaves on purpose, and how.
type Cut struct {
	// At is "headers" (after the header block), "half-body", "sent" (after the last byte) or "answer" (after the
	// answer's first byte). For a request without a body the first three are the same moment.
	At string `json:"at"`
	// After is the pause between that point and leaving.
	After Nanos `json:"after_ns,omitempty"`
	// By is "close" (FIN) or "reset" (RST; over HTTP/2 RST_STREAM with CANCEL). Empty means close.
	By string `json:"by,omitempty"`
	// Done is when the client left; 0 when an answer came during After or the exchange broke before. A client that leaves
	// at once does not look whether there is an answer.
	Done Nanos `json:"done_ns,omitempty"`
}

// Burst says how copies that were meant to be simultaneous were released.
type Burst struct {
	// Step is the index of the script's step.
	Step int `json:"step"`
	// Technique names how the release was synchronised, such as "http/1.1 last byte".
	Technique string `json:"technique"`
	// Fallback says why a weaker technique was used; empty when it was not.
	Fallback string `json:"fallback,omitempty"`
	// Copies is how many requests were released, Connections over how many connections.
	Copies      int `json:"copies"`
	Connections int `json:"connections"`
	// Release are the moments at which the last byte of each copy had been handed over, in the order of release. They
	// are equal for copies that were released in one write.
	Release []Nanos `json:"release_ns"`
	// Spread is the time from the first release to the last, FirstGap to the second.
	Spread   Nanos `json:"spread_ns"`
	FirstGap Nanos `json:"first_gap_ns"`
	// RTT is the median of the round trips measured while the connections were warmed up: acknowledged PING frames
	// over HTTP/2, the set-up of the connections otherwise (what is near answers there, which may be a proxy). 0 when
	// nothing was measured.
	RTT Nanos `json:"rtt_ns,omitempty"`
	// Jitter is the mean absolute deviation of those round trips from RTT; 0 for fewer than two.
	Jitter Nanos `json:"jitter_ns,omitempty"`
	// AnswerDeviation is the median absolute deviation of the moments at which the answers of the copies began: it
	// shows the jitter of a network that the set-up of connections does not. 0 for fewer than three answers.
	AnswerDeviation Nanos `json:"answer_deviation_ns,omitempty"`
}

// Work is what success answers promised to do later, and what was found where they say to ask for it. Answers that name
// the same place are asked for together, unless the earlier one's work had ended already.
type Work struct {
	// Of are the ids of the exchanges whose answers named it, at least one.
	Of []int `json:"of"`
	// URL is what was asked; empty when the answer named nothing that can be asked.
	URL string `json:"url,omitempty"`
	// Refusal says why nothing was asked; empty when something was.
	Refusal string `json:"refusal,omitempty"`
	// Asked are the GETs in order. Their Step is -1, their Class empty.
	Asked []Exchange `json:"asked,omitempty"`
}

// WorkState is how the answer to a question for work reads.
type WorkState string

// The states of work.
const (
	// WorkOpen: it is not done yet, or could not be seen; it is asked again.
	WorkOpen WorkState = "open"
	WorkDone WorkState = "done"
	// WorkFailed: it ended, and not with what the caller asked for.
	WorkFailed WorkState = "failed"
	// WorkAstray: the place does not say, and asking again would not help: a redirect, or credentials that are refused.
	WorkAstray WorkState = "astray"
)

// Reading is one look at every counter of an endpoint.
type Reading struct {
	// Name is "idle", "before", "after", "late", or what a `count` step called it.
	Name string `json:"name"`
	// At is when the reading ended.
	At Nanos `json:"at_ns"`
	// Still is for how long the values had not changed when the reading ended.
	Still Nanos `json:"still_ns,omitempty"`
	// Lag is the time from the start of the reading until the expected rise was seen; 0 when it was
	// there at the first look or was never seen.
	Lag Nanos `json:"lag_ns,omitempty"`
	// Polls is how often each counter was asked.
	Polls int `json:"polls,omitempty"`
	// Values has one entry for each counter and each set of scopes that it counts together.
	Values []Value `json:"values"`
	// States has one entry for each state and scope.
	States []StateValue `json:"states,omitempty"`
}

// StateValue is what one state was.
type StateValue struct {
	State string `json:"state"`
	Scope string `json:"scope"`
	// Value is the text that is compared. Meaningless when Error is set.
	Value string `json:"value"`
	// Source is what was asked.
	Source string `json:"source,omitempty"`
	// Error says why there is no value; empty when there is one.
	Error string `json:"error,omitempty"`
}

// The names of the readings that the engine takes by itself. ReadingIdle exists only for counters without
// a marker: ahead of "before" in the control, and behind "after" in a round that shows a violation;
// nothing is sent between the two, so what differs was moved by others.
const (
	ReadingIdle   = "idle"
	ReadingBefore = "before"
	ReadingAfter  = "after"
	ReadingLate   = "late"
)

// Value is what one counter said.
type Value struct {
	Counter string `json:"counter"`
	// Scopes are the names of the scopes counted together; more than one when marker and key do not tell them apart.
	Scopes []string `json:"scopes"`
	// N is the count. Meaningless when Error is set.
	N int64 `json:"n"`
	// Source is what was asked: "GET http://..." or the command.
	Source string `json:"source,omitempty"`
	// Raw is the beginning of what the counter answered, to be shown when the value surprises.
	Raw string `json:"raw,omitempty"`
	// Error says why there is no count; empty when there is one.
	Error string `json:"error,omitempty"`
}

// Pause is a wait or a hook between sends.
type Pause struct {
	Step int `json:"step"`
	// What is "wait", "hook expire", "join burst" and the like.
	What    string `json:"what"`
	Started Nanos  `json:"started_ns"`
	Ended   Nanos  `json:"ended_ns"`
	// Error says what a hook that failed printed; empty when it went well.
	Error string `json:"error,omitempty"`
}

// AnswerDeviation is the median absolute deviation of the moments at which the answers of some exchanges began; 0
// for fewer than three answers.
func AnswerDeviation(xs []Exchange) Nanos {
	var at []Nanos
	for i := range xs {
		if xs[i].FirstByte != 0 {
			at = append(at, xs[i].FirstByte)
		}
	}
	if len(at) < 3 {
		return 0
	}
	slices.Sort(at)
	middle := at[len(at)/2]
	for i := range at {
		at[i] = max(at[i]-middle, middle-at[i])
	}
	slices.Sort(at)
	return at[len(at)/2]
}

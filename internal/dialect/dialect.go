// Package dialect holds published conventions of idempotency keys, as data: dialects.yaml is the whole
// content, this code only reads it. A new convention is an entry there.
package dialect

import (
	_ "embed"
	"fmt"

	"retrysafe/internal/trace"
)

//go:embed dialects.yaml
var source []byte

// Dialect is what one convention of idempotency keys documents. What it does not document is left at the
// zero value and must not be asserted.
type Dialect struct {
	// Name is what a plan says, such as "ietf".
	Name string
	// About is one line for people, with the source and whose word it is.
	About string
	// Key is where the convention puts the key; the zero value when it leaves that open, or when no place of a
	// request can say it.
	Key trace.KeyPlace
	// With are headers that must go with the key; nil when there are none.
	With []Companion
	// MinKey and MaxKey bound the length of a key in characters; 0 when not documented.
	MinKey, MaxKey int
	// KeyPattern is a regular expression that a whole key matches, without anchors; empty when not documented.
	KeyPattern string
	// KeySyntax is UUID or UUID4 (RFC 9562); empty when any text is a key.
	KeySyntax string
	// Methods are the methods that take a key, such as "POST"; nil when not documented.
	Methods []string
	// MissingKey is Refused or Accepted; empty when not documented.
	MissingKey string
	// Mismatch says what becomes of the same key with another body: Refused or Replayed (the first answer comes back,
	// and nothing is executed); empty when not documented.
	Mismatch string
	// MismatchPointer is a JSONPath to the id of the first result in the answer to a mismatch; empty when there is none.
	MismatchPointer string
	// Statuses are the documented status codes by situation; an empty list is not asserted.
	Statuses trace.Statuses
	// TooLong, Expired and StoreDown are the documented statuses of a key longer than MaxKey, of a key behind
	// its lifetime, and of a request while keys cannot be looked up. An empty list is not asserted.
	TooLong, Expired, StoreDown []int
	// Waits is true when a copy may be held back while the first one runs and then get its answer.
	Waits bool
	// RetryAfter is true when an in-progress answer should carry Retry-After.
	RetryAfter bool
	// Codes are the documented error codes by situation.
	Codes Codes
	// Replay is what a retry of a finished operation gets.
	Replay Replay
	// Lenient is true when a replay may differ from the first answer beside the parts that identify the
	// result: the convention promises no snapshot.
	Lenient bool
	// Stores2xx, Stores4xx and Stores5xx say whether such answers stay under the key: "yes", "no", or empty when not
	// documented. StoresValidation says it for 4xx answers to requests that were never executed.
	Stores2xx, Stores4xx, Stores5xx, StoresValidation string
	// NeverStored are statuses that never stay under the key, whatever the other fields say.
	NeverStored []int
	// Fingerprint says what makes a body another one: Bytes, JSON, Ordered or Fields; empty when not documented.
	Fingerprint string
	// Lifetime is how long a key is remembered.
	Lifetime Lifetime
	// Scope is where a key means the same operation.
	Scope Scope
	// Errors is the shape of error answers.
	Errors ErrorBody
}

// What becomes of a request that is not as the convention wants it: the values of Dialect.MissingKey,
// Dialect.Mismatch and Lifetime.After.
const (
	// Refused: it is answered with an error, and nothing is executed.
	Refused = "refused"
	// Accepted: it is executed as if nothing were missing.
	Accepted = "accepted"
	// Replayed: the first answer comes back.
	Replayed = "replayed"
	// Executed: the key is a new one, and the operation runs again.
	Executed = "executed"
)

// Find is the dialect of that name; false when there is none.
func Find(name string) (Dialect, bool) {
	for _, d := range All() {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

// Names are the names of all dialects, "any" first.
func Names() []string {
	var names []string
	for _, d := range All() {
		names = append(names, d.Name)
	}
	return names
}

// All are the dialects in the order of the data, "any" first. The caller owns the slice.
func All() []Dialect {
	dialects, err := parse(source)
	if err != nil {
		// Mistakes in embedded data cannot come from a user: they are a bug, and a test finds them.
		panic(fmt.Sprintf("embedded dialects: %v", err))
	}
	return dialects
}

package dialect

import (
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func TestDescribe(t *testing.T) {
	const open = "not documented: "
	for _, c := range []struct {
		reason  string
		dialect Dialect
		want    string // one of the lines
	}{
		{"nothing at all", Dialect{}, open + "place of the key, methods, a missing key, the same key with another body, a copy while the first one runs, replay, " +
			"kept under the key, what makes a body another one, lifetime of a key, scope of a key"},
		{"quoted key", Dialect{Key: trace.KeyPlace{In: "header", Name: "K", Format: "sf-string"}}, "place of the key: header K, a quoted string (RFC 9651)"},
		{"key in the body", Dialect{Key: trace.KeyPlace{In: "json", Name: "$.k"}}, "place of the key: body, $.k"},
		{"key in the query", Dialect{Key: trace.KeyPlace{In: "query", Name: "k"}}, "place of the key: query parameter k"},
		{"both lengths", Dialect{MinKey: 4, MaxKey: 36, KeyPattern: "[a-z]+"}, "form of the key: 4 to 36 characters, matches [a-z]+"},
		{"least length", Dialect{MinKey: 4, KeySyntax: UUID4}, "form of the key: at least 4 characters, a UUID of version 4"},
		{"companion", Dialect{With: []Companion{{"First-Sent", IMFFixdate}}}, "with the key: header First-Sent, when it was first sent, as an HTTP date"},
		{"refused", Dialect{MissingKey: Refused, Statuses: trace.Statuses{MissingKey: []int{400}}}, "a missing key: refused with 400"},
		{"accepted", Dialect{MissingKey: Accepted}, "a missing key: accepted"},
		{"code", Dialect{Mismatch: Refused, Statuses: trace.Statuses{Mismatch: []int{400, 409, 422}}, Codes: Codes{Mismatch: "used"}, MismatchPointer: "$.id"},
			"the same key with another body: refused with 400, 409 or 422, code used, points at the first result with $.id"},
		{"replayed mismatch", Dialect{Mismatch: Replayed}, "the same key with another body: the first answer comes back"},
		{"waits only", Dialect{Waits: true}, "a copy while the first one runs: held back until the first answer is there"},
		{"waits too", Dialect{Waits: true, Statuses: trace.Statuses{InProgress: []int{409}}, RetryAfter: true},
			"a copy while the first one runs: 409, with Retry-After, or held back until the first answer is there"},
		{"too long", Dialect{TooLong: []int{400}}, "a key that is too long: 400"},
		{"store down", Dialect{StoreDown: []int{503}, Codes: Codes{StoreDown: "703"}}, "while keys cannot be looked up: 503, code 703"},
		{"failed", Dialect{Codes: Codes{Failed: "F"}}, "a retry of a failed attempt: code F"},
		{"marked", Dialect{Replay: Replay{Status: SameStatus, Body: Snapshot, Marker: Marker{Header: "Idempotent-Replayed", Value: "true"}}},
			"replay: same status, stored body, marked Idempotent-Replayed: true"},
		{"marked always", Dialect{Replay: Replay{Status: AnyStatus, Body: Bytes, Marker: Marker{"R", "ok", true}, EchoesKey: true, AllHeaders: true}},
			"replay: any status, stored body, byte by byte, all headers, marked R: ok (so is the first answer), names the key in its header"},
		{"conflict", Dialect{Replay: Replay{Statuses: []int{409}, Body: Conflict, Pointer: "$.id", Code: "c"}},
			"replay: status 409, a refusal that points at the result, in $.id, code c"},
		{"current", Dialect{Replay: Replay{Body: Current}}, "replay: body of now or stored"},
		{"kept and not", Dialect{Stores2xx: "yes", Stores5xx: "yes", StoresValidation: "no", NeverStored: []int{429}},
			"kept under the key: 2xx, 5xx; not validation errors, 429"},
		{"not kept", Dialect{Stores4xx: "no"}, "kept under the key: not 4xx"},
		{"fingerprint", Dialect{Fingerprint: JSON}, "what makes a body another one: another value; white space and the order of fields do not count"},
		{"lifetime", Dialect{Lifetime: Lifetime{24 * time.Hour, Executed}}, "lifetime of a key: at least 24h, then executed again"},
		{"refused afterwards", Dialect{Lifetime: Lifetime{90 * time.Minute, Refused}, Expired: []int{412}}, "lifetime of a key: at least 1h30m, then refused with 412"},
		{"seconds", Dialect{Lifetime: Lifetime{Min: 90 * time.Second}}, "lifetime of a key: at least 1m30s"},
		{"scope", Dialect{Scope: Scope{"api-key", Shared}}, "scope of a key: one API key, another endpoint gets the first one's answer"},
		{"endpoint only", Dialect{Scope: Scope{Endpoint: ByMethodPath}}, "scope of a key: a key of its own for each method and path"},
		{"errors", Dialect{Errors: ErrorBody{"application/problem+json", []string{"type", "title"}, "describedby", ""}},
			"body of an error: application/problem+json with type, title, or a Link with rel=describedby"},
	} {
		lines := strings.Join(c.dialect.Describe(), "\n")
		if !strings.Contains("\n"+lines+"\n", "\n"+c.want+"\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", c.reason, lines, c.want)
		}
	}
}

// Every value that the data can hold has words: one without would be listed as not documented.
func TestDescribeNamesEveryValue(t *testing.T) {
	for _, f := range []string{Bytes, JSON, Ordered, Fields} {
		if fingerprintText(f) == "" {
			t.Errorf("fingerprint %s has no words", f)
		}
	}
	for _, e := range []string{Checked, Independent, ByPath, ByMethodPath, ByURI, Shared} {
		if (Scope{Endpoint: e}).describe() == "" {
			t.Errorf("scope %s has no words", e)
		}
	}
	for _, b := range []string{Snapshot, Bytes, Current, Conflict} {
		if (Replay{Body: b}).describe() == "" {
			t.Errorf("replay %s has no words", b)
		}
	}
}

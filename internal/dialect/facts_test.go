package dialect

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func header(name string) trace.KeyPlace { return trace.KeyPlace{In: "header", Name: name} }

func field(path string) trace.KeyPlace { return trace.KeyPlace{In: "json", Name: path} }

// statuses of a mismatch, a missing key and a copy while the first one runs.
func statuses(mismatch, missing, running []int) trace.Statuses {
	return trace.Statuses{Mismatch: mismatch, MissingKey: missing, InProgress: running}
}

func one(status int) []int { return []int{status} }

// published is what each convention documents, written down a second time and by hand: a slip in the data is a wrong
// verdict for whoever uses it.
func published() []Dialect {
	const day = 24 * time.Hour
	usual := header("Idempotency-Key")
	stored := Replay{Status: SameStatus, Body: Snapshot}
	now := Replay{Status: AnyStatus, Body: Current}
	replayed := Marker{Header: "Idempotent-Replayed", Value: "true"}
	marked := Replay{Status: SameStatus, Body: Snapshot, Marker: replayed}
	post := []string{"POST"}
	return []Dialect{
		{Name: "any", Mismatch: Refused, Statuses: statuses([]int{400, 409, 422}, nil, []int{202, 409, 423, 425, 429}), Waits: true, Lenient: true, Replay: Replay{Status: SameStatus}},
		{Name: "ietf", Key: trace.KeyPlace{In: "header", Name: "Idempotency-Key", Format: "sf-string"}, MissingKey: Refused, Mismatch: Refused,
			Statuses: statuses(one(422), one(400), one(409)), Replay: stored,
			Errors: ErrorBody{Type: "application/problem+json", Fields: []string{"type", "title", "detail"}, Link: "describedby"}},
		{Name: "stripe", Key: trace.KeyPlace{In: "header", Name: "Idempotency-Key", Format: "bare"}, MaxKey: 255, Methods: post, MissingKey: Accepted,
			Mismatch: Refused, Statuses: statuses(one(400), nil, one(409)), Codes: Codes{Mismatch: "idempotency_error", InProgress: "idempotency_key_in_use"},
			Replay: marked, Stores2xx: "yes", Stores5xx: "yes", StoresValidation: "no", NeverStored: []int{401, 409, 429},
			Lifetime: Lifetime{day, Executed}, Scope: Scope{"account", Checked}},
		{Name: "stripe-v2", Key: usual, Methods: []string{"POST", "DELETE"}, MissingKey: Accepted, Replay: now, Lenient: true,
			Stores2xx: "yes", Stores4xx: "no", Stores5xx: "no", Lifetime: Lifetime{Min: 30 * day}},
		{Name: "adyen", Key: usual, MaxKey: 64, Methods: post, MissingKey: Accepted, Statuses: statuses(nil, nil, []int{409, 422}),
			Codes: Codes{InProgress: "704", StoreDown: "703"}, Replay: Replay{Status: AnyStatus, Body: Snapshot, EchoesKey: true},
			Lifetime: Lifetime{Min: 7 * day}, Scope: Scope{Caller: "account"}},
		{Name: "paypal", Key: header("PayPal-Request-Id"), MaxKey: 108, MissingKey: Accepted, Statuses: statuses(nil, nil, one(409)), Replay: now,
			Lenient: true, Lifetime: Lifetime{Min: 3 * time.Hour}},
		{Name: "paypal-standard", MissingKey: Refused, Mismatch: Refused, Statuses: statuses(one(422), one(400), nil),
			Replay: Replay{Statuses: one(200), Body: Snapshot}},
		{Name: "square", Key: field("$.idempotency_key"), Mismatch: Refused, Statuses: statuses(one(400), nil, nil),
			Codes: Codes{Mismatch: "IDEMPOTENCY_KEY_REUSED"}, Replay: stored},
		{Name: "gocardless", Key: usual, Lenient: true, Stores2xx: "yes", Stores4xx: "no", Stores5xx: "no", Replay: Replay{Statuses: one(409),
			Body: Conflict, Pointer: "$.error.links.conflicting_resource_id", Code: "idempotent_creation_conflict"}},
		{Name: "checkout", Key: header("Cko-Idempotency-Key"), Statuses: statuses(nil, nil, []int{409, 429}), Replay: stored,
			Stores2xx: "yes", Stores4xx: "no", Stores5xx: "no", StoresValidation: "no", Lifetime: Lifetime{day, Executed}},
		{Name: "mollie", Key: usual, Replay: stored, Lifetime: Lifetime{Min: time.Hour}},
		{Name: "modern-treasury", Key: usual, Methods: post, Mismatch: Replayed, Statuses: statuses(nil, nil, one(409)), Lenient: true,
			Stores2xx: "yes", Stores4xx: "no", Stores5xx: "no", Lifetime: Lifetime{Min: day}, Scope: Scope{"api-key", Shared}},
		{Name: "increase", Key: usual, MaxKey: 200, Methods: post, Mismatch: Refused, MismatchPointer: "$.resource_id",
			Statuses: statuses(one(409), nil, nil), Codes: Codes{Mismatch: "idempotency_key_already_used_error"}, Replay: marked},
		{Name: "dwolla", Key: usual, Statuses: statuses(nil, nil, one(409)), Replay: stored, Lifetime: Lifetime{Min: day}},
		{Name: "klarna", Key: header("Klarna-Idempotency-Key"), Methods: []string{"POST", "PATCH"}, Replay: stored, Lifetime: Lifetime{Min: day}},
		{Name: "razorpay", Key: header("X-Payout-Idempotency"), MinKey: 4, MaxKey: 36, KeyPattern: "[A-Za-z0-9_ -]+", MissingKey: Refused,
			Mismatch: Refused, Statuses: statuses(one(400), one(400), one(409)), Lenient: true, Stores2xx: "yes", Stores4xx: "yes", Stores5xx: "yes"},
		{Name: "mercado-pago", Key: header("X-Idempotency-Key"), MissingKey: Refused, Mismatch: Refused, Statuses: statuses(one(409), one(400), nil),
			Codes: Codes{Mismatch: "idempotency_key_already_used", MissingKey: "4292"}, Lenient: true, Scope: Scope{Endpoint: Independent}},
		{Name: "shopify", Mismatch: Refused, Statuses: statuses(one(200), nil, nil), Lenient: true, Replay: Replay{Status: SameStatus, Body: Current},
			Codes: Codes{Mismatch: "IDEMPOTENCY_KEY_PARAMETER_MISMATCH", InProgress: "IDEMPOTENCY_CONCURRENT_REQUEST",
				Failed: "IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED"}, Fingerprint: Ordered, Lifetime: Lifetime{Min: day}, Errors: ErrorBody{At: "$.errors"}},
		{Name: "plaid", Key: field("$.idempotency_key"), MaxKey: 50, Lenient: true, Lifetime: Lifetime{Min: 2 * day}},
		{Name: "aip-155", Key: field("$.request_id"), KeySyntax: UUID4, MissingKey: Accepted, Lenient: true,
			Replay: Replay{Status: SameStatus, Body: Current}, Stores2xx: "yes", Stores4xx: "no", Stores5xx: "no"},
		{Name: "azure", Key: header("Repeatability-Request-ID"), KeySyntax: UUID, With: []Companion{{"Repeatability-First-Sent", IMFFixdate}},
			Mismatch: Refused, Statuses: statuses(one(400), nil, one(409)), Expired: one(412),
			Replay:    Replay{Status: SameStatus, Body: Snapshot, Marker: Marker{"Repeatability-Result", "accepted", true}},
			Stores2xx: "yes", Stores4xx: "yes", Stores5xx: "no", Lifetime: Lifetime{5 * time.Minute, Refused}},
		{Name: "zalando", Key: usual, KeySyntax: UUID, MissingKey: Accepted, Mismatch: Refused, Statuses: statuses(one(400), nil, nil), Lenient: true,
			Stores2xx: "yes", Stores4xx: "yes", Stores5xx: "yes", Lifetime: Lifetime{Min: day}},
		{Name: "open-banking-uk", Key: header("x-idempotency-key"), MaxKey: 40, TooLong: one(400), Lenient: true,
			Replay: Replay{Statuses: one(201), Body: Current}, Lifetime: Lifetime{Min: day}},
		{Name: "svix", Key: usual, Methods: post, MissingKey: Accepted, Mismatch: Replayed, Waits: true,
			Replay:    Replay{Status: SameStatus, Body: Snapshot, AllHeaders: true},
			Stores2xx: "yes", Stores4xx: "no", Stores5xx: "no", Lifetime: Lifetime{Min: 12 * time.Hour}, Scope: Scope{"token", ByURI}},
		{Name: "acp", Key: usual, MaxKey: 255, MissingKey: Refused, Mismatch: Refused, Statuses: statuses(one(422), one(400), one(409)), RetryAfter: true,
			Codes:  Codes{Mismatch: "idempotency_conflict", MissingKey: "idempotency_key_required", InProgress: "idempotency_in_flight"},
			Replay: Replay{Status: SameStatus, Body: Snapshot, Marker: replayed, EchoesKey: true}, Stores2xx: "yes", Stores5xx: "no", Fingerprint: JSON,
			Lifetime: Lifetime{day, Executed}, Scope: Scope{"identity", ByPath}},
		{Name: "ucp", Key: usual, Mismatch: Refused, Statuses: statuses(one(409), nil, nil), StoreDown: one(503), Lenient: true, Fingerprint: Bytes,
			Lifetime: Lifetime{Min: day}},
		{Name: "telnyx", Key: usual, MaxKey: 255, KeyPattern: "[A-Za-z0-9_:-]+", Mismatch: Refused, Statuses: statuses(one(422), nil, nil), Lenient: true,
			Fingerprint: Bytes, Lifetime: Lifetime{Min: day}, Scope: Scope{"organization", ByMethodPath}},
		{Name: "whop", Key: usual, Mismatch: Refused, Statuses: statuses(one(400), nil, nil),
			Replay: Replay{Status: SameStatus, Body: Bytes, Marker: replayed}, Stores2xx: "yes", Stores4xx: "yes"},
	}
}

func TestPublishedFacts(t *testing.T) {
	all, want := All(), published()
	if len(all) != len(want) {
		t.Fatalf("%d dialects, want %d", len(all), len(want))
	}
	for i, d := range all {
		sourced := strings.Contains(d.About, " own text") || strings.Contains(d.About, "'s code")
		if d.About == "" || d.Name != "any" && !sourced {
			t.Errorf("%s does not say whose word it is: %q", d.Name, d.About)
		}
		d.About = ""
		if !reflect.DeepEqual(d, want[i]) {
			t.Errorf("got\n%+v\nwant\n%+v", d, want[i])
		}
	}
}

// A dialect that names statuses, codes or a pointer of a situation and says elsewhere that the situation does not
// arise would be judged by whichever is read first.
func TestFactsAgree(t *testing.T) {
	for _, d := range All() {
		if d.MissingKey == Accepted && (len(d.Statuses.MissingKey) > 0 || d.Codes.MissingKey != "") {
			t.Errorf("%s accepts a missing key and refuses it", d.Name)
		}
		if d.Mismatch != Refused && (len(d.Statuses.Mismatch) > 0 || d.Codes.Mismatch != "" || d.MismatchPointer != "") {
			t.Errorf("%s does not refuse a mismatch and says how", d.Name)
		}
		if (d.Replay.Body == Conflict) != (d.Replay.Pointer != "") {
			t.Errorf("%s: a conflict points at its result, and nothing else does", d.Name)
		}
		if (d.Lifetime.After == Refused) != (len(d.Expired) > 0) {
			t.Errorf("%s: a key behind its lifetime is refused with a status", d.Name)
		}
		if d.Replay.Status != "" && len(d.Replay.Statuses) > 0 || d.Lenient != (d.Replay.Body != Snapshot && d.Replay.Body != Bytes) {
			t.Errorf("%s: replay %+v, lenient %v", d.Name, d.Replay, d.Lenient)
		}
	}
}

package requests

import (
	"regexp"
	"slices"
	"strings"
)

// What fields are named that a client fills with what it likes, each value different: they tell effects apart.
var uniqueNames = []string{
	"reference", "ref", "external_id", "external_ref", "external_reference", "client_reference", "client_ref", "client_reference_id",
	"merchant_reference", "merchant_ref", "customer_reference", "order_reference", "payment_reference", "order_ref",
	"reference_id", "reference_number", "reference_no", "correlation_id", "tracking_id", "merchant_order_id", "merchant_transaction_id",
	"client_order_id", "end_to_end_id", "transaction_reference", "purchase_order", "po_number", "order_number", "invoice_number", "order_no",
}

// shortNames are such fields that are often limited to few characters.
var shortNames = []string{"username", "user_name", "login", "nickname", "handle", "slug", "subdomain", "screen_name"}

// freeNames are fields that may hold any text.
var freeNames = []string{
	"description", "note", "notes", "comment", "comments", "memo", "remarks", "remark", "message", "title", "name", "subject", "label", "text",
	"display_name", "full_name", "summary", "content", "narrative", "statement_descriptor", "body",
}

// ownIDs are fields in which a client gives the id of what it makes.
var ownIDs = []string{"id", "uuid", "guid", "request_id", "transaction_id", "message_id", "event_id", "client_id", "external_id"}

var mailForm = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s.]+$`)

// guessed is what stands in place of a value, and why.
type guessed struct{ text, why string }

// shortMarker is what most limits of a short name allow.
const shortMarker = "marker:12"

// unique is what takes the place of a value that must differ for each request, by the name of its field; false for a value that
// may stay.
func unique(name, value string) (guessed, bool) {
	name = snake(name)
	switch {
	case value == "" || hasHole(value):
		return guessed{}, false
	case mailForm.MatchString(value) && (strings.Contains(name, "mail") || name == "username" || name == "login"):
		return guessed{placeholder("email"), "guess: an address may be taken already"}, true
	case uuidForm.MatchString(value):
		if slices.Contains(uniqueNames, name) || slices.Contains(ownIDs, name) {
			return guessed{placeholder("uuid"), "guess: a new id for each request"}, true
		}
		return guessed{}, false
	case slices.Contains(uniqueNames, name):
		return guessed{placeholder("marker"), "guess: any text, by which effects can be told apart"}, true
	case slices.Contains(shortNames, name):
		return guessed{placeholder(shortMarker), "guess: must differ, and may not be long"}, true
	}
	return guessed{}, false
}

// isFree is true for a field that may hold any text.
func isFree(name, value string) bool {
	return slices.Contains(freeNames, snake(name)) && value != "" && !hasHole(value) && !mailForm.MatchString(value)
}

// refersTo is true for names such as customerId, cart or product_code: what stands there must exist.
func refersTo(name, value string) bool {
	name = snake(name)
	return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_uuid") || uuidForm.MatchString(value)
}

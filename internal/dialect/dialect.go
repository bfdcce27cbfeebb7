// Package dialect holds published conventions of idempotency keys, as data: dialects.yaml is the whole
// content, this code only reads it. A new convention is an entry there.
package dialect

import (
	_ "embed"
	"fmt"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

//go:embed dialects.yaml
var source []byte

// Dialect is what one convention of idempotency keys documents. What it does not document is left at the
// zero value and must not be asserted.
type Dialect struct {
	// Name is what a plan says, such as "ietf".
	Name string
	// About is one line for people, with the source.
	About string
	// Key is where the convention puts the key; the zero value when it leaves that open.
	Key trace.KeyPlace
	// MaxKey is the greatest length of a key in characters; 0 when not documented.
	MaxKey int
	// MissingKey is Refused or Accepted; empty when not documented.
	MissingKey string
	// Statuses are the documented status codes by situation; an empty list is not asserted.
	Statuses trace.Statuses
	// Lenient is true when a replay may differ from the first answer beside the parts that identify the
	// result: the convention promises no snapshot.
	Lenient bool
	// Stores4xx and Stores5xx say whether such answers stay under the key: "yes", "no", or empty when not
	// documented.
	Stores4xx, Stores5xx string
}

// The values of Dialect.MissingKey: what becomes of a request without a key.
const (
	Refused  = "refused"
	Accepted = "accepted"
)

// Find is the dialect of that name; false when there is none.
func Find(name string) (Dialect, bool) {
	for _, d := range all() {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

// Names are the names of all dialects, "any" first.
func Names() []string {
	var names []string
	for _, d := range all() {
		names = append(names, d.Name)
	}
	return names
}

// all reads the embedded data. Mistakes in it cannot come from a user: they are a bug, and a test finds them.
func all() []Dialect {
	dialects, err := parse(source)
	if err != nil {
		panic(fmt.Sprintf("embedded dialects: %v", err))
	}
	return dialects
}

func parse(text []byte) ([]Dialect, error) {
	doc := strict.Parse("dialects.yaml", text, nil)
	var dialects []Dialect
	for _, e := range doc.Root().Entries() {
		dialects = append(dialects, decode(e))
	}
	return dialects, doc.Err()
}

func decode(e strict.Entry) Dialect {
	o := e.Value.Object("about", "key", "missing_key", "statuses", "lenient", "stores")
	d := Dialect{Name: e.Key.Value, About: o.Require("about").Text().Value}
	d.decodeKey(o.Get("key"))
	d.MissingKey = o.Get("missing_key").Enum(Refused, Accepted)
	statuses := o.Require("statuses").Object("mismatch", "missing_key", "in_progress")
	d.Statuses = trace.Statuses{
		Mismatch:   codes(statuses.Get("mismatch")),
		MissingKey: codes(statuses.Get("missing_key")),
		InProgress: codes(statuses.Get("in_progress")),
	}
	d.Lenient = o.Get("lenient").Bool()
	stores := o.Get("stores").Object("4xx", "5xx")
	d.Stores4xx = stores.Get("4xx").Enum("yes", "no")
	d.Stores5xx = stores.Get("5xx").Enum("yes", "no")
	return d
}

func (d *Dialect) decodeKey(v strict.Value) {
	if !v.Present() {
		return
	}
	o := v.Object("header", "json", "format", "max")
	d.Key.In = o.OneOf("place of the key", "header", "json")
	d.Key.Name = o.Get(d.Key.In).Text().Value
	d.Key.Format = o.Get("format").Enum("bare", "sf-string")
	const longest = 1 << 16 // servers refuse longer header lines altogether
	d.MaxKey = int(o.Get("max").Int(1, longest))
}

func codes(v strict.Value) []int {
	var found []int
	for _, item := range v.List() {
		found = append(found, int(item.Int(100, 599)))
	}
	return found
}

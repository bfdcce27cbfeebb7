package plan

import (
	"bytes"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

var hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// otherBody is the body with one harmless leaf changed: a number raised by one, else a free text with words
// added. Why says what was changed, or why nothing could be.
func otherBody(b Body, key trace.KeyPlace) (other Body, why string, ok bool) {
	switch {
	case b.Empty():
		return Body{}, "the request has no body", false
	case b.Kind == BodyText || b.Kind == BodyFile:
		return Body{}, "a " + b.Kind + " body cannot be changed without knowing its format: say `other_body`", false
	}
	var leaves []leaf
	path := "$"
	if b.Kind == BodyForm {
		path = ""
	}
	collect(b.tree, nil, "", path, &leaves)
	best, found := choose(leaves, key)
	if !found {
		return Body{}, "the body has no number or free text that could be changed harmlessly: say `other_body`", false
	}
	b.tree = b.tree.replaced(best.route, best.changed)
	return b, fmt.Sprintf("changed %s from %s to %s", best.path, best.from, best.to), true
}

// leaf is a value that could be changed.
type leaf struct {
	route   []int  // indexes of items from the root
	path    string // for people
	name    string // of the nearest member around it
	tier    int    // the lower the better
	size    *big.Rat
	changed *node
	from    string
	to      string
}

// The tiers of leaves, best first: changing a quantity is an honest other order, changing another number or
// text usually is.
const (
	tierQuantity = iota
	tierNumber
	tierText
	tierNone
)

var (
	quantities = []string{"qty", "quantity", "amount", "count", "units", "number_of_items"}
	freeTexts  = []string{"note", "notes", "comment", "comments", "description", "message", "memo", "title", "remark", "remarks", "subject", "text", "name", "label"}
	// meaningful names hold values that refer to something or come from a fixed list; another value may not exist.
	meaningful = []string{
		"id", "ids", "uuid", "guid", "sku", "ean", "isbn", "code", "currency", "country", "locale", "language", "lang", "timezone",
		"type", "kind", "status", "state", "email", "mail", "phone", "iban", "bic", "zip", "postcode", "date", "time", "timestamp",
		"version", "year", "month", "day", "reference", "ref", "token", "key", "url", "uri", "hash", "port", "number", "lat", "lon", "lng",
	}
)

func collect(n *node, route []int, name, path string, found *[]leaf) {
	for i, item := range n.items {
		at := append(slices.Clone(route), i)
		itemName, itemPath := name, fmt.Sprintf("%s[%d]", path, i)
		if n.kind == strict.Mapping {
			itemName, itemPath = n.names[i], member(path, n.names[i])
		}
		collect(item, at, itemName, itemPath, found)
	}
	l := leaf{route: route, path: path, name: snake(name), tier: tierNone}
	switch n.kind {
	case strict.Number:
		l.number(n.word, strict.Number)
	case strict.String:
		if words := n.text; len(words.Placeholders()) == 0 {
			l.words(words.Render(placeholderX{}))
		}
	}
	if l.tier != tierNone && len(route) > 0 {
		*found = append(*found, l)
	}
}

// member is the place of a member of what is at a path; the path of a form is empty.
func member(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// number makes a leaf of a number. Exponents are left alone, and so is what may be an epoch or an id: 1e9 and more.
func (l *leaf) number(word string, kind strict.Kind) {
	value, ok := new(big.Rat).SetString(word)
	if !ok || strings.ContainsAny(word, "eE") || new(big.Rat).Abs(value).Cmp(big.NewRat(1e9, 1)) >= 0 {
		return
	}
	_, fraction, _ := strings.Cut(word, ".")
	more := new(big.Rat).Add(value, big.NewRat(1, 1)).FloatString(len(fraction))
	l.tier, l.size = tierNumber, value.Abs(value)
	if slices.Contains(quantities, l.name) {
		l.tier = tierQuantity
	}
	l.from, l.to = word, more
	l.changed = &node{kind: kind, word: more, text: literal(more)}
}

// words makes a leaf of a text: of a number in a form field, or of free text.
func (l *leaf) words(text string) {
	if slices.Contains(quantities, l.name) && strict.IsNumber(text) {
		l.number(text, strict.String)
		return
	}
	free := slices.Contains(freeTexts, l.name) || strings.Contains(strings.TrimSpace(text), " ")
	if text == "" || !free || knownFormat(text) {
		return
	}
	l.tier, l.size = tierText, new(big.Rat)
	l.from, l.to = fmt.Sprintf("%q", text), fmt.Sprintf("%q", text+" (other)")
	l.changed = &node{kind: strict.String, text: literal(text + " (other)")}
}

// choose is the best leaf: the best tier, in it the smallest number, then the first.
func choose(found []leaf, key trace.KeyPlace) (best leaf, ok bool) {
	for _, l := range found {
		if !l.harmless(key) {
			continue
		}
		if !ok || l.tier < best.tier || l.tier == best.tier && l.size.Cmp(best.size) < 0 {
			best, ok = l, true
		}
	}
	return best, ok
}

// harmless is true for a leaf that is neither the key nor refers to something.
func (l leaf) harmless(key trace.KeyPlace) bool {
	return !(key.In == "json" && l.path == key.Name) && !refers(l.name)
}

// refers is true for names such as "sku", "customer_id" or "country_code".
func refers(name string) bool {
	last := name[strings.LastIndex(name, "_")+1:]
	return slices.Contains(meaningful, last) || strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "_on")
}

// snake is a name in small letters with _ between words: customerId and customer-id are customer_id.
func snake(name string) string {
	split := hump.ReplaceAllString(name, "${1}_${2}")
	return strings.ToLower(strings.ReplaceAll(split, "-", "_"))
}

// formats are texts of a known format: e-mail addresses, URLs, UUIDs, IBANs, and codes in capital letters or
// with digits.
var formats = regexp.MustCompile(`^(?:[^@\s]+@[^@\s]+|[a-zA-Z][a-zA-Z0-9+.-]*://\S*|` +
	`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}|` +
	`[A-Z]{2,4}|[-A-Za-z_./:+#]*[0-9][-A-Za-z0-9_./:+#]*|\+?[0-9 ()/-]+)$`)

func knownFormat(text string) bool {
	if formats.MatchString(text) {
		return true
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// replaced is n with the value at a route of indexes replaced.
func (n *node) replaced(route []int, value *node) *node {
	if len(route) == 0 {
		return value
	}
	out := *n
	out.items = slices.Clone(n.items)
	out.items[route[0]] = n.items[route[0]].replaced(route[1:], value)
	return &out
}

// sameAs is true when two bodies render the same for the same values.
func (b Body) sameAs(other Body) bool {
	x, errX := b.Render(byName{})
	y, errY := other.Render(byName{})
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// byName makes placeholders differ by their names.
type byName struct{}

// Lookup implements Values.
func (byName) Lookup(name string, limit int) string { return fmt.Sprintf("{{%s:%d}}", name, limit) }

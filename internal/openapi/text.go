package openapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// markerLength is that of {{marker}}: letters and digits, the first ones letters. A shorter one is {{marker:N}}, of at least
// leastMarker.
const (
	markerLength = 26
	leastMarker  = 8
)

var hump = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// words are the words of a name in small letters: customerID, customer-id and customer_id are two.
func words(name string) []string {
	split := strings.ToLower(hump.ReplaceAllString(name, "${1}${3}_${2}${4}"))
	return strings.FieldsFunc(split, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// Names of members that hold free text, and of those that are somebody's own number for a thing.
var (
	freeNames = []string{
		"reference", "ref", "name", "title", "description", "note", "notes", "memo", "comment", "comments", "label", "subject",
		"message", "summary", "slug", "username", "login", "nickname", "remark", "remarks", "text",
	}
	ownWords = []string{"external", "client", "merchant", "custom", "partner", "correlation", "foreign"}
)

// isFree is true for a member whose text is for people, or the caller's own.
func isFree(name string) bool {
	w := words(name)
	if len(w) == 0 {
		return false
	}
	last := w[len(w)-1]
	if slices.Contains(freeNames, last) {
		return true
	}
	own := slices.ContainsFunc(w, func(s string) bool { return slices.Contains(ownWords, s) })
	return own && slices.Contains([]string{"id", "number", "key", "code"}, last)
}

// The reasons that stand beside what was chosen.
const (
	whyMarker  = "free text, so that effects can be counted by it"
	whyInstead = "in place of the example, so that effects can be counted by it"
	whySample  = "the document gives no value"
)

// text is a text that the schema allows.
func (s *sampler) text(t *schema, name string, hint *yaml.Node, depth int) *yaml.Node {
	if s.refer != nil {
		if placeholder, guess := s.refer(name); placeholder != "" && t.loose() {
			return guessed(placeholder, guess)
		}
	}
	if n := s.unique(t, name, hint, depth); n != nil {
		return n
	}
	if hint != nil {
		return quoted(escape(hint.Value))
	}
	value := t.sampleText(name)
	n := guessed(escape(value), whySample)
	if s.marks && t.format == "" && depth <= markedLevels && value == fallbackText {
		s.free = append(s.free, freeText{name, n, t})
	}
	return n
}

// unique is a text that differs for each key; nil where the member is not free.
func (s *sampler) unique(t *schema, name string, hint *yaml.Node, depth int) *yaml.Node {
	if !s.marks || depth > markedLevels {
		return nil
	}
	why := whyMarker
	if hint != nil {
		why = whyInstead
	}
	w := words(name)
	isMail := t.format == "email" || t.format == "" && len(w) > 0 && slices.Contains([]string{"email", "mail"}, w[len(w)-1])
	switch {
	case isMail:
		if mail := t.mail(); mail != "" {
			return guessed(mail, "an address of its own for each key")
		}
	case t.format == "uuid" && (isFree(name) || len(w) == 1 && (w[0] == "id" || w[0] == "uuid")):
		return guessed("{{uuid}}", "an id of its own for each key")
	case isFree(name) && t.loose():
		if marker := t.marker(); marker != "" {
			s.marked[name] = marker
			return guessed(marker, why)
		}
	}
	return nil
}

// loose is true for a text without a format.
func (t *schema) loose() bool {
	return slices.Contains([]string{"", "string", "text", "markdown", "multiline", "html"}, t.format)
}

// marker is {{marker}} as the schema allows it; empty where it does not.
func (t *schema) marker() string {
	length, out := markerLength, "{{marker}}"
	if t.maxLength >= 0 && t.maxLength < markerLength {
		length = t.maxLength
		out = "{{marker:" + strconv.Itoa(length) + "}}"
	}
	padding := strings.Repeat("x", min(max(t.minLength-length, 0), 1000))
	const letters, mixed = "rsabcdefghijklmnopqrstuvwx", "rs2a3b4c5d6e7f2g3h4i5j6k7l"
	if length < leastMarker || !t.fitsText(letters[:length]+padding) || !t.fitsText(mixed[:length]+padding) {
		return ""
	}
	return out + padding
}

// mail is an address that differs for each key; empty where the schema has no room for one.
func (t *schema) mail() string {
	const domain = "@example.com"
	room := markerLength
	if t.maxLength >= 0 {
		room = min(room, t.maxLength-len(domain))
	}
	switch {
	case room < leastMarker || !t.fitsText("rs2a3b4c5d6e7f2g3h4i5j6k7l"[:room]+domain):
		return ""
	case room < markerLength:
		return "{{marker:" + strconv.Itoa(room) + "}}" + domain
	}
	return "{{email}}"
}

// markFiltered puts the marker into the texts that nothing was known of and that a list filters by, whatever else holds it: by them what one
// request made can be told from what others did.
func (s *sampler) markFiltered() {
	for _, f := range s.free {
		if s.filtered(f.name) && s.marked[f.name] == "" {
			s.mark(f)
		}
	}
}

// filtered reports whether a list can be asked for a member of that name.
func (s *sampler) filtered(name string) bool {
	return slices.ContainsFunc(s.filters, func(w []string) bool { return slices.Equal(w, words(name)) })
}

// mark puts the marker into a text, and reports whether its schema allows one.
func (s *sampler) mark(f freeText) bool {
	marker := f.schema.marker()
	if marker == "" {
		return false
	}
	f.node.Value, f.node.LineComment = marker, "guess: "+whyMarker
	s.marked[f.name] = marker
	return true
}

// spreadMarker puts the marker into a text that nothing was known of, where no member was free.
func (s *sampler) spreadMarker() {
	if len(s.marked) > 0 {
		return
	}
	for _, f := range s.free {
		if s.mark(f) {
			return
		}
	}
}

// fallbackText is a text of which nothing is known.
const fallbackText = "sample"

// byFormat are texts of known formats. Hosts, addresses and numbers are those that are kept for examples.
var byFormat = map[string]string{
	"date-time": "2030-01-01T00:00:00Z", "date": "2030-01-01", "time": "12:00:00Z", "duration": "PT1H", "datetime": "2030-01-01T00:00:00Z",
	"uri": "https://example.com/", "url": "https://example.com/", "iri": "https://example.com/", "uri-reference": "/sample",
	"hostname": "example.com", "idn-hostname": "example.com", "host": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "ip": "192.0.2.1", "cidr": "192.0.2.0/24", "mac": "00:00:5e:00:53:01",
	"email": "sample@example.com", "idn-email": "sample@example.com", "uuid": "00000000-0000-4000-8000-000000000001",
	"byte": "c2FtcGxl", "base64": "c2FtcGxl", "binary": "sample", "password": "Sample-pass-1", "regex": ".*", "json-pointer": "/sample",
	"int32": "1", "int64": "1", "integer": "1", "uint64": "1", "number": "1", "decimal": "1.00", "double": "1.00", "float": "1.00",
	"currency": "EUR", "country": "DE", "phone": "+15555550100", "json": "{}", "date-time-rfc1123": "Tue, 01 Jan 2030 00:00:00 GMT",
}

// byWord are texts for the last word of a name.
var byWord = map[string]string{
	"currency": "EUR", "country": "DE", "language": "en", "lang": "en", "locale": "en", "timezone": "UTC", "phone": "+15555550100",
	"mobile": "+15555550100", "url": "https://example.com/", "uri": "https://example.com/", "website": "https://example.com/",
	"link": "https://example.com/", "date": "2030-01-01", "zip": "10115", "postcode": "10115", "city": "Berlin", "ip": "192.0.2.1",
	"host": "example.com", "hostname": "example.com", "domain": "example.com", "color": "#336699", "password": "Sample-pass-1",
	"email": "sample@example.com", "mail": "sample@example.com",
}

// sampleText is a text that is made up.
func (t *schema) sampleText(name string) string {
	var tries []string
	add := func(s string, known bool) {
		if known {
			tries = append(tries, s)
		}
	}
	known, ok := byFormat[strings.ToLower(t.format)]
	add(known, ok)
	if w := words(name); len(w) > 0 && t.loose() {
		known, ok = byWord[w[len(w)-1]]
		add(known, ok)
	}
	tries = append(tries, fallbackText, "1", "a", "A")
	for _, s := range tries {
		if t.fitsText(s) {
			return s
		}
	}
	for _, p := range t.patterns {
		if s, ok := fromPattern(p, max(t.minLength, 0)); ok && t.fitsText(s) {
			return s
		}
	}
	return t.sized(tries[0])
}

// sized is a text cut or filled up to the length that the schema asks for.
func (t *schema) sized(s string) string {
	const most = 10000 // characters; a longer body would be no plan
	if missing := min(t.minLength, most) - utf8.RuneCountInString(s); missing > 0 {
		s += strings.Repeat("x", missing)
	}
	if r := []rune(s); t.maxLength >= 0 && len(r) > t.maxLength {
		s = string(r[:t.maxLength])
	}
	return s
}

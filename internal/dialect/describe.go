package dialect

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Describe are lines for people about everything that the dialect documents, such as "a missing key: refused with 400".
// The last one lists what it does not document, so that it is not asserted. Name and About are not part of it.
func (d Dialect) Describe() []string {
	var lines, open []string
	say := func(topic, text string) {
		if text == "" {
			open = append(open, topic)
		} else {
			lines = append(lines, topic+": "+text)
		}
	}
	extra := func(topic, text string) {
		if text != "" {
			lines = append(lines, topic+": "+text)
		}
	}
	say("place of the key", d.describePlace())
	extra("form of the key", d.describeForm())
	extra("with the key", d.describeWith())
	say("methods", strings.Join(d.Methods, ", "))
	say("a missing key", outcome(d.MissingKey, d.Statuses.MissingKey, d.Codes.MissingKey))
	say("the same key with another body", d.describeMismatch())
	say("a copy while the first one runs", d.describeInProgress())
	extra("a key that is too long", outcome("", d.TooLong, ""))
	extra("a retry of a failed attempt", outcome("", nil, d.Codes.Failed))
	extra("while keys cannot be looked up", outcome("", d.StoreDown, d.Codes.StoreDown))
	say("replay", d.Replay.describe())
	say("kept under the key", d.describeStores())
	say("what makes a body another one", fingerprintText(d.Fingerprint))
	say("lifetime of a key", d.describeLifetime())
	say("scope of a key", d.Scope.describe())
	extra("body of an error", d.Errors.describe())
	if len(open) > 0 {
		lines = append(lines, "not documented: "+strings.Join(open, ", "))
	}
	return lines
}

func (d Dialect) describePlace() string {
	text := map[string]string{"header": "header ", "json": "body, ", "query": "query parameter "}[d.Key.In]
	if text == "" {
		return ""
	}
	text += d.Key.Name
	if d.Key.Format == "sf-string" {
		text += ", a quoted string (RFC 9651)"
	}
	return text
}

func (d Dialect) describeForm() string {
	var parts []string
	switch {
	case d.MinKey != 0 && d.MaxKey != 0:
		parts = append(parts, fmt.Sprintf("%d to %d characters", d.MinKey, d.MaxKey))
	case d.MaxKey != 0:
		parts = append(parts, fmt.Sprintf("at most %d characters", d.MaxKey))
	case d.MinKey != 0:
		parts = append(parts, fmt.Sprintf("at least %d characters", d.MinKey))
	}
	if d.KeyPattern != "" {
		parts = append(parts, "matches "+d.KeyPattern)
	}
	if d.KeySyntax != "" {
		parts = append(parts, "a "+syntaxName(d.KeySyntax))
	}
	return strings.Join(parts, ", ")
}

func (d Dialect) describeWith() string {
	var parts []string
	for _, c := range d.With {
		parts = append(parts, "header "+c.Header+", when it was first sent, as an HTTP date")
	}
	return strings.Join(parts, "; ")
}

func (d Dialect) describeMismatch() string {
	if d.Mismatch == Replayed {
		return "the first answer comes back"
	}
	text := outcome(d.Mismatch, d.Statuses.Mismatch, d.Codes.Mismatch)
	if d.MismatchPointer != "" {
		text += ", points at the first result with " + d.MismatchPointer
	}
	return text
}

func (d Dialect) describeInProgress() string {
	text := outcome("", d.Statuses.InProgress, d.Codes.InProgress)
	if d.RetryAfter {
		text += ", with Retry-After"
	}
	switch {
	case !d.Waits:
		return text
	case text == "":
		return "held back until the first answer is there"
	}
	return text + ", or held back until the first answer is there"
}

// outcome is what is answered: "refused with 400 or 422, code idempotency_error".
func outcome(what string, statuses []int, code string) string {
	text := what
	if len(statuses) > 0 {
		if text != "" {
			text += " with "
		}
		text += either(statuses)
	}
	if code != "" {
		if text != "" {
			text += ", "
		}
		text += "code " + code
	}
	return text
}

// either is a list of statuses as alternatives: "400, 409 or 422".
func either(statuses []int) string {
	var words []string
	for _, s := range statuses {
		words = append(words, strconv.Itoa(s))
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (r Replay) describe() string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	switch {
	case r.Status == SameStatus:
		add("same status")
	case r.Status == AnyStatus:
		add("any status")
	case len(r.Statuses) > 0:
		add("status " + either(r.Statuses))
	}
	add(map[string]string{
		Snapshot: "stored body", Bytes: "stored body, byte by byte", Current: "body of now or stored",
		Conflict: "a refusal that points at the result",
	}[r.Body])
	if r.Pointer != "" {
		add("in " + r.Pointer)
	}
	if r.Code != "" {
		add("code " + r.Code)
	}
	if r.AllHeaders {
		add("all headers")
	}
	if r.Marker.Header != "" {
		add("marked " + r.Marker.Header + ": " + r.Marker.Value + map[bool]string{true: " (so is the first answer)"}[r.Marker.First])
	}
	if r.EchoesKey {
		add("names the key in its header")
	}
	return strings.Join(parts, ", ")
}

func (d Dialect) describeStores() string {
	var kept, not []string
	put := func(stores, what string) {
		switch stores {
		case "yes":
			kept = append(kept, what)
		case "no":
			not = append(not, what)
		}
	}
	put(d.Stores2xx, "2xx")
	put(d.Stores4xx, "4xx")
	put(d.Stores5xx, "5xx")
	put(d.StoresValidation, "validation errors")
	for _, status := range d.NeverStored {
		not = append(not, strconv.Itoa(status))
	}
	text := strings.Join(kept, ", ")
	if len(not) > 0 {
		text += map[bool]string{true: "; "}[text != ""] + "not " + strings.Join(not, ", ")
	}
	return text
}

func fingerprintText(fingerprint string) string {
	return map[string]string{
		Bytes: "any other byte", JSON: "another value; white space and the order of fields do not count",
		Ordered: "another order of fields", Fields: "another value of some of its fields",
	}[fingerprint]
}

func (d Dialect) describeLifetime() string {
	var parts []string
	if d.Lifetime.Min != 0 {
		parts = append(parts, "at least "+span(d.Lifetime.Min))
	}
	switch d.Lifetime.After {
	case Executed:
		parts = append(parts, "then executed again")
	case Refused:
		parts = append(parts, "then "+outcome(Refused, d.Expired, ""))
	}
	return strings.Join(parts, ", ")
}

// span is a duration without units that are zero: 24h, not 24h0m0s.
func span(t time.Duration) string {
	text := t.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (s Scope) describe() string {
	var parts []string
	if s.Caller != "" {
		parts = append(parts, "one "+strings.Replace(s.Caller, "api-key", "API key", 1))
	}
	if text := map[string]string{
		Checked:      "refused at another endpoint",
		Independent:  "a key of its own at another endpoint",
		ByPath:       "a key of its own for each path",
		ByMethodPath: "a key of its own for each method and path",
		ByURI:        "a key of its own for each path and query",
		Shared:       "another endpoint gets the first one's answer",
	}[s.Endpoint]; text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (e ErrorBody) describe() string {
	text := e.Type
	if len(e.Fields) > 0 {
		text += " with " + strings.Join(e.Fields, ", ")
	}
	if e.Link != "" {
		text += ", or a Link with rel=" + e.Link
	}
	if e.At != "" {
		text = strings.TrimPrefix(text+", in "+e.At+" of an answer of any status", ", ")
	}
	return text
}

package dialect

import (
	"regexp"
	"strings"

	"retrysafe/internal/strict"
)

func parse(text []byte) ([]Dialect, error) {
	doc := strict.Parse("dialects.yaml", text, nil)
	var dialects []Dialect
	for _, e := range doc.Root().Entries() {
		dialects = append(dialects, decode(e))
	}
	return dialects, doc.Err()
}

func decode(e strict.Entry) Dialect {
	o := e.Value.Object("about", "key", "methods", "missing_key", "mismatch", "statuses", "codes", "pointer", "retry_after",
		"replay", "stores", "fingerprint", "lifetime", "scope", "errors")
	d := Dialect{Name: e.Key.Value, About: o.Require("about").Text().Value}
	d.decodeKey(o.Get("key"))
	d.Methods = texts(o.Get("methods"))
	d.MissingKey = o.Get("missing_key").Enum(Refused, Accepted)
	d.decodeStatuses(o.Get("statuses"))
	d.decodeMismatch(o.Get("mismatch"))
	d.Codes = decodeCodes(o.Get("codes"))
	d.MismatchPointer = pointer(o.Get("pointer"))
	d.RetryAfter = o.Get("retry_after").Bool()
	d.Replay = decodeReplay(o.Get("replay"))
	d.Lenient = d.Replay.Body != Snapshot && d.Replay.Body != Bytes
	d.decodeStores(o.Get("stores"))
	d.Fingerprint = o.Get("fingerprint").Enum(Bytes, JSON, Ordered, Fields)
	lifetime := o.Get("lifetime").Object("min", "after")
	d.Lifetime = Lifetime{Min: lifetime.Get("min").Duration(), After: lifetime.Get("after").Enum(Executed, Refused)}
	scope := o.Get("scope").Object("caller", "endpoint")
	d.Scope = Scope{
		Caller:   scope.Get("caller").Enum("account", "organization", "identity", "api-key", "token"),
		Endpoint: scope.Get("endpoint").Enum(Checked, Independent, ByPath, ByMethodPath, ByURI, Shared),
	}
	errors := o.Get("errors").Object("type", "fields", "link", "at")
	d.Errors = ErrorBody{errors.Get("type").Text().Value, texts(errors.Get("fields")), errors.Get("link").Text().Value, pointer(errors.Get("at"))}
	return d
}

func (d *Dialect) decodeKey(v strict.Value) {
	if !v.Present() {
		return
	}
	o := v.Object("header", "json", "query", "format", "min", "max", "pattern", "syntax", "with")
	d.Key.In = o.OneOf("place of the key", "header", "json", "query")
	d.Key.Name = o.Get(d.Key.In).Text().Value
	d.Key.Format = o.Get("format").Enum("bare", "sf-string")
	const longest = 1 << 16 // servers refuse longer header lines altogether
	d.MinKey = int(o.Get("min").Int(1, longest))
	d.MaxKey = int(o.Get("max").Int(1, longest))
	if d.MaxKey != 0 && d.MinKey > d.MaxKey {
		o.Get("min").Errorf("expected at most max, %d, found %d", d.MaxKey, d.MinKey)
	}
	pattern := o.Get("pattern").Text()
	if _, err := compile(pattern.Value); err != nil {
		o.Get("pattern").Errorf("expected a regular expression, found %s: %v", pattern.Show(), err)
	}
	d.KeyPattern = pattern.Value
	d.KeySyntax = o.Get("syntax").Enum(UUID, UUID4)
	for _, e := range o.Get("with").Entries() {
		d.With = append(d.With, Companion{Header: e.Key.Value, Kind: e.Value.Enum(IMFFixdate)})
	}
}

// compile anchors a pattern, which describes a whole key. It is compiled alone first: what is wrong with it should not
// be said about the anchors.
func compile(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(`\A(?:` + pattern + `)\z`)
}

func (d *Dialect) decodeStatuses(v strict.Value) {
	o := v.Object("mismatch", "missing_key", "in_progress", "too_long", "expired", "store_down")
	d.Statuses.Mismatch = codes(o.Get("mismatch"))
	d.Statuses.MissingKey = codes(o.Get("missing_key"))
	for _, item := range o.Get("in_progress").List() {
		if item.Kind() == strict.String {
			d.Waits = item.Enum("wait") != "" || d.Waits
		} else {
			d.Statuses.InProgress = append(d.Statuses.InProgress, code(item))
		}
	}
	d.TooLong, d.Expired, d.StoreDown = codes(o.Get("too_long")), codes(o.Get("expired")), codes(o.Get("store_down"))
}

// decodeMismatch needs the statuses: one that is documented is that of a refusal.
func (d *Dialect) decodeMismatch(v strict.Value) {
	d.Mismatch = v.Enum(Refused, Replayed)
	switch {
	case len(d.Statuses.Mismatch) == 0:
	case d.Mismatch == Replayed:
		v.Errorf("expected no status of a mismatch, which is replayed, found %v", d.Statuses.Mismatch)
	default:
		d.Mismatch = Refused
	}
}

func decodeCodes(v strict.Value) Codes {
	o := v.Object("mismatch", "missing_key", "in_progress", "failed", "store_down")
	text := func(field string) string { return o.Get(field).Text().Value }
	return Codes{text("mismatch"), text("missing_key"), text("in_progress"), text("failed"), text("store_down")}
}

func decodeReplay(v strict.Value) Replay {
	o := v.Object("status", "body", "marker", "echoes_key", "headers", "pointer", "code")
	r := Replay{
		Body:       o.Get("body").Enum(Snapshot, Bytes, Current, Conflict),
		EchoesKey:  o.Get("echoes_key").Bool(),
		AllHeaders: o.Get("headers").Enum("all") != "",
		Pointer:    pointer(o.Get("pointer")),
		Code:       o.Get("code").Text().Value,
	}
	if status := o.Get("status"); status.Kind() == strict.List {
		r.Statuses = codes(status)
	} else {
		r.Status = status.Enum(SameStatus, AnyStatus)
	}
	if marker := o.Get("marker"); marker.Present() {
		m := marker.Object("header", "value", "first")
		r.Marker = Marker{m.Require("header").Text().Value, m.Require("value").Text().Value, m.Get("first").Bool()}
	}
	return r
}

func (d *Dialect) decodeStores(v strict.Value) {
	o := v.Object("2xx", "4xx", "5xx", "validation", "never")
	d.Stores2xx, d.Stores4xx = o.Get("2xx").Enum("yes", "no"), o.Get("4xx").Enum("yes", "no")
	d.Stores5xx, d.StoresValidation = o.Get("5xx").Enum("yes", "no"), o.Get("validation").Enum("yes", "no")
	d.NeverStored = codes(o.Get("never"))
}

// pointer is a JSONPath. Its syntax is checked where it is used; that it starts at the root catches a field's name.
func pointer(v strict.Value) string {
	t := v.Text()
	if t.Value != "" && !strings.HasPrefix(t.Value, "$.") {
		v.Errorf("expected a JSONPath such as $.id, found %s", t.Show())
	}
	return t.Value
}

func codes(v strict.Value) []int {
	var found []int
	for _, item := range v.List() {
		found = append(found, code(item))
	}
	return found
}

func code(v strict.Value) int { return int(v.Int(100, 599)) }

func texts(v strict.Value) []string {
	var found []string
	for _, t := range v.Texts() {
		found = append(found, t.Value)
	}
	return found
}

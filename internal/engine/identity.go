package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// draw gives 32 bytes that depend on the seed and the parts alone, so that the same seed draws the same
// keys and markers whatever the order of cases.
func draw(seed string, parts ...string) []byte {
	mac := hmac.New(sha256.New, []byte(seed))
	for _, p := range parts {
		fmt.Fprintf(mac, "%d:%s", len(p), p)
	}
	return mac.Sum(nil)
}

// uuid formats the first 16 bytes as a version 4 UUID (RFC 9562 section 5.4).
func uuid(b []byte) string {
	u := [16]byte(b[:16])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// marker is 26 lower-case letters and digits that begin with a letter, 120 of whose bits are drawn.
func marker(b []byte) string {
	return "rs" + strings.ToLower(base32.StdEncoding.EncodeToString(b[16:31]))
}

// scope is an identity under which requests are rendered.
type scope struct {
	trace.Scope
	// caller is whose credentials are used, other is true for requests to the plan's other endpoint.
	caller string
	other  bool
	// keyed is true when the requests carry a key, which may be the empty text.
	keyed bool
	// lines are the values of the header lines that carry the key; nil for one line with Key.
	lines []string
	// quoted is true when the form of the key puts it into quotes.
	quoted bool
	// captures are as they were answered; the trace holds them with secrets replaced.
	captures map[string]string
	// vars are those of the caller; nil for none.
	vars map[string]string
	uuid string
	span string
	// now and date are when the identity was drawn, as RFC 3339 and as a date of HTTP.
	now, date string
}

// newScope draws an identity. Its key belongs to the letter, in the given forms; marker and the rest to the name.
func newScope(seed string, use scenarios.ScopeUse, forms map[string]scenarios.KeyForm, path ...string) *scope {
	b := draw(seed, append(path, "scope", use.Name)...)
	s := &scope{
		Scope:    trace.Scope{Name: use.Name, Marker: marker(b)},
		caller:   use.Caller,
		other:    use.Other,
		keyed:    use.Letter != scenarios.KeyNone && !forms[use.Letter].None,
		quoted:   forms[use.Letter].Quoted,
		captures: map[string]string{},
		uuid:     uuid(b),
		span:     hex.EncodeToString(draw(seed, append(path, "span", use.Name)...)[:8]),
		now:      time.Now().UTC().Format(time.RFC3339),
		date:     time.Now().UTC().Format(http.TimeFormat),
	}
	if s.keyed {
		s.lines = keyLines(seed, use.Letter, forms, path...)
		s.Key = strings.Join(s.lines, ", ") // as a server that joins header lines reads it (RFC 9110 section 5.3)
	}
	return s
}

// keyLines draws the key of a letter: one text for each header line that carries it, nearly always one.
func keyLines(seed, letter string, forms map[string]scenarios.KeyForm, path ...string) []string {
	form := forms[letter]
	var like []string
	if form.Like != "" {
		like = keyLines(seed, form.Like, forms, path...)
	}
	out := make([]string, max(1, form.Lines))
	for i := range out {
		out[i] = drawKey(seed, form, append(path, "key", letter, fmt.Sprint(i))...)
	}
	switch {
	case form.Text != nil:
		out[0] = strings.ReplaceAll(*form.Text, "{{key}}", out[0])
	case like == nil:
	case form.Lines > 1:
		out[0] = like[0]
	case form.Case == "upper":
		out[0] = strings.ToUpper(like[0])
	case form.Case == "lower":
		out[0] = strings.ToLower(like[0])
	case form.First > 0:
		shared := like[0][:min(form.First, len(like[0]))]
		length := max(form.Length, len(like[0]))
		out[0] = shared + drawKey(seed, scenarios.KeyForm{Length: length - len(shared)}, append(path, "key", letter)...)
	default:
		out[0] = like[0]
	}
	return out
}

// drawKey is a UUID, or as many characters of UUIDs as the form asks for.
func drawKey(seed string, form scenarios.KeyForm, path ...string) string {
	key := uuid(draw(seed, path...))
	if form.Length == 0 {
		return key
	}
	for n := 0; len(key) < form.Length; n++ {
		key += uuid(draw(seed, append(path, fmt.Sprint(n))...))
	}
	return key[:form.Length]
}

// values fills in placeholders for one request of a scope.
type values struct {
	*scope
	key string
	// nonce draws what changes with every send.
	nonce string
}

// Lookup gives the value of a placeholder. The plan has checked the names.
func (v values) Lookup(name string, max int) string {
	value := v.lookup(name)
	if max > 0 && len(value) > max {
		return value[:max]
	}
	return value
}

func (v values) lookup(name string) string {
	switch name {
	case "marker":
		return v.Marker
	case "key":
		return v.key
	case "uuid":
		return v.uuid
	case "email":
		return v.Marker + "@example.com"
	case "now":
		return v.now
	case "send.uuid":
		return uuid(draw(v.nonce, "send"))
	case "send.now":
		return time.Now().UTC().Format(time.RFC3339Nano)
	}
	if value, captured := v.captures[name]; captured {
		return value
	}
	return v.vars[name]
}

// Package redact replaces secrets by stable tokens: the same secret becomes the same token within a run,
// so two texts are equal after replacing exactly when they were equal before. It is applied to whatever
// leaves the wire, before anything is recorded, printed or judged.
package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"retrysafe/internal/trace"
)

// MinLength is the length below which a value that was met on the way is too common to be replaced wherever it occurs.
// Values of headers that carry credentials by their name are replaced at any length, in their own place.
const MinLength = 6

// Redactor replaces secrets. Use New; it is safe for concurrent use.
type Redactor struct {
	mu     sync.RWMutex
	tokens map[string]string
	spelt  spellings
	never  []string
}

// New makes a Redactor for secrets, of any length. Values that occur in one of never (the target's address) are kept.
func New(secrets, never []string) *Redactor {
	r := &Redactor{tokens: map[string]string{}, never: never}
	for _, s := range secrets {
		r.add(s)
	}
	return r
}

// Add makes value a secret from now on. Values shorter than MinLength are not replaced.
func (r *Redactor) Add(value string) {
	if len(value) >= MinLength {
		r.add(value)
	}
}

func (r *Redactor) add(value string) {
	if value == "" || slices.ContainsFunc(r.never, func(n string) bool { return strings.Contains(n, value) }) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	token := r.token(value)
	for _, form := range forms(value) {
		r.spelt.add(form, token)
	}
}

// webToken is a JSON Web Token in its compact form (RFC 7515 section 7.1): a header and claims, which are objects of JSON in base64, and
// a signature. Whoever has it may use it, whatever the name that it goes by.
var webToken = regexp.MustCompile(`eyJ[\w-]{6,}\.eyJ[\w-]{6,}\.[\w-]{16,}`)

// String is s with every secret replaced, also where it stands encoded: for a URL, for JSON, for HTML, or as a part of base64; and
// with every JSON Web Token replaced.
func (r *Redactor) String(s string) string {
	return webToken.ReplaceAllStringFunc(r.known(s), r.inPlace)
}

func (r *Redactor) known(s string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.spelt.replace(s)
}

// cutMark is what stands behind a text that was cut.
const cutMark = "..."

// Message is String for a text that quotes others: of a secret that was cut, what is left in front of "..." is replaced too.
func (r *Redactor) Message(s string) string {
	parts := strings.Split(r.String(s), cutMark)
	r.mu.RLock()
	defer r.mu.RUnlock()
	for i := range parts[:len(parts)-1] {
		parts[i] = r.spelt.tail(parts[i])
	}
	return strings.Join(parts, cutMark)
}

// Exchange replaces the secrets of an exchange in place: by value everywhere except in the key, and by
// name in headers, parameters of the URL and members of a body that carry credentials.
func (r *Redactor) Exchange(x *trace.Exchange) {
	r.request(&x.Request, x.Key)
	if x.Response != nil {
		r.named(&x.Response.Body, x.Key)
		r.credentials(x.Response.Headers, x.Key)
		for i := range x.Response.Headers {
			x.Response.Headers[i].Value = r.links(x.Response.Headers[i].Value, x.Key)
		}
		r.headers(x.Response.Headers, "")
		r.body(&x.Response.Body)
	}
	x.Request.URL = r.keeping(x.Request.URL, x.Key)
	r.headers(x.Request.Headers, x.Key)
	r.body(&x.Request.Body)
	x.Error = r.Message(x.Error)
}

// request replaces what a request carries by names.
func (r *Redactor) request(q *trace.Request, key string) {
	q.URL = r.link(q.URL, key, true)
	r.named(&q.Body, key)
	r.credentials(q.Headers, key)
}

// Learn makes the credentials of calls that a sink got secrets, so that what tells of one call hides those of all.
func (r *Redactor) Learn(as []trace.Arrival) {
	for _, a := range as {
		if a.Call != nil {
			q := a.Call.Request
			q.Headers = slices.Clone(q.Headers)
			r.request(&q, a.Call.Key)
		}
	}
}

// Arrival replaces the secrets of what a sink got, on a copy of its own: by value everywhere except in the key, and by
// name as those of an exchange.
func (r *Redactor) Arrival(a *trace.Arrival) {
	if a.Call != nil {
		c := *a.Call
		c.Request.Headers = slices.Clone(c.Request.Headers)
		r.request(&c.Request, c.Key)
		r.headers(c.Request.Headers, c.Key)
		c.Request.URL = r.keeping(c.Request.URL, c.Key)
		r.body(&c.Request.Body)
		a.Call = &c
	}
	if a.Mail != nil {
		m := *a.Mail
		m.To = slices.Clone(m.To)
		for i := range m.To {
			m.To[i] = r.Message(m.To[i])
		}
		m.From, m.Subject, m.Text = r.Message(m.From), r.Message(m.Subject), r.Message(m.Text)
		a.Mail = &m
	}
}

// keeping is String for a text in which the idempotency key must survive even when it is a secret's value.
func (r *Redactor) keeping(s, key string) string {
	if key == "" || !strings.Contains(s, key) {
		return r.String(s)
	}
	parts := strings.Split(s, key)
	for i := range parts {
		parts[i] = r.String(parts[i])
	}
	return strings.Join(parts, key)
}

func (r *Redactor) headers(hs []trace.Header, key string) {
	for i := range hs {
		hs[i].Value = r.keeping(hs[i].Value, key)
	}
}

func (r *Redactor) body(b *trace.Body) {
	b.Text = r.String(b.Text)
	if b.Base64 != nil {
		b.Base64 = []byte(r.String(string(b.Base64)))
	}
	if b.Truncated {
		r.mu.RLock()
		defer r.mu.RUnlock()
		b.Text = r.spelt.tail(b.Text)
		if b.Base64 != nil {
			b.Base64 = []byte(r.spelt.tail(string(b.Base64)))
		}
	}
}

// credentials replaces the secret part of headers that carry credentials, and remembers it so that an
// echo of it elsewhere is replaced too. A header that holds the key is none of them, whatever its name.
func (r *Redactor) credentials(hs []trace.Header, key string) {
	for i := range hs {
		name, value := strings.ToLower(hs[i].Name), hs[i].Value
		switch {
		case key != "" && strings.Contains(value, key):
		case strings.HasSuffix(name, "authorization"):
			scheme, rest, ok := strings.Cut(value, " ")
			if !ok {
				scheme, rest = "", scheme
			}
			hs[i].Value = strings.TrimPrefix(scheme+" ", " ") + r.secret(rest)
		case name == "cookie":
			hs[i].Value = r.cookies(value)
		case name == "set-cookie":
			pair, attributes, _ := strings.Cut(value, ";")
			hs[i].Value = strings.TrimSuffix(r.cookies(pair)+";"+attributes, ";")
		case trace.CarriesCredential(name):
			hs[i].Value = r.secret(value)
		}
	}
}

func (r *Redactor) cookies(line string) string {
	pairs := strings.Split(line, ";")
	for i, p := range pairs {
		if name, value, ok := strings.Cut(p, "="); ok {
			pairs[i] = name + "=" + r.secret(value)
		}
	}
	return strings.Join(pairs, ";")
}

// secret is the token for a value that its place marks as secret, whatever its length.
func (r *Redactor) secret(value string) string {
	if value == "" {
		return ""
	}
	r.Add(value)
	return r.inPlace(value)
}

func (r *Redactor) token(value string) string {
	t, ok := r.tokens[value]
	if !ok {
		t = fmt.Sprintf("[secret-%d]", len(r.tokens)+1)
		r.tokens[value] = t
	}
	return t
}

// numbered is the form of a token.
var numbered = regexp.MustCompile(`\[secret-[0-9]+\]`)

// Unnumbered is s, in which secrets were replaced before, with all tokens alike. Tokens are the same within a run only: this makes
// texts of two runs comparable.
func Unnumbered(s string) string { return numbered.ReplaceAllString(s, "[secret]") }

// UnnumberedResponse does the same for an answer, in place.
func UnnumberedResponse(r *trace.Response) {
	for i := range r.Headers {
		r.Headers[i].Value = Unnumbered(r.Headers[i].Value)
	}
	r.Body.Text = Unnumbered(r.Body.Text)
}

// Package redact replaces secrets by stable tokens: the same secret becomes the same token within a run,
// so two texts are equal after replacing exactly when they were equal before. It is applied to whatever
// leaves the wire, before anything is recorded, printed or judged.
package redact

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"retrysafe/internal/trace"
)

// MinLength is the length below which a value is too common to be replaced wherever it occurs. Values of
// headers that carry credentials by their name are replaced at any length, in their own place.
const MinLength = 6

// Redactor replaces secrets. Use New; it is safe for concurrent use.
type Redactor struct {
	mu       sync.Mutex
	tokens   map[string]string
	replacer *strings.Replacer
	never    []string
}

// New makes a Redactor for secrets. Values that occur in one of never (the target's address) are kept.
func New(secrets, never []string) *Redactor {
	r := &Redactor{tokens: map[string]string{}, never: never}
	for _, s := range secrets {
		r.Add(s)
	}
	return r
}

// Add makes value a secret from now on. Values shorter than MinLength are not replaced.
func (r *Redactor) Add(value string) {
	if len(value) < MinLength {
		return
	}
	for _, n := range r.never {
		if strings.Contains(n, value) {
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.tokens[value]; known {
		return
	}
	r.token(value)
	r.rebuild()
}

// String is s with every secret replaced, also where it stands URL-encoded or in base64.
func (r *Redactor) String(s string) string {
	r.mu.Lock()
	replacer := r.replacer
	r.mu.Unlock()
	if replacer == nil || s == "" {
		return s
	}
	return replacer.Replace(s)
}

// Exchange replaces the secrets of an exchange in place: by value everywhere except in the key, and by
// name in headers that carry credentials.
func (r *Redactor) Exchange(x *trace.Exchange) {
	r.credentials(x.Request.Headers)
	if x.Response != nil {
		r.credentials(x.Response.Headers)
		r.headers(x.Response.Headers, "")
		r.body(&x.Response.Body)
	}
	x.Request.URL = r.keeping(x.Request.URL, x.Key)
	r.headers(x.Request.Headers, x.Key)
	r.body(&x.Request.Body)
	x.Error = r.String(x.Error)
}

// Arrival replaces the secrets of what a sink got, on a copy of its own: by value everywhere except in the key, and by
// name in headers that carry credentials.
func (r *Redactor) Arrival(a *trace.Arrival) {
	if a.Call != nil {
		c := *a.Call
		c.Request.Headers = slices.Clone(c.Request.Headers)
		r.credentials(c.Request.Headers)
		r.headers(c.Request.Headers, c.Key)
		c.Request.URL = r.keeping(c.Request.URL, c.Key)
		r.body(&c.Request.Body)
		a.Call = &c
	}
	if a.Mail != nil {
		m := *a.Mail
		m.To = slices.Clone(m.To)
		for i := range m.To {
			m.To[i] = r.String(m.To[i])
		}
		m.From, m.Subject, m.Text = r.String(m.From), r.String(m.Subject), r.String(m.Text)
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
}

// credentials replaces the secret part of headers that carry credentials, and remembers it so that an
// echo of it elsewhere is replaced too.
func (r *Redactor) credentials(hs []trace.Header) {
	for i := range hs {
		switch strings.ToLower(hs[i].Name) {
		case "authorization", "proxy-authorization":
			scheme, rest, ok := strings.Cut(hs[i].Value, " ")
			if !ok {
				scheme, rest = "", scheme
			}
			hs[i].Value = strings.TrimPrefix(scheme+" ", " ") + r.secret(rest)
		case "x-api-key", "api-key", "apikey", "x-auth-token", "x-csrf-token":
			hs[i].Value = r.secret(hs[i].Value)
		case "cookie":
			hs[i].Value = r.cookies(hs[i].Value)
		case "set-cookie":
			pair, attributes, _ := strings.Cut(hs[i].Value, ";")
			hs[i].Value = strings.TrimSuffix(r.cookies(pair)+";"+attributes, ";")
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
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.token(value)
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

// rebuild makes the replacer anew, longest secret first, so that a secret inside another does not tear it.
func (r *Redactor) rebuild() {
	values := make([]string, 0, len(r.tokens))
	for v := range r.tokens {
		if len(v) >= MinLength {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, v := range values {
		for _, form := range forms(v) {
			pairs = append(pairs, form, r.tokens[v])
		}
	}
	r.replacer = strings.NewReplacer(pairs...)
}

// forms are the spellings under which a secret can occur.
func forms(v string) []string {
	out := []string{v}
	for _, f := range []string{
		url.QueryEscape(v), url.PathEscape(v),
		base64.StdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)),
		jsonEscape(v),
	} {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

func jsonEscape(v string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v)
}

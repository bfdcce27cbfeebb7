package redact

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"retrysafe/internal/trace"
)

// mostNamed is up to how many bytes of a body secrets are looked for by their names: requests that carry one are short, and large answers are
// files.
const mostNamed = 64 << 10

// namedMember is a member of JSON, or of a form, whose name says that nobody may read it. A bare "token" or "secret" is not among them: much that is
// made is called so, and is shown to be told apart.
var (
	namedMember = regexp.MustCompile(`(?i)"(?:password|passwd|client_?secret|api_?key|access_?token|refresh_?token|private_?key)"\s*:\s*("(?:[^"\\]|\\.)*")`)
	namedField  = regexp.MustCompile(`(?i)(?:^|&)(?:password|passwd|client_?secret|api_?key|access_?token|refresh_?token|private_?key)=([^&]+)`)
)

// inURL makes the values of parameters that carry credentials by their names secrets, but for the idempotency key.
func (r *Redactor) inURL(raw, key string) {
	_, query, _ := strings.Cut(raw, "?")
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name = strings.ToLower(name); carriesCredential(name) || strings.HasSuffix(name, "signature") {
			r.unescaped(value, key)
		}
	}
}

// inBody does the same for members of JSON and fields of a form.
func (r *Redactor) inBody(b *trace.Body, key string) {
	if len(b.Text) > mostNamed {
		return
	}
	for _, found := range namedMember.FindAllStringSubmatch(b.Text, -1) {
		var value string
		if json.Unmarshal([]byte(found[1]), &value) == nil && value != key {
			r.Add(value)
		}
	}
	if strings.HasPrefix(b.Text, "{") || strings.HasPrefix(b.Text, "[") {
		return
	}
	for _, found := range namedField.FindAllStringSubmatch(b.Text, -1) {
		r.unescaped(found[1], key)
	}
}

func (r *Redactor) unescaped(value, key string) {
	if plain, err := url.QueryUnescape(value); err == nil && plain != key {
		r.Add(plain)
	}
}

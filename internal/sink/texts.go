package sink

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"retrysafe/internal/trace"
)

// callTexts is everything in a call that a text may be found in, in lower case: URL, headers and body, as they are and
// with their escapes resolved.
func callTexts(r *trace.Request, body []byte) string {
	var b strings.Builder
	add := func(s string) {
		b.WriteString(s)
		b.WriteByte('\n')
	}
	add(r.URL)
	if plain, err := url.QueryUnescape(r.URL); err == nil && plain != r.URL {
		add(plain)
	}
	for _, h := range r.Headers {
		add(h.Value)
	}
	add(string(body))
	if bytes.ContainsRune(body, '\\') {
		jsonTexts(body, add)
	}
	if bytes.ContainsRune(body, '%') {
		if plain, err := url.QueryUnescape(string(body)); err == nil {
			add(plain)
		}
	}
	return strings.ToLower(b.String())
}

// jsonTexts gives the texts of a JSON document, as far as it is one.
func jsonTexts(body []byte, add func(string)) {
	dec := json.NewDecoder(bytes.NewReader(body))
	for {
		t, err := dec.Token()
		if err != nil {
			return
		}
		if s, ok := t.(string); ok {
			add(s)
		}
	}
}

// whole is a body as it goes into the record.
func whole(body []byte) trace.Body {
	b := trace.Body{Size: int64(len(body))}
	if utf8.Valid(body) {
		b.Text = string(body)
	} else {
		b.Base64 = body
	}
	return b
}

// readUpTo reads a body of at most limit bytes; more is an error.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errTooLarge
	}
	return body, err
}

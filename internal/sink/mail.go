package sink

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"unicode/utf8"

	"retrysafe/internal/trace"
)

// The bounds of what is looked at in a mail.
const (
	mostText  = 1 << 20 // bytes of decoded text
	mostDepth = 8       // parts within parts
	mostParts = 100
	shownText = 1000 // characters of the text in the record
	shownLine = 300
	shownTo   = 10
)

// mailTexts is everything in a mail that a text may be found in, in lower case: the envelope, headers, and all parts that
// are text, decoded. It fills the subject and the beginning of the text in.
func mailTexts(message []byte, m *trace.Mail) string {
	r := reading{}
	r.add(m.From)
	for _, to := range m.To {
		r.add(to)
	}
	m.From = cut(m.From, shownLine)
	m.To = slices.Clone(m.To[:min(len(m.To), shownTo)])
	for i := range m.To {
		m.To[i] = cut(m.To[i], shownLine)
	}
	parsed, err := mail.ReadMessage(bytes.NewReader(message))
	if err != nil { // no mail by the standard: what there is is all there is
		r.add(string(message[:min(len(message), mostText)]))
		m.Text = cut(string(message[:min(len(message), 4*shownText)]), shownText)
		return strings.ToLower(r.all.String())
	}
	r.headers(textproto.MIMEHeader(parsed.Header))
	m.Subject = cut(decoded(parsed.Header.Get("Subject")), shownLine)
	r.part(textproto.MIMEHeader(parsed.Header), parsed.Body, 0)
	m.Text = cut(strings.TrimSpace(r.first), shownText)
	return strings.ToLower(r.all.String())
}

// reading collects the texts of one mail.
type reading struct {
	all   strings.Builder
	parts int
	// first is the first text.
	first string
}

func (r *reading) add(s string) {
	if room := mostText - r.all.Len(); room > 0 {
		r.all.WriteString(s[:min(len(s), room)])
		r.all.WriteByte('\n')
	}
}

func (r *reading) headers(h textproto.MIMEHeader) {
	for _, name := range sortedNames(h) {
		for _, value := range h[name] {
			r.add(decoded(value))
		}
	}
}

// decoded is a header's value with its encoded words (RFC 2047) resolved.
func decoded(value string) string {
	d := mime.WordDecoder{CharsetReader: func(_ string, in io.Reader) (io.Reader, error) { return in, nil }}
	if plain, err := d.DecodeHeader(value); err == nil {
		return plain
	}
	return value
}

// part reads one part, and those within it.
func (r *reading) part(h textproto.MIMEHeader, body io.Reader, depth int) {
	r.parts++
	if depth > mostDepth || r.parts > mostParts || r.all.Len() >= mostText {
		return
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		media = "text/plain"
	}
	switch {
	case strings.HasPrefix(media, "multipart/") && params["boundary"] != "":
		parts := multipart.NewReader(body, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if err != nil || r.parts > mostParts {
				return
			}
			r.headers(p.Header)
			r.part(p.Header, p, depth+1)
		}
	case !readable(media):
		return
	}
	text, _ := io.ReadAll(io.LimitReader(decoder(h.Get("Content-Transfer-Encoding"), body), mostText)) // what could be read
	if media == "message/rfc822" {
		if inner, err := mail.ReadMessage(bytes.NewReader(text)); err == nil {
			r.headers(textproto.MIMEHeader(inner.Header))
			r.part(textproto.MIMEHeader(inner.Header), inner.Body, depth+1)
			return
		}
	}
	if r.first == "" && strings.HasPrefix(media, "text/") {
		r.first = string(text[:min(len(text), 4*shownText)])
	}
	r.add(string(text))
}

// readable reports whether parts of that media type hold text. A marker within a picture or a PDF would not be found anyway.
func readable(media string) bool {
	return strings.HasPrefix(media, "text/") || strings.HasPrefix(media, "message/") ||
		strings.Contains(media, "json") || strings.Contains(media, "xml") || strings.Contains(media, "form-urlencoded")
}

// decoder undoes a transfer encoding (RFC 2045 section 6).
func decoder(encoding string, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, body) // it skips line breaks
	}
	return body
}

// cut is s, valid and at most limit characters long.
func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "..."
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

package fire

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/trace"
)

// Shot is one request to send. What is written is exactly this, with Host in front and Content-Length and
// "Connection: close" (not in a volley) behind the headers where Header has none of that name. Content-Length is left out for an
// empty body unless the method is POST, PUT or PATCH (RFC 9110, section 8.6). Over HTTP/2 header names become
// lower case, Host becomes :authority, and what is about the connection is left out (RFC 9113, section 8.2).
type Shot struct {
	// Method is written as it is.
	Method string
	// URL is an absolute http or https URL, without a user name. A fragment is not sent.
	URL string
	// Header lines keep their order and spelling. One that could not be sent as a single line is refused.
	Header []trace.Header
	// Body may be empty.
	Body []byte
	// Cut is where to leave on purpose; nil stays until the answer. What the system had not yet transmitted is lost
	// when By is "reset", so a large body may not arrive whole. In a volley, a shot that leaves before its last byte
	// is written up to there beforehand, is not part of the burst, and leaves After the release.
	Cut *trace.Cut
	// Certificate is what https connections present in place of the certificates of Options.TLS, whatever authorities the
	// server names; nil presents those. A connection is shared only by shots that have the very same one.
	Certificate *tls.Certificate
	// Lane keeps shots of a volley apart: over HTTP/2 only those of one host, one certificate and one lane share a connection.
	// Zero is a lane like any other. Over HTTP/1.1, where each shot has a connection of its own, it means nothing.
	Lane int
	// Paced is true when Pace has waited for it already.
	Paced bool
	// OnSent is called once, right after the last byte was handed to the connection; in a volley after all last
	// bytes were. It is not called when that never happens. May be nil.
	OnSent func()
}

// Validate says why the shot cannot be sent as it is, or returns nil. Nothing is looked up or sent.
func (s Shot) Validate() error {
	if _, err := target(s.URL); err != nil {
		return err
	}
	if !isToken(s.Method) {
		return fmt.Errorf("method %q is not a token such as POST", s.Method)
	}
	if err := validateHeader(s.Header, len(s.Body)); err != nil {
		return err
	}
	return validateCut(s.Cut)
}

// target parses the URL of a shot and refuses what has no meaning on the wire.
func target(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("expected an absolute http or https URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("expected an absolute http or https URL, found %q", raw)
	case u.User != nil:
		return nil, fmt.Errorf("the URL for %s holds a user name: send an Authorization header instead", u.Host)
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r > '~' || r == '%' }):
		return nil, fmt.Errorf("host %q: write it in ASCII (xn--...) and without a zone", u.Host)
	case strings.Contains(u.RequestURI(), " "):
		return nil, fmt.Errorf("URL %q contains a space: write %%20", raw)
	}
	return u, nil
}

// address is what to dial for u.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func validateHeader(header []trace.Header, body int) error {
	hosts := 0
	for _, h := range header {
		switch {
		case !isToken(h.Name):
			return fmt.Errorf("header name %q is not a token such as Idempotency-Key", h.Name)
		case strings.ContainsFunc(h.Value, isControl):
			return fmt.Errorf("header %s holds a line break or another control character", h.Name)
		case strings.EqualFold(h.Name, "Transfer-Encoding"):
			return fmt.Errorf("header Transfer-Encoding is not supported: bodies are sent with Content-Length")
		case strings.EqualFold(h.Name, "Content-Length") && h.Value != strconv.Itoa(body):
			return fmt.Errorf("header Content-Length says %q, the body has %d bytes: leave the header out", h.Value, body)
		case strings.EqualFold(h.Name, "Host"):
			hosts++
		}
	}
	if hosts > 1 {
		return fmt.Errorf("%d Host headers, expected one at most", hosts)
	}
	return nil
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	other := func(r rune) bool {
		alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}
	return s != "" && !strings.ContainsFunc(s, other)
}

// isControl reports whether r may not be in a field value (RFC 9110, section 5.5).
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// lines are the header lines as they are written. Alone is false for a shot of a volley, which does not ask the server to
// close: it would be busy with that when the second copy arrives. Without it the first gap of five copies over HTTP/1.1
// goes from 1.3 to 1.0 times that of the same technique written plainly (go run ./internal/bench -arrivals -copies 5).
func (s Shot) lines(u *url.URL, alone bool) []trace.Header {
	all := make([]trace.Header, 0, len(s.Header)+3)
	if !has(s.Header, "Host") {
		all = append(all, trace.Header{Name: "Host", Value: u.Host})
	}
	all = append(all, s.Header...)
	if !has(s.Header, "Content-Length") && (len(s.Body) > 0 || expectsBody(s.Method)) {
		all = append(all, trace.Header{Name: "Content-Length", Value: strconv.Itoa(len(s.Body))})
	}
	if alone && !has(s.Header, "Connection") {
		all = append(all, trace.Header{Name: "Connection", Value: "close"})
	}
	return all
}

func has(header []trace.Header, name string) bool {
	return slices.ContainsFunc(header, func(h trace.Header) bool { return strings.EqualFold(h.Name, name) })
}

func expectsBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// render gives the bytes of the whole request.
func render(method string, u *url.URL, lines []trace.Header, body []byte) []byte {
	return renderLines(method, u.RequestURI(), lines, body)
}

// renderLines gives the bytes of a request for any target.
func renderLines(method, uri string, lines []trace.Header, body []byte) []byte {
	size := len(method) + len(uri) + len("  HTTP/1.1\r\n\r\n") + len(body)
	for _, h := range lines {
		size += len(h.Name) + len(h.Value) + len(": \r\n")
	}
	b := make([]byte, 0, size)
	b = append(b, method...)
	b = append(b, ' ')
	b = append(b, uri...)
	b = append(b, " HTTP/1.1\r\n"...)
	for _, h := range lines {
		b = append(b, h.Name...)
		b = append(b, ": "...)
		b = append(b, h.Value...)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	return append(b, body...)
}

package plan

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

func parseRequest(t strict.Text, allowed names) RequestTemplate {
	space := strings.IndexByte(t.Value, ' ')
	if space < 0 {
		t.Errorf(0, len(t.Value), "expected a method and a path such as POST /orders, found %s", t.Show())
		return RequestTemplate{}
	}
	method := t.Value[:space]
	if !isToken(method) || method != strings.ToUpper(method) {
		t.Errorf(0, len(method), "expected a method in capital letters such as POST, found %s%s", t.Slice(0, space).Show(), misspelt(strings.ToUpper(method)))
		return RequestTemplate{}
	}
	if near := misspelt(method); near != "" {
		t.Errorf(0, len(method), "unknown method %s%s", t.Slice(0, space).Show(), near)
		return RequestTemplate{}
	}
	start := space
	for start < len(t.Value) && t.Value[start] == ' ' {
		start++
	}
	path := t.Slice(start, len(t.Value))
	if !checkPath(path) {
		return RequestTemplate{Method: method}
	}
	return RequestTemplate{Method: method, Path: parseTemplate(path, allowed)}
}

// checkPath notes what cannot be the target of a request; it sees placeholders as the letter x.
func checkPath(path strict.Text) bool {
	plain := withoutPlaceholders(path.Value)
	if i := strings.IndexFunc(plain, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }); i >= 0 {
		path.Errorf(0, len([]rune(path.Value)), "expected a path without spaces, control characters and #, found %s: write them as %%20, %%23", path.Show())
		return false
	}
	u, err := url.Parse(plain)
	switch {
	case err != nil:
		path.Errorf(0, len([]rune(path.Value)), "expected a path such as /orders, found %s", path.Show())
	case strings.HasPrefix(plain, "/") && !strings.HasPrefix(plain, "//"):
		return true
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil:
		return checkAuthority(path)
	case u.User != nil:
		path.Errorf(0, len([]rune(path.Value)), "expected a URL without user and password: give them as a header of `callers`")
	default:
		path.Errorf(0, len([]rune(path.Value)), "expected a path that starts with / or an http(s) URL, found %s", path.Show())
	}
	return false
}

// checkAuthority refuses placeholders in the host: what is contacted must be known before anything is sent.
func checkAuthority(path strict.Text) bool {
	_, rest, _ := strings.Cut(path.Value, "://")
	host := rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return r != '/' && r != '?' }))]
	if !strings.Contains(host, "{{") {
		return true
	}
	path.Errorf(0, len([]rune(path.Value)), "expected a host without placeholders, found %s", path.Show())
	return false
}

// withoutPlaceholders replaces every {{...}} by x.
func withoutPlaceholders(s string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "{{")
		out.WriteString(before)
		_, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			return out.String()
		}
		out.WriteByte('x')
		s = after
	}
}

// URL is the absolute URL to send to. The target is put before a path that starts with "/". Values are escaped
// by where they stand: as a path segment before the first "?", as part of a query behind it.
func (r RequestTemplate) URL(target string, v Values) string {
	var out strings.Builder
	if !r.absolute() {
		out.WriteString(strings.TrimSuffix(target, "/"))
	}
	inQuery := false
	for _, p := range r.Path.parts {
		switch {
		case p.name == "":
			out.WriteString(p.text)
			inQuery = inQuery || strings.Contains(p.text, "?")
		case inQuery:
			out.WriteString(url.QueryEscape(p.value(v)))
		default:
			out.WriteString(escapeSegment(p.value(v)))
		}
	}
	return out.String()
}

// escapeSegment also keeps a value from being "." or "..", which servers resolve.
func escapeSegment(s string) string {
	if strings.Trim(s, ".") == "" {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// absolute is true when the request names its host itself.
func (r RequestTemplate) absolute() bool {
	return len(r.Path.parts) > 0 && !strings.HasPrefix(r.Path.parts[0].text, "/")
}

// WithQuery is the URL with a query parameter set to a value, in place of all values that it had. An empty
// value removes it. The rest of the URL is left as it is, byte for byte.
func WithQuery(rawURL, name, value string) string {
	base, query, _ := strings.Cut(rawURL, "?")
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if decoded, err := url.QueryUnescape(key); pair != "" && (err != nil || decoded != name) {
			kept = append(kept, pair)
		}
	}
	if value != "" {
		kept = append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
	if len(kept) == 0 {
		return base
	}
	return base + "?" + strings.Join(kept, "&")
}

// Render is the header's value. It is an error when a value that was filled in brings a line break or another control
// character into it, which would forge headers.
func (h HeaderTemplate) Render(v Values) (string, error) {
	value := h.Value.Render(v)
	if i := strings.IndexFunc(value, isHeaderControl); i >= 0 {
		return "", fmt.Errorf("header %s: expected text in one line, found the character %q in it: capture another value", h.Name, value[i])
	}
	return value, nil
}

func isHeaderControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// isToken is true for a method or header name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// framing are headers that follow from the request and are written by the wire.
var framing = []string{"connection", "content-length", "expect", "te", "trailer", "transfer-encoding", "upgrade"}

// parseHeaders reads a mapping of names to values.
func parseHeaders(v strict.Value, allowed names) []HeaderTemplate {
	var headers []HeaderTemplate
	for _, e := range v.Entries() {
		name := e.Key.Value
		switch {
		case !isToken(name):
			e.Key.Errorf(0, len([]rune(name)), "expected the name of a header, found %s", e.Key.Show())
			continue
		case slices.Contains(framing, strings.ToLower(name)):
			e.Key.Errorf(0, len(name), "header %s follows from the request and cannot be set: remove it", name)
			continue
		case slices.ContainsFunc(headers, func(h HeaderTemplate) bool { return strings.EqualFold(h.Name, name) }):
			e.Key.Errorf(0, len(name), "duplicate header %s (names ignore case): remove one", name)
			continue
		}
		value := e.Value.Scalar()
		if strings.ContainsFunc(value.Value, isHeaderControl) {
			value.Errorf(0, 1, "expected the value of header %s in one line: remove line breaks and control characters", name)
			continue
		}
		headers = append(headers, HeaderTemplate{Name: name, Value: parseTemplate(value, allowed.inHeader())})
	}
	return headers
}

// mergeHeaders is base with those of over put in place or added.
func mergeHeaders(base, over []HeaderTemplate) []HeaderTemplate {
	merged := slices.Clone(base)
	for _, h := range over {
		same := func(b HeaderTemplate) bool { return strings.EqualFold(b.Name, h.Name) }
		if i := slices.IndexFunc(merged, same); i >= 0 {
			merged[i] = h
		} else {
			merged = append(merged, h)
		}
	}
	return merged
}

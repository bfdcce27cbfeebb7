package requests

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// address is a URL in the parts that a plan has, its holes still in it.
type address struct {
	// base is scheme and host, or a hole that stands for them; empty when the source gives a path only.
	base string
	// user is what stands in front of the host, "user:password"; empty for none.
	user string
	// path begins with "/".
	path string
	// query is without "?"; empty for none.
	query string
}

// parseAddress takes a URL apart. Without a scheme it is a path, a hole for the base, or a host (http, as curl has it).
func parseAddress(raw string) address {
	raw, _, _ = strings.Cut(raw, "#")
	var a address
	raw, a.query, _ = strings.Cut(raw, "?")
	scheme, rest, absolute := strings.Cut(raw, "://")
	if !absolute {
		scheme, rest = "http", raw
		switch {
		case strings.HasPrefix(raw, "/"), raw == "":
			a.path = cleanPath(raw)
			return a
		case strings.HasPrefix(raw, string(open)):
			end := strings.IndexRune(raw, shut)
			behind := raw[max(end, 0)+utf8.RuneLen(shut):]
			if !strings.HasPrefix(behind, ":") && !strings.HasPrefix(behind, ".") {
				a.base, a.path = raw[:len(raw)-len(behind)], cleanPath(behind)
				return a
			}
		}
	}
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		a.user, authority = authority[:at], authority[at+1:]
	}
	a.base, a.path = strings.ToLower(scheme)+"://"+mapLiterals(authority, strings.ToLower), cleanPath(path)
	return a
}

// cleanPath begins with one "/" and has no character that a request line cannot have.
func cleanPath(path string) string { return "/" + mapLiterals(strings.TrimLeft(path, "/"), encoded) }

// encoded escapes what URLs cannot hold, and leaves what is escaped already.
func encoded(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			out.WriteString("%25")
		case c <= ' ' || c >= 0x7f || strings.IndexByte("\"#<>\\^`{|}", c) >= 0:
			fmt.Fprintf(&out, "%%%02X", c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// hosts are those that can be asked: names, addresses, and ports behind them.
var hosts = regexp.MustCompile(`^https?://([\p{L}\d._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$`)

// methods are those that change something: of HTTP, and of extensions that are in use.
var methods = []string{"POST", "PUT", "PATCH", "DELETE", "COPY", "MOVE", "MKCOL", "MERGE", "LOCK", "UNLOCK", "LINK", "UNLINK", "PROPPATCH", "PURGE"}

// unusable says why no plan can have the request; empty when one can.
func (s *sent) unusable() string {
	switch {
	case !slices.Contains(methods, s.method):
		return "has a method that no plan has"
	case s.addr.base != "" && !s.addr.canBeAsked():
		return "goes to no host that http or https can ask"
	}
	return ""
}

// canBeAsked is true for a base that names a host, or that is a variable. What is drawn for each request is neither.
func (a address) canBeAsked() bool {
	if strings.Contains(a.base, placeholderStart) {
		return false
	}
	_, isHole := onlyHole(a.base)
	return isHole || hosts.MatchString(holes.ReplaceAllString(a.base, "1"))
}

// segments are those of the path, without the slash in front.
func (a address) segments() []string { return strings.Split(strings.TrimPrefix(a.path, "/"), "/") }

// parameters are those of the query, names and values decoded. A pair that cannot be decoded is kept as it is.
func (a address) parameters() []pair { return parseForm(a.query) }

// parseForm reads application/x-www-form-urlencoded.
func parseForm(text string) []pair {
	var pairs []pair
	for piece := range strings.SplitSeq(text, "&") {
		if piece == "" {
			continue
		}
		name, value, _ := strings.Cut(piece, "=")
		pairs = append(pairs, pair{unescape(name), unescape(value)})
	}
	return pairs
}

func unescape(s string) string {
	return mapLiterals(s, func(s string) string {
		if read, err := url.QueryUnescape(s); err == nil {
			return clean(read)
		}
		return s
	})
}

// encodeForm writes pairs as a query, holes left as they are: what fills them in is escaped where it is a placeholder.
func encodeForm(pairs []pair) string {
	var out []string
	for _, p := range pairs {
		out = append(out, mapLiterals(p.name, url.QueryEscape)+"="+mapLiterals(p.value, url.QueryEscape))
	}
	return strings.Join(out, "&")
}

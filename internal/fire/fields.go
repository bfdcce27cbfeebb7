package fire

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http2/hpack"

	"retrysafe/internal/trace"
)

// lowered are header lines as HTTP/2 has them: names in lower case, without those that are about the connection
// (RFC 9113, section 8.2.2). Host stays, and is written as :authority.
func lowered(lines []trace.Header) []trace.Header {
	about := []string{"connection", "keep-alive", "proxy-connection", "upgrade"}
	for _, h := range lines {
		if strings.EqualFold(h.Name, "Connection") {
			for name := range strings.SplitSeq(strings.ToLower(h.Value), ",") {
				about = append(about, strings.TrimSpace(name))
			}
		}
	}
	kept := make([]trace.Header, 0, len(lines))
	for _, h := range lines {
		name := strings.ToLower(h.Name)
		if slices.Contains(about, name) && name != "host" || name == "te" && !strings.EqualFold(h.Value, "trailers") {
			continue
		}
		kept = append(kept, trace.Header{Name: name, Value: h.Value})
	}
	return kept
}

// fields are what the header block of a request holds, and size what it counts for SETTINGS_MAX_HEADER_LIST_SIZE.
func fields(method string, u *url.URL, lines []trace.Header) (all []hpack.HeaderField, size uint64) {
	all = append(all, hpack.HeaderField{Name: ":method", Value: method}, hpack.HeaderField{Name: ":scheme", Value: u.Scheme},
		hpack.HeaderField{Name: ":authority", Value: u.Host}, hpack.HeaderField{Name: ":path", Value: u.RequestURI()})
	for _, h := range lines {
		if h.Name == "host" {
			all[2].Value = h.Value
			continue
		}
		all = append(all, hpack.HeaderField{Name: h.Name, Value: strings.Trim(h.Value, " \t")})
	}
	for _, field := range all {
		size += uint64(field.Size())
	}
	return all, size
}

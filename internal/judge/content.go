package judge

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"retrysafe/internal/trace"
)

// decodedMost bounds a body that is decompressed, in bytes: sixteen times the default limit for what is kept of a
// body, and little enough for a hostile one to do no harm.
const decodedMost = 16 << 20

// content is the body of an answer as it is compared: decompressed where the answer says gzip (RFC 9110 section 8.4.1.3),
// because two compressions of one body may differ. What cannot be decompressed is left as it came.
func content(r *trace.Response) []byte {
	raw := r.Body.Bytes()
	if !compressed(r) || r.Body.Truncated {
		return raw
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return raw
	}
	text, err := io.ReadAll(io.LimitReader(z, decodedMost+1))
	if err != nil || len(text) > decodedMost {
		return raw
	}
	return text
}

// compressed reports whether an answer says that its body is compressed with gzip and nothing else.
func compressed(r *trace.Response) bool {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(header(r.Headers, "Content-Encoding"), ",")))
	return coding == "gzip" || coding == "x-gzip"
}

// wholeText is a body as text; empty for one that was not kept whole.
func wholeText(r *trace.Response) string {
	if r.Body.Truncated {
		return ""
	}
	return string(content(r))
}

package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// draw gives 32 bytes that depend on the seed and the parts alone, so that the same seed draws the same
// keys and markers whatever the order of cases.
func draw(seed string, parts ...string) []byte {
	mac := hmac.New(sha256.New, []byte(seed))
	for _, p := range parts {
		fmt.Fprintf(mac, "%d:%s", len(p), p)
	}
	return mac.Sum(nil)
}

// uuid formats the first 16 bytes as a version 4 UUID (RFC 9562 section 5.4).
func uuid(b []byte) string {
	u := [16]byte(b[:16])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// marker is 26 lower-case letters and digits that begin with a letter, 120 of whose bits are drawn.
func marker(b []byte) string {
	return "rs" + strings.ToLower(base32.StdEncoding.EncodeToString(b[16:31]))
}

// scope is an identity under which requests are rendered.
type scope struct {
	trace.Scope
	// captures are as they were answered; the trace holds them with secrets replaced.
	captures map[string]string
	uuid     string
	span     string
	now      string
}

func newScope(seed, name string, path ...string) *scope {
	b := draw(seed, append(path, "scope", name)...)
	k := draw(seed, append(path, "key", name)...)
	s := &scope{
		Scope:    trace.Scope{Name: name, Marker: marker(b)},
		captures: map[string]string{},
		uuid:     uuid(b),
		span:     hex.EncodeToString(k[16:24]),
		now:      time.Now().UTC().Format(time.RFC3339),
	}
	if name != keyless {
		s.Key = uuid(k)
	}
	return s
}

// values fills in placeholders for one request of a scope.
type values struct {
	*scope
	key string
	// nonce draws what changes with every send.
	nonce string
}

// Lookup gives the value of a placeholder. The plan has checked the names.
func (v values) Lookup(name string, max int) string {
	value := v.lookup(name)
	if max > 0 && len(value) > max {
		return value[:max]
	}
	return value
}

func (v values) lookup(name string) string {
	switch name {
	case "marker":
		return v.Marker
	case "key":
		return v.key
	case "uuid":
		return v.uuid
	case "email":
		return v.Marker + "@example.com"
	case "now":
		return v.now
	case "send.uuid":
		return uuid(draw(v.nonce, "send"))
	case "send.now":
		return time.Now().UTC().Format(time.RFC3339Nano)
	}
	return v.captures[name]
}

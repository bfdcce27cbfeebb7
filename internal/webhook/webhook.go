// Package webhook signs deliveries of webhooks as well-known senders do, and checks such signatures as a careful
// receiver does. It reads no clock and sends nothing: times come from the caller.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// Delivery is one attempt to deliver an event.
type Delivery struct {
	// ID names the event: the same on every delivery of it. Not used where the body names the event.
	ID string
	// At is when the delivery is sent. Not used where deliveries have no time.
	At time.Time
	// Body is the exact body that is sent.
	Body []byte
	// Attempt counts the deliveries of the event from 1; 0 means 1.
	Attempt int
	// Reason says why there is another attempt, such as "http_timeout"; empty when not said.
	Reason string
}

// Sign gives the headers of a delivery that name, date and sign it, in a fixed order. A redelivery gets the same id and,
// where the scheme dates deliveries, a new signature. An error says what is wrong with the secret, without showing
// it, or which part of the delivery the scheme needs.
func (s Scheme) Sign(secret string, d Delivery) ([]trace.Header, error) {
	key, err := s.key(secret)
	if err != nil {
		return nil, err
	}
	if err := s.check(d); err != nil {
		return nil, err
	}
	var headers []trace.Header
	for _, name := range s.IDHeaders {
		headers = append(headers, trace.Header{Name: name, Value: d.ID})
	}
	stamp := strconv.FormatInt(d.At.Unix(), 10)
	if s.TimestampHeader != "" {
		headers = append(headers, trace.Header{Name: s.TimestampHeader, Value: stamp})
	}
	signature := s.prefix + s.mac(key, d.ID, stamp, d.Body)
	if s.stamp != "" {
		signature = s.stamp + stamp + s.separator + signature
	}
	headers = append(headers, trace.Header{Name: s.SignatureHeader, Value: signature})
	return append(headers, s.retry(d)...), nil
}

// retry are the headers that only redeliveries have.
func (s Scheme) retry(d Delivery) []trace.Header {
	var headers []trace.Header
	if d.Attempt > 1 && s.AttemptHeader != "" {
		headers = append(headers, trace.Header{Name: s.AttemptHeader, Value: strconv.Itoa(d.Attempt - 1)})
		if d.Reason != "" {
			headers = append(headers, trace.Header{Name: s.ReasonHeader, Value: d.Reason})
		}
	}
	return headers
}

// check says what a delivery lacks. What goes into a header must be visible ASCII (RFC 9110, section 5.5).
func (s Scheme) check(d Delivery) error {
	if len(s.IDHeaders) > 0 && d.ID == "" {
		return fmt.Errorf("expected an event id for header %s, found none", s.IDHeaders[0])
	}
	if len(s.IDHeaders) > 0 && !visible(d.ID) {
		return fmt.Errorf("expected an event id of visible ASCII characters, found %q", d.ID)
	}
	if s.Tolerance != 0 && d.At.Unix() < 0 {
		return fmt.Errorf("expected the time of the delivery, found %s", d.At.UTC().Format(time.RFC3339))
	}
	if s.ReasonHeader != "" && !visible(d.Reason) {
		return fmt.Errorf("expected a reason of visible ASCII characters, found %q", d.Reason)
	}
	return nil
}

func visible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// key is the secret as HMAC takes it. Errors do not show the secret.
func (s Scheme) key(secret string) ([]byte, error) {
	if secret == "" {
		return nil, fmt.Errorf("expected a secret for %s, found none", s.Name)
	}
	if !s.encodedSecret {
		return []byte(secret), nil
	}
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok {
		return nil, fmt.Errorf("expected a secret of %s, whsec_ followed by base64, found one without whsec_: "+
			"write whsec_ before it if it is base64", s.Name)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(key) == 0 || strings.ContainsAny(encoded, "\r\n") {
		return nil, fmt.Errorf("expected a secret of %s, whsec_ followed by base64 with padding, found something else after whsec_", s.Name)
	}
	return key, nil
}

// mac is the signature itself: HMAC-SHA256 (RFC 2104, FIPS 180-4) in the scheme's writing.
func (s Scheme) mac(key []byte, id, stamp string, body []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(strings.NewReplacer("{id}", id, "{timestamp}", stamp).Replace(s.signed)))
	h.Write(body)
	if s.hex {
		return hex.EncodeToString(h.Sum(nil))
	}
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// Verify says why a delivery is not to be trusted; nil when it is signed with the secret and, where the scheme dates
// deliveries, no more than Tolerance away from now. Header gives the value of a header by name, or "". Several
// signatures in the header are alternatives, as while a secret is being replaced. Signatures are compared in constant
// time.
func (s Scheme) Verify(secret string, header func(name string) string, body []byte, now time.Time) error {
	key, err := s.key(secret)
	if err != nil {
		return err
	}
	value := header(s.SignatureHeader)
	if value == "" {
		return fmt.Errorf("expected header %s, found none", s.SignatureHeader)
	}
	stamp, signatures := s.items(value)
	if s.TimestampHeader != "" {
		stamp = header(s.TimestampHeader)
	}
	if err := s.fresh(stamp, now); err != nil {
		return err
	}
	id := ""
	if len(s.IDHeaders) > 0 {
		id = header(s.IDHeaders[0])
	}
	if id == "" && strings.Contains(s.signed, "{id}") {
		return fmt.Errorf("expected header %s, found none", s.IDHeaders[0])
	}
	want := []byte(s.mac(key, id, stamp, body))
	for _, signature := range signatures {
		if hmac.Equal([]byte(signature), want) {
			return nil
		}
	}
	return fmt.Errorf("expected a signature with the secret in header %s, found none that fits", s.SignatureHeader)
}

// items are the time, where the signature's header has it, and the signatures of the version that the scheme knows.
func (s Scheme) items(value string) (stamp string, signatures []string) {
	list := []string{value}
	if s.separator != "" {
		list = strings.Split(value, s.separator)
	}
	for _, item := range list {
		if at, ok := strings.CutPrefix(item, s.stamp); ok && s.stamp != "" {
			stamp = at
		} else if signature, ok := strings.CutPrefix(item, s.prefix); ok {
			signatures = append(signatures, signature)
		}
	}
	return stamp, signatures
}

// fresh says why a time is not near enough to now.
func (s Scheme) fresh(stamp string, now time.Time) error {
	if s.Tolerance == 0 {
		return nil
	}
	if stamp == "" {
		return errors.New("expected the time of the delivery in seconds since 1970, found none")
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("expected the time of the delivery in seconds since 1970, found %q", stamp)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > s.Tolerance || age < -s.Tolerance {
		return fmt.Errorf("expected the time of the delivery within %v of now, found %s", s.Tolerance, stamp)
	}
	return nil
}

package fire

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestBodies(t *testing.T) {
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:])
	}
	tests := []struct {
		name, all string
		want      trace.Body
		reason    string
	}{
		{"empty", "", trace.Body{}, "the zero value"},
		{"text", "tea", trace.Body{Text: "tea", Size: 3}, "UTF-8 is text"},
		{"bytes", "\xff\x00", trace.Body{Base64: []byte("\xff\x00"), Size: 2}, "anything else is bytes"},
		{"at the limit", "12345678", trace.Body{Text: "12345678", Size: 8}, "the limit itself is kept whole"},
		{"over", "123456789", trace.Body{Text: "12345678", Size: 9, Truncated: true, SHA256: sum("123456789")}, "the rest is counted and hashed"},
		{"cut character", "1234567\u00e9", trace.Body{Text: "1234567", Size: 9, Truncated: true, SHA256: sum("1234567\u00e9")}, "half a character is left out"},
		{"whole character", "123456\u00e9x", trace.Body{Text: "123456\u00e9", Size: 9, Truncated: true, SHA256: sum("123456\u00e9x")}, "a whole one is not"},
		{"bytes over", "\xff2345678\xff", trace.Body{Base64: []byte("\xff2345678"), Size: 9, Truncated: true, SHA256: sum("\xff2345678\xff")}, "bytes are cut anywhere"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readBody(strings.NewReader(tt.all), limits{body: 8, whole: 32})
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("read %+v, %v, want %+v (%s)", got, err, tt.want, tt.reason)
			}
			if got := keepBody([]byte(tt.all), 8); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("kept %+v, want %+v (%s)", got, tt.want, tt.reason)
			}
		})
	}
}

// TestLongBodies holds that little is kept of a body that is longer than the limit, however large the limit.
func TestLongBodies(t *testing.T) {
	all := strings.Repeat("x", 5<<20)
	lim := limits{body: 1 << 20, whole: 16 << 20}
	got, err := readBody(strings.NewReader(all), lim)
	if err != nil || got.Size != 5<<20 || len(got.Text) != keptOfLonger || !got.Truncated || len(got.SHA256) != 64 {
		t.Errorf("kept %d of %d bytes, digest %q, %v", len(got.Text), got.Size, got.SHA256, err)
	}
	if sent := keepBody([]byte(all), lim.body); !reflect.DeepEqual(sent, got) {
		t.Error("what is sent is kept in another way than what is read")
	}
	if got, _ := readBody(strings.NewReader(all[:1<<20]), lim); len(got.Text) != 1<<20 {
		t.Errorf("of a body at the limit %d bytes are kept", len(got.Text))
	}
}

func TestBodyBeyondTheCap(t *testing.T) {
	lim := limits{body: 8, whole: 32}
	if b, err := readBody(strings.NewReader(strings.Repeat("x", 32)), lim); err != nil || b.Size != 32 {
		t.Errorf("got %+v, %v, want 32 bytes without an error", b, err)
	}
	if _, err := readBody(strings.NewReader(strings.Repeat("x", 33)), lim); err == nil || !strings.Contains(err.Error(), "larger than 32 bytes") {
		t.Errorf("got error %v, want one that names the cap", err)
	}
}

package redact

import (
	"encoding/base64"
	"testing"

	"retrysafe/internal/trace"
)

func TestString(t *testing.T) {
	r := New([]string{"s3cr3t-value", "s3cr3t-value-longer", "a b&c/d?", "short"}, []string{"http://staging.example.com:8080"})
	r.Add("staging.example.com")
	for _, c := range []struct{ in, want, reason string }{
		{"x s3cr3t-value y", "x [secret-1] y", "replaced where it stands"},
		{"s3cr3t-value-longer", "[secret-2]", "the longer secret wins over the one inside it"},
		{"?q=a+b%26c%2Fd%3F", "?q=[secret-3]", "query-escaped"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("s3cr3t-value")), "Basic [secret-1]", "base64"},
		{"short", "short", "too short to be replaced everywhere"},
		{"staging.example.com", "staging.example.com", "part of the target is never replaced"},
	} {
		if got := r.String(c.in); got != c.want {
			t.Errorf("String(%q) = %q, want %q: %s", c.in, got, c.want, c.reason)
		}
	}
}

func TestExchange(t *testing.T) {
	r := New([]string{"key-secret-1"}, nil)
	x := &trace.Exchange{
		Key: "key-secret-1",
		Request: trace.Request{
			URL: "http://127.0.0.1/?k=key-secret-1",
			Headers: []trace.Header{
				{Name: "Authorization", Value: "Bearer abc"},
				{Name: "Idempotency-Key", Value: "key-secret-1"},
				{Name: "Cookie", Value: "session=0123456789; theme=x"},
			},
		},
		Response: &trace.Response{
			Headers: []trace.Header{{Name: "Set-Cookie", Value: "session=0123456789; Path=/"}},
			Body:    trace.Body{Text: `{"echo":"0123456789"}`},
		},
		Error: "refused key-secret-1",
	}
	r.Exchange(x)
	for _, c := range []struct{ got, want, reason string }{
		{x.Request.Headers[0].Value, "Bearer [secret-2]", "the scheme stays, the credential goes at any length"},
		{x.Request.Headers[1].Value, "key-secret-1", "the key is never replaced"},
		{x.Request.URL, "http://127.0.0.1/?k=key-secret-1", "the key is never replaced in the URL"},
		{x.Request.Headers[2].Value, "session=[secret-3]; theme=[secret-4]", "cookie values by name"},
		{x.Response.Headers[0].Value, "session=[secret-3]; Path=/", "the same cookie has the same token"},
		{x.Response.Body.Text, `{"echo":"[secret-3]"}`, "an echo is replaced"},
		{x.Error, "refused [secret-1]", "errors too"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q: %s", c.got, c.want, c.reason)
		}
	}
}

package redact

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestString(t *testing.T) {
	r := New([]string{"s3cr3t-value", "s3cr3t-value-longer", "a b&c/d?", "4pin", `k"é</+x`, "en%2Fcoded+value"}, []string{"http://staging.example.com:8080"})
	r.Add("staging.example.com")
	r.Add("short")
	for _, c := range []struct{ in, want, reason string }{
		{"x s3cr3t-value y", "x [secret-1] y", "replaced where it stands"},
		{"s3cr3t-value-longer", "[secret-2]", "the longer secret wins over the one inside it"},
		{"?q=a+b%26c%2Fd%3F", "?q=[secret-3]", "query-escaped"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte("s3cr3t-value")), "Basic [secret-1]", "base64"},
		{"?q=a+b%26c%2fd%3f a%20b%26c%2Fd%3F", "?q=[secret-3] [secret-3]", "with small digits, or blanks as %20"},
		{"short", "short", "too short to be replaced wherever it occurs"},
		{"is 4pin", "is [secret-4]", "as short as the plan says"},
		{`"k\"é</+x" "k\"\u00e9<\/+x"`, `"[secret-5]" "k\"\u00e9<\/+x"`, "in JSON"},
		{`"k\"\u00e9</+x" "k\"é\u003c/+x"`, `"[secret-5]" "[secret-5]"`, "in JSON that is ASCII only, or fit for HTML"},
		{`"{\"a\":\"k\\\"é</+x\"}"`, `"{\"a\":\"[secret-5]\"}"`, "in JSON in JSON"},
		{`<b title="k&quot;é&lt;/+x">`, `<b title="[secret-5]">`, "in HTML"},
		{base64.StdEncoding.EncodeToString([]byte("u:s3cr3t-value-longer;")), "dTp[secret-2]Ow==", "within base64, behind two bytes"},
		{base64.URLEncoding.EncodeToString([]byte("abcs3cr3t-value!")), "YWJj[secret-1]IQ==", "within base64, behind three bytes"},
		{"en/coded value", "[secret-6]", "as a server reads it from a URL"},
		{`{"handle":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLWl0"}`, `{"handle":"[secret-7]"}`, "a web token, which nobody named"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLWl0 eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2lnbmF0dXJlLW9mLWl0", "[secret-7] [secret-8]", "as one in each place, and another one is another"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ", "without a signature it opens nothing"},
		{"staging.example.com", "staging.example.com", "part of the target is never replaced"},
	} {
		if got := r.String(c.in); got != c.want {
			t.Errorf("String(%q) = %q, want %q: %s", c.in, got, c.want, c.reason)
		}
	}
}

// A text may be cut before its secrets are replaced: what is left of one is replaced too.
func TestCutTexts(t *testing.T) {
	r := New([]string{"s3cr3t-value", `quo"ted-secret`}, nil)
	for _, c := range []struct{ in, want, reason string }{
		{`500 {"a":"s3cr3t-va...`, `500 {"a":"[secret-1]...`, "the beginning of a secret"},
		{`found "quo\"ted-s...", and s3cr3t...: more`, `found "[secret-2]...", and [secret-1]...: more`, "within a text, encoded"},
		{"s3cr3...", "s3cr3...", "too little of it is left"},
		{"s3cr3t-va", "s3cr3t-va", "nothing was cut"},
		{"s3cr3t-value...", "[secret-1]...", "whole"},
	} {
		if got := r.Message(c.in); got != c.want {
			t.Errorf("Message(%q) = %q, want %q: %s", c.in, got, c.want, c.reason)
		}
	}
	x := &trace.Exchange{Response: &trace.Response{Body: trace.Body{Text: "abc s3cr3t-v", Truncated: true}}}
	if r.Exchange(x); x.Response.Body.Text != "abc [secret-1]" {
		t.Errorf("a body of which only the beginning was kept: %q", x.Response.Body.Text)
	}
}

// Calls of a service carry credentials that nobody told the tool: whatever tells of one of them hides those of all.
func TestArrivals(t *testing.T) {
	as := []trace.Arrival{
		{Call: &trace.Call{Request: trace.Request{URL: "/?k=0123456789", Body: trace.Body{Text: "private-9"}}}},
		{Call: &trace.Call{Key: "key-1", Request: trace.Request{Headers: []trace.Header{{Name: "X-Goog-Api-Key", Value: "0123456789"},
			{Name: "PRIVATE-TOKEN", Value: "private-9"}, {Name: "Idempotency-Token", Value: "key-1"}}}}},
	}
	r := New(nil, nil)
	r.Learn(as)
	for i := range as {
		r.Arrival(&as[i])
	}
	first, second := as[0].Call.Request, as[1].Call.Request
	if first.URL != "/?k=[secret-1]" || first.Body.Text != "[secret-2]" || second.Headers[0].Value != "[secret-1]" {
		t.Errorf("%+v, %+v", first, second)
	}
	if second.Headers[2].Value != "key-1" {
		t.Error("the key was replaced because of its header's name")
	}
}

// Whoever tries one request by hand writes secrets where they belong, and not into a list of them.
func TestNamed(t *testing.T) {
	const marker = "rsa2a2a2a2a2a2a2a2a2a2a2a2"
	for _, c := range []struct{ url, body, answer, wantURL, wantBody, wantAnswer, reason string }{
		{"/a?api_key=k3y-0123456789&q=1", `{}`, `{"echo":"k3y-0123456789"}`, "/a?api_key=[secret-1]&q=1", `{}`, `{"echo":"[secret-1]"}`, "a parameter, and its echo"},
		{"/a?X-Amz-Signature=a%2Fb%2Fc%2F4567890#x", `{}`, "a/b/c/4567890", "/a?X-Amz-Signature=[secret-1]#x", `{}`, "[secret-1]", "a signature, escaped"},
		{"/a?sig=abc&sv=2", `{}`, `{}`, "/a?sig=[secret-1]&sv=2", `{}`, `{}`, "short, in its place"},
		{"/a", `{"user":"ada","newPassword" : "corr\"ect horse 4"}`, `{"n":1}`, "/a", `{"user":"ada","newPassword" : "[secret-1]"}`, `{"n":1}`, "a member"},
		{"/a", `user=ada&client_secret=a%20b%20c%20d`, `a b c d`, "/a", `user=ada&client_secret=[secret-1]`, `a b c d`, "a field of a form"},
		{"/a", `{}`, `{"access_token": "0123456789", "id": 1}`, "/a", `{}`, `{"access_token": "[secret-1]", "id": 1}`, "of the answer"},
		{"/a?access_token=the-key", `{"access_token":"the-key"}`, `{}`, "/a?access_token=the-key", `{"access_token":"the-key"}`, `{}`, "the idempotency key is none"},
		{"/a?token=" + marker, `{"password":"` + marker + `"}`, marker, "/a?token=" + marker, `{"password":"` + marker + `"}`, marker, "a marker is looked for"},
		{"/a", `{"password":"123456"}`, `{"limit":1234567}`, "/a", `{"password":"[secret-1]"}`, `{"limit":1234567}`, "a number elsewhere is a number"},
		{"/a", `{"password":"password"}`, `{"password_errors":[]}`, "/a", `{"password":"[secret-1]"}`, `{"password_errors":[]}`, "and a name is a name"},
		{"/a", `{"meta":"{\"password\": \"k3y-0123456789\", \"n\":1}"}`, `["{\"a\":\"{\\\"api_key\\\":\\\"x\\\"}\"}"]`, "/a",
			`{"meta":"{\"password\": \"[secret-1]\", \"n\":1}"}`, `["{\"a\":\"{\\\"api_key\\\":\\\"[secret-2]\\\"}\"}"]`, "members of JSON in texts of JSON"},
		{"/a", `{}`, `{"a":"{\u0022n\u0022: 1}","b":"[secret","c":"{"}`, "/a", `{}`, `{"a":"{\u0022n\u0022: 1}","b":"[secret","c":"{"}`, "in which nothing is secret, as it is written"},
		{"/a", `{}`, `{"to":"https://s3/a?x=1&X-Amz-Signature=k3y-0123456789#p","q":"k3y-0123456789?"}`, "/a", `{}`,
			`{"to":"https://s3/a?x=1&X-Amz-Signature=[secret-1]#p","q":"k3y-0123456789?"}`, "a link of the answer, in its place: the answer may name a thing so"},
		{"/a", `{}`, `{"to":"\/a?sig=abc\u0026x=1","on":"why? a=1&sig=2"}`, "/a", `{}`, `{"to":"\/a?sig=[secret-1]\u0026x=1","on":"why? a=1&sig=2"}`, "as JSON escapes it"},
		{"/a", `{}`, `{"dsn":"postgres://ann:k3y@db/shop","at":"http://a:80/@b"}`, "/a", `{}`, `{"dsn":"postgres://ann:[secret-1]@db/shop","at":"http://a:80/@b"}`, "a password in front of a host"},
		{"/a?page_token_size=0123456789ab", `{"token":"tok_visa_1"}`, `{"secret":"garden-7"}`, "/a?page_token_size=0123456789ab", `{"token":"tok_visa_1"}`, `{"secret":"garden-7"}`, "names that mean other things too"},
	} {
		x := &trace.Exchange{Key: "the-key", Request: trace.Request{URL: c.url, Body: trace.Body{Text: c.body}}, Response: &trace.Response{Body: trace.Body{Text: c.answer}}}
		New(nil, nil).Exchange(x)
		if x.Request.URL != c.wantURL || x.Request.Body.Text != c.wantBody || x.Response.Body.Text != c.wantAnswer {
			t.Errorf("%s: %s, %s, %s", c.reason, x.Request.URL, x.Request.Body.Text, x.Response.Body.Text)
		}
		a := trace.Arrival{Call: &trace.Call{Key: "the-key", Request: trace.Request{URL: c.url, Body: trace.Body{Text: c.body}}}}
		r := New(nil, nil)
		r.Learn([]trace.Arrival{a})
		if r.Arrival(&a); a.Call.Request.URL != c.wantURL || a.Call.Request.Body.Text != c.wantBody {
			t.Errorf("%s: a sink tells %s, %s", c.reason, a.Call.Request.URL, a.Call.Request.Body.Text)
		}
	}
	x := &trace.Exchange{Response: &trace.Response{Headers: []trace.Header{{Name: "Link", Value: `</a?token=abc>; rel="next"`}, {Name: "Location", Value: "/a?x=1&token=abc#"}}}}
	New(nil, nil).Exchange(x)
	if h := x.Response.Headers; h[0].Value != `</a?token=[secret-1]>; rel="next"` || h[1].Value != "/a?x=1&token=[secret-1]#" {
		t.Errorf("links in headers: %+v", h)
	}
	// What an answer says of a thing is the same before and after a link carries it.
	r := New(nil, nil)
	for i, link := range []string{"", `</a?token=k3y-0123456789ab>; rel="item"`, ""} {
		x := &trace.Exchange{Response: &trace.Response{Headers: []trace.Header{{Name: "Link", Value: link}}, Body: trace.Body{Text: `{"id":"k3y-0123456789ab"}`}}}
		r.Exchange(x)
		if x.Response.Body.Text != `{"id":"k3y-0123456789ab"}` || strings.Contains(x.Response.Headers[0].Value, "k3y") {
			t.Errorf("answer %d: %+v", i, x.Response)
		}
	}
	x = &trace.Exchange{Response: &trace.Response{Body: trace.Body{Text: `"/a?sig=abc"`}}}
	if r.Exchange(x); x.Response.Body.Text != `"`+r.Text("/a?sig=abc")+`"` {
		t.Errorf("what was captured is %s, and stands in an answer as %s", r.Text("/a?sig=abc"), x.Response.Body.Text)
	}
	if got := New(nil, nil).Link("GET http://127.0.0.1/count?access_token=abc&n=1"); got != "GET http://127.0.0.1/count?access_token=[secret-1]&n=1" {
		t.Errorf("a counter's source: %s", got)
	}
}

// BenchmarkLargeAnswer is an answer of 5 MiB in which no secret occurs.
func BenchmarkLargeAnswer(b *testing.B) {
	r := New([]string{"s3cr3t-value", "another s3cr3t/value"}, nil)
	text := strings.Repeat(`{"id":"ord_0001","status":"accepted"},`, 5<<20/38)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.String(text)
	}
}

// BenchmarkCookies is a service that sets a new cookie with every answer.
func BenchmarkCookies(b *testing.B) {
	r := New(nil, nil)
	for i := range b.N {
		r.Add(fmt.Sprintf("session-%016x", i))
		r.String(`{"id": "order-1", "status": "created", "items": ["a", "b", "c"], "self": "/orders/1"}`)
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

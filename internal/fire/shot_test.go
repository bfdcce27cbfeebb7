package fire

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestRefusedShots(t *testing.T) {
	header := func(name, value string) func(*Shot) {
		return func(s *Shot) { s.Header = append(s.Header, trace.Header{Name: name, Value: value}) }
	}
	url := func(u string) func(*Shot) { return func(s *Shot) { s.URL = u } }
	cut := func(c trace.Cut) func(*Shot) { return func(s *Shot) { s.Cut = &c } }
	tests := []struct {
		name   string
		change func(*Shot)
		want   string
		reason string
	}{
		{"line feed", header("A", "b\nX: y"), "line break", "would be another header"},
		{"carriage return", header("A", "b\rc"), "line break", "some servers take it for a line end"},
		{"nul", header("A", "b\x00"), "control character", "not allowed in a value"},
		{"name with a break", header("A\r\nB", "c"), "not a token", "would be another header"},
		{"name with a space", header("A B", "c"), "not a token", "servers disagree about it"},
		{"empty name", header("", "c"), "not a token", "not a header"},
		{"wrong length", header("content-length", "3"), "the body has 27 bytes", "the rest would be a second request"},
		{"chunked", header("Transfer-Encoding", "chunked"), "not supported", "the body is not chunked"},
		{"two hosts", func(s *Shot) { header("Host", "a")(s); header("host", "b")(s) }, "2 Host headers", "servers disagree about it"},
		{"method", func(s *Shot) { s.Method = "POST /x" }, "not a token", "would be another target"},
		{"no method", func(s *Shot) { s.Method = "" }, "not a token", "a request needs one"},
		{"relative", url("/orders"), "absolute http or https URL", "no host to connect to"},
		{"scheme", url("ftp://127.0.0.1/"), "absolute http or https URL", "not HTTP"},
		{"break in the URL", url("http://127.0.0.1/a\r\nb"), "absolute http or https URL", "would be a header"},
		{"space in the URL", url("http://127.0.0.1/?a b"), "write %20", "would end the target"},
		{"user", url("http://me:secret@127.0.0.1/"), "Authorization", "would be dropped silently"},
		{"not ASCII", url("http://b\u00fccher.example/"), "xn--", "needs a translation"},
		{"cut point", cut(trace.Cut{At: "middle"}), `use "headers", "half-body", "sent" or "answer"`, "not known"},
		{"cut kind", cut(trace.Cut{At: "sent", By: "fire"}), `use "close" or "reset"`, "not known"},
		{"cut pause", cut(trace.Cut{At: "sent", After: -1}), "negative", "not possible"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shot := order("http://127.0.0.1:1")
			tt.change(&shot)
			if err := shot.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got error %v, want one with %q (%s)", err, tt.want, tt.reason)
			}
			x := New(Options{}).Send(t.Context(), shot)
			wantBroken(t, x, trace.PhaseDial, "not sent: ")
			if x.Wire != 0 || x.Conn != 0 || x.Started != 0 {
				t.Errorf("wire %d, connection %d, started %d, want nothing sent", x.Wire, x.Conn, x.Started)
			}
		})
	}
}

func TestRender(t *testing.T) {
	tests := []struct {
		name   string
		shot   Shot
		want   string
		reason string
	}{
		{
			"post", Shot{Method: "POST", URL: "http://shop.test:8080/orders?q=1#part", Body: []byte("ab"),
				Header: []trace.Header{{Name: "idempotency-KEY", Value: "k"}, {Name: "A", Value: ""}}},
			"POST /orders?q=1 HTTP/1.1\r\nHost: shop.test:8080\r\nidempotency-KEY: k\r\nA: \r\nContent-Length: 2\r\nConnection: close\r\n\r\nab",
			"order and spelling are kept, the fragment is not sent",
		},
		{
			"own", Shot{Method: "PUT", URL: "https://shop.test", Body: []byte("ab"),
				Header: []trace.Header{{Name: "connection", Value: "keep-alive"}, {Name: "host", Value: "x"}, {Name: "content-length", Value: "2"}}},
			"PUT / HTTP/1.1\r\nconnection: keep-alive\r\nhost: x\r\ncontent-length: 2\r\n\r\nab",
			"what is there is not added again",
		},
		{
			"empty post", Shot{Method: "POST", URL: "http://shop.test/"},
			"POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
			"POST says that its body is empty",
		},
		{
			"get", Shot{Method: "GET", URL: "http://shop.test/a%20b"},
			"GET /a%20b HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n",
			"GET has no length",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := New(Options{}).prepare(tt.shot, true)
			if string(f.wire) != tt.want {
				t.Errorf("got\n%q, want\n%q (%s)", f.wire, tt.want, tt.reason)
			}
		})
	}
}

package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestCurlLine(t *testing.T) {
	json := []trace.Header{{Name: "Host", Value: "h"}, {Name: "User-Agent", Value: "retrysafe"}, {Name: "Content-Type", Value: "application/json"},
		{Name: "Content-Length", Value: "2"}, {Name: "Connection", Value: "close"}, {Name: "Traceparent", Value: "00"}}
	text := func(s string) trace.Body { return trace.Body{Text: s, Size: int64(len(s))} }
	tests := []struct {
		name   string
		in     trace.Request
		want   string
		reason string
	}{
		{"plain", trace.Request{Method: "POST", URL: "http://h/orders", Headers: json, Body: text(`{"a":"it's"}`)},
			`curl -i -X POST http://h/orders -H 'Content-Type: application/json' --data-binary '{"a":"it'\''s"}'`, "what curl adds itself is left out"},
		{"no body", trace.Request{Method: "DELETE", URL: "http://h/x?a=b&c=$d"}, `curl -i -X DELETE 'http://h/x?a=b&c=$d'`, "quoted for the shell"},
		{"at sign", trace.Request{Method: "POST", URL: "http://h/", Headers: json, Body: text("@file")},
			`curl -i -X POST http://h/ -H 'Content-Type: application/json' --data-raw '@file'`, "would name a file"},
		{"no type", trace.Request{Method: "POST", URL: "http://h/", Body: text("x")}, `curl -i -X POST http://h/ -H 'Content-Type:' --data-binary x`, "else curl adds a type"},
		{"empty header", trace.Request{Method: "GET", URL: "http://h/", Headers: []trace.Header{{Name: "X-A"}}}, `curl -i -X GET http://h/ -H 'X-A;'`, "else curl drops it"},
		{"brackets", trace.Request{Method: "GET", URL: "http://h/?a[0]=1"}, `curl -i -X GET 'http://h/?a[0]=1' --globoff`, "else curl expands them"},
		{"binary", trace.Request{Method: "POST", URL: "http://h/", Headers: json, Body: trace.Body{Base64: []byte{0xff, 0}, Size: 2}},
			`echo '/wA=' | base64 -d | curl -i -X POST http://h/ -H 'Content-Type: application/json' --data-binary @-`, "no argument can hold it"},
		{"too long", trace.Request{Method: "POST", URL: "http://h/", Body: trace.Body{Text: "x", Size: 9, Truncated: true}}, "", "the record does not hold it all"},
	}
	for _, tt := range tests {
		if got := curlLine(&tt.in, nil); got != tt.want {
			t.Errorf("%s (%s):\ngot  %s\nwant %s", tt.name, tt.reason, got, tt.want)
		}
	}
}

func TestCurlOfFinding(t *testing.T) {
	got := Case(faulty(t)).Findings[0].Curl
	if len(got) != 3 || got[0] != "KEY=$(uuidgen)" || !strings.Contains(got[1], `-H 'Idempotency-Key: '"$KEY"''`) || strings.Contains(got[1], "Host") {
		t.Errorf("the run has used up its own key, so the lines take a new one: got %q", got)
	}
}

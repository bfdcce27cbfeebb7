package report

import "testing"

func TestHintUnreachable(t *testing.T) {
	for detail, want := range map[string]string{
		"no connection for POST http://x: connection refused":                                            "start the server, or correct the target",
		"then after 16777217 bytes of the body: larger than 16777216 bytes, which is as much as is read": "choose a request whose answer is smaller, or leave this endpoint out",
		"no complete answer to GET http://x (answer): EOF":                                               "look into the server's log: it ended the connection without an answer",
	} {
		if got := hintUnreachable(detail); got != want {
			t.Errorf("%s: got %q, want %q", detail, got, want)
		}
	}
}

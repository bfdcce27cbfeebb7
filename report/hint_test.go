package report

import (
	"testing"

	"retrysafe/internal/trace"
)

func TestHintUnreachable(t *testing.T) {
	for detail, want := range map[string]string{
		"no connection for POST http://x: connection refused":                                            "start the server, or correct the target",
		"then after 16777217 bytes of the body: larger than 16777216 bytes, which is as much as is read": "choose a request whose answer is smaller, or leave this endpoint out",
		"no complete answer to GET http://x (answer): EOF":                                               "look into the server's log: it ended the connection without an answer",
		"no connection for POST https://x: " + trace.NoCertificate + ": EOF":                             "name a certificate of the caller, callers: {me: {cert: me.pem, key: me.key}}, or --cert and --key",
		"no connection for POST https://x: remote error: tls: unknown certificate authority":             "the server refuses the client's certificate: is it the right one, still valid, and of an authority that the server knows?",
		"no connection for POST https://x: tls: failed to verify certificate: x509: ...":                 "trust the certificate with --cacert FILE, or accept any with --insecure",
		"no connection for POST http://x: proxy p:1: dial tcp: connection refused":                       "correct the proxy, or go past it with --noproxy HOST",
	} {
		if got := hintUnreachable(detail); got != want {
			t.Errorf("%s: got %q, want %q", detail, got, want)
		}
	}
}

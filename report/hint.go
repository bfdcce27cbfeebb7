package report

import (
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// hint says what to try so that a case that could not be judged can be, where the record itself does not
// say it. Empty where nothing general helps.
func (p *printer) hint(code trace.Code, detail string) string {
	if code == trace.Unreachable {
		return hintUnreachable(detail)
	}
	if !slices.Contains(trace.InconclusiveCodes(), code) {
		return ""
	}
	return p.reasons[code].Fix
}

// hintUnreachable reads what the system said: a connection fails for reasons that need different remedies.
func hintUnreachable(detail string) string {
	switch {
	case strings.Contains(detail, trace.NoCertificate):
		return "name a certificate of the caller, callers: {me: {cert: me.pem, key: me.key}}, or --cert and --key"
	case strings.Contains(detail, "remote error: tls:"):
		return "the server refuses the client's certificate: is it the right one, still valid, and of an authority that the server knows?"
	case strings.Contains(detail, "certificate"):
		return "trust the certificate with --cacert FILE, or accept any with --insecure"
	case strings.Contains(detail, "TLS handshake"):
		return "the server speaks plain HTTP: write http:// in the target"
	case strings.Contains(detail, "as much as is read"):
		return "choose a request whose answer is smaller, or leave this endpoint out"
	case strings.Contains(detail, "proxy "):
		return "correct the proxy, or go past it with --noproxy HOST"
	case strings.Contains(detail, "no connection"), strings.Contains(detail, "connection refused"):
		return "start the server, or correct the target"
	}
	return "look into the server's log: it ended the connection without an answer"
}

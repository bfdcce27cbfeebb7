package report

import (
	"strings"

	"retrysafe/internal/trace"
)

// hint says what to try so that a case that could not be judged can be, where the record itself does not
// say it. Empty where nothing general helps.
func hint(code trace.Code, detail string) string {
	switch code {
	case trace.Unreachable:
		return hintUnreachable(detail)
	case trace.Auth:
		return "check the credentials that the plan sends (headers, callers)"
	case trace.ControlUnsound:
		return "make one plain request work first: its body, headers and counters in the plan decide it"
	case trace.NoOverlap:
		return "run nearer to the endpoint or make the operation slower: copies are answered before the next one arrives"
	case trace.CounterNoise:
		return "put {{marker}} into the counter's request, so that it counts the effects of this run only"
	case trace.CounterUnreadable:
		return "run the counter by hand and correct its address or value path in the plan"
	case trace.SetupFailed:
		return "run the set-up request or hook by hand and correct it in the plan"
	case trace.FromIntermediary:
		return "point target at the service itself, or let its gateway pass requests with User-Agent retrysafe/VERSION"
	case trace.StillBusy:
		return "raise the rate limit for requests with User-Agent retrysafe/VERSION"
	case trace.OutOfBudget:
		return "raise the budget"
	case trace.Timeout:
		return "raise limits.request in the plan"
	case trace.LifetimeExceeded:
		return "state a longer key_lifetime, or run nearer to the endpoint: the key may have expired within the round"
	case trace.NoEvidence:
		return "add counters to the plan: the answers do not tell a replay from a second creation"
	case trace.Interrupted:
		return "run it again"
	}
	return ""
}

// hintUnreachable reads what the system said: a connection fails for reasons that need different remedies.
func hintUnreachable(detail string) string {
	switch {
	case strings.Contains(detail, "certificate"):
		return "trust the certificate with --cacert FILE, or accept any with --insecure"
	case strings.Contains(detail, "TLS handshake"):
		return "the server speaks plain HTTP: write http:// in the target"
	case strings.Contains(detail, "no connection"), strings.Contains(detail, "connection refused"):
		return "start the server, or correct the target"
	}
	return "look into the server's log: it ended the connection without an answer"
}

package judge

import (
	"strings"

	"retrysafe/internal/trace"
)

// unanswered says why an exchange has no answer.
func unanswered(x *trace.Exchange) *trace.Reason {
	where := x.Request.Method + " " + x.Request.URL
	switch {
	case strings.HasPrefix(x.Error, "stopped: "):
		return &trace.Reason{Code: trace.Interrupted, Detail: "the run was interrupted while " + where + " was under way"}
	case x.Broke == trace.PhaseDial || x.Broke == trace.PhaseTLS:
		return &trace.Reason{Code: trace.Unreachable, Detail: "no connection for " + where + ": " + x.Error}
	case timedOut(x.Error):
		return &trace.Reason{Code: trace.Timeout, Detail: "no complete answer to " + where + " in time (" + string(x.Broke) + "): " + x.Error,
			Enable: "limits: {request: 60s}, if the endpoint is that slow"}
	}
	return &trace.Reason{Code: trace.Unreachable, Detail: "no complete answer to " + where + " (" + string(x.Broke) + "): " + x.Error}
}

// timedOut reads the message of the exchange: the record has no field for it.
func timedOut(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "timeout") || strings.Contains(m, "timed out") || strings.Contains(m, "deadline exceeded")
}

func stillBusy(x *trace.Exchange) *trace.Reason {
	return &trace.Reason{Code: trace.StillBusy, Detail: "the endpoint kept turning requests away: " + answerText(x)}
}

func authReason(x *trace.Exchange) *trace.Reason {
	return &trace.Reason{Code: trace.Auth, Detail: "the credentials are missing, wrong or no longer good: " + answerText(x),
		Enable: `callers: {me: {headers: {Authorization: "Bearer ${TOKEN}"}}}`}
}

func intermediary(x *trace.Exchange) *trace.Reason {
	return &trace.Reason{Code: trace.FromIntermediary, Detail: "something in front of the endpoint seems to have answered: " + answerText(x)}
}

// weightiest picks the reason that explains most, what breaks everything before what leaves one thing open; nil
// when there is none.
func weightiest(reasons []trace.Reason) *trace.Reason {
	for _, code := range []trace.Code{
		trace.Interrupted, trace.FailFast, trace.OutOfBudget, trace.Unreachable, trace.Auth, trace.ControlUnsound, trace.SetupFailed, trace.CutOff,
		trace.FromIntermediary, trace.StillBusy, trace.Timeout, trace.CounterNoise, trace.CounterUnreadable,
		trace.LifetimeExceeded, trace.Assumption, trace.NoOverlap,
	} {
		for i := range reasons {
			if reasons[i].Code == code {
				return &reasons[i]
			}
		}
	}
	if len(reasons) > 0 {
		return &reasons[0]
	}
	return nil
}

package judge

import (
	"fmt"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// statedOnly reports whether a scenario asks nothing but what plan and convention state: then no round is needed.
func statedOnly(s *scenarios.Scenario) bool {
	for i := range s.Expect {
		if s.Expect[i].Outlives == "" {
			return false
		}
	}
	return s.OnControl && len(s.Expect) > 0 && len(s.Assume) == 0
}

// stated judges a case of statedOnly.
func stated(in *Input) trace.Result {
	r := trace.Result{}
	for i := range in.Scenario.Expect {
		out := in.outlives(&in.Scenario.Expect[i])
		r.Findings = merge(r.Findings, out.findings)
		if !out.judged {
			return conclude(in, r, unstated())
		}
	}
	r = conclude(in, r, nil)
	if r.Verdict == trace.Pass || r.Verdict == trace.Warn {
		r.Power = fmt.Sprintf("compares what is stated: keys are remembered for %s, retries come for %s; no request was needed",
			spanText(in.Facts.Lifetime), spanText(in.Facts.RetryWindow))
	}
	return r
}

func unstated() *trace.Reason {
	return &trace.Reason{Code: trace.NoEvidence, Detail: "how long keys are remembered, and how long retries come, must both be stated to be compared",
		Enable: "key_lifetime: 24h and retry_window: 72h"}
}

// outlives checks that keys are remembered for as long as retries come, by what plan and convention state.
func (in *Input) outlives(e *scenarios.Expectation) outcome {
	life, window := in.Facts.Lifetime, in.Facts.RetryWindow
	out := outcome{judged: life > 0 && window > 0}
	if !out.judged || life >= window {
		return out
	}
	out.findings = []trace.Finding{{
		Rule: e.Rule, Severity: in.severity(e.Rule), Exchanges: []int{}, Round: 1, Seen: 1,
		Message:  fmt.Sprintf("keys are remembered for %s, but retries come for %s", spanText(life), spanText(window)),
		Expected: "a key lifetime of at least " + spanText(window),
		Actual:   "a key lifetime of " + spanText(life),
	}}
	return out
}

// spanText is a span as a plan says it, such as "72h" or "1h30m".
func spanText(n trace.Nanos) string {
	d := n.Duration()
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0 && d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

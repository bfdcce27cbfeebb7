package judge

import (
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// TestOwnTerms: what fails an endpoint is what its plan says, else what the run says, and what must not be skipped may be a pattern.
func TestOwnTerms(t *testing.T) {
	major := trace.Result{Findings: []trace.Finding{{Rule: "r", Severity: trace.Major}}}
	skip := func(code trace.Code) *trace.Reason { return &trace.Reason{Code: code, Detail: "why"} }
	for _, c := range []struct {
		reason      string
		own, failOn trace.Severity
		require     []string
		result      trace.Result
		why         *trace.Reason
		want        trace.Verdict
	}{
		{"by default", "", "", nil, major, nil, trace.Fail},
		{"the run says", "", trace.Critical, nil, major, nil, trace.Warn},
		{"the plan says less", trace.Critical, trace.Minor, nil, major, nil, trace.Warn},
		{"the plan says more", trace.Minor, trace.Critical, nil, major, nil, trace.Fail},
		{"never", trace.Never, trace.Minor, nil, trace.Result{Findings: []trace.Finding{{Rule: "r", Severity: trace.Critical}}}, nil, trace.Warn},
		{"never, not judged", trace.Never, "", nil, trace.Result{}, skip(trace.Timeout), trace.Inconclusive},
		{"required", "", "", []string{"same-key-again"}, trace.Result{}, skip(trace.Needs), trace.Fail},
		{"required, and does not apply", "", "", []string{"same-key-again"}, trace.Result{}, skip(trace.NotApplicable), trace.Fail},
		{"required, never fails", trace.Never, "", []string{"same-key-again"}, trace.Result{}, skip(trace.Needs), trace.Skip},
		{"required by a pattern", "", "", []string{"x", "same-*"}, trace.Result{}, skip(trace.Needs), trace.Fail},
		{"a pattern of others", "", "", []string{"other-*"}, trace.Result{}, skip(trace.Needs), trace.Skip},
		{"a pattern, does not apply", "", "", []string{"*"}, trace.Result{}, skip(trace.NotApplicable), trace.Skip},
		{"a pattern, and the plan skips it", "", "", []string{"*"}, trace.Result{}, skip(trace.PlanSkip), trace.Skip},
		{"a pattern, not due", "", "", []string{"*"}, trace.Result{}, skip(trace.NotDue), trace.Skip},
		{"a pattern, left out by the effort", "", "", []string{"*"}, trace.Result{}, skip(trace.LeftOut), trace.Fail},
	} {
		in := &Input{Scenario: &scenarios.Scenario{ID: "same-key-again"}, Case: &trace.Case{}, FailOn: c.failOn,
			Facts: trace.Facts{FailOn: c.own, Require: c.require}}
		if got := conclude(in, c.result, c.why).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}
}

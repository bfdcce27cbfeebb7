package report

import (
	"testing"

	"retrysafe/internal/trace"
)

func TestWhereALineBelongs(t *testing.T) {
	one := gap{verdict: trace.Skip}
	one.cases.add("create order", "double-click")
	two := one
	two.cases.endpoints = []string{"create order", "create refund"}
	tests := []struct {
		gap    gap
		text   string
		at     level
		want   string
		reason string
	}{
		{one, "double_click: one", levelEndpoint, "in the plan, in this endpoint", "a field of an endpoint"},
		{two, "double_click: one", levelEndpoint, "in the plan, in each of these endpoints", "of several"},
		{two, "hooks: {expire: {exec: [./expire]}}", levelPlan, "in the plan, at the top level, into its `hooks` where it has them", "a field of the plan"},
		{one, `counters: {NAME: {http: "GET /x", value: $.count}}`, levelPlan, "in the plan, at the top level, and `counters: [NAME]` in the endpoint", "defined there, used here"},
		{one, "counters: {orders: 2}, if one request rightly does that", levelEndpoint, "in the plan, in this endpoint", "the rise of a counter"},
		{one, "counters: ask for {{marker}}", levelUnknown, "in the plan", "words, of either level"},
		{one, "body: and headers: with which one request succeeds", levelUnknown, "in the plan", "an unknown field"},
		{one, "--allow-disruptive", levelFlag, "", "no line of plan"},
	}
	p := newPrinter(Options{Fields: testFields()})
	for _, tt := range tests {
		tt.gap.enable = tt.text
		if got := p.levelOf(tt.text); got != tt.at {
			t.Errorf("%s: %q is at level %q, want %q", tt.reason, tt.text, got, tt.at)
		}
		if got := p.whereTo(&tt.gap); tt.want != "" && got != tt.want {
			t.Errorf("%s: %q goes %q, want %q", tt.reason, tt.text, got, tt.want)
		}
	}
}

package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// need says how the plan meets one need of a scenario, and which lines would.
type need struct {
	met    func(*plan.Plan, *plan.Endpoint) bool
	lacks  string
	enable string
}

func needOf(name string, ep *plan.Endpoint) need {
	switch name {
	case "key":
		return need{func(_ *plan.Plan, e *plan.Endpoint) bool { return e.Key.In != "" },
			"the endpoint has no idempotency key", "key: {header: Idempotency-Key}"}
	case "other_body":
		return need{func(_ *plan.Plan, e *plan.Endpoint) bool { return e.HasOther },
			"no other body: " + ep.OtherWhy, "other_body: {FIELD: ANOTHER VALUE}"}
	case "key_lifetime":
		return need{func(p *plan.Plan, e *plan.Endpoint) bool { return e.KeyLifetime > 0 || hasHook(p, "expire") },
			"the lifetime of keys is not stated", "key_lifetime: 24h"}
	case "required":
		return need{func(_ *plan.Plan, e *plan.Endpoint) bool { return e.Required },
			"neither plan nor dialect says that a key is required", "required: true"}
	case "fail":
		return need{func(_ *plan.Plan, e *plan.Endpoint) bool { return e.Fail != nil },
			"the plan does not say how to make the endpoint fail once", "fail: {headers: {NAME: VALUE}}"}
	case "fresh_key_creates":
		return need{func(_ *plan.Plan, e *plan.Endpoint) bool { return e.FreshKey != "returns-existing" },
			"the plan says that a fresh key returns the existing resource", ""}
	case "counter":
		return need{func(_ *plan.Plan, e *plan.Endpoint) bool { return len(e.Counters) > 0 },
			"nothing counts the effects", `counters: {NAME: {http: "GET /PATH?reference={{marker}}", value: $.count}}`}
	}
	return need{func(*plan.Plan, *plan.Endpoint) bool { return false }, "unknown need " + name, ""}
}

func hasHook(p *plan.Plan, name string) bool {
	_, ok := p.Hooks[name]
	return ok
}

// Unmet says why a scenario does not run on an endpoint, by the plan and the effort alone; nil when it does.
func Unmet(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario, effort Effort) *trace.Reason {
	if why, ok := ep.Skip[s.ID]; ok {
		return &trace.Reason{Code: trace.PlanSkip, Detail: "the plan skips it: " + why}
	}
	if len(s.Kinds) > 0 && !slices.Contains(s.Kinds, ep.Kind) {
		return &trace.Reason{Code: trace.NotApplicable,
			Detail: fmt.Sprintf("the scenario is for kind %s, the endpoint is of kind %s", strings.Join(s.Kinds, " or "), ep.Kind)}
	}
	for _, alternatives := range s.Needs {
		if r := unmetNeed(p, ep, alternatives); r != nil {
			return r
		}
	}
	if r := tooLong(p, ep, s); r != nil {
		return r
	}
	return effort.leavesOut(s)
}

func unmetNeed(p *plan.Plan, ep *plan.Endpoint, alternatives []string) *trace.Reason {
	var first *trace.Reason
	for _, a := range alternatives {
		n := needOf(a, ep)
		if n.met(p, ep) {
			return nil
		}
		if first == nil {
			first = &trace.Reason{Code: trace.Needs, Detail: n.lacks, Enable: n.enable}
		}
	}
	return first
}

// tooLong says why a scenario would wait longer than limits.wait; nil when it would not.
func tooLong(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario) *trace.Reason {
	if hasHook(p, "expire") {
		return nil
	}
	for _, st := range s.Steps {
		if st.Wait == nil {
			continue
		}
		d := st.Wait.For
		if st.Wait.Expiry > 0 {
			d = time.Duration(st.Wait.Expiry * float64(ep.KeyLifetime))
		}
		if d > p.Limits.Wait {
			return &trace.Reason{Code: trace.WaitTooLong,
				Detail: fmt.Sprintf("it would wait %s, limits.wait is %s", d.Round(time.Second), p.Limits.Wait),
				Enable: "hooks: {expire: {exec: [./expire-key, \"{{key}}\"]}}"}
		}
	}
	return nil
}

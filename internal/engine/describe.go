package engine

import (
	"path/filepath"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// describe puts down what the plan says of an endpoint, as far as judging needs it.
func describe(p *plan.Plan, ep *plan.Endpoint) trace.Endpoint {
	f := trace.Facts{
		Key:                ep.Key,
		Required:           ep.Required,
		Statuses:           ep.Statuses,
		FreshKey:           ep.FreshKey,
		Lenient:            p.Dialect.Lenient,
		Lifetime:           trace.Nanos(ep.KeyLifetime),
		StoresClientErrors: ep.Stores4xx,
		StoresServerErrors: ep.Stores5xx,
		IgnoreJSON:         ep.IgnoreJSON,
		IgnoreHeaders:      ep.IgnoreHeaders,
		ReplayHeaders:      ep.ReplayHeaders,
		Require:            ep.Require,
		InProgressLimit:    trace.Nanos(p.Limits.InProgress),
	}
	for _, c := range ep.Counters {
		f.Counters = append(f.Counters, trace.CounterFact{Name: c.Name, Rise: c.Rise, Marked: p.Counters[c.Name].Marked})
	}
	return trace.Endpoint{Name: ep.Name, Request: ep.Request.String(), Kind: ep.Kind, Line: ep.Pos.Line, Facts: f}
}

// dirOf is the folder in which a plan's commands run; empty for a plan without a file.
func dirOf(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Dir(file)
}

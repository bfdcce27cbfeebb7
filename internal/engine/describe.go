package engine

import (
	"path/filepath"

	"retrysafe/internal/dialect"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
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
		States:             ep.States,
		RetryWindow:        trace.Nanos(ep.RetryWindow),
		DoubleClick:        ep.DoubleClick,
		RefusedWhere:       ep.RefusedWhere,
		Await:              ep.Await,
		SuccessStatuses:    ep.SuccessStatuses,
		InProgressLimit:    trace.Nanos(p.Limits.InProgress),
	}
	f.Changed = changed(ep)
	documented(&f, p.Dialect)
	if ep.FreshKey == "returns-existing" {
		f.AnyReplayStatus = true // what exists is answered with 200, what was made with 201
	}
	for i := range p.Endpoints {
		if p.Endpoints[i].Name == ep.OtherEndpoint {
			f.OtherSuccessStatuses = p.Endpoints[i].SuccessStatuses
		}
	}
	for _, c := range ep.Counters {
		fact := trace.CounterFact{Name: c.Name, Rise: c.Rise, Marked: p.Counters[c.Name].Marked}
		if s := p.Counters[c.Name].Sink; s != nil {
			fact.Sink = &trace.SinkFact{Kind: s.Kind(), Address: s.Address(), Key: s.Key, IgnoreJSON: s.IgnoreJSON}
		}
		f.Counters = append(f.Counters, fact)
	}
	return trace.Endpoint{Name: ep.Name, Request: ep.Request.String(), Kind: ep.Kind, Line: ep.Pos.Line, Facts: f}
}

// changed says where the other bodies of an endpoint differ from its own; nil when that is not known.
func changed(ep *plan.Endpoint) map[string][]string {
	out := map[string][]string{}
	if len(ep.OtherPlaces) > 0 {
		out[scenarios.BodyOther] = ep.OtherPlaces
	}
	for i, c := range ep.Nested {
		out[scenarios.NestedBody(i+1)] = []string{c.Place}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// documented adds what the convention says about replays and scopes.
func documented(f *trace.Facts, d dialect.Dialect) {
	f.Mismatch = d.Mismatch
	f.ReplayStatuses = d.Replay.Statuses
	f.AnyReplayStatus = len(d.Replay.Statuses) == 0 && d.Replay.Status != dialect.SameStatus
	f.Conflicts = d.Replay.Body == dialect.Conflict
	f.Fingerprint = d.Fingerprint
	switch d.Scope.Endpoint {
	case "":
	case dialect.Checked:
		f.EndpointScope = "checked"
	case dialect.Shared:
		f.EndpointScope = "none"
	default:
		f.EndpointScope = "independent"
	}
}

// dirOf is the folder in which a plan's commands run; empty for a plan without a file.
func dirOf(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Dir(file)
}

package engine

import (
	"cmp"
	"path/filepath"
	"slices"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Describe puts down what the plan says of an endpoint, as far as judging needs it: the record of an endpoint to which nothing
// was sent.
func Describe(p *plan.Plan, ep *plan.Endpoint) trace.Endpoint {
	f := trace.Facts{
		Key:                ep.Key,
		Required:           ep.Required,
		Statuses:           ep.Statuses,
		FreshKey:           ep.FreshKey,
		Lifetime:           trace.Nanos(ep.KeyLifetime),
		StoresClientErrors: ep.Stores4xx,
		StoresServerErrors: ep.Stores5xx,
		IgnoreJSON:         ep.IgnoreJSON,
		IgnoreHeaders:      ep.IgnoreHeaders,
		ReplayHeaders:      ep.ReplayHeaders,
		Require:            ep.Require,
		FailOn:             ep.FailOn,
		States:             ep.States,
		RetryWindow:        trace.Nanos(ep.RetryWindow),
		DoubleClick:        ep.DoubleClick,
		RefusedWhere:       ep.RefusedWhere,
		Await:              ep.Await,
		SuccessStatuses:    ep.SuccessStatuses,
		InProgressLimit:    trace.Nanos(p.Limits.InProgress),
		Stated:             ep.Stated,
	}
	f.Changed = changed(ep)
	p.Dialect.Document(&f)
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
	place := 1 + p.Before + slices.IndexFunc(p.Endpoints, func(e plan.Endpoint) bool { return e.Name == ep.Name })
	out := trace.Endpoint{Name: ep.Name, Owner: ep.Owner, Request: ep.Request.String(), Kind: ep.Kind, Line: ep.Pos.Line, Place: place, Facts: f}
	out.Named, out.Plan = ep.Named, p.Number
	if ep.Pos.File != p.File || p.Number > 0 {
		out.File, out.InRepository = ep.Pos.File, plan.InRepository(ep.Pos.File)
	}
	return out
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

// dirOf is the folder in which a command of the plan runs: that of the file in which it stands; empty for a plan without a file.
func (r *run) dirOf(file string) string {
	if file = cmp.Or(file, r.Plan.File); file == "" {
		return ""
	}
	return filepath.Dir(file)
}

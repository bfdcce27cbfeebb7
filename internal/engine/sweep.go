package engine

import (
	"context"
	"fmt"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// sweep counts every marker once more, so that an effect that came late is still seen, and then removes what the
// endpoint made where the plan says how.
func (e *endpointRun) sweep(ctx context.Context) {
	for i, rd := range e.controls {
		rd.lookLate(ctx)
		e.t.Control.Rounds[i] = *rd.t
	}
	for _, c := range e.cases {
		for _, rd := range c.rounds {
			rd.lookLate(ctx)
		}
		c.record()
	}
}

// lookLate reads the counters of a finished round again where nobody else can have moved them.
func (rd *round) lookLate(ctx context.Context) {
	if ctx.Err() == nil && rd.t.Void == "" && len(rd.t.Readings) > 1 && len(rd.e.plan.Counters) > 0 && !rd.unmarked() {
		rd.look(ctx, trace.ReadingLate)
	}
}

// CleanUp removes what success answers named, as the plan's `cleanup` says: best effort, after the last
// reading. It gives how many things were removed and what went wrong, at most one error for each endpoint.
func CleanUp(ctx context.Context, cfg Config, endpoints []trace.Endpoint) (removed int, errs []error) {
	r := &run{Config: cfg}
	for i := range cfg.Endpoints {
		ep := &cfg.Endpoints[i]
		if ep.Cleanup == nil {
			continue
		}
		n, err := r.cleanUp(ctx, ep, &endpoints[i])
		removed += n
		if err != nil {
			errs = append(errs, fmt.Errorf("clean-up of %s: %w", ep.Name, err))
		}
	}
	return removed, errs
}

func (r *run) cleanUp(ctx context.Context, ep *plan.Endpoint, t *trace.Endpoint) (removed int, failed error) {
	done := map[string]bool{}
	cred, err := r.credential(ctx, r.callerNamed(""), false)
	if err != nil {
		return 0, err
	}
	for _, x := range answered(t) {
		captured, err := capture(x, ep.Cleanup.Capture)
		if err != nil {
			continue // an answer that names nothing has nothing to remove
		}
		sc := &scope{captures: captured, span: "0000000000000001"}
		shot, err := r.request(ep.Cleanup.Request, ep.Cleanup.Headers, cred, plan.Body{}, trace.KeyPlace{}, values{scope: sc})
		if err != nil {
			return removed, err
		}
		if done[shot.URL] || ctx.Err() != nil {
			continue
		}
		done[shot.URL] = true
		a := r.Client.Send(ctx, shot)
		switch {
		case !a.Complete():
			failed = fmt.Errorf("%s %s: %s", shot.Method, shot.URL, a.Error)
		case a.Response.Status/100 == 2:
			removed++
		case a.Response.Status != 404 && a.Response.Status != 410:
			failed = fmt.Errorf("%s %s: expected a 2xx answer, found %d", shot.Method, shot.URL, a.Response.Status)
		}
	}
	return removed, failed
}

// answered are all exchanges of an endpoint that were answered with 2xx.
func answered(t *trace.Endpoint) []*trace.Exchange {
	var out []*trace.Exchange
	add := func(rounds []trace.Round) {
		for i := range rounds {
			for j := range rounds[i].Exchanges {
				if x := &rounds[i].Exchanges[j]; x.Complete() && !x.OtherEndpoint && x.Response.Status/100 == 2 {
					out = append(out, x)
				}
			}
		}
	}
	if t.Control != nil {
		add(t.Control.Rounds)
		add(t.Control.Variants)
	}
	for i := range t.Cases {
		add(t.Cases[i].Trace)
	}
	return out
}

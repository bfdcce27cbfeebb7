package engine

import (
	"context"
	"fmt"
	"strings"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// end has a last look at the counters when some time has passed since the last request, so that an effect that came late
// is still seen, and then removes what the endpoint made where the plan says how. After ends later than ctx does.
func (e *endpointRun) end(ctx, after context.Context) Ended {
	_, fast := failedFast(ctx)
	up := timeUp(ctx)
	if up || fast {
		ctx = after // a pass that nobody looked at again is none
	}
	if last := e.lastCounted(); last > 0 {
		pause(ctx, e.Effort.Late-(e.Clock()-last).Duration())
	}
	e.sweep(ctx)
	if up && ctx.Err() != nil {
		e.skipAll(e.outOfTime("before the last look at the counters"))
	}
	out := Ended{Endpoint: e.t}
	out.Removed, out.CleanUp = e.cleanUp(after)
	return out
}

// lastCounted is when the last request ended whose effects are worth another look; 0 when there is none. A case that
// showed a violation for certain needs none.
func (e *endpointRun) lastCounted() trace.Nanos {
	var last trace.Nanos
	for _, c := range e.cases {
		if len(e.plan.Counters) == 0 || c.certain {
			continue
		}
		for _, rd := range c.rounds {
			if n := len(rd.t.Exchanges); n > 0 {
				last = max(last, rd.t.Exchanges[n-1].Done)
			}
		}
	}
	return last
}

// sweep counts every marker once more.
func (e *endpointRun) sweep(ctx context.Context) {
	for i, rd := range e.controls {
		e.lookLate(ctx, rd)
		e.t.Control.Rounds[i] = *rd.t
	}
	for _, c := range e.cases {
		for _, rd := range c.rounds {
			e.lookLate(ctx, rd)
		}
		c.record()
	}
}

// lookLate reads the counters of a finished round again where nobody else can have moved them.
func (e *endpointRun) lookLate(ctx context.Context, rd *round) {
	if ctx.Err() == nil && rd.t.Void == "" && len(rd.t.Readings) > 1 && len(e.plan.Counters) > 0 && !rd.unmarked() {
		e.beside(func() { rd.look(ctx, trace.ReadingLate) })
	}
}

// beside does something for an endpoint that has been executed, while others may be under way.
func (e *endpointRun) beside(do func()) {
	e.others.RLock()
	defer e.others.RUnlock()
	e.turn.take()
	defer e.turn.give()
	do()
}

// cleanUp removes what success answers named, as the plan's `cleanup` says: best effort, after the last reading. It gives
// how many things were removed, and the last thing that went wrong.
func (e *endpointRun) cleanUp(ctx context.Context) (removed int, failed error) {
	if e.plan.Cleanup == nil {
		return 0, nil
	}
	done := map[string]bool{}
	for _, x := range answered(e.t) {
		captured, err := e.named(x)
		if err != nil {
			continue // an answer that names nothing has nothing to remove
		}
		shot, err := e.removal(ctx, captured, strings.Contains(x.Scope, "@"+scenarios.CallerOther))
		if err != nil {
			return removed, e.cleanUpFailed(err)
		}
		if done[shot.URL] || ctx.Err() != nil {
			continue
		}
		done[shot.URL] = true
		var a trace.Exchange
		e.beside(func() { a = e.Client.Send(ctx, shot) })
		switch {
		case !a.Complete():
			failed = fmt.Errorf("%s %s: %s", shot.Method, shot.URL, a.Error)
		case a.Response.Status/100 == 2:
			removed++
		case a.Response.Status != 404 && a.Response.Status != 410:
			failed = fmt.Errorf("%s %s: expected a 2xx answer, found %d", shot.Method, shot.URL, a.Response.Status)
		}
	}
	return removed, e.cleanUpFailed(failed)
}

// noteNames keeps what clean-up takes out of an answer, before secrets are replaced in it: an id may look like one.
func (e *endpointRun) noteNames(x *trace.Exchange) {
	if e.plan.Cleanup == nil {
		return
	}
	if captured, err := capture(x, e.plan.Cleanup.Capture); err == nil {
		e.names.Store(x.ID, captured)
	}
}

// named is what clean-up takes out of an answer, of the record where the answer came to an earlier run. An error says what it lacks.
func (e *endpointRun) named(x *trace.Exchange) (map[string]string, error) {
	if captured, ok := e.names.Load(x.ID); ok {
		return captured.(map[string]string), nil
	}
	return capture(x, e.plan.Cleanup.Capture)
}

// removal is the request that removes what an answer named, sent as the caller to whom it was answered: the first one, or the other one.
func (e *endpointRun) removal(ctx context.Context, captured map[string]string, other bool) (fire.Shot, error) {
	who := scenarios.CallerFirst
	if other {
		who = scenarios.CallerOther
	}
	cred, err := e.credential(ctx, e.callerFor(who), false)
	if err != nil {
		return fire.Shot{}, err
	}
	sc := &scope{captures: captured, vars: e.Plan.VarsOf(other), span: "0000000000000001"}
	return e.request(ctx, e.plan.Cleanup.Request, e.plan.Cleanup.Headers, cred, plan.Body{}, trace.KeyPlace{}, values{scope: sc})
}

func (e *endpointRun) cleanUpFailed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("clean-up of %s: %w", e.plan.Name, err)
}

// answered are all exchanges of an endpoint that were answered with success, and what was found where their work is done.
func answered(t *trace.Endpoint) []*trace.Exchange {
	var out []*trace.Exchange
	add := func(rounds []trace.Round) {
		for i := range rounds {
			for j := range rounds[i].Exchanges {
				if x := &rounds[i].Exchanges[j]; x.Complete() && !x.OtherEndpoint && x.Class == trace.ClassSuccess {
					out = append(out, x)
				}
			}
			for j := range rounds[i].Work {
				if asked := rounds[i].Work[j].Asked; len(asked) > 0 && asked[len(asked)-1].Complete() {
					out = append(out, &asked[len(asked)-1])
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

package engine

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"retrysafe/internal/plan"
	"retrysafe/internal/redact"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// endpointRun is one endpoint being tested.
type endpointRun struct {
	*run
	plan *plan.Endpoint
	// other is the plan's other endpoint for this one; nil when it names none.
	other *plan.Endpoint
	t     *trace.Endpoint
	used  atomic.Int64 // requests sent to this endpoint and its set-up
	// cases are the ones being run, in the order of t.Cases.
	cases []*caseRun
	// controls are the control's rounds, in the order of the record.
	controls []*round
	// leftAlone says why nothing more is sent to the endpoint, which asked for it. Set while the turn is held; nil as long as there
	// is no reason.
	leftAlone *trace.Reason
	// hangs is how many cases ended because a request hung; changed while the turn is held.
	hangs int
	// names are what the plan's clean-up takes out of answers, by the ids of their exchanges, as it came over the wire.
	names sync.Map
}

// execute runs the control and then the cases, those that wait for a key to expire first.
func (e *endpointRun) execute(ctx context.Context) {
	if e.unmarked() {
		e.others.Lock() // whoever else has an effect may move its counters
		defer e.others.Unlock()
	}
	e.list()
	e.skipAll(e.ended(ctx, "before the endpoint was tested"))
	if e.runnable() {
		release := e.join(false)
		e.control(ctx)
		release()
	}
	var running sync.WaitGroup
	for _, c := range e.inOrder() {
		if !c.sends() {
			c.end()
			continue
		}
		alone := c.s.Alone() || !e.patient()
		if alone || e.unmarked() {
			running.Wait()
		}
		release := e.join(alone)
		running.Go(func() {
			defer c.end()
			defer release()
			c.run(ctx)
		})
		if alone || e.unmarked() {
			running.Wait()
		}
	}
	running.Wait()
}

// join takes part in the run: beside others, or while nothing else is under way. The turn is held when it returns, and
// given up by release.
func (e *endpointRun) join(alone bool) (release func()) {
	leave := func() {}
	switch {
	case e.unmarked(): // it is alone as a whole
	case alone:
		e.others.Lock()
		leave = e.others.Unlock
	default:
		e.others.RLock()
		leave = e.others.RUnlock
	}
	e.turn.take()
	return func() {
		e.turn.give()
		leave()
	}
}

// inOrder are the cases in the order of their start: what waits for a key to expire goes first, because the others fit
// into its waits, and what must be alone last.
func (e *endpointRun) inOrder() []*caseRun {
	rank := func(c *caseRun) int {
		switch {
		case c.s.Alone():
			return 2
		case c.s.WaitsForExpiry():
			return 0
		}
		return 1
	}
	ordered := slices.Clone(e.cases)
	slices.SortStableFunc(ordered, func(a, b *caseRun) int { return rank(a) - rank(b) })
	return ordered
}

// list makes the record of every case and says which need no requests.
func (e *endpointRun) list() {
	wanted := e.wanted()
	e.t.Cases = make([]trace.Case, len(wanted))
	for i, s := range wanted {
		c := &caseRun{e: e, s: s, t: &e.t.Cases[i]}
		*c.t = trace.Case{Scenario: s.ID, Title: s.Title, OnControl: s.Control || s.OnControl, Stop: cmp.Or(e.unmet(s), e.unplanted(s))}
		e.cases = append(e.cases, c)
	}
}

// wanted are the scenarios that run on the endpoint.
func (e *endpointRun) wanted() []*scenarios.Scenario {
	if e.Wanted == nil {
		return e.Scenarios
	}
	return slices.DeleteFunc(slices.Clone(e.Scenarios), func(s *scenarios.Scenario) bool { return !e.Wanted(e.t.Name, s.ID) })
}

// skipAll stops the cases that would run; nil stops none.
func (e *endpointRun) skipAll(why *trace.Reason) {
	for _, c := range e.cases {
		if c.t.Stop == nil {
			c.t.Stop = why
		}
	}
}

func (e *endpointRun) runnable() bool {
	for _, c := range e.cases {
		if c.t.Stop == nil || c.t.Stop.Code == trace.NotDue { // the control plants a key for the latter
			return true
		}
	}
	return false
}

// unmarked reports whether a counter of the endpoint has no marker: it would see the effects of others.
func (e *endpointRun) unmarked() bool {
	return slices.ContainsFunc(e.t.Facts.Counters, func(c trace.CounterFact) bool { return !c.Marked })
}

// patient reports whether a case may wait for the turn. Where keys live hardly longer than a few requests take, it would
// miss the moment it waited for: another one holds the turn for up to eight requests of a round, and a tenth of the
// lifetime is what the scenarios leave as margin.
func (e *endpointRun) patient() bool {
	if e.t.Control == nil || e.t.Facts.Lifetime == 0 {
		return true
	}
	return 8*e.t.Control.Learned.Handling < e.t.Facts.Lifetime/10
}

// control sends the uncontested first requests and the other bodies that cases rely on.
func (e *endpointRun) control(ctx context.Context) {
	e.start(e.Control.ID)
	c := &trace.Control{}
	e.t.Control = c
	for n := 1; n <= e.Control.Rounds; n++ {
		rd := e.controlRound(ctx, e.Control, n, "")
		rd.settle(ctx)
		c.Rounds = append(c.Rounds, *rd.t)
		e.controls = append(e.controls, rd)
		if e.learn(ctx, rd.stop); !c.Learned.Sound {
			e.locate(ctx)
			return
		}
	}
	e.plant(ctx)
	for _, body := range e.usedBodies() {
		rd := e.controlRound(ctx, controlWith(e.Control, body), 1, body)
		rd.settle(ctx) // else a counter without a marker would show its effect in the first case
		c.Variants = append(c.Variants, *rd.t)
		e.learn(ctx, rd.stop)
	}
}

func (e *endpointRun) controlRound(ctx context.Context, s *scenarios.Scenario, n int, body string) *round {
	rd := e.newRound(n, s, "control", body)
	rd.t.Variant = body
	rd.watch = n == 1 && body == ""
	if rd.stop = e.spend(e.cost(s)); rd.stop == nil {
		rd.run(ctx)
	}
	return rd
}

// cost is how many requests a round of the script sends when nothing has to be repeated.
func (e *endpointRun) cost(s *scenarios.Scenario) int {
	return requests(e.Plan, e.plan, s)
}

// learn has the control judged so far. What kept the tool itself from sending it comes first.
func (e *endpointRun) learn(ctx context.Context, stop *trace.Reason) {
	c := e.t.Control
	c.Learned = e.Deciders.Learn(e.t.Facts, c)
	if why := e.ended(ctx, "while the control was under way"); why != nil {
		stop = why
	}
	if stop != nil {
		c.Learned.Sound, c.Learned.Reason = false, stop
	}
}

// triedBodies are the bodies that the control tries before a case relies on them. What fails once cannot be tried before.
func triedBodies() []string {
	return []string{scenarios.BodyOther, scenarios.BodyReordered, scenarios.BodyInvalid}
}

// usedBodies are the bodies other than the original that must be known to work, or to be refused, before a case
// relies on them.
func (e *endpointRun) usedBodies() []string {
	var out []string
	used := func(body string) bool {
		return slices.ContainsFunc(e.cases, func(c *caseRun) bool { return c.t.Stop == nil && c.s.UsesBody(body) })
	}
	for _, body := range triedBodies() {
		if used(body) {
			out = append(out, body)
		}
	}
	if used(scenarios.BodyNested) {
		out = append(out, scenarios.NestedBodies(len(e.plan.Nested))...)
	}
	return out
}

// controlWith is the control's script with another body.
func controlWith(s *scenarios.Scenario, body string) *scenarios.Scenario {
	v := *s
	v.Steps = nil
	for _, st := range s.Steps {
		if st.Send != nil {
			send := *st.Send
			send.Body = body
			st.Send = &send
		}
		v.Steps = append(v.Steps, st)
	}
	return &v
}

// locate asks for what the first answer's Location names when that answer was a success and no counter
// rose: a resource that is there shows that the counter looks at the wrong thing.
func (e *endpointRun) locate(ctx context.Context) {
	c := e.t.Control
	target := located(&c.Rounds[0])
	hidden := redact.Unnumbered(target) != target // it names a secret, which was replaced
	if target == "" || hidden || ctx.Err() != nil || e.allowed(target) != nil {
		return
	}
	x := e.get(ctx, target, &scope{})
	c.Located = &x
	e.learn(ctx, nil)
}

// located is the absolute URL that the Location of a round's success answer names; empty when there is
// none, or when a counter rose.
func located(t *trace.Round) string {
	if len(t.Exchanges) == 0 || len(t.Readings) < 2 {
		return ""
	}
	x := t.Exchanges[len(t.Exchanges)-1]
	if !x.Complete() || x.Response.Status/100 != 2 {
		return ""
	}
	before, after := t.Readings[0], t.Readings[len(t.Readings)-1]
	for i, v := range after.Values {
		if v.Error != "" || v.N != before.Values[i].N {
			return ""
		}
	}
	for _, h := range x.Response.Headers {
		if strings.EqualFold(h.Name, "Location") {
			return absolute(x.Request.URL, h.Value)
		}
	}
	return ""
}

func absolute(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u, err := b.Parse(ref)
	if err != nil {
		return ""
	}
	return u.String()
}

// start tells who wants to know which scenario begins.
func (r *endpointRun) start(scenario string) {
	if r.OnStart == nil {
		return
	}
	r.events.Lock()
	defer r.events.Unlock()
	r.OnStart(r.t.Name, scenario)
}

// spend takes n requests from the budgets, or says why it cannot.
func (e *endpointRun) spend(n int) *trace.Reason {
	used, all := e.used.Add(int64(n)), e.requests.Add(int64(n))
	switch {
	case e.EndpointBudget > 0 && used > int64(e.EndpointBudget):
		return outOfBudget("this endpoint", e.EndpointBudget, "--endpoint-requests")
	case e.MaxRequests > 0 && all > int64(e.MaxRequests):
		return outOfBudget("the run", e.MaxRequests, "--max-requests")
	}
	return nil
}

func outOfBudget(of string, budget int, flag string) *trace.Reason {
	return &trace.Reason{Code: trace.OutOfBudget,
		Detail: fmt.Sprintf("the budget of %s, %d requests, is used up", of, budget),
		Enable: fmt.Sprintf("%s %d", flag, 2*budget)}
}

package engine

import (
	"context"
	"fmt"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// caseRun is one scenario being run on one endpoint.
type caseRun struct {
	e      *endpointRun
	s      *scenarios.Scenario
	t      *trace.Case
	rounds []*round
	// certain is true once a round showed a violation beyond doubt.
	certain bool
}

// sends reports whether the case has anything to send: it was not skipped, is not judged on the control, and
// the control allows it.
func (c *caseRun) sends() bool {
	ctl := c.e.t.Control
	return c.t.Stop == nil && !c.t.OnControl && ctl != nil && ctl.Learned.Sound
}

// run executes rounds until a violation, the last round, or something that stops the case. The turn is held
// when it is called and when it returns.
func (c *caseRun) run(ctx context.Context) {
	c.e.start(c.s.ID)
	c.t.Started = c.e.Clock()
	c.t.Stop = c.unusable()
	want, confirming := c.e.Effort.rounds(c.s), false
	seen := 0
	// A void round is repeated, but not for ever: an endpoint that turns half the rounds away gives no answer.
	void := trace.Reason{Code: trace.StillBusy}
	for n, counted := 1, 0; c.t.Stop == nil && counted < want && (n == 1 || c.s.Planted() == nil); n++ {
		script := c.e.Effort.script(c.s, counted+1)
		if c.t.Stop = c.stopBefore(ctx, script, n, 4*want+1, void); c.t.Stop != nil {
			break
		}
		rd := c.e.newRound(n, script, c.s.ID, fmt.Sprint(n))
		c.rounds = append(c.rounds, rd)
		rd.run(ctx)
		switch {
		case rd.t.Void != "":
			void = trace.Reason{Code: trace.StillBusy, Detail: rd.t.Void}
		case rd.stop == nil && !rd.stuck:
			if why := c.e.Deciders.Repeat(c.s, c.e.t, rd.t); why != nil {
				rd.t.Void, void = why.Detail, *why
			}
		}
		if rd.unmarked() {
			rd.settle(ctx) // the next round would move the same counters
		}
		c.record()
		c.t.Stop = rd.stop
		if c.t.Stop == nil {
			if c.t.Stop = c.gaveUp(rd); c.t.Stop != nil && c.t.Stop.Code == trace.Timeout {
				c.e.hangs++
			}
		}
		if rd.t.Void == "" {
			counted++
			want = max(want, c.e.Deciders.LeastRounds(c.s, c.e.t, c.t))
			if c.violated(ctx, rd) {
				seen++
				// Once more, with keys of its own. What rests on a counter without a marker must show twice.
				switch {
				case !rd.unmarked() && !confirming:
					want, confirming, c.certain = min(want, counted+1), true, true
				case rd.unmarked() && seen == 1:
					want, confirming = max(want, counted+1), true
				case rd.unmarked():
					want = counted
				}
			}
			if counted == want && !confirming && c.uncovered() {
				want++
			}
		}
		if c.s.Planted() != nil && rd.t.Void != "" && c.t.Stop == nil { // the key can be tried once
			c.t.Stop = &trace.Reason{Code: void.Code, Detail: "the key of the earlier run is used up, and the round proved nothing: " + rd.t.Void}
		}
		if counted < want {
			c.e.sleep(ctx, min(rd.backOff, retryAfterMost))
			c.e.yield()
		}
	}
	if c.s.Adaptive && c.t.Stop == nil {
		c.t.RoundsEnded = c.whyEnded(confirming)
	}
	if len(c.rounds) > 0 && !c.rounds[0].unmarked() {
		c.settle(ctx)
	}
	c.record()
	c.t.Ended = c.e.Clock()
	when := "while the case was under way"
	if len(c.rounds) == 0 {
		when = "before the case began"
	}
	if why := c.e.ended(ctx, when); why != nil {
		c.t.Stop = why
	}
}

// uncovered reports whether the rounds so far do not cover the window that the user asked for.
func (c *caseRun) uncovered() bool {
	return c.s.Adaptive && c.e.DetectWindow > 0 && c.window() > float64(c.e.DetectWindow.Microseconds())
}

// window is the race window that the rounds so far would have shown, in us.
func (c *caseRun) window() float64 {
	var bursts []trace.Burst
	for _, rd := range c.rounds {
		if rd.t.Void == "" {
			bursts = append(bursts, rd.t.Bursts...)
		}
	}
	return c.e.Deciders.Window(bursts)
}

func (c *caseRun) whyEnded(violated bool) string {
	switch {
	case violated:
		return "a violation was seen, and tried once more"
	case c.e.DetectWindow > 0:
		return fmt.Sprintf("the window of %s that was asked for is covered", c.e.DetectWindow)
	}
	return "effort " + c.e.Effort.Name + " was done"
}

// violated reports whether the round shows a broken rule for certain, after which an adaptive case needs no more
// rounds. Where a counter without a marker is among the evidence, it is watched idle once more.
func (c *caseRun) violated(ctx context.Context, rd *round) bool {
	alone := *c.t
	alone.Trace = []trace.Round{*rd.t}
	if !(c.s.Adaptive || rd.unmarked()) || !c.e.Deciders.Violated(c.s, c.e.t, &alone) {
		return false
	}
	if rd.unmarked() {
		var open time.Duration
		for _, r := range c.rounds {
			open += r.open()
		}
		rd.watchAgain(ctx, open)
		c.record()
	}
	return true
}

// unusable says why the script cannot be run on what the control found here; nil when it can.
func (c *caseRun) unusable() *trace.Reason {
	for body, why := range c.e.t.Control.Learned.Bodies {
		if why != nil && c.s.UsesBody(body) {
			return why
		}
	}
	if c.s.UsesBody(scenarios.BodyNested) {
		if why := c.e.noNested(); why != nil {
			return why
		}
	}
	return c.e.Deciders.Unsuited(c.s, c.e.t)
}

// noNested says why none of the bodies with a value changed inside can be used; nil when one can.
func (e *endpointRun) noNested() (why *trace.Reason) {
	for _, body := range scenarios.NestedBodies(len(e.plan.Nested)) {
		if why = e.t.Control.Learned.Bodies[body]; why == nil {
			return nil
		}
	}
	return why
}

// stopBefore says why round n is not to be run; nil when it is. void is why the last void round was void.
func (c *caseRun) stopBefore(ctx context.Context, script *scenarios.Scenario, n, most int, void trace.Reason) *trace.Reason {
	if why := c.e.ended(ctx, "before the case was done"); why != nil {
		return why
	}
	if why := c.e.letAlone(c.s); why != nil {
		return why
	}
	if n > most {
		return &trace.Reason{Code: void.Code, Detail: fmt.Sprintf("too many of %d rounds proved nothing; the last of these: %s", n-1, void.Detail)}
	}
	return c.e.spend(c.e.cost(script))
}

// gaveUp says that the endpoint could not be reached or did not answer in time, after which more rounds
// would only wait again.
func (c *caseRun) gaveUp(rd *round) *trace.Reason {
	for i := range rd.t.Exchanges {
		x := &rd.t.Exchanges[i]
		switch {
		case x.Complete() || x.Cut != nil || lockedOut(x):
		case x.Wire == 0:
			return &trace.Reason{Code: trace.Unreachable, Detail: "no connection could be made: " + x.Error}
		case (x.Done - x.Started).Duration() >= c.e.Plan.Limits.Request:
			return &trace.Reason{Code: trace.Timeout, Detail: "no complete answer within limits.request: " + x.Error}
		}
	}
	return nil
}

// lockedOut reports whether nobody's request was refused as early as that is possible: who presents no certificate gets no
// connection.
func lockedOut(x *trace.Exchange) bool { return x.Caller == "" && x.LockedOut() }

// hangsMost is how many cases of an endpoint may end because it let a request hang, before it is left alone by those that
// cannot say more of it than that: each costs limits.request, and the first has said it.
const hangsMost = 3

// letAlone says why a scenario is not to be run on the endpoint any more; nil when it is. What judges hangs is run whichever
// cases met them first, since that is an accident of timing.
func (e *endpointRun) letAlone(s *scenarios.Scenario) *trace.Reason {
	if e.leftAlone != nil || e.hangs < hangsMost || s.JudgesHangs() {
		return e.leftAlone
	}
	return &trace.Reason{Code: trace.Timeout,
		Detail: fmt.Sprintf("the endpoint let requests hang in %d cases, so those that say nothing more of it were not run", e.hangs),
		Enable: "limits: {request: 60s}, if it is that slow"}
}

// settle reads the counters of all rounds until they are final. Rounds whose counters are marked settle together.
func (c *caseRun) settle(ctx context.Context) {
	var open []*round
	for _, rd := range c.rounds {
		if rd.t.Void == "" {
			open = append(open, rd)
		}
	}
	settleAll(ctx, c.e, open)
}

// record copies the rounds into the trace.
func (c *caseRun) record() {
	c.t.Trace = c.t.Trace[:0]
	for _, rd := range c.rounds {
		c.t.Trace = append(c.t.Trace, *rd.t)
	}
}

// end tells who wants to know that the case has ended.
func (c *caseRun) end() {
	if c.e.OnCase == nil {
		return
	}
	c.e.events.Lock()
	defer c.e.events.Unlock()
	c.e.OnCase(c.e.t, c.t)
}

// yield lets a case that waits for the turn go on.
func (e *endpointRun) yield() {
	e.turn.give()
	e.turn.take()
}

// sleep waits for d. Others send meanwhile.
func (e *endpointRun) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	e.turn.give()
	defer e.turn.takeSoon()
	return pause(ctx, d)
}

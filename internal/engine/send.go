package engine

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/redact"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

const (
	// backOffFirst and backOffMost bound the pauses between attempts when the endpoint names none: short
	// enough not to dominate a run against a handler of 20 ms, doubling so as not to hammer a slow one.
	backOffFirst = 50 * time.Millisecond
	backOffMost  = time.Second
	// busyAttempts is how often a request that was turned away is sent again.
	busyAttempts = 8
)

// send puts one shot on the wire and numbers the exchange. The number and the time are taken under the turn.
func (r *run) send(ctx context.Context, shot fire.Shot) trace.Exchange {
	id := int(r.ids.Add(1))
	x := r.Client.Send(ctx, shot)
	x.ID = id
	return x
}

// nonce tells a rendering from every other one of the run.
func (r *run) nonce() string { return fmt.Sprint(r.Seed, r.rendered.Add(1)) }

// identity is who sends: the scope of the step's key and the value of the key.
func (rd *round) identity(s *scenarios.Send, sent int) *scope {
	if s.Key != scenarios.KeyFresh {
		return rd.scope(s.ScopeName())
	}
	return rd.fresh[sent%len(rd.fresh)]
}

// freshSent is how many of the round's fresh keys have been used.
func (rd *round) freshSent() int {
	used := map[string]bool{}
	for i := range rd.t.Exchanges {
		if strings.HasPrefix(rd.t.Exchanges[i].Scope, "fresh-") {
			used[rd.t.Exchanges[i].Scope] = true
		}
	}
	return len(used)
}

// sendFinal sends one request, and again while it is turned away, or in progress where the script says so.
func (rd *round) sendFinal(ctx context.Context, step, copy int, s *scenarios.Send) {
	sc := rd.identity(s, rd.freshSent())
	caller, renewed := rd.e.callerFor(s.Caller), false
	var started trace.Nanos
	for repeat, busy := 0, 0; rd.stop == nil; repeat++ {
		if repeat > 0 {
			if rd.stop = rd.e.spend(1); rd.stop != nil {
				return
			}
		}
		x := rd.sendOne(ctx, step, s, sc)
		if rd.stop != nil {
			return
		}
		if repeat == 0 {
			started = x.Started
		}
		x.Copy, x.Repeat = copy, repeat
		if !renewed && ranOut(&x, caller) {
			renewed = true
			rd.renew(ctx, &x, caller)
			continue
		}
		class := rd.add(x)
		var wait time.Duration
		switch {
		case class == trace.ClassBusy || class == trace.ClassIntermediary:
			if busy++; busy > busyAttempts {
				return
			}
			again := false
			if wait, again = busyFor(&x, busy-1); !again {
				return // a page of something in front of the endpoint: asking again would only repeat it
			}
			if wait > retryAfterMost {
				rd.leaveAlone(wait)
				return
			}
		case class == trace.ClassInProgress && s.UntilFinal:
			limit := rd.e.Plan.Limits.InProgress - (rd.e.Clock() - started).Duration()
			if limit <= 0 {
				rd.stuck = true
				return
			}
			rd.seeEffect(ctx, sc.Name)
			rd.seeWork(ctx, sc.Name)
			wait = min(retryAfter(&x, backOff(repeat)), limit)
		case class == trace.ClassSuccess && s.UntilFinal:
			rd.awaitWork(ctx, func(o *trace.Exchange) bool { return o.ID == x.ID })
			return
		default:
			return
		}
		if !rd.e.sleep(ctx, wait) {
			return
		}
	}
}

// sendNested sends one request with each of the bodies that have a value changed inside, as far as the control accepted them.
func (rd *round) sendNested(ctx context.Context, step int, s *scenarios.Send) {
	for i, body := range scenarios.NestedBodies(len(rd.e.plan.Nested)) {
		if rd.learned().Bodies[body] != nil {
			continue
		}
		one := *s
		one.Body = body
		rd.sendFinal(ctx, step, i, &one)
	}
}

func (rd *round) sendOne(ctx context.Context, step int, s *scenarios.Send, sc *scope) trace.Exchange {
	shot, err := rd.sendShot(ctx, s, sc)
	if err != nil {
		rd.unmade(err)
		return trace.Exchange{}
	}
	shot.Paced = rd.takePaid()
	defer rd.failing(s, sc)()
	x := rd.e.send(ctx, shot)
	rd.label(&x, step, s, sc)
	return x
}

// unmade stops the case because a request of it cannot be made.
func (rd *round) unmade(err error) {
	rd.stop = whyNot(err, trace.SetupFailed, "the request could not be made: "+rd.e.Redactor.Message(err.Error()))
}

// renew keeps an answer that says that credentials ran out as none of the script's, and obtains new ones.
func (rd *round) renew(ctx context.Context, x *trace.Exchange, caller *plan.Caller) {
	x.Step, x.Label = -1, ""
	rd.add(*x)
	if _, err := rd.e.credential(ctx, caller, true); err != nil {
		rd.unmade(err)
	}
}

func (rd *round) label(x *trace.Exchange, step int, s *scenarios.Send, sc *scope) {
	x.Step, x.Label, x.Scope, x.Key, x.Body = step, s.Label, sc.Name, sc.Key, s.Body
	x.Caller, x.OtherEndpoint, x.Replica = nameOf(rd.e.callerFor(s.Caller)), s.Other, s.Replica
}

func nameOf(c *plan.Caller) string {
	if c == nil {
		return ""
	}
	return c.Name
}

// add records an exchange and says how its answer reads.
func (rd *round) add(x trace.Exchange) trace.Class {
	rd.promised(&x)
	rd.e.noteNames(&x)
	rd.e.Redactor.Exchange(&x)
	if rd.planted != nil && x.Response != nil {
		redact.UnnumberedResponse(x.Response)
	}
	rd.t.Exchanges = append(rd.t.Exchanges, x)
	last := len(rd.t.Exchanges) - 1
	class := rd.e.Deciders.Classify(rd.e.t.Facts, rd.learned(), rd.t, last)
	rd.t.Exchanges[last].Class = class
	return class
}

func (rd *round) learned() trace.Learned {
	if rd.e.t.Control == nil {
		return trace.Learned{}
	}
	return rd.e.t.Control.Learned
}

// volley releases several requests together. Copies that are turned away are no copies: with fewer than
// two others the round is void.
func (rd *round) volley(ctx context.Context, step int, sends []scenarios.Send) {
	unsigned := make([]unsignedShot, len(sends))
	scopes := make([]*scope, len(sends))
	fresh := rd.freshSent()
	for i := range sends {
		scopes[i] = rd.identity(&sends[i], fresh)
		if sends[i].Key == scenarios.KeyFresh {
			fresh++
		}
		var err error
		if unsigned[i], err = rd.unsigned(ctx, &sends[i], scopes[i]); err != nil {
			rd.unmade(err)
			return
		}
		unsigned[i].shot.Lane, unsigned[i].shot.Paced = i%lanes(rd.t.N), rd.takePaid()
	}
	shots, err := signAll(ctx, unsigned)
	if err != nil {
		rd.unmade(err)
		return
	}
	first := int(rd.e.ids.Add(int64(len(shots)))) - len(shots) + 1
	exchanges, burst := rd.e.Client.Volley(ctx, shots)
	burst.Step, burst.AnswerDeviation = step, trace.AnswerDeviation(exchanges)
	rd.t.Bursts = append(rd.t.Bursts, burst)
	copies, expired := 0, (*plan.Caller)(nil)
	for i, x := range exchanges {
		rd.label(&x, step, &sends[i], scopes[i])
		x.ID, x.Copy = first+i, i
		if caller := rd.e.callerFor(sends[i].Caller); ranOut(&x, caller) {
			expired = caller
		}
		if class := rd.add(x); class == trace.ClassBusy || class == trace.ClassIntermediary && x.Response.Status == http.StatusServiceUnavailable {
			wait, _ := busyFor(&x, 0)
			rd.backOff = max(rd.backOff, wait)
			continue
		}
		copies++
	}
	if copies < 2 && rd.backOff > retryAfterMost {
		rd.leaveAlone(rd.backOff)
	}
	if expired != nil {
		rd.t.Void = "the credentials ran out"
		if _, err := rd.e.credential(ctx, expired, true); err != nil {
			rd.unmade(err)
		}
	}
	if copies < 2 {
		rd.t.Void = "fewer than two copies were not turned away"
	}
}

// lanes is over how many connections at least the copies of round n are released where they could share one. One is the
// tightest, and every second round takes two, because a balancer may send all that comes on one connection to one instance.
func lanes(n int) int { return 2 - n%2 }

// launch is a background send on its way.
type launch struct {
	// sent is closed when the last byte is written, done gets the exchange.
	sent chan struct{}
	done chan trace.Exchange
}

// await returns when the last byte is written, or nothing more will be.
func (l *launch) await() {
	select {
	case <-l.sent:
	case x := <-l.done:
		l.done <- x
	}
}

// sendBackground returns when the last byte is written; the answer is collected by join.
func (rd *round) sendBackground(ctx context.Context, step int) {
	if l := rd.launched[step]; l != nil {
		l.await()
		return
	}
	from := rd.e.Clock()
	l, err := rd.launch(ctx, step, 0)
	if err != nil {
		rd.unmade(err)
		return
	}
	l.await()
	if err := rd.launchSoon(ctx, step, rd.e.Clock()-from); err != nil {
		rd.unmade(err)
	}
}

// launch sends what a step says in the background, when the delay is over.
func (rd *round) launch(ctx context.Context, step int, delay time.Duration) (*launch, error) {
	s := rd.s.Steps[step].Send
	sc := rd.identity(s, rd.freshSent())
	shot, err := rd.sendShot(ctx, s, sc)
	if err != nil {
		return nil, err
	}
	if err := rd.signBeforeJoin(ctx, step, s.Label); err != nil {
		return nil, err
	}
	rd.pay(ctx, shot.URL, 1+rd.beforeJoin(step, s.Label))
	shot.Paced = rd.takePaid()
	l := &launch{make(chan struct{}), make(chan trace.Exchange, 1)}
	shot.OnSent = func() { close(l.sent) }
	rd.background[s.Label] = l.done
	id := int(rd.e.ids.Add(1))
	go func() {
		pause(ctx, delay)
		x := rd.e.Client.Send(ctx, shot)
		x.ID = id
		rd.label(&x, step, s, sc)
		l.done <- x
	}()
	return l, nil
}

// launchSoon sees to the background sends that follow one, which was sent just now, with nothing but shares of the handling time in
// between. A copy sets out earlier than it is due by what the way took the one before, a connection and its handshake: through a network
// that is as long as some handlers work. None sets out before the first one was sent, because a server may serve one connection at a time,
// and end those that wait.
func (rd *round) launchSoon(ctx context.Context, step int, way trace.Nanos) error {
	sent, due := rd.e.Clock(), time.Duration(0)
	for i := step + 1; i < len(rd.s.Steps); i++ {
		switch st := &rd.s.Steps[i]; {
		case st.Wait != nil && st.Wait.Handling > 0 && st.Wait.Handling < 1:
			due += rd.e.share(st.Wait.Handling)
			rd.dues[i] = sent + trace.Nanos(due)
		case st.Send != nil && st.Send.Background && st.Send.Key != scenarios.KeyFresh:
			l, err := rd.launch(ctx, i, due-way.Duration())
			if err != nil {
				return err
			}
			rd.launched[i] = l
		default:
			return nil
		}
	}
	return nil
}

func (rd *round) join(ctx context.Context, label string) {
	done, open := rd.background[label]
	if !open {
		return
	}
	delete(rd.background, label)
	rd.paid = 0
	x := <-done
	rd.add(x)
	for i := range rd.e.Plan.Callers {
		if c := &rd.e.Plan.Callers[i]; c.Name == x.Caller && ranOut(&x, c) {
			rd.t.Void = "the credentials ran out"
			if _, err := rd.e.credential(ctx, c, true); err != nil {
				rd.unmade(err)
			}
		}
	}
}

// leaveAlone stops the case, and with it the endpoint, because it asked for more silence than a run can give.
func (rd *round) leaveAlone(wait time.Duration) {
	rd.stop = &trace.Reason{Code: trace.StillBusy,
		Detail: fmt.Sprintf("the endpoint turned a request away and asked to be left alone for %s, more than the %s that are waited", wait, retryAfterMost)}
	rd.e.leftAlone = rd.stop
}

// busyFor reports whether an answer turned the request away, and how long to wait before sending again.
func busyFor(x *trace.Exchange, attempt int) (time.Duration, bool) {
	if !x.Complete() {
		return 0, false
	}
	busy := x.Response.Status == http.StatusTooManyRequests || x.Response.Status == http.StatusServiceUnavailable
	return retryAfter(x, backOff(attempt)), busy
}

func backOff(attempt int) time.Duration {
	return min(backOffFirst<<min(attempt, 10), backOffMost)
}

// retryAfterMost is the longest Retry-After that is waited out. An endpoint that wants to be left alone for longer is
// left alone: its cases are inconclusive.
const retryAfterMost = 15 * time.Second

// retryAfter is what the answer's Retry-After says (RFC 9110 section 10.2.3), or otherwise.
func retryAfter(x *trace.Exchange, otherwise time.Duration) time.Duration {
	if !x.Complete() {
		return otherwise
	}
	for _, h := range x.Response.Headers {
		if !strings.EqualFold(h.Name, "Retry-After") {
			continue
		}
		if s, err := strconv.Atoi(strings.TrimSpace(h.Value)); err == nil && s >= 0 {
			return time.Duration(min(s, 1<<20)) * time.Second
		}
		if at, err := http.ParseTime(h.Value); err == nil {
			return max(0, time.Until(at))
		}
	}
	return otherwise
}

package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// lifetimeKept is the share of a key's lifetime, since its first send, in which copies are still sent again: later ones could
// meet a key that has expired.
const lifetimeKept = 0.8

// series is copies that start on schedule, whether those before were answered or not.
type series struct {
	rd     *round
	step   int
	send   *scenarios.Send
	caller *plan.Caller
	// until is when nothing is sent again any more.
	until trace.Nanos

	mu sync.Mutex
	// seen are the exchanges so far; one that is under way has no response yet.
	seen []trace.Exchange
	// stop says why nothing more is to be sent.
	stop *trace.Reason
}

// series sends the copies of a step, and waits for all of them.
func (rd *round) series(ctx context.Context, step int, s *scenarios.Send) {
	used := rd.freshSent()
	run := &series{rd: rd, step: step, send: s, caller: rd.e.callerFor(s.Caller)}
	first := int(rd.e.ids.Add(int64(s.Times))) - s.Times + 1
	made := rd.ahead(ctx, s, used, run.caller)
	var flying sync.WaitGroup
	for i, gap := range rd.gaps(step, s) {
		sc := rd.identity(s, used+i)
		unsigned, shot, err := made(i, sc)
		if err != nil {
			rd.unmade(err)
			break
		}
		if i == 0 {
			rd.pay(ctx, shot.URL, s.Times) // else it would not keep to its schedule
			run.until = rd.patience(s)
		}
		shot.Paced = rd.takePaid()
		flying.Go(func() { run.copy(ctx, i, first+i, sc, unsigned, shot) })
		if !pause(ctx, gap) {
			break
		}
	}
	flying.Wait()
	rd.paid = 0
	if rd.stop == nil {
		rd.stop = run.stop
	}
	for _, x := range run.seen {
		rd.add(x)
	}
}

// ahead gives the requests of a series by their numbers, before and after they were signed: made when they are asked for, or all of
// them now where a command signs each, which would not keep to the schedule.
func (rd *round) ahead(ctx context.Context, s *scenarios.Send, used int, caller *plan.Caller) func(int, *scope) (unsignedShot, fire.Shot, error) {
	if caller == nil || len(caller.Sign) == 0 {
		return func(_ int, sc *scope) (unsignedShot, fire.Shot, error) {
			u, err := rd.unsigned(ctx, s, sc)
			return u, u.shot, err
		}
	}
	all := make([]unsignedShot, s.Times)
	var err error
	for i := 0; i < s.Times && err == nil; i++ {
		all[i], err = rd.unsigned(ctx, s, rd.identity(s, used+i))
	}
	var signed []fire.Shot
	if err == nil {
		signed, err = signAll(ctx, all)
	}
	return func(i int, _ *scope) (unsignedShot, fire.Shot, error) {
		if err != nil {
			return unsignedShot{}, fire.Shot{}, err // nothing of the series is sent
		}
		return all[i], signed[i], nil
	}
}

// gaps are the times from one copy to the next: `every`, and up to the share `jitter` of it more or less, as the run's seed
// draws it.
func (rd *round) gaps(step int, s *scenarios.Send) []time.Duration {
	out := make([]time.Duration, s.Times)
	for i := range out {
		b := draw(rd.e.Seed, rd.e.t.Name, rd.s.ID, fmt.Sprint(rd.t.N), "gap", fmt.Sprint(step), fmt.Sprint(i))
		share := float64(binary.BigEndian.Uint32(b)) / (1 << 32) // from 0 to 1
		out[i] = time.Duration(float64(s.Every) * (1 + s.Jitter*(2*share-1)))
	}
	return out
}

// patience is until when copies are sent again.
func (rd *round) patience(s *scenarios.Send) trace.Nanos {
	until := rd.e.Clock() + trace.Nanos(rd.e.Plan.Limits.InProgress)
	if life := rd.e.plan.KeyLifetime; life > 0 {
		until = min(until, rd.since(&scenarios.Wait{Of: s.ScopeName()})+trace.Nanos(lifetimeKept*float64(life)))
	}
	return until
}

// copy sends one copy, and again as it is told.
func (r *series) copy(ctx context.Context, copy, id int, sc *scope, unsigned unsignedShot, shot fire.Shot) {
	for repeat := 0; ; repeat++ {
		note := trace.Exchange{ID: id, Copy: copy, Repeat: repeat, Started: r.rd.e.Clock()}
		r.rd.label(&note, r.step, r.send, sc)
		at := r.begin(note)
		sentWith, _ := r.rd.e.credential(ctx, r.caller, false) // the shot has it already, so it can be had
		x := r.rd.e.Client.Send(ctx, shot)
		x.ID, x.Copy, x.Repeat = id, copy, repeat
		r.rd.label(&x, r.step, r.send, sc)
		if ranOut(&x, r.caller) {
			x.Step, x.Label = -1, ""                      // turned away, and so no copy
			_ = r.rd.e.renewFrom(ctx, r.caller, sentWith) // the next one finds out
			r.end(at, x)
			return
		}
		if !r.again(ctx, &x, r.end(at, x)) {
			return
		}
		var err error
		if shot, err = unsigned.sign(ctx); err != nil {
			r.unmade(err)
			return
		}
		id = int(r.rd.e.ids.Add(1))
	}
}

// unmade stops the series because a repeat of it cannot be made.
func (r *series) unmade(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop == nil {
		r.stop = whyNot(err, trace.SetupFailed, "the request could not be made: "+r.rd.e.Redactor.Message(err.Error()))
	}
}

// begin notes a copy that is about to be sent: how the answers of the others read depends on it.
func (r *series) begin(x trace.Exchange) (at int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, x)
	return len(r.seen) - 1
}

// end puts what came of a copy in its place, and says how its answer reads.
func (r *series) end(at int, x trace.Exchange) trace.Class {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[at] = x
	so := trace.Round{Scopes: r.rd.t.Scopes, Pauses: r.rd.t.Pauses, Exchanges: slices.Concat(r.rd.t.Exchanges, r.seen)}
	return r.rd.e.Deciders.Classify(r.rd.e.t.Facts, r.rd.learned(), &so, len(r.rd.t.Exchanges)+at)
}

// again waits as the answer says, and reports whether the copy is to be sent once more: where the script says so, it was turned
// away, or told to come back for an answer in progress.
func (r *series) again(ctx context.Context, x *trace.Exchange, class trace.Class) bool {
	const untold = -1
	wait := retryAfter(x, untold)
	switch {
	case !r.send.RetryAfter || x.Repeat >= busyAttempts:
		return false
	case class == trace.ClassBusy && wait == untold:
		wait = backOff(x.Repeat)
	case class != trace.ClassBusy && class != trace.ClassInProgress, wait == untold:
		return false
	}
	return wait <= retryAfterMost && r.rd.e.Clock()+trace.Nanos(wait) <= r.until && pause(ctx, wait) && r.spend()
}

// spend takes one request from the budget, and reports whether it had one left.
func (r *series) spend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop == nil {
		r.stop = r.rd.e.spend(1)
	}
	return r.stop == nil
}

// Package engine executes scripts against endpoints and writes down what happened. It gives no verdicts
// and prints nothing: where it must react (repeat until final, stop after an unsound control, stop rounds
// after a violation) it asks the pure functions it was handed.
//
// The flow: for each endpoint the control, then the cases. One case sends at a time (it has the turn), so
// that no case disturbs another's timing; while a case only waits (a lifetime, a back-off, counters
// settling) another one goes on, also one of the next endpoints. What changes the system under test for all (a restart, a
// dependency that fails) and what counts by a counter without a marker runs while nothing else does. Some time after the
// last request of an endpoint every marked counter of it is read once more, what the plan says is removed, and the record
// of the endpoint is handed over: the engine keeps those under way only.
package engine

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retrysafe/internal/count"
	"retrysafe/internal/database"
	"retrysafe/internal/fire"
	"retrysafe/internal/ledger"
	"retrysafe/internal/plan"
	"retrysafe/internal/redact"
	"retrysafe/internal/sink"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Deciders are the pure functions that the engine asks when it must react. All must be set.
type Deciders struct {
	// Classify reads the answer of round.Exchanges[i] in the light of the others.
	Classify func(f trace.Facts, l trace.Learned, round *trace.Round, i int) trace.Class
	// ReadWork reads what was answered to a question for work.
	ReadWork func(a *trace.Await, x *trace.Exchange) trace.WorkState
	// Learn concludes from the control, also from its first round alone.
	Learn func(f trace.Facts, c *trace.Control) trace.Learned
	// Unsuited says why, by what the control showed, the script can prove nothing here; nil when it can.
	Unsuited func(s *scenarios.Scenario, ep *trace.Endpoint) *trace.Reason
	// Repeat says why a round that took its course proves nothing and is better repeated, such as one so long that its keys
	// may have expired in it; nil for a round that counts.
	Repeat func(s *scenarios.Scenario, ep *trace.Endpoint, r *trace.Round) *trace.Reason
	// LeastRounds is how many rounds the record of a case asks for, whatever its scenario says.
	LeastRounds func(s *scenarios.Scenario, ep *trace.Endpoint, c *trace.Case) int
	// Window is the race window that bursts together would have shown, in microseconds; 0 when there is none to speak of.
	Window func(bursts []trace.Burst) float64
	// Violated reports whether the rounds so far show a broken rule for certain.
	Violated func(s *scenarios.Scenario, ep *trace.Endpoint, c *trace.Case) bool
}

// Config is what a run needs. Plan, Control, Client, Clock, Redactor, Deciders, Seed and RunID must be set.
type Config struct {
	Plan *plan.Plan
	// Endpoints are the ones to test, from the plan.
	Endpoints []plan.Endpoint
	// Control is the scenario whose rounds are the control; Scenarios are the ones to run, which may hold it.
	Control   *scenarios.Scenario
	Scenarios []*scenarios.Scenario
	// Wanted says which of the scenarios run on which endpoint; nil for all on all.
	Wanted func(endpoint, scenario string) bool
	Client *fire.Client
	// Sinks are the plan's, listening; nil when it has none.
	Sinks    *sink.Set
	Clock    fire.Clock
	Redactor *redact.Redactor
	Deciders Deciders
	// Effort is how hard to look.
	Effort Effort
	// DetectWindow is the race window that adaptive scenarios go on to cover when the rounds of the effort did
	// not; 0 for none.
	DetectWindow time.Duration
	// Seed is what keys and markers are drawn from.
	Seed string
	// RunID is 32 hexadecimal digits; it is sent as trace id.
	RunID string
	// UserAgent is sent with every request.
	UserAgent string
	// EndpointBudget is the most requests that may be sent to one endpoint and its set-up, and MaxRequests
	// to all together; 0 means no bound.
	EndpointBudget, MaxRequests int
	// Planted are the keys of earlier runs, by case; nil without a ledger. Plant is given the keys that this run leaves
	// for later ones, one call at a time; nil for none.
	Planted map[PlantedCase]Planted
	Plant   func(ledger.Entry)
	// Parallel is how many endpoints are under way at the same time. One sends at a time all the same: it is their waits
	// that overlap. 0 means DefaultParallel.
	Parallel int
	// AllowDisruptive lets scenarios run that disturb others.
	AllowDisruptive bool
	// Timeout is how long the run may take; 0 means no bound. What has not run by then has a Stop of code OutOfBudget. The
	// last look at the counters and the clean-up are still made.
	Timeout time.Duration
	// Before is what other parts of the run have used up of MaxRequests and Timeout.
	Before Used
	// OnCase is told of each case when it has ended, one call at a time; nil for none. The late sweep may still add readings
	// to the case.
	OnCase func(ep *trace.Endpoint, c *trace.Case)
	// OnEndpoint is handed each endpoint, by its index in Endpoints, when nothing will be added to its record, one call at a
	// time and in no certain order. Must not be nil.
	OnEndpoint func(i int, ended Ended)
	// OnStart is told which scenario begins on which endpoint, one call at a time; nil for none.
	OnStart func(endpoint, scenario string)
}

// Used is what was used up of the bounds of a run.
type Used struct {
	Requests int
	Time     time.Duration
}

// Ended is an endpoint that has been tested.
type Ended struct {
	// Endpoint is the record, without verdicts.
	Endpoint *trace.Endpoint
	// Removed is how many things the clean-up removed.
	Removed int
	// CleanUp is what went wrong while it did; nil when nothing did.
	CleanUp error
}

// Run executes the scenarios on the endpoints and hands over the record of each as it ends. When ctx ends, so does
// the run: cases that were under way have a Stop of code Interrupted.
func Run(ctx context.Context, cfg Config) {
	r := &run{Config: cfg}
	r.requests.Store(int64(cfg.Before.Requests))
	r.counts = count.Reader{Get: r.getCounter, Dir: r.dirOf(""), Databases: &r.databases, Timeout: cfg.Plan.Limits.Count}
	defer r.databases.Close()
	ctx, stop := r.within(ctx)
	defer stop()
	after, stopAfter := lingering(ctx, cfg.Plan.Limits.Request)
	defer stopAfter()
	parallel := cmp.Or(cfg.Parallel, DefaultParallel)
	var executing errgroup.Group
	executing.SetLimit(parallel)
	var ending sync.WaitGroup
	open := make(chan struct{}, parallel+endingMost)
	for i := range cfg.Endpoints {
		open <- struct{}{}
		executing.Go(func() error {
			t := Describe(cfg.Plan, &cfg.Endpoints[i])
			e := &endpointRun{run: r, plan: &cfg.Endpoints[i], other: r.otherOf(&cfg.Endpoints[i]), t: &t}
			e.execute(ctx)
			ending.Go(func() {
				defer func() { <-open }()
				r.over(i, e.end(ctx, after))
			})
			return nil
		})
	}
	_ = executing.Wait()
	ending.Wait()
}

// DefaultParallel is how many endpoints are under way where nobody says: four endpoints fill most of what a lifetime of a few seconds leaves idle.
const DefaultParallel = 4

// endingMost is how many more endpoints wait for the last look at their counters. Each is a record in memory.
const endingMost = 4

// over hands an endpoint over.
func (r *run) over(i int, ended Ended) {
	r.events.Lock()
	defer r.events.Unlock()
	r.OnEndpoint(i, ended)
}

// otherOf is the endpoint that ep names as its other one; nil when it names none.
func (r *run) otherOf(ep *plan.Endpoint) *plan.Endpoint {
	for i := range r.Plan.Endpoints {
		if other := &r.Plan.Endpoints[i]; ep.OtherEndpoint != "" && other.Name == ep.OtherEndpoint {
			return other
		}
	}
	return nil
}

// run is the state that all endpoints share.
type run struct {
	Config
	turn turn
	// others is held for reading by every case that goes well with others, and for writing by one that does not.
	others    sync.RWMutex
	counts    count.Reader
	databases database.Pool
	creds     credentials
	ids       atomic.Int64
	rendered  atomic.Int64
	requests  atomic.Int64
	events    sync.Mutex
}

// Requests is how many requests were sent to an endpoint and its set-up, by its record.
func Requests(ep *trace.Endpoint) int {
	n := 0
	add := func(rounds []trace.Round) {
		for i := range rounds {
			n += len(rounds[i].Setup)
			for k := range rounds[i].Exchanges {
				if rounds[i].Exchanges[k].Planted.IsZero() {
					n++
				}
			}
		}
	}
	if c := ep.Control; c != nil {
		add(c.Rounds)
		add(c.Variants)
	}
	for i := range ep.Cases {
		add(ep.Cases[i].Trace)
	}
	return n
}

// pause waits for d or until ctx ends, and reports whether it waited the whole time.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

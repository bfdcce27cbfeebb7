package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

const (
	// pollFirst and pollMost bound the time between two looks at a counter, growing by half each time: the lag
	// of an immediate counter is measured to 10 ms, and one of seconds costs few requests.
	pollFirst = 10 * time.Millisecond
	pollMost  = 250 * time.Millisecond
	// pollParallel is how many counters are asked at the same time.
	pollParallel = 8
	// idleWatch is how long a counter without a marker must not move by itself before it is trusted.
	idleWatch = 500 * time.Millisecond
	// longestWatch bounds for how long that is looked at behind a violation, where no single round took longer.
	longestWatch = 5 * time.Second
)

// ask is one question to one counter, on behalf of the scopes that it cannot tell apart.
type ask struct {
	counter plan.Counter
	scopes  []string
	values  values
}

// asks lists the questions of a round: scopes for which a counter's request is the same are counted together. Nothing is
// asked for the other endpoint alone, but a count that cannot tell its requests apart names their scopes too.
func (rd *round) asks() []ask {
	var out []ask
	for _, cr := range rd.e.plan.Counters {
		c := rd.e.Plan.Counters[cr.Name]
		var asked []ask
		for _, other := range []bool{false, true} {
			for _, sc := range rd.all() {
				if sc.other == other {
					asked = askedFor(asked, c, sc)
				}
			}
		}
		out = append(out, asked...)
	}
	return out
}

// askedFor adds a scope to the question that is the same for it, or a new question for a scope of the endpoint itself.
func askedFor(asked []ask, c plan.Counter, sc *scope) []ask {
	v := values{scope: sc, key: sc.Key}
	text := source(c, v)
	for i := range asked {
		if source(c, asked[i].values) == text {
			asked[i].scopes = append(asked[i].scopes, sc.Name)
			return asked
		}
	}
	if sc.other {
		return asked
	}
	return append(asked, ask{c, []string{sc.Name}, v})
}

// source is what a counter would be asked, as text.
func source(c plan.Counter, v values) string {
	if c.Sink != nil {
		return c.Sink.Match.Render(v)
	}
	if c.SQL != nil {
		return c.SQL.Show(v)
	}
	if c.HTTP == nil {
		var parts []string
		for _, a := range c.Exec {
			parts = append(parts, a.Render(v))
		}
		return strings.Join(parts, "\x00")
	}
	parts := []string{c.HTTP.Request.URL("", v)}
	for _, h := range c.HTTP.Headers {
		parts = append(parts, h.Value.Render(v))
	}
	return strings.Join(parts, "\x00")
}

// look asks every counter once and records it as the reading of that name, in place of an earlier one.
func (rd *round) look(ctx context.Context, name string) {
	asks := rd.asks()
	found := make([]trace.Value, len(asks))
	arrived := make([][]trace.Arrival, len(asks))
	var g errgroup.Group
	g.SetLimit(pollParallel)
	for i, a := range asks {
		g.Go(func() error {
			var v trace.Value
			if a.counter.Sink != nil {
				v, arrived[i] = rd.e.received(a)
			} else {
				v = rd.e.counts.Read(ctx, a.counter, a.values)
			}
			v.Scopes = a.scopes
			v.Source, v.Raw, v.Error = rd.e.Redactor.Link(v.Source), rd.e.Redactor.Message(v.Raw), rd.e.Redactor.Message(v.Error)
			found[i] = v
			return nil
		})
	}
	_ = g.Wait() // what went wrong is in the values
	rd.arrivals(arrived)
	states := rd.states(ctx)
	now := rd.e.Clock()
	r := rd.reading(name)
	if r == nil {
		rd.t.Readings = append(rd.t.Readings, trace.Reading{Name: name, At: now, Polls: 1, Values: found, States: states})
		return
	}
	r.Polls++
	if same(r.Values, found) && slices.EqualFunc(r.States, states, sameState) {
		r.Still += now - r.At
	} else {
		r.Still = 0
	}
	r.At, r.Values, r.States = now, found, states
}

// states reads the endpoint's states for every scope.
func (rd *round) states(ctx context.Context) []trace.StateValue {
	var out []trace.StateValue
	for _, name := range rd.e.plan.States {
		for _, sc := range rd.scopes {
			if sc.other {
				continue
			}
			v := rd.e.counts.ReadState(ctx, rd.e.Plan.States[name], values{scope: sc, key: sc.Key})
			v.Scope = sc.Name
			v.Source, v.Value, v.Error = rd.e.Redactor.Link(v.Source), rd.e.Redactor.Message(v.Value), rd.e.Redactor.Message(v.Error)
			out = append(out, v)
		}
	}
	return out
}

func (rd *round) reading(name string) *trace.Reading {
	for i := range rd.t.Readings {
		if rd.t.Readings[i].Name == name {
			return &rd.t.Readings[i]
		}
	}
	return nil
}

func same(a, b []trace.Value) bool {
	for i := range a {
		if a[i].N != b[i].N || a[i].Error != b[i].Error {
			return false
		}
	}
	return true
}

// sameState compares two readings of a state. An answer that says when it was made is as still as one that does not: many that say "not
// found" do.
func sameState(a, b trace.StateValue) bool {
	a.Value, b.Value = trace.WithoutMoments(a.Value), trace.WithoutMoments(b.Value)
	return a == b
}

// reached reports whether every counter has risen by as many effects as the script expects until the
// latest reading. Without such an expectation, or without a success answer that promises an effect, it is true. A counter
// that gave no number before is not waited for: no rise can be told from it.
func (rd *round) reached(r *trace.Reading) bool {
	want, known := rd.s.Creations(r.Name, trace.ReadingAfter, rd.succeededKeys())
	before := rd.reading(trace.ReadingBefore)
	if !known || before == nil || !rd.succeeded() {
		return true
	}
	return rd.risen(before, r, want, unread(before))
}

// unread are the names of counters that gave no number.
func unread(r *trace.Reading) []string {
	var names []string
	for _, v := range r.Values {
		if v.Error != "" {
			names = append(names, v.Counter)
		}
	}
	return names
}

// risen reports whether every counter but those left out rose by at least as much as so many effects.
func (rd *round) risen(before, r *trace.Reading, effects int64, leftOut []string) bool {
	for _, c := range rd.e.plan.Counters {
		if slices.Contains(leftOut, c.Name) {
			continue
		}
		var rise int64
		for i, v := range r.Values {
			if v.Counter != c.Name {
				continue
			}
			if v.Error != "" || before.Values[i].Error != "" {
				return false
			}
			rise += v.N - before.Values[i].N
		}
		if rise < effects*c.Rise {
			return false
		}
	}
	return true
}

func (rd *round) succeeded() bool {
	return slices.ContainsFunc(rd.t.Exchanges, func(x trace.Exchange) bool { return x.Class == trace.ClassSuccess })
}

// settle reads the round's counters until they are final.
func (rd *round) settle(ctx context.Context) { settleAll(ctx, rd.e, []*round{rd}) }

// settling is a round whose latest reading is not final yet.
type settling struct {
	rd *round
	// seen is true once the expected rise was there.
	seen bool
}

// settleAll goes on reading the latest reading of each round, first until the expected rise or
// limits.count, then until nothing has changed for the endpoint's settle time or twice the lag that the
// control saw. Where work is awaited, it begins when no more of it can be expected.
func settleAll(ctx context.Context, e *endpointRun, rounds []*round) {
	if len(e.plan.Counters) == 0 && len(e.plan.States) == 0 {
		return
	}
	still := trace.Nanos(e.plan.Settle)
	if e.t.Control != nil {
		still = max(still, 2*e.t.Control.Learned.CountLag)
	}
	var open []*settling
	for _, rd := range rounds {
		if len(rd.t.Readings) > 0 { // else the round ended before anything was counted
			open = append(open, &settling{rd: rd})
		}
	}
	quiet := trace.Nanos(0)
	for _, s := range open {
		quiet = max(quiet, s.rd.quietFrom())
	}
	e.sleep(ctx, (quiet - e.Clock()).Duration())
	start := e.Clock()
	for interval := pollFirst; ctx.Err() == nil; interval = min(interval*3/2, pollMost) {
		open = slices.DeleteFunc(open, func(s *settling) bool { return s.final(start, still, trace.Nanos(e.Plan.Limits.Count)) })
		if len(open) == 0 || !e.sleep(ctx, interval) {
			return
		}
		for _, s := range open {
			s.rd.look(ctx, s.rd.latest().Name)
		}
	}
}

// final reports whether the latest reading is the last. The time of the reading counts, not that of now: with a rate to keep, one
// is behind the other. A counter that is never still is given twice the limit; then what it says has to do.
func (s *settling) final(start, still, limit trace.Nanos) bool {
	r := s.rd.latest()
	waited := r.At-start >= limit
	if !s.seen && s.rd.reached(r) {
		s.seen = true
		if r.Polls > 1 {
			r.Lag = r.At - start
		}
	}
	return (s.seen || waited) && r.Still >= still || r.At-start >= 2*limit
}

func (rd *round) latest() *trace.Reading { return &rd.t.Readings[len(rd.t.Readings)-1] }

// watchIdle looks at counters without a marker and at states, and gives them time to move by themselves.
func (rd *round) watchIdle(ctx context.Context) {
	if !rd.watch || !rd.unmarked() && len(rd.e.plan.States) == 0 {
		return
	}
	rd.look(ctx, trace.ReadingIdle)
	rd.e.sleep(ctx, max(idleWatch, rd.e.plan.Settle))
}

// watchAgain does the same behind a round that shows a violation, for twice as long as the counters could be moved in the rounds so
// far: each of them was a chance for somebody else, and at a rate that could explain it they are likely to show. Who moves them less often
// than every few seconds hardly meets two rounds of one case, unless these take long themselves.
func (rd *round) watchAgain(ctx context.Context, open time.Duration) {
	rd.e.sleep(ctx, max(idleWatch, min(2*open, max(longestWatch, 2*rd.open()))))
	rd.look(ctx, trace.ReadingIdle)
}

// open is how long the round's counters were watched for what it did.
func (rd *round) open() time.Duration {
	before, after := rd.reading(trace.ReadingBefore), rd.reading(trace.ReadingAfter)
	if before == nil || after == nil {
		return 0
	}
	return (after.At - before.At).Duration()
}

func (rd *round) unmarked() bool { return rd.e.unmarked() }

// seeEffect notes on the unanswered copies of a scope that the counters show its effect and have been
// still, so that a refusal from then on is no longer "in progress".
func (rd *round) seeEffect(ctx context.Context, scope string) {
	if len(rd.e.plan.Counters) == 0 || !rd.unanswered(scope) {
		return
	}
	rd.look(ctx, trace.ReadingAfter)
	r := rd.reading(trace.ReadingAfter)
	still := max(trace.Nanos(rd.e.plan.Settle), 2*rd.learned().CountLag)
	if r.Still < still || !rd.risen(rd.reading(trace.ReadingBefore), r, 1, nil) {
		return
	}
	for i := range rd.t.Exchanges {
		if x := &rd.t.Exchanges[i]; x.Scope == scope && !x.Complete() && x.EffectSeen == 0 {
			x.EffectSeen = r.At
		}
	}
}

func (rd *round) unanswered(scope string) bool {
	for i := range rd.t.Exchanges {
		if x := &rd.t.Exchanges[i]; x.Scope == scope && !x.Complete() && x.EffectSeen == 0 {
			return true
		}
	}
	return false
}

// getCounter sends the GET of an HTTP counter.
func (r *run) getCounter(ctx context.Context, c *plan.HTTPCounter, v plan.Values) trace.Exchange {
	return r.getFor(ctx, c.Request, c.Headers, r.readerOf(c.Caller, v.(values)), v.(values))
}

// readerOf is who reads a counter or a state: the caller that the plan names, else the one whose scope it is about.
func (r *run) readerOf(name string, v values) *plan.Caller {
	if name == "" && v.caller == scenarios.CallerOther {
		return r.callerFor(v.caller)
	}
	return r.callerNamed(name)
}

// getFor sends a GET as a caller, and once more when its credentials have run out.
func (r *run) getFor(ctx context.Context, req plan.RequestTemplate, headers []plan.HeaderTemplate, caller *plan.Caller, v values) trace.Exchange {
	var x trace.Exchange
	for _, renew := range []bool{false, true} {
		cred, err := r.credential(ctx, caller, renew)
		if err != nil {
			return trace.Exchange{Broke: trace.PhaseDial, Error: err.Error()}
		}
		shot, err := r.request(ctx, req, headers, cred, plan.Body{}, trace.KeyPlace{}, v)
		if err != nil {
			return trace.Exchange{Broke: trace.PhaseDial, Error: err.Error()}
		}
		if x = r.Client.Send(ctx, shot); !ranOut(&x, caller) {
			break
		}
	}
	return x
}

// get asks for a URL that the endpoint itself named.
func (r *run) get(ctx context.Context, target string, sc *scope) trace.Exchange {
	h := headerList{}
	h.set("User-Agent", r.UserAgent)
	shot := fire.Shot{Method: "GET", URL: target}
	if cred, err := r.credential(ctx, r.callerNamed(""), false); err == nil {
		_ = cred.apply(&h, values{scope: sc}) // a header that cannot be made is left out
		shot.Header, shot.Certificate = h, cred.certificate()
		if signed, err := (unsignedShot{r: r, shot: shot, caller: cred.caller}).sign(ctx); err == nil {
			h = signed.Header
		}
	}
	shot.Header = h
	x := r.send(ctx, shot)
	x.Step = -1
	r.Redactor.Exchange(&x)
	return x
}

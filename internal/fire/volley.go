package fire

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"retrysafe/internal/trace"
)

// Volley releases the shots at the same instant. The exchanges are in the order of the shots. A shot that is refused,
// cannot connect, or is answered before the release is not part of the burst; the others are released all the same.
//
// Where the server speaks HTTP/2, the shots for one host, one lane and one certificate share a connection as far as it
// allows streams; shots that leave by closing the connection have one of their own. Otherwise each shot has its own. Everything but the last byte of
// each request is written; the last byte of a request without a body is the line feed that ends its headers. Over
// HTTP/2 such requests are held back whole, or beside others with a body up to an empty frame that ends the
// stream. RequestTimeout counts from the first byte, so it includes the hold.
//
// Technique is "http/1.1 last byte" (with "over TLS" or "some over TLS" behind), "http/2 last data byte in one write",
// "http/2 whole requests in one write" (no bodies), "http/2 last data byte or end of stream in one write", or "barrier";
// two of them with "and" in between when there are servers of both kinds. Over HTTP/2, "in one write" is one for each
// connection.
func (c *Client) Volley(ctx context.Context, shots []Shot) ([]trace.Exchange, trace.Burst) {
	c.paceAll(ctx, shots)
	v := &volley{c: c}
	for _, s := range shots {
		v.flights = append(v.flights, c.prepare(s, false))
	}
	v.board(ctx)
	v.prepare(ctx)
	burst := v.release(ctx)
	v.finish(ctx)
	exchanges := make([]trace.Exchange, len(v.flights))
	for i, f := range v.flights {
		exchanges[i] = f.x
	}
	return exchanges, burst
}

// volley is a burst on its way.
type volley struct {
	c        *Client
	flights  []*flight
	convoys  []*convoy
	single   []*flight // HTTP/1.1
	ready    []*flight // those of single that are written up to what is held back
	back     int       // how many bytes of each of them are
	mu       sync.Mutex
	crowded  string // says that a server allows too few streams
	released []*flight
}

// board makes the connections.
func (v *volley) board(ctx context.Context) {
	var alone []*flight
	type lane struct {
		origin      string
		certificate *tls.Certificate
		number      int
	}
	groups := map[lane][]*flight{}
	for _, f := range v.flights {
		if f.wire != nil && f.mayShare() {
			l := lane{f.url.Scheme + "://" + address(f.url), f.shot.Certificate, f.shot.Lane}
			groups[l] = append(groups[l], f)
		} else {
			alone = append(alone, f)
		}
	}
	var wg sync.WaitGroup
	for _, group := range groups {
		wg.Go(func() { v.share(ctx, group) })
	}
	each(alone, func(f *flight) bool { return f.dial(ctx) })
	wg.Wait()
	v.split()
}

// mayShare reports whether the flight can be a stream among others. One that leaves by closing the connection would
// take the others with it.
func (f *flight) mayShare() bool {
	overH2 := f.c.firing == FiringH2 || f.c.firing == FiringAuto && f.url.Scheme == "https"
	return overH2 && (f.shot.Cut == nil || f.shot.Cut.By == cutReset)
}

// share connects for the first flight and lets as many others on as the server allows; the rest does the same.
func (v *volley) share(ctx context.Context, group []*flight) {
	lead, rest := group[0], group[1:]
	if !lead.dial(ctx) || lead.link.h2 == nil {
		each(rest, func(f *flight) bool { return f.dial(ctx) })
		return
	}
	room := lead.link.h2.room()
	mates := rest[:min(room-1, len(rest))]
	for _, f := range mates {
		f.board(lead.link)
	}
	if rest = rest[len(mates):]; len(rest) == 0 {
		return
	}
	v.mu.Lock()
	v.crowded = fmt.Sprintf("the server allows %d streams on a connection", room)
	v.mu.Unlock()
	var wg sync.WaitGroup
	for some := range slices.Chunk(rest, room) {
		wg.Go(func() { v.share(ctx, some) })
	}
	wg.Wait()
}

// split tells apart what goes over sessions and what does not.
func (v *volley) split() {
	of := map[*session]*convoy{}
	for _, f := range v.flights {
		switch s := f.link.h2; {
		case f.link.sock == nil:
		case s == nil:
			v.single = append(v.single, f)
		case of[s] == nil:
			of[s] = &convoy{s: s, took: f.link.took, flights: []*flight{f}}
			v.convoys = append(v.convoys, of[s])
		default:
			of[s].flights = append(of[s].flights, f)
		}
	}
}

// prepare writes everything but what is held back, and waits until it has arrived.
func (v *volley) prepare(ctx context.Context) {
	var wg sync.WaitGroup
	for _, convoy := range v.convoys {
		wg.Go(func() { convoy.prepare(ctx, v.c) })
	}
	if len(v.single) > 0 {
		v.prepareSingle(ctx)
	}
	wg.Wait()
}

// each takes a step with all flights at once and gives those for which it succeeded, in order.
func each(flights []*flight, step func(*flight) bool) []*flight {
	ok := make([]bool, len(flights))
	var wg sync.WaitGroup
	for i, f := range flights {
		wg.Go(func() { ok[i] = step(f) })
	}
	wg.Wait()
	var good []*flight
	for i, f := range flights {
		if ok[i] {
			good = append(good, f)
		}
	}
	return good
}

// release releases what is held back, measures when, and says what was done.
func (v *volley) release(ctx context.Context) (burst trace.Burst) {
	at := map[*flight]trace.Nanos{}
	if ctx.Err() == nil {
		v.releaseConvoys(at)
		if v.c.firing == FiringBarrier {
			v.released = append(v.released, v.c.storm(v.ready, at)...)
		} else {
			v.released = append(v.released, v.c.loose(hold(v.ready, v.back), at)...)
		}
	}
	conns := map[int]bool{}
	for _, f := range v.released {
		f.sent(at[f])
		conns[f.x.Conn] = true
		burst.Release = append(burst.Release, at[f])
	}
	slices.Sort(burst.Release)
	burst.Copies, burst.Connections = len(v.released), len(conns)
	if r := burst.Release; len(r) > 1 {
		burst.Spread, burst.FirstGap = r[len(r)-1]-r[0], r[1]-r[0]
	}
	burst.Technique, burst.Fallback = v.technique(), v.fallback()
	burst.RTT, burst.Jitter = v.distance()
	return burst
}

// releaseConvoys writes once for each session. All is put together before, so that nothing lies between the writes.
func (v *volley) releaseConvoys(at map[*flight]trace.Nanos) {
	outs, released := make([][]byte, len(v.convoys)), make([][]*flight, len(v.convoys))
	for i, convoy := range v.convoys {
		outs[i], released[i] = convoy.s.final(convoy.whole())
	}
	moments := make([]trace.Nanos, len(v.convoys))
	for i, convoy := range v.convoys {
		if len(released[i]) > 0 && convoy.s.write(outs[i]) == nil {
			moments[i] = v.c.clock()
		}
	}
	for i, some := range released {
		if moments[i] == 0 {
			continue
		}
		for _, f := range some {
			at[f] = moments[i]
		}
		v.released = append(v.released, some...)
	}
}

// whole are the flights that do not leave before their last byte.
func (v *convoy) whole() []*flight {
	var all []*flight
	for _, f := range v.loaded {
		if f.partial = f.shot.unsent() > 0; !f.partial {
			all = append(all, f)
		}
	}
	return all
}

// finish waits for all answers. Those that leave on purpose need a goroutine each, to leave in time.
func (v *volley) finish(ctx context.Context) {
	flying := slices.Clone(v.single)
	for _, convoy := range v.convoys {
		flying = append(flying, convoy.flights...)
	}
	finishAll(ctx, flying)
	for _, convoy := range v.convoys {
		convoy.s.close(!slices.ContainsFunc(convoy.flights, func(f *flight) bool { return !f.x.Complete() }))
	}
}

func finishAll(ctx context.Context, flying []*flight) {
	var wg sync.WaitGroup
	for _, f := range flying {
		if f.x.Cut != nil {
			wg.Go(func() { f.finish(ctx) })
		}
	}
	for _, f := range flying {
		if f.x.Cut == nil {
			f.finish(ctx)
		}
	}
	wg.Wait()
}

// distance gives the median of the round trips, and the mean deviation from it.
func (v *volley) distance() (rtt, jitter trace.Nanos) {
	var trips []time.Duration
	for _, f := range v.single {
		trips = append(trips, f.link.took)
	}
	for _, convoy := range v.convoys {
		trips = append(trips, convoy.trips...)
	}
	if len(trips) == 0 {
		return 0, 0
	}
	slices.Sort(trips)
	median, sum := trips[len(trips)/2], time.Duration(0)
	for _, trip := range trips {
		sum += (trip - median).Abs()
	}
	return trace.Nanos(median), trace.Nanos(sum) / trace.Nanos(len(trips))
}

// fallback says what is weaker than it could be.
func (v *volley) fallback() string {
	var reasons []string
	if v.crowded != "" {
		reasons = append(reasons, fmt.Sprintf("%s, so they were released over %d", v.crowded, len(v.convoys)))
	}
	if slices.ContainsFunc(v.convoys, func(c *convoy) bool { return c.mute }) {
		reasons = append(reasons, "the server does not acknowledge PING, so a pause had to do")
	}
	if v.c.firing == FiringAuto && slices.ContainsFunc(v.single, func(f *flight) bool { return f.url.Scheme == "https" }) {
		reasons = append(reasons, "the server does not offer HTTP/2")
	}
	return strings.Join(reasons, "; ")
}

// technique names what was done, or what would have been if nothing could connect.
func (v *volley) technique() string {
	var names []string
	if len(v.convoys) > 0 || len(v.single) == 0 && v.c.firing == FiringH2 {
		names = append(names, v.techniqueH2())
	}
	switch {
	case v.c.firing == FiringBarrier:
		names = append(names, "barrier")
	case len(v.single) > 0 || len(names) == 0:
		names = append(names, v.techniqueH1())
	}
	return strings.Join(names, " and ")
}

func (v *volley) techniqueH2() string {
	with, without := 0, 0
	for _, convoy := range v.convoys {
		for _, f := range convoy.flights {
			if len(f.shot.Body) > 0 {
				with++
			} else {
				without++
			}
		}
	}
	switch {
	case without == 0:
		return "http/2 last data byte in one write"
	case with == 0:
		return "http/2 whole requests in one write"
	}
	return "http/2 last data byte or end of stream in one write"
}

func (v *volley) techniqueH1() string {
	secure, plain := 0, 0
	for _, f := range v.flights {
		switch {
		case f.url == nil || f.link.h2 != nil:
		case f.url.Scheme == "https":
			secure++
		default:
			plain++
		}
	}
	switch {
	case secure == 0:
		return "http/1.1 last byte"
	case plain == 0:
		return "http/1.1 last byte over TLS"
	}
	return "http/1.1 last byte, some over TLS"
}

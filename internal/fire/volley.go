package fire

import (
	"context"
	"net"
	"sync"
	"time"

	"retrysafe/internal/trace"
)

// Volley releases the shots at the same instant, each over a new connection of its own. The exchanges are in the order
// of the shots. A shot that is refused, cannot connect, or is answered before the release is not part of the burst; the
// others are released all the same. Technique is "http/1.1 last byte", with "over TLS" or "some over TLS" behind.
//
// Every connection is made, everything but the last byte of each request is written, its reader is waiting, and
// the bytes have had time to arrive; then one loop writes the last bytes. The last byte of a request without a body
// is the line feed that ends its headers. RequestTimeout counts from the first byte, so it includes the hold.
func (c *Client) Volley(ctx context.Context, shots []Shot) ([]trace.Exchange, trace.Burst) {
	flights := make([]*flight, len(shots))
	for i, s := range shots {
		flights[i] = c.prepare(s)
	}
	flying := each(flights, func(f *flight) bool { return f.dial(ctx) })
	flying = each(flying, func(f *flight) bool { return f.begin(ctx, c.requestTimeout/2) })
	back := holdBack(flying)
	ready := each(flying, func(f *flight) bool { return f.load(back) })
	burst := trace.Burst{Technique: technique(flights)}
	if settle(ctx, ready) {
		burst = c.release(hold(ready, back), burst)
	}
	finishAll(ctx, flying)
	exchanges := make([]trace.Exchange, len(flights))
	for i, f := range flights {
		exchanges[i] = f.x
	}
	return exchanges, burst
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

// near is a connection time within one machine or rack. Anything further has jitter of its own.
const near = 500 * time.Microsecond

// holdBack is how many bytes of each request wait for the release: the last one, and for near servers another that
// prime sends ahead. Through a network that would only add the delay of a second segment.
func holdBack(flying []*flight) int {
	for _, f := range flying {
		if f.link.took < near {
			return 2
		}
	}
	return 1
}

// load writes everything but what is held back. It has half of the request's time, so that a server that reads one
// request slowly does not use up the time of the others.
func (f *flight) load(back int) bool {
	if !f.write(f.wire[:len(f.wire)-back]) {
		return false
	}
	f.link.tcp.SetWriteDeadline(time.Now().Add(f.c.requestTimeout))
	return true
}

func technique(flights []*flight) string {
	secure := 0
	for _, f := range flights {
		if f.url != nil && f.url.Scheme == "https" {
			secure++
		}
	}
	switch secure {
	case 0:
		return "http/1.1 last byte"
	case len(flights):
		return "http/1.1 last byte over TLS"
	}
	return "http/1.1 last byte, some over TLS"
}

// How long settle waits.
const (
	// settleMin lets a server on the same machine parse the heads and reach its handlers. It should not be longer: without
	// prime the first gap at such a server is 90, 120 and 180 us after 0.2, 2 and 10 ms, as it falls asleep
	// (5 copies, two cores, 300 rounds each).
	settleMin = 2 * time.Millisecond
	// settleCopy is what one copy keeps such a server busy for: 20 copies end 1.1 ms after the first (same machine).
	settleCopy = 50 * time.Microsecond
	// settleMax bounds the share of the connection's time, which is a round trip unless a name look-up or a lost SYN
	// made it longer; the last segment needs half of one.
	settleMax = 250 * time.Millisecond
)

// settle waits until what was written has arrived, as far as one can tell, and reports whether to go on.
func settle(ctx context.Context, ready []*flight) bool {
	wait := max(settleMin, settleCopy*time.Duration(len(ready)))
	for _, f := range ready {
		wait = max(wait, min(f.link.took, settleMax))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// held is what was held back of a request.
type held struct {
	flight *flight
	conn   net.Conn
	ahead  []byte // goes right before the release; may be empty
	last   []byte // one byte
	err    error
	at     trace.Nanos
}

// release writes the last bytes and measures when.
func (c *Client) release(all []held, burst trace.Burst) trace.Burst {
	all = prime(all)
	for i := range all {
		h := &all[i]
		_, h.err = h.conn.Write(h.last)
		h.at = c.clock()
	}
	for _, h := range all {
		if h.flight.writeErr = h.err; h.err == nil {
			burst.Release = append(burst.Release, h.at)
			h.flight.sent(h.at)
		}
	}
	burst.Copies = len(burst.Release)
	burst.Connections = burst.Copies
	if r := burst.Release; len(r) > 1 {
		burst.Spread, burst.FirstGap = r[len(r)-1]-r[0], r[1]-r[0]
	}
	return burst
}

// hold gives the last bytes of the flights whose server has neither answered nor gone away.
func hold(ready []*flight, back int) []held {
	all := make([]held, 0, len(ready))
	for _, f := range ready {
		if n := len(f.wire); len(f.answers) == 0 {
			all = append(all, held{flight: f, conn: f.link.conn, ahead: f.wire[n-back : n-1], last: f.wire[n-1:]})
		}
	}
	return all
}

// prime writes what goes ahead right before the release, and gives those for which it could.
// It wakes a server that fell asleep while it was waiting, so that the release finds it awake: on the same machine the
// first gap at a server goes from 53 to 33 us (5 copies) and from 61 to 23 us (20 copies), and five copies find an I/O
// window of 20 us in .93 instead of .86 of the rounds (400 rounds each, two cores, the server a process of its own).
func prime(all []held) []held {
	alive := all[:0]
	for _, h := range all {
		if len(h.ahead) == 0 || h.flight.write(h.ahead) {
			alive = append(alive, h)
		}
	}
	return alive
}

// finishAll waits for all flights. Those that leave on purpose need a goroutine each, to leave in time.
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

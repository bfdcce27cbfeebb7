package fire

import (
	"context"
	"net"
	"sync"
	"time"

	"retrysafe/internal/trace"
)

// prepareSingle begins the requests that have a connection each.
func (v *volley) prepareSingle(ctx context.Context) {
	v.single = each(v.single, func(f *flight) bool { return f.begin(ctx, v.c.requestTimeout/2) })
	if v.c.firing == FiringBarrier {
		v.ready = v.single
		settle(ctx, v.ready)
		return
	}
	v.back = holdBack(v.single)
	v.ready = each(v.single, func(f *flight) bool { return f.load(v.back) })
	settle(ctx, v.ready)
}

// near is a connection time within one machine or rack, and nearAnswer the time of an answer from there. Anything
// further has jitter of its own.
const (
	near       = 500 * time.Microsecond
	nearAnswer = time.Millisecond
)

// holdBack is how many bytes of each request wait for the release: the last one, and for servers known to be near another
// that prime sends ahead. Through a network that adds the delay of a second segment: behind a proxy on the same machine
// that delays segments by 0 to 5 ms, the first gap of five copies is at most 1 ms in .44 instead of .49 of the volleys
// (400 each way).
func holdBack(flying []*flight) int {
	for _, f := range flying {
		answer, known := f.c.answers.of(address(f.url))
		if f.link.took < near && known && answer < nearAnswer {
			return 2
		}
	}
	return 1
}

// load writes everything but what is held back, or up to a cut. It has half of the request's time, so that a server
// that reads one request slowly does not use up the time of the others.
func (f *flight) load(back int) bool {
	if unsent := f.shot.unsent(); unsent > 0 {
		f.partial = f.write(f.wire[:len(f.wire)-unsent])
		return false
	}
	if !f.write(f.wire[:len(f.wire)-back]) {
		return false
	}
	f.link.sock.SetWriteDeadline(time.Now().Add(f.c.requestTimeout))
	return true
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
	// settleAnswer bounds the share of the answers that were seen before: twice their average, as the slowest segment
	// is that slow when delays are random. Behind a proxy near by only they tell how far the server is, and what comes
	// behind a head that is still on its way is delayed twice: with 0 to 5 ms a segment, the first gap of 5 and 20 copies
	// is at most 1 ms in .49 and .75 of the volleys after 2 ms, in .65 and .87 after this (300 volleys each, two cores).
	settleAnswer = 25 * time.Millisecond
)

// settle waits until what was written has arrived, as far as one can tell without being told.
func settle(ctx context.Context, ready []*flight) {
	wait := max(settleMin, settleCopy*time.Duration(len(ready)))
	for _, f := range ready {
		answer, _ := f.c.answers.of(address(f.url))
		wait = max(wait, min(f.link.took, settleMax), min(2*answer, settleAnswer))
	}
	pause(ctx, wait)
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

// loose writes the last bytes in one loop, notes when, and gives the flights for which it could.
func (c *Client) loose(all []held, at map[*flight]trace.Nanos) (released []*flight) {
	all = prime(all)
	for i := range all {
		h := &all[i]
		_, h.err = h.conn.Write(h.last)
		h.at = c.clock()
	}
	for _, h := range all {
		if h.flight.writeErr = h.err; h.err == nil {
			at[h.flight] = h.at
			released = append(released, h.flight)
		}
	}
	return released
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

// storm writes whole requests from one goroutine each, which wait at a barrier.
func (c *Client) storm(ready []*flight, at map[*flight]trace.Nanos) (released []*flight) {
	var waiting, done sync.WaitGroup
	barrier := make(chan struct{})
	moments := make([]trace.Nanos, len(ready))
	for i, f := range ready {
		waiting.Add(1)
		done.Go(func() {
			waiting.Done()
			<-barrier
			f.x.Started = c.clock()
			if unsent := f.shot.unsent(); f.write(f.wire[:len(f.wire)-unsent]) {
				moments[i] = c.clock()
				f.partial = unsent > 0
			}
		})
	}
	waiting.Wait()
	close(barrier)
	done.Wait()
	for i, f := range ready {
		if moments[i] > 0 && !f.partial {
			at[f] = moments[i]
			released = append(released, f)
		}
	}
	return released
}

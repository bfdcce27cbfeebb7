// Package fire puts requests on the wire and writes down what happened. It judges nothing.
//
// A Shot is rendered to bytes, a new connection is dialled for it, the bytes are written once and the answer is
// read under limits of time and size: the result is a trace.Exchange, whatever went wrong. A volley does the same
// over many connections, but holds the last byte of every request back until all the rest has been written, and
// then releases the last bytes in one tight loop.
//
// The client and the transport of net/http are not used: they send a request that carries an Idempotency-Key a
// second time when a connection drops, and so would forge evidence. Here nothing is ever sent again, no redirect is
// followed, no connection is used twice.
package fire

import (
	"context"
	"crypto/tls"
	"sync/atomic"
	"time"

	"retrysafe/internal/trace"
)

// Clock gives the time since the start of the run. It must be monotonic and safe for concurrent use.
type Clock func() trace.Nanos

// Options configure a Client. The zero value is usable.
type Options struct {
	// Clock stamps the exchanges. Nil counts from the call of New.
	Clock Clock
	// TLS is what https connections start from: roots, client certificates, InsecureSkipVerify. Nil means Go's
	// defaults. It is cloned; ServerName (where empty), NextProtos and DynamicRecordSizingDisabled are set by fire.
	TLS *tls.Config
	// ConnectTimeout is for the name look-up, the TCP connection and the TLS handshake together.
	// Zero means 10 s: a SYN that was lost is repeated after 1, 3 and 7 s.
	ConnectTimeout time.Duration
	// RequestTimeout is from the first byte written to the complete answer. Zero means 30 s.
	RequestTimeout time.Duration
	// HeaderLimit is how many bytes of status lines and headers are accepted, interim (1xx) answers included.
	// Zero means 1 MiB, http.DefaultMaxHeaderBytes.
	HeaderLimit int64
	// BodyLimit is how many bytes of a body are kept. The rest is read, counted and hashed, up to 16 MiB or
	// 16 times the limit, whichever is more; a body beyond that breaks the exchange. Zero means 1 MiB.
	BodyLimit int64
}

// Client sends shots. It holds no connections between calls and is safe for concurrent use.
type Client struct {
	clock          Clock
	tls            *tls.Config
	connectTimeout time.Duration
	requestTimeout time.Duration
	limits         limits
	conns          atomic.Int64 // connections made so far; the number of the last one
}

// New returns a client with the given options. Negative durations and limits count as zero.
func New(o Options) *Client {
	if o.Clock == nil {
		start := time.Now()
		o.Clock = func() trace.Nanos { return trace.Nanos(time.Since(start)) }
	}
	body := orDefault(o.BodyLimit, 1<<20)
	return &Client{
		clock:          o.Clock,
		tls:            o.TLS,
		connectTimeout: orDefault(o.ConnectTimeout, 10*time.Second),
		requestTimeout: orDefault(o.RequestTimeout, 30*time.Second),
		limits:         limits{head: orDefault(o.HeaderLimit, 1<<20), body: body, whole: max(16<<20, 16*body)},
	}
}

func orDefault[T ~int64](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Send opens a new connection, sends the shot once and reads the answer. Whatever goes wrong is in the exchange
// (Broke and Error); a shot that Validate refuses is broken in dial with Wire 0. When ctx ends, Send stops at once
// and the exchange says so. ID, Step, Label, Copy, Scope and Class are left to the caller.
func (c *Client) Send(ctx context.Context, s Shot) trace.Exchange {
	f := c.prepare(s)
	if !f.dial(ctx) || !f.begin(ctx, c.requestTimeout) {
		return f.x
	}
	if f.write(f.wire) {
		f.sent(c.clock())
	}
	f.finish(ctx)
	return f.x
}

// Package fire puts requests on the wire and writes down what happened. It judges nothing.
//
// A Shot is rendered to bytes, a new connection is dialled for it, the bytes are written once and the answer is
// read under limits of time and size: the result is a trace.Exchange, whatever went wrong. A volley does the same
// with many shots, but holds the last byte of every request back until all the rest has been written. Where the
// server speaks HTTP/2 the shots are streams of one connection (session), a PING proves that all the rest has been
// read, and one write releases them; otherwise each has a connection of its own, and the last bytes are written in
// one tight loop. How is chosen by Options.Firing, and what was done is in the trace.Burst.
//
// The client and the transport of net/http are not used: they send a request that carries an Idempotency-Key a
// second time when a connection drops, and so would forge evidence. Here nothing is ever sent again, no redirect is
// followed, no connection is used for a second call.
package fire

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/url"
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
	// ConnectTimeout is for the name look-up, the TCP connection, the proxy, the TLS handshake and the settings of HTTP/2
	// together. It begins when it is the connection's turn: 64 are made at once. Zero means 10 s: a SYN that was lost is
	// repeated after 1, 3 and 7 s.
	ConnectTimeout time.Duration
	// RequestTimeout is from the first byte written to the complete answer. Zero means 30 s.
	RequestTimeout time.Duration
	// HeaderLimit is how many bytes of status lines and headers are accepted, interim (1xx) answers included.
	// Zero means 1 MiB, http.DefaultMaxHeaderBytes.
	HeaderLimit int64
	// BodyLimit is how many bytes of a body are kept. The rest is read, counted and hashed, up to 16 MiB or
	// 16 times the limit, whichever is more; a body beyond that breaks the exchange. Zero means 1 MiB.
	BodyLimit int64
	// Firing is how volleys are released, and which version of HTTP is spoken: one of the Firing constants. Empty
	// means FiringAuto; with another word every shot is refused.
	Firing string
	// Proxy gives the http proxy that is asked to CONNECT to the host of a URL, with the user name and password of the
	// proxy's URL if there are any, or nil for a URL that is asked without one. CONNECT is asked for http URLs too: a
	// proxy that reads requests could hold copies back or send them again. Nil means none for all; the environment is
	// not looked at. It must be safe for concurrent use.
	Proxy func(*url.URL) *url.URL
	// Resolve gives addresses that stand for a host, without brackets, and a port, in place of what its name resolves
	// to; they are tried in order. The name stays in Host and TLS. Empty for a host means a look-up, a nil Resolve that
	// for all. Of a connection through a proxy it is asked for the proxy's host. It must be safe for concurrent use.
	Resolve func(host, port string) []string
	// UnixSocket is the path of a Unix socket that stands for the host of every shot. Empty means none. It goes before
	// Proxy. A reset cannot be sent there, so a cut by "reset" becomes one by "close".
	UnixSocket string
	// Rate is the most requests to one host in a second, counted in single ones: shots of a volley are waited for in full and
	// then released together. Zero means no bound.
	Rate float64
}

// The ways to fire.
const (
	// FiringAuto speaks HTTP/2 where an https server offers it, else HTTP/1.1, and holds the last byte back.
	FiringAuto = "auto"
	// FiringH2 speaks HTTP/2 only: with http URLs without asking first (h2c by prior knowledge). A server that does not
	// speak it is an error.
	FiringH2 = "h2"
	// FiringH1 speaks HTTP/1.1 only and holds the last byte back.
	FiringH1 = "h1"
	// FiringBarrier speaks HTTP/1.1 only and holds nothing back: whole requests are written at the same instant over
	// connections made before. It shows what a server sees that checks before it reads a body.
	FiringBarrier = "barrier"
)

// Client sends shots. It holds no connections between calls and is safe for concurrent use.
type Client struct {
	clock          Clock
	tls            *tls.Config
	connectTimeout time.Duration
	requestTimeout time.Duration
	limits         limits
	firing         string
	proxy          func(*url.URL) *url.URL
	resolve        func(host, port string) []string
	unix           string
	slots          chan struct{} // holds one entry for each connection that is being made
	answers        answerTimes
	pace           *pace
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
		firing:         cmp.Or(o.Firing, FiringAuto),
		proxy:          o.Proxy,
		resolve:        o.Resolve,
		unix:           o.UnixSocket,
		pace:           newPace(o.Rate),
		slots:          make(chan struct{}, dialling),
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
	c.paceAll(ctx, []Shot{s})
	f := c.prepare(s, true)
	if !f.dial(ctx) {
		return f.x
	}
	if f.link.h2 != nil {
		f.stream(ctx)
	} else if f.begin(ctx, c.requestTimeout) {
		f.writeUp(f.wire)
		f.finish(ctx)
	}
	c.answers.saw(address(f.url), &f.x)
	return f.x
}

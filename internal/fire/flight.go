package fire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// flight is one shot on its way: over a connection of its own, or as a stream of one. Its steps, in order: prepare,
// dial, begin, write (once or in two parts), sent, finish. Each step that fails leaves the reason in x and reports
// false.
type flight struct {
	c        *Client
	shot     Shot
	url      *url.URL
	wire     []byte // the whole request as HTTP/1.1; nil for a shot that is refused
	link     link
	strm     *stream // over HTTP/2, after begin
	x        trace.Exchange
	answers  chan answer // receives exactly one answer after begin
	writeErr error
	partial  bool        // written up to a cut before the last byte
	stop     func() bool // undoes the watch over the context
}

// prepare checks and renders the shot; alone is false for one of a volley.
func (c *Client) prepare(s Shot, alone bool) *flight {
	f := &flight{c: c, shot: s}
	f.x.Request = trace.Request{Method: s.Method, URL: s.URL, Headers: s.Header, Body: keepBody(s.Body, c.limits.body)}
	if s.Cut != nil {
		cut := *s.Cut
		cut.Done = 0
		f.x.Cut = &cut
	}
	if err := firstError(c.validate(), s.Validate()); err != nil {
		f.broke(trace.PhaseDial, "not sent: "+err.Error())
		return f
	}
	f.url, _ = target(s.URL)
	f.x.Request.Headers = s.lines(f.url, alone)
	f.wire = render(s.Method, f.url, f.x.Request.Headers, s.Body)
	return f
}

// validate says what is wrong with the options.
func (c *Client) validate() error {
	known := []string{FiringAuto, FiringH2, FiringH1, FiringBarrier}
	if slices.Contains(known, c.firing) {
		return nil
	}
	return fmt.Errorf("firing %q is not known: use one of %s", c.firing, strings.Join(known, ", "))
}

func (f *flight) broke(phase trace.Phase, text string) {
	f.x.Broke, f.x.Error, f.x.Done = phase, text, f.c.clock()
}

// dial makes the connection.
func (f *flight) dial(ctx context.Context) bool {
	if f.wire == nil {
		return false
	}
	link, phase, err := f.c.open(ctx, f.url, f.shot.Certificate)
	if err != nil {
		f.x.Conn, f.x.Protocol = link.number, link.protocol
		f.broke(phase, f.explain(ctx, err))
		return false
	}
	f.board(link)
	return true
}

// board takes a connection that was made, perhaps one of others.
func (f *flight) board(l link) {
	f.link, f.x.Conn, f.x.Protocol = l, l.number, l.protocol
	if l.h2 != nil {
		f.x.Request.Headers = lowered(f.x.Request.Headers)
	}
}

// begin starts the reader and the clock of the request; writing may take as long as given. From here on the
// flight must be finished.
func (f *flight) begin(ctx context.Context, writing time.Duration) bool {
	if ctx.Err() != nil {
		f.link.sock.Close()
		f.broke(trace.PhaseDial, f.explain(ctx, ctx.Err()))
		return false
	}
	now := time.Now()
	f.link.sock.SetReadDeadline(now.Add(f.c.requestTimeout))
	f.link.sock.SetWriteDeadline(now.Add(writing))
	f.stop = context.AfterFunc(ctx, func() { f.link.sock.Close() })
	f.answers = make(chan answer, 1)
	go f.read()
	f.x.Started = f.c.clock()
	f.x.Wire++
	return true
}

// read runs beside the writer, because a server may answer before it has the whole request. Whatever it says
// ends the writing.
func (f *flight) read() {
	a := readAnswer(f.link.conn, reading{f.shot.Method, f.c.limits, f.c.clock, f.shot.atAnswer()})
	f.link.sock.SetWriteDeadline(time.Unix(1, 0))
	f.answers <- a
}

func (f *flight) write(p []byte) bool {
	_, f.writeErr = f.link.conn.Write(p)
	return f.writeErr == nil
}

// writeUp writes p, which ends the request, but not beyond a cut.
func (f *flight) writeUp(p []byte) {
	unsent := f.shot.unsent()
	if !f.write(p[:len(p)-unsent]) {
		return
	}
	if f.partial = unsent > 0; !f.partial {
		f.sent(f.c.clock())
	}
}

// sent notes that the last byte was handed over at the given moment.
func (f *flight) sent(at trace.Nanos) {
	f.x.Sent = at
	if f.shot.OnSent != nil {
		f.shot.OnSent()
	}
}

// finish waits for the answer, or leaves on purpose, and closes the connection.
func (f *flight) finish(ctx context.Context) {
	defer f.stop()
	a, left := f.await(ctx)
	f.x.FirstByte, f.x.Done = a.firstByte, max(a.done, f.x.Sent)
	switch {
	case a.response != nil:
		f.x.Response = a.response
		f.end()
		return
	case left:
		f.x.Broke, f.x.Error = trace.PhaseCut, "left on purpose "+cutPoint(f.x.Cut.At, f.partial)
	case f.x.Sent == 0 && !f.partial && a.firstByte == 0:
		f.x.Broke, f.x.Error = trace.PhaseWrite, f.explain(ctx, f.link.unpresented(firstError(f.writeErr, a.err)))
	case a.firstByte == 0:
		f.x.Broke, f.x.Error = a.phase, f.explain(ctx, f.link.unpresented(a.err))
	default:
		f.x.Broke, f.x.Error = a.phase, f.explain(ctx, a.err)
	}
	f.drop()
}

// end closes the connection in good order, or the stream if it is still open.
func (f *flight) end() {
	if f.strm != nil {
		f.strm.cancel(nil)
		return
	}
	f.link.conn.Close()
}

// drop is for exchanges that broke. TLS would say goodbye first, which can block on a server that does not read.
func (f *flight) drop() {
	if f.strm != nil {
		f.strm.cancel(nil)
		return
	}
	f.link.sock.Close()
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// explain puts an error in plain words.
func (f *flight) explain(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil:
		return "stopped: " + context.Cause(ctx).Error()
	case f.answers != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return clip(fmt.Sprintf("no complete answer within %v: %v", f.c.requestTimeout, err))
	case f.link.bare:
	case errors.Is(err, io.EOF):
		return clip(fmt.Sprintf("the server closed the connection without an answer: %v", err))
	}
	return clip(err.Error())
}

// clip bounds a text that may quote the server.
func clip(s string) string {
	const limit = 300 // a few lines of a terminal
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}

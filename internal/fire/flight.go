package fire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"retrysafe/internal/trace"
)

// flight is one shot on its way over one connection. Its steps, in order: prepare, dial, begin, write (once or
// in two parts), sent, finish. Each step that fails leaves the reason in x and reports false.
type flight struct {
	c        *Client
	shot     Shot
	url      *url.URL
	wire     []byte // the whole request; nil for a shot that is refused
	link     link
	x        trace.Exchange
	answers  chan answer // receives exactly one answer after begin
	writeErr error
	stop     func() bool // undoes the watch over the context
}

// prepare checks and renders the shot.
func (c *Client) prepare(s Shot) *flight {
	f := &flight{c: c, shot: s}
	f.x.Request = trace.Request{Method: s.Method, URL: s.URL, Headers: s.Header, Body: keepBody(s.Body, c.limits.body)}
	if s.Cut != nil {
		cut := *s.Cut
		cut.Done = 0
		f.x.Cut = &cut
	}
	if err := s.Validate(); err != nil {
		f.broke(trace.PhaseDial, "not sent: "+err.Error())
		return f
	}
	f.url, _ = target(s.URL)
	f.x.Request.Headers = s.lines(f.url)
	f.wire = render(s.Method, f.url, f.x.Request.Headers, s.Body)
	return f
}

func (f *flight) broke(phase trace.Phase, text string) {
	f.x.Broke, f.x.Error, f.x.Done = phase, text, f.c.clock()
}

// dial makes the connection.
func (f *flight) dial(ctx context.Context) bool {
	if f.wire == nil {
		return false
	}
	link, phase, err := f.c.open(ctx, f.url)
	f.x.Conn, f.x.Protocol = link.number, link.protocol
	if err != nil {
		f.broke(phase, f.explain(ctx, err))
		return false
	}
	f.link = link
	return true
}

// begin starts the reader and the clock of the request; writing may take as long as given. From here on the
// flight must be finished.
func (f *flight) begin(ctx context.Context, writing time.Duration) bool {
	if ctx.Err() != nil {
		f.link.tcp.Close()
		f.broke(trace.PhaseDial, f.explain(ctx, ctx.Err()))
		return false
	}
	now := time.Now()
	f.link.tcp.SetReadDeadline(now.Add(f.c.requestTimeout))
	f.link.tcp.SetWriteDeadline(now.Add(writing))
	f.stop = context.AfterFunc(ctx, func() { f.link.tcp.Close() })
	f.answers = make(chan answer, 1)
	go f.read()
	f.x.Started = f.c.clock()
	f.x.Wire++
	return true
}

// read runs beside the writer, because a server may answer before it has the whole request. Whatever it says
// ends the writing.
func (f *flight) read() {
	a := readAnswer(f.link.conn, f.shot.Method, f.c.limits, f.c.clock)
	f.link.tcp.SetWriteDeadline(time.Unix(1, 0))
	f.answers <- a
}

func (f *flight) write(p []byte) bool {
	_, f.writeErr = f.link.conn.Write(p)
	return f.writeErr == nil
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
		f.link.conn.Close()
		return
	case left:
		f.x.Broke, f.x.Error = trace.PhaseCut, "left on purpose after the last byte"
	case f.x.Sent == 0 && a.firstByte == 0:
		f.x.Broke, f.x.Error = trace.PhaseWrite, f.explain(ctx, firstError(f.writeErr, a.err))
	default:
		f.x.Broke, f.x.Error = a.phase, f.explain(ctx, a.err)
	}
	// TLS would say goodbye first, which can block on a server that does not read.
	f.link.tcp.Close()
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// await gives the answer; left is true when the client went away before it was complete.
func (f *flight) await(ctx context.Context) (a answer, left bool) {
	if errors.Is(f.writeErr, os.ErrDeadlineExceeded) {
		f.link.tcp.Close() // the reader may have more time than the writer had
	}
	if f.x.Cut == nil || f.x.Sent == 0 {
		return <-f.answers, false
	}
	if a, ok := f.linger(ctx); ok {
		return a, false
	}
	f.leave()
	at := f.c.clock()
	if a = <-f.answers; a.response != nil {
		return a, false
	}
	f.x.Cut.Done = at
	return answer{firstByte: a.firstByte, done: at}, true
}

// linger waits for the cut; ok is true when the exchange ended before.
func (f *flight) linger(ctx context.Context) (a answer, ok bool) {
	if f.x.Cut.After > 0 {
		timer := time.NewTimer(f.x.Cut.After.Duration())
		defer timer.Stop()
		select {
		case a = <-f.answers:
			return a, true
		case <-ctx.Done():
			return <-f.answers, true
		case <-timer.C:
		}
	}
	select {
	case a = <-f.answers:
		return a, true
	default:
		return a, false
	}
}

// leave closes the connection under the server's hands: with a FIN, or with an RST (a linger time of 0).
func (f *flight) leave() {
	if f.x.Cut.By == cutReset {
		f.link.tcp.SetLinger(0)
		f.link.tcp.Close()
		return
	}
	f.link.conn.Close()
}

// explain puts an error in plain words.
func (f *flight) explain(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil:
		return "stopped: " + context.Cause(ctx).Error()
	case f.answers != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return clip(fmt.Sprintf("no complete answer within %v: %v", f.c.requestTimeout, err))
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

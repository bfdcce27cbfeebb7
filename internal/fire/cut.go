package fire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"retrysafe/internal/trace"
)

// The words of trace.Cut, and what they mean.
const (
	cutHeaders  = "headers"
	cutHalfBody = "half-body"
	cutSent     = "sent"
	cutAnswer   = "answer"
	cutClose    = "close"
	cutReset    = "reset"
)

func validateCut(cut *trace.Cut) error {
	switch {
	case cut == nil:
		return nil
	case !slices.Contains([]string{cutHeaders, cutHalfBody, cutSent, cutAnswer}, cut.At):
		return fmt.Errorf("cut at %q is not known: use %q, %q, %q or %q", cut.At, cutHeaders, cutHalfBody, cutSent, cutAnswer)
	case cut.By != "" && cut.By != cutClose && cut.By != cutReset:
		return fmt.Errorf("cut by %q is not known: use %q or %q", cut.By, cutClose, cutReset)
	case cut.After < 0:
		return fmt.Errorf("cut after %v: the pause cannot be negative", cut.After.Duration())
	}
	return nil
}

// unsent is how many bytes at the end of the body are never written because of the cut.
func (s Shot) unsent() int {
	switch {
	case s.Cut == nil:
		return 0
	case s.Cut.At == cutHeaders:
		return len(s.Body)
	case s.Cut.At == cutHalfBody:
		return len(s.Body) - len(s.Body)/2
	}
	return 0
}

// atAnswer reports whether the client leaves after the first byte of the answer.
func (s Shot) atAnswer() bool { return s.Cut != nil && s.Cut.At == cutAnswer }

// cutPoint puts the point at which the client left into words.
func cutPoint(at string, partial bool) string {
	switch {
	case at == cutAnswer:
		return "after the first byte of the answer"
	case !partial:
		return "after the last byte"
	case at == cutHeaders:
		return "after the header block"
	}
	return "after half of the body"
}

// errFirstByte ends the reading of an answer for a client that leaves there.
var errFirstByte = errors.New("the first byte of the answer came")

// await gives the answer; left is true when the client went away before it was complete.
func (f *flight) await(ctx context.Context) (a answer, left bool) {
	if errors.Is(f.writeErr, os.ErrDeadlineExceeded) {
		f.drop() // the reader may have more time than the writer had
	}
	if f.x.Cut == nil || f.x.Sent == 0 && !f.partial {
		return <-f.answers, false
	}
	if f.shot.atAnswer() {
		return f.awaitFirstByte(ctx)
	}
	// Who leaves at once does not look whether an answer is there: a fast server could otherwise never be left.
	looks := f.x.Cut.After > 0
	if looks {
		if a, ok := f.linger(ctx); ok {
			return a, false
		}
	}
	f.deafen()
	if a = <-f.answers; a.response != nil && looks {
		return a, false
	}
	f.x.Cut.Done = f.leave()
	return answer{firstByte: a.firstByte, done: f.x.Cut.Done}, true
}

// deafen ends the reading, so that an answer to the FIN is not heard any more.
func (f *flight) deafen() {
	if f.strm == nil {
		f.link.sock.SetReadDeadline(time.Unix(1, 0))
		return
	}
	f.strm.s.mu.Lock()
	defer f.strm.s.mu.Unlock()
	f.strm.over(f.strm.broken(errLeft))
}

// awaitFirstByte leaves when the answer has begun, of which no more is read then.
func (f *flight) awaitFirstByte(ctx context.Context) (a answer, left bool) {
	if a = <-f.answers; !errors.Is(a.err, errFirstByte) {
		return a, false
	}
	if pause(ctx, f.x.Cut.After.Duration()) {
		f.x.Cut.Done = f.leave()
		return answer{firstByte: a.firstByte, done: f.x.Cut.Done}, true
	}
	return answer{firstByte: a.firstByte, done: f.c.clock(), phase: trace.PhaseHead, err: ctx.Err()}, false
}

// pause waits, and reports whether it could.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// linger waits for the cut; ok is true when the exchange ended before.
func (f *flight) linger(ctx context.Context) (a answer, ok bool) {
	timer := time.NewTimer(f.x.Cut.After.Duration())
	defer timer.Stop()
	select {
	case a = <-f.answers:
		return a, true
	case <-ctx.Done():
		return <-f.answers, true
	case <-timer.C:
		return a, false
	}
}

// leave goes away under the server's hands and says when. A FIN goes ahead of closing, because the system sends an RST
// instead for a connection on which something was not read.
func (f *flight) leave() trace.Nanos {
	tcp, isTCP := f.link.sock.(*net.TCPConn)
	switch {
	case f.x.Cut.By == cutReset && f.strm != nil:
		f.strm.cancel(errLeft)
	case f.x.Cut.By == cutReset && isTCP:
		tcp.SetLinger(0)
		tcp.Close()
	case f.x.Cut.By == cutReset:
		f.x.Cut.By = cutClose
		f.link.goodbye()
	default:
		f.link.goodbye()
	}
	return f.c.clock()
}

// goodbye closes a connection with a FIN, and before that with what TLS says at the end.
func (l link) goodbye() {
	if secure, ok := l.conn.(interface{ CloseWrite() error }); ok && l.conn != net.Conn(l.sock) {
		secure.CloseWrite()
	}
	l.sock.CloseWrite()
	l.sock.Close()
}

package fire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// session is one HTTP/2 connection. One goroutine drives it (open, load, release), another reads, and finishing
// goroutines may cancel streams. Whatever is written is written as whole frames in one call, so that no lock is held
// while the connection blocks.
type session struct {
	c     *Client
	sock  socket
	conn  net.Conn
	ready chan struct{} // closed when the server's settings have come
	ended chan struct{} // closed when nothing more is read
	news  chan struct{} // says that a window, a stream or the session changed
	pongs chan struct{}
	stop  func() bool // undoes the watch over the context

	next  uint32         // the next stream; only the driver uses it, enc and block
	enc   *hpack.Encoder // writes to block
	block bytes.Buffer

	mu      sync.Mutex
	peer    settings
	window  int64 // what may be sent on the connection
	taken   int64 // what came on the connection since its window was last widened
	streams map[uint32]*stream
	fault   error // why the session ended
	goaway  error // what the server said about not taking more
	cause   error // why this side closed the connection
	pinged  [8]byte
	started time.Time // when the settings were written
	trips   []time.Duration
}

// settings of the server (RFC 9113, section 6.5.2).
type settings struct {
	streams, window, frame, list, table uint32
}

// What this side grants: so much that no answer within the limits needs a WINDOW_UPDATE before it is widened again.
const (
	maxWindow  = math.MaxInt32
	widenAfter = 1 << 20
	maxFrame   = 16 << 10 // the default; the largest frame accepted
)

// newSession says hello and waits for the settings of the server.
func (c *Client) newSession(ctx context.Context, l *link) (*session, error) {
	s := &session{
		c: c, sock: l.sock, conn: l.conn, next: 1, window: 65535,
		peer:  settings{streams: math.MaxUint32, window: 65535, frame: maxFrame, list: math.MaxUint32, table: 4096},
		ready: make(chan struct{}), ended: make(chan struct{}), news: make(chan struct{}, 1), pongs: make(chan struct{}, 1),
		streams: map[uint32]*stream{}, started: time.Now(),
	}
	s.enc = hpack.NewEncoder(&s.block)
	defer context.AfterFunc(ctx, func() { s.sock.Close() })()
	hello := frames(func(fr *http2.Framer) {
		fr.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: uint32(min(c.limits.head, math.MaxUint32))})
		fr.WriteWindowUpdate(0, maxWindow-65535)
	})
	s.write(append([]byte(http2.ClientPreface), hello...))
	go s.read() // not before, as it acknowledges the settings
	select {
	case <-s.ready:
		return s, nil
	case <-s.ended:
		return nil, fmt.Errorf("the server does not speak HTTP/2: %w", s.fault)
	}
}

// frames gives what is written by fill.
func frames(fill func(*http2.Framer)) []byte {
	var b bytes.Buffer
	fill(http2.NewFramer(&b, nil))
	return b.Bytes()
}

// write hands over whole frames. After an error the reader will find the end of the connection, and perhaps
// answers before it.
func (s *session) write(p []byte) error {
	_, err := s.conn.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.hangUp(err)
	}
	return err
}

// hangUp closes the connection from this side; all streams that are open break with the cause.
func (s *session) hangUp(cause error) {
	s.mu.Lock()
	s.cause = firstError(s.cause, cause)
	s.mu.Unlock()
	s.sock.Close()
}

// errLeft is what becomes of a stream that is left on purpose.
var errLeft = errors.New("left on purpose")

// watch bounds the session by the time that a request may take, and by the context.
func (s *session) watch(ctx context.Context, within time.Duration) {
	s.sock.SetDeadline(time.Now().Add(within))
	s.stop = context.AfterFunc(ctx, func() { s.sock.Close() })
}

// close ends a session after its last stream, and waits for the reader.
func (s *session) close(orderly bool) {
	if s.stop != nil {
		s.stop()
	}
	if orderly {
		s.conn.Close()
	}
	s.sock.Close()
	<-s.ended
}

// room is how many streams the server allows at once.
func (s *session) room() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(max(1, min(s.peer.streams, math.MaxInt32)))
}

// patience is how long a server may take to acknowledge a PING, beside a round trip, but no more than a quarter of a
// request's time. Those that do it at all do it
// at once (RFC 9113, section 6.7: "SHOULD be given higher priority than any other frame").
const patience = time.Second

// errMute is what ping gives for a server that acknowledges no PING.
var errMute = errors.New("the server does not acknowledge PING")

// ping sends a PING and waits for its acknowledgement: then the server has read all that was written before.
func (s *session) ping(took time.Duration) (trip time.Duration, err error) {
	s.mu.Lock()
	s.pinged[7]++
	payload := s.pinged
	s.mu.Unlock()
	start := time.Now()
	if err := s.write(frames(func(fr *http2.Framer) { fr.WritePing(false, payload) })); err != nil {
		return 0, err
	}
	timer := time.NewTimer(min(patience+took, s.c.requestTimeout/4))
	defer timer.Stop()
	select {
	case <-s.pongs:
		return time.Since(start), nil
	case <-s.ended:
		return 0, s.fault
	case <-timer.C:
		return 0, errMute
	}
}

// tell wakes the driver.
func (s *session) tell() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// fail ends all streams with what the session ended with.
func (s *session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cause != nil && errors.Is(err, net.ErrClosed):
		err = s.cause
	case s.goaway != nil && (errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed)):
		err = s.goaway
	}
	s.fault = err
	for _, st := range s.streams {
		st.over(st.broken(err))
	}
	s.tell()
}

package fire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/net/http2"

	"retrysafe/internal/trace"
)

// stream sends the flight alone over its session, and closes that.
func (f *flight) stream(ctx context.Context) {
	s := f.link.h2
	defer func() { s.close(f.x.Complete()) }()
	if ctx.Err() != nil {
		f.broke(trace.PhaseDial, f.explain(ctx, ctx.Err()))
		return
	}
	s.watch(ctx, f.c.requestTimeout)
	// The deadline of the connection comes first.
	if len(s.load([]*flight{f}, false, 2*f.c.requestTimeout)) > 0 {
		if f.partial = f.shot.unsent() > 0; !f.partial {
			f.sent(f.c.clock())
		}
	}
	if f.strm != nil {
		f.finish(ctx)
	}
}

// load opens a stream for every flight and writes all that may be written before the release, one frame of each in
// turn, so that a server that stops reading one does not stop the others. The flights for which all was written are
// given back; the others have the reason in x, or in the answer.
func (s *session) load(flights []*flight, hold bool, within time.Duration) []*flight {
	var out bytes.Buffer
	fr := http2.NewFramer(&out, nil)
	var opened []*flight
	// A server starts a request without a body as soon as its headers are there, whatever end of the stream is
	// still to come. Streams must begin in the order of their numbers, so this works for all or for none.
	whole := hold && !slices.ContainsFunc(flights, func(f *flight) bool { return len(f.shot.Body) > 0 })
	for _, f := range flights {
		if s.open(fr, f, hold, whole) {
			opened = append(opened, f)
		}
	}
	if !s.pump(fr, &out, opened, within) {
		return nil
	}
	var loaded []*flight
	for _, f := range opened {
		if s.loaded(f.strm) {
			loaded = append(loaded, f)
		}
	}
	return loaded
}

// pump writes until everything is written, the windows stay shut, or the session ends. False when the connection did not
// take what was written.
func (s *session) pump(fr *http2.Framer, out *bytes.Buffer, opened []*flight, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		waiting := s.turn(fr, opened)
		if out.Len() > 0 {
			if s.write(out.Bytes()) != nil {
				<-s.ended
				return false
			}
			out.Reset()
			continue
		}
		if len(waiting) == 0 {
			return true
		}
		select {
		case <-s.news:
		case <-s.ended:
			return true
		case <-timer.C:
			s.stalled(waiting, within)
			return true
		}
	}
}

// open begins a stream: its headers are added to what fr collects, or kept for the release when that writes the whole
// request. False when that is not possible any more; nothing of the request is written then.
func (s *session) open(fr *http2.Framer, f *flight, hold, whole bool) bool {
	all, size := fields(f.shot.Method, f.url, f.x.Request.Headers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := firstError(s.fault, s.goaway, tooLarge(size, s.peer.list)); err != nil {
		f.broke(trace.PhaseDial, "not sent: "+err.Error())
		return false
	}
	st := s.newStream(f, hold)
	s.enc.SetMaxDynamicTableSizeLimit(s.peer.table)
	s.block.Reset()
	for _, field := range all {
		s.enc.WriteField(field)
	}
	if whole {
		st.head = bytes.Clone(s.block.Bytes())
		return true
	}
	st.finished = st.fin && st.sized == 0
	writeHeaders(fr, st.id, st.finished, s.block.Bytes(), int(s.peer.frame))
	f.x.Started = s.c.clock()
	f.x.Wire++
	return true
}

func tooLarge(size uint64, limit uint32) error {
	if size <= uint64(limit) {
		return nil
	}
	return fmt.Errorf("the headers count for %d bytes, the server accepts %d (SETTINGS_MAX_HEADER_LIST_SIZE)", size, limit)
}

// newStream divides a request into what is written before the release and what is held back: the last byte of the body,
// or without a body the end of the stream. s.mu is held.
func (s *session) newStream(f *flight, hold bool) *stream {
	body, unsent := f.shot.Body, f.shot.unsent()
	st := &stream{
		s: s, id: s.next, answers: make(chan answer, 1), sized: len(body), length: -1,
		how:  reading{method: f.shot.Method, lim: s.c.limits, begun: f.shot.atAnswer()},
		rest: body[:len(body)-unsent], fin: !hold && unsent == 0, window: int64(s.peer.window),
		keeper: keeper{lim: s.c.limits},
	}
	if n := len(st.rest); hold && unsent == 0 && n > 0 {
		st.rest, st.held = st.rest[:n-1], st.rest[n-1:]
	}
	st.window -= int64(len(st.held))
	s.window -= int64(len(st.held))
	s.next += 2
	s.streams[st.id] = st
	f.strm, f.answers, f.stop = st, st.answers, func() bool { return true }
	return st
}

// writeHeaders splits a header block over as many frames as it needs.
func writeHeaders(fr *http2.Framer, id uint32, end bool, block []byte, frame int) {
	n := min(len(block), frame)
	fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:n], EndStream: end, EndHeaders: n == len(block)})
	for block = block[n:]; len(block) > 0; block = block[n:] {
		n = min(len(block), frame)
		fr.WriteContinuation(id, n == len(block), block[:n])
	}
}

// turn adds the next frame of every stream that has something to write and a window for it, and gives the streams
// that are not done.
func (s *session) turn(fr *http2.Framer, opened []*flight) (waiting []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range opened {
		st := f.strm
		if st.answered || s.isLoaded(st) {
			continue
		}
		if n := min(int64(len(st.rest)), int64(s.peer.frame), st.window, s.window); n > 0 {
			st.finished = st.fin && n == int64(len(st.rest))
			fr.WriteData(st.id, st.finished, st.rest[:n])
			st.rest = st.rest[n:]
			st.window -= n
			s.window -= n
		}
		if !s.isLoaded(st) {
			waiting = append(waiting, st)
		}
	}
	return waiting
}

// isLoaded reports whether only what is held is left, and may be written. s.mu is held.
func (s *session) isLoaded(st *stream) bool {
	return len(st.rest) == 0 && st.window >= 0 && s.window >= 0
}

func (s *session) loaded(st *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !st.answered && s.isLoaded(st) || st.answered && len(st.rest) == 0
}

// stalled gives up on streams that the server does not take.
func (s *session) stalled(waiting []*stream, within time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range waiting {
		err := fmt.Errorf("the server took %d of %d bytes of the body within %v and grants no window for more",
			st.sized-len(st.held)-len(st.rest), st.sized, within)
		st.over(st.broken(err))
	}
}

// final are the frames that release the streams that are still waiting for it, which are given too.
func (s *session) final(loaded []*flight) (out []byte, released []*flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out = frames(func(fr *http2.Framer) {
		for _, f := range loaded {
			switch st := f.strm; {
			case st.answered:
			case !s.isLoaded(st):
				st.over(st.broken(errors.New("the server took back the flow-control window before the release")))
			case st.head != nil:
				st.finished = true
				writeHeaders(fr, st.id, true, st.head, int(s.peer.frame))
				f.x.Started = s.c.clock()
				f.x.Wire++
				released = append(released, f)
			default:
				st.finished = true
				fr.WriteData(st.id, true, st.held)
				released = append(released, f)
			}
		}
	})
	return out, released
}

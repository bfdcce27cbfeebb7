package fire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"retrysafe/internal/trace"
)

// read takes what the server sends, until the connection ends.
func (s *session) read() {
	defer close(s.ended)
	s.fail(s.takeAll(s.conn))
	s.sock.Close()
}

// takeAll gives the reason why no more is read.
func (s *session) takeAll(r io.Reader) error {
	br := bufio.NewReaderSize(r, readAhead)
	if start, _ := br.Peek(5); string(start) == "HTTP/" {
		line, _ := br.Peek(min(br.Buffered(), 40))
		return fmt.Errorf("expected HTTP/2 settings, found an answer that begins with %q", line)
	}
	fr := http2.NewFramer(io.Discard, br)
	fr.SetReuseFrames()
	fr.SetMaxReadFrameSize(maxFrame)
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	fr.MaxHeaderListSize = uint32(min(s.c.limits.head, math.MaxUint32))
	for first := true; ; first = false {
		if err := s.takeOne(fr, first); err != nil {
			return err
		}
	}
}

// takeOne reads one frame and acts on it.
func (s *session) takeOne(fr *http2.Framer, first bool) error {
	h, err := fr.ReadFrameHeader()
	if err != nil {
		return detailed(fr, err)
	}
	if first && (h.Type != http2.FrameSettings || h.Flags.Has(http2.FlagSettingsAck)) {
		return fmt.Errorf("expected a SETTINGS frame first, found %v", h.Type)
	}
	at := s.c.clock()
	if h.Type == http2.FrameHeaders {
		s.on(h.StreamID, func(st *stream) { st.begin(at) })
	}
	f, err := fr.ReadFrameForHeader(h)
	var streamError http2.StreamError
	if errors.As(err, &streamError) {
		err = detailed(fr, err)
		s.on(streamError.StreamID, func(st *stream) { st.over(st.broken(err)) })
		return nil
	}
	if err != nil {
		return s.headLimit(h, f, detailed(fr, err))
	}
	return s.take(f, at)
}

// headLimit says in plain words when the framer gave up on too many headers.
func (s *session) headLimit(h http2.FrameHeader, f http2.Frame, err error) error {
	meta, ok := f.(*http2.MetaHeadersFrame)
	if ok && meta != nil && (meta.Truncated || int64(h.Length) > s.c.limits.head) {
		return fmt.Errorf("%w of %d bytes", errHeadTooLarge, s.c.limits.head)
	}
	return err
}

// detailed adds what the framer knows about an error.
func detailed(fr *http2.Framer, err error) error {
	if detail := fr.ErrorDetail(); detail != nil {
		return fmt.Errorf("malformed HTTP/2: %w (%w)", err, detail)
	}
	return err
}

// on does something with a stream that is still open.
func (s *session) on(id uint32, do func(*stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.streams[id]; st != nil {
		do(st)
		s.tell()
	}
}

// take acts on one frame.
func (s *session) take(f http2.Frame, at trace.Nanos) error {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return s.takeSettings(f)
	case *http2.PingFrame:
		return s.takePing(f)
	case *http2.WindowUpdateFrame:
		return s.takeWindow(f)
	case *http2.GoAwayFrame:
		s.takeGoAway(f)
	case *http2.RSTStreamFrame:
		s.on(f.StreamID, func(st *stream) {
			st.closed = true
			st.over(st.broken(fmt.Errorf("the server reset the stream: %v", f.ErrCode)))
		})
	case *http2.MetaHeadersFrame:
		s.on(f.StreamID, func(st *stream) { st.takeHead(f) })
	case *http2.DataFrame:
		return s.takeData(f)
	case *http2.PushPromiseFrame:
		return errors.New("malformed HTTP/2: a PUSH_PROMISE though pushing is off")
	}
	return nil
}

func (s *session) takeSettings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		s.mu.Lock()
		s.trips = append(s.trips, time.Since(s.started))
		s.mu.Unlock()
		return nil
	}
	s.mu.Lock()
	err := f.ForeachSetting(s.apply)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.write(frames(func(fr *http2.Framer) { fr.WriteSettingsAck() }))
	select {
	case <-s.ready:
	default:
		close(s.ready)
	}
	s.tell()
	return nil
}

// apply takes over one setting; s.mu is held.
func (s *session) apply(set http2.Setting) error {
	if err := set.Valid(); err != nil {
		return fmt.Errorf("malformed HTTP/2: setting %v: %w", set, err)
	}
	switch set.ID {
	case http2.SettingMaxConcurrentStreams:
		s.peer.streams = set.Val
	case http2.SettingInitialWindowSize:
		for _, st := range s.streams {
			st.window += int64(set.Val) - int64(s.peer.window)
		}
		s.peer.window = set.Val
	case http2.SettingMaxFrameSize:
		s.peer.frame = set.Val
	case http2.SettingMaxHeaderListSize:
		s.peer.list = set.Val
	case http2.SettingHeaderTableSize:
		s.peer.table = set.Val
	}
	return nil
}

func (s *session) takePing(f *http2.PingFrame) error {
	if !f.IsAck() {
		s.write(frames(func(fr *http2.Framer) { fr.WritePing(true, f.Data) }))
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Data == s.pinged {
		select {
		case s.pongs <- struct{}{}:
		default:
		}
	}
	return nil
}

func (s *session) takeWindow(f *http2.WindowUpdateFrame) error {
	over := false
	s.on(f.StreamID, func(st *stream) {
		if st.window += int64(f.Increment); st.window > maxWindow {
			st.over(st.broken(errors.New("malformed HTTP/2: a window larger than 2^31-1")))
		}
	})
	if f.StreamID == 0 {
		s.mu.Lock()
		s.window += int64(f.Increment)
		over = s.window > maxWindow
		s.mu.Unlock()
		s.tell()
	}
	if over {
		return errors.New("malformed HTTP/2: a window larger than 2^31-1")
	}
	return nil
}

func (s *session) takeGoAway(f *http2.GoAwayFrame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf("the server sent GOAWAY (%v)", f.ErrCode)
	if debug := f.DebugData(); len(debug) > 0 {
		text = fmt.Sprintf("%s %q", text, debug)
	}
	s.goaway = errors.New(text)
	for id, st := range s.streams {
		if id > f.LastStreamID {
			st.over(st.broken(errors.New(text + " and did not process this request")))
		}
	}
	s.tell()
}

// takeData takes a part of a body, padding included in what is counted for the windows.
func (s *session) takeData(f *http2.DataFrame) error {
	s.mu.Lock()
	var widen []byte
	s.taken += int64(f.Length)
	if s.taken >= widenAfter {
		widen = frames(func(fr *http2.Framer) { fr.WriteWindowUpdate(0, uint32(s.taken)) })
		s.taken = 0
	}
	if st := s.streams[f.StreamID]; st != nil {
		widen = append(widen, st.takeBody(f)...)
		s.tell()
	}
	s.mu.Unlock()
	if len(widen) > 0 {
		s.write(widen)
	}
	return nil
}

package fire

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/net/http2"

	"retrysafe/internal/trace"
)

// stream is one request and its answer on a session. Everything but answers is guarded by the mutex of the session.
type stream struct {
	s       *session
	id      uint32
	how     reading
	answers chan answer // receives exactly one
	sized   int         // the length of the body

	rest     []byte // what is to be written before the release
	held     []byte // what the release writes
	head     []byte // the header block, where the release writes the whole request
	fin      bool   // the end of rest ends the stream
	window   int64  // what may be sent, beside what is held
	finished bool   // END_STREAM was written
	closed   bool   // nothing more may be written

	answered  bool // answers has what it receives
	status    int
	headers   []trace.Header
	headSize  int64
	firstByte trace.Nanos
	length    int64 // announced length of the body; -1 when unknown or meaningless
	keeper    keeper
	taken     int64 // what came since the window was last widened
}

// over delivers how the exchange ended, once.
func (st *stream) over(a answer) {
	if st.answered {
		return
	}
	st.answered = true
	a.firstByte = st.firstByte
	a.done = st.s.c.clock()
	st.answers <- a
}

// broken is the answer of an exchange that ended in the middle.
func (st *stream) broken(err error) answer {
	switch {
	case st.status != 0:
		return answer{phase: trace.PhaseBody, err: bodyError(st.status, st.keeper.size, st.length, err)}
	case st.firstByte != 0:
		return answer{phase: trace.PhaseHead, err: err}
	}
	return answer{phase: trace.PhaseAnswer, err: err}
}

// begin notes the first byte of a header block.
func (st *stream) begin(at trace.Nanos) {
	if st.firstByte == 0 {
		st.firstByte = at
	}
}

// takeHead takes headers, an interim answer, or trailers.
func (st *stream) takeHead(f *http2.MetaHeadersFrame) {
	if st.answered {
		st.end(f.StreamEnded())
		return
	}
	for _, field := range f.Fields {
		st.headSize += int64(field.Size())
	}
	status, err := strconv.Atoi(f.PseudoValue("status"))
	switch {
	case f.Truncated || st.headSize > st.how.lim.head:
		st.over(st.broken(fmt.Errorf("%w of %d bytes", errHeadTooLarge, st.how.lim.head)))
	case st.status != 0 && (!f.StreamEnded() || len(f.PseudoFields()) > 0):
		st.over(st.broken(errors.New("malformed HTTP/2: trailers that do not end the answer")))
	case st.status != 0:
		st.end(true)
	case err != nil || status < 100 || status > 999 || status == http.StatusSwitchingProtocols:
		st.over(st.broken(fmt.Errorf("malformed HTTP/2 status %q", f.PseudoValue("status"))))
	case interim(status) && f.StreamEnded():
		st.over(st.broken(fmt.Errorf("status %d ends the answer: %w", status, io.ErrUnexpectedEOF)))
	case interim(status):
		st.firstByte = 0
	case st.how.begun:
		st.over(answer{phase: trace.PhaseHead, err: errFirstByte})
		st.end(f.StreamEnded())
	default:
		st.takeFinalHead(f, status)
	}
}

func (st *stream) takeFinalHead(f *http2.MetaHeadersFrame, status int) {
	st.status = status
	for _, field := range f.RegularFields() {
		st.headers = append(st.headers, trace.Header{Name: field.Name, Value: field.Value})
		if n, err := strconv.ParseUint(field.Value, 10, 63); err == nil && field.Name == "content-length" {
			st.length = int64(n)
		}
	}
	if st.how.method == http.MethodHead || status == http.StatusNotModified || status == http.StatusNoContent {
		st.length = -1
	}
	st.end(f.StreamEnded())
}

// takeBody takes a part of the body, and gives the frame that makes room for more where it is due.
func (st *stream) takeBody(f *http2.DataFrame) []byte {
	switch {
	case st.answered:
	case st.status == 0:
		st.over(st.broken(errors.New("malformed HTTP/2: DATA before the headers of the answer")))
	default:
		if _, err := st.keeper.Write(f.Data()); err != nil {
			st.over(st.broken(err))
		}
	}
	st.end(f.StreamEnded())
	if st.taken += int64(f.Length); st.answered || st.taken < widenAfter {
		return nil
	}
	n := uint32(st.taken)
	st.taken = 0
	return frames(func(fr *http2.Framer) { fr.WriteWindowUpdate(st.id, n) })
}

// end takes END_STREAM.
func (st *stream) end(ended bool) {
	if !ended {
		return
	}
	if st.finished {
		st.closed = true
	}
	if size := st.keeper.size; st.length >= 0 && size != st.length {
		st.over(st.broken(io.ErrUnexpectedEOF))
		return
	}
	st.over(answer{response: &trace.Response{Status: st.status, Headers: st.headers, Body: st.keeper.body()}})
}

// cancel ends the stream from this side if it is still open: with RST_STREAM, and with err for the exchange if that
// is not over.
func (st *stream) cancel(err error) {
	st.s.mu.Lock()
	if err != nil {
		st.over(st.broken(err))
	}
	silent := st.closed || st.s.fault != nil
	st.closed = true
	delete(st.s.streams, st.id)
	st.s.mu.Unlock()
	if !silent {
		st.s.write(frames(func(fr *http2.Framer) { fr.WriteRSTStream(st.id, http2.ErrCodeCancel) }))
	}
}

package fire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"retrysafe/internal/trace"
)

// limits bound an answer, in bytes.
type limits struct {
	head  int64 // status lines and headers, interim answers included
	body  int64 // how much of a body is kept
	whole int64 // how much of a body is read
}

// answer is what a connection gave: a response, or the phase and the error with which reading ended.
type answer struct {
	response  *trace.Response
	phase     trace.Phase
	err       error
	firstByte trace.Nanos // 0 when no byte of the final answer came
	done      trace.Nanos
}

// reading says what is read, and how far.
type reading struct {
	method string
	lim    limits
	clock  Clock
	begun  bool // stop at the first byte with errFirstByte
}

// readAnswer reads up to the end of the final answer. Interim answers (1xx) are skipped and are not the answer's first
// byte: a server may send them before it has decided anything. 101 is final, as the connection is no longer HTTP then.
func readAnswer(r io.Reader, how reading) answer {
	head := &headReader{r: r, limit: how.lim.head}
	br := bufio.NewReaderSize(head, readAhead)
	request := &http.Request{Method: how.method}
	for {
		a := answer{phase: trace.PhaseAnswer}
		if _, a.err = br.Peek(1); a.err != nil {
			a.done = how.clock()
			return a
		}
		a.firstByte, a.phase = how.clock(), trace.PhaseHead
		if how.begun && !beginsInterim(br) {
			a.done, a.err = a.firstByte, errFirstByte
			return a
		}
		var resp *http.Response
		if resp, a.err = head.response(br, request); a.err == nil && interim(resp.StatusCode) {
			continue
		}
		if a.err == nil {
			headers := headerLines(head.taken(br))
			head.stop()
			a.response, a.phase, a.err = readResponse(resp, headers, how.lim)
		}
		a.done = how.clock()
		return a
	}
}

// beginsInterim looks at what has come already: a byte alone counts as the answer's.
func beginsInterim(br *bufio.Reader) bool {
	line, _ := br.Peek(min(br.Buffered(), len("HTTP/1.1 100")))
	_, code, _ := strings.Cut(string(line), " ")
	return len(code) == 3 && code[0] == '1' && code != "101"
}

func interim(status int) bool { return status >= 100 && status < 200 && status != 101 }

// readResponse reads the body of an answer whose head was read.
func readResponse(resp *http.Response, headers []trace.Header, lim limits) (*trace.Response, trace.Phase, error) {
	body, err := readBody(resp.Body, lim)
	if err != nil {
		return nil, trace.PhaseBody, bodyError(resp.StatusCode, body.Size, resp.ContentLength, err)
	}
	return &trace.Response{Status: resp.StatusCode, Headers: headers, Body: body}, "", nil
}

// bodyError says where a body ended; length is negative when it was not announced.
func bodyError(status int, size, length int64, err error) error {
	of := ""
	if length >= 0 {
		of = fmt.Sprintf(" of %d", length)
	}
	return fmt.Errorf("status %d, then after %d%s bytes of the body: %w", status, size, of, err)
}

// readAhead is the size of the read buffer: the usual answer of an API fits, and a thousand connections need 4 MB.
const readAhead = 4096

// headReader keeps what passes through it while heads are read, since net/http forgets the order and the spelling of
// headers, and ends heads that grow beyond the limit.
type headReader struct {
	r     io.Reader
	limit int64
	raw   []byte // all that was read so far
	from  int    // where the current head begins in raw
	off   bool   // the head is complete: nothing is kept or limited any more
	ended bool   // nothing more will come
}

// errHeadTooLarge ends a head, or a series of interim answers, that is larger than the limit.
var errHeadTooLarge = errors.New("status line and headers are larger than the limit")

func (h *headReader) Read(p []byte) (int, error) {
	if !h.off && int64(len(h.raw)) >= h.limit+readAhead {
		return 0, errHeadTooLarge
	}
	n, err := h.r.Read(p)
	h.ended = err == io.EOF
	if !h.off {
		h.raw = append(h.raw, p[:n]...)
	}
	return n, err
}

// response parses one head.
func (h *headReader) response(br *bufio.Reader, request *http.Request) (*http.Response, error) {
	h.from = len(h.raw) - br.Buffered()
	if start, err := br.Peek(5); err == nil && string(start) != "HTTP/" {
		some, _ := br.Peek(br.Buffered())
		return nil, fmt.Errorf("expected an HTTP/1 answer, found one that begins with %q", some[:min(len(some), 40)])
	}
	resp, err := http.ReadResponse(br, request)
	switch {
	case errors.Is(err, errHeadTooLarge) || int64(len(h.raw)-br.Buffered()) > h.limit:
		return nil, fmt.Errorf("%w of %d bytes", errHeadTooLarge, h.limit)
	case err != nil && h.ended:
		return nil, fmt.Errorf("the connection ended inside status line and headers: %w", io.ErrUnexpectedEOF)
	case err != nil:
		return nil, err
	case resp.StatusCode < 100:
		return nil, fmt.Errorf("malformed HTTP status code %q", resp.Status)
	}
	return resp, nil
}

// taken is the head that was parsed last.
func (h *headReader) taken(br *bufio.Reader) []byte { return h.raw[h.from : len(h.raw)-br.Buffered()] }

func (h *headReader) stop() { h.raw, h.off = nil, true }

// headerLines splits a head that net/http has accepted. A folded line is joined to the one before by a space.
func headerLines(head []byte) []trace.Header {
	lines := strings.Split(string(head), "\n")
	headers := make([]trace.Header, 0, len(lines))
	for _, line := range lines[1:] {
		line = strings.TrimRight(line, "\r")
		name, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
		case line[0] != ' ' && line[0] != '\t':
			headers = append(headers, trace.Header{Name: name, Value: strings.Trim(value, " \t")})
		case len(headers) > 0:
			last := &headers[len(headers)-1]
			last.Value += " " + strings.Trim(line, " \t")
		}
	}
	return headers
}

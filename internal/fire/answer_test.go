package fire

import (
	"bufio"
	"bytes"
	"net"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name, raw, reason string
		method            string
		status            int
		body              string
		phase             trace.Phase // empty for a complete answer
		text              string
	}{
		{name: "content length", raw: ok + "Content-Length: 5\r\n\r\nhello", status: 200, body: "hello", reason: "the usual answer"},
		{name: "more than promised", raw: ok + "Content-Length: 2\r\n\r\nhello", status: 200, body: "he", reason: "what is behind the answer is not the answer"},
		{name: "chunked", raw: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", status: 200, body: "hello", reason: "chunks are joined"},
		{name: "until closed", raw: ok + "\r\nhello", status: 200, body: "hello", reason: "without a length the close is the end"},
		{name: "http 1.0", raw: "HTTP/1.0 201 Created\n\nhello", status: 201, body: "hello", reason: "bare line feeds are tolerated"},
		{name: "no content", raw: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, reason: "204 has no body"},
		{name: "not modified", raw: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", status: 304, reason: "304 has no body, whatever its length says"},
		{name: "head", method: "HEAD", raw: ok + "Content-Length: 5\r\n\r\n", status: 200, reason: "an answer to HEAD has no body"},
		{name: "redirect", raw: "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", status: 302, reason: "a redirect is an answer"},
		{name: "interim", raw: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", status: 201, body: "ok", reason: "interim answers are skipped"},
		{name: "switched", raw: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nxyz", status: 101, reason: "after 101 comes no other answer"},
		{name: "nothing", raw: "", phase: trace.PhaseAnswer, text: "closed the connection without an answer", reason: "ambiguous: sent, not answered"},
		{name: "only interim", raw: "HTTP/1.1 100 Continue\r\n\r\n", phase: trace.PhaseAnswer, text: "EOF", reason: "an interim answer is no answer"},
		{name: "short body", raw: ok + "Content-Length: 9\r\n\r\nhello", phase: trace.PhaseBody, text: "status 200, then after 5 of 9 bytes", reason: "a cut answer is no answer"},
		{name: "short chunk", raw: ok + "Transfer-Encoding: chunked\r\n\r\n9\r\nhello", phase: trace.PhaseBody, text: "unexpected EOF", reason: "a cut answer is no answer"},
		{name: "bad chunk", raw: ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello", phase: trace.PhaseBody, text: "chunk", reason: "malformed is evidence"},
		{name: "half a head", raw: ok + "Content-Le", phase: trace.PhaseHead, text: "unexpected EOF", reason: "the head is incomplete"},
		{name: "garbage", raw: "SSH-2.0-OpenSSH_9.6\r\n", phase: trace.PhaseHead, text: `begins with "SSH-2.0-OpenSSH_9.6`, reason: "another protocol is named by what it says"},
		{name: "binary", raw: "\x00\x00\x12\x04\x00\x00\x00\x00\x00", phase: trace.PhaseHead, text: `\x00\x00\x12\x04`, reason: "HTTP/2 settings are not an answer"},
		{name: "bad header", raw: ok + "no colon\r\n\r\n", phase: trace.PhaseHead, text: "malformed", reason: "malformed is evidence"},
		{name: "bad status", raw: "HTTP/1.1 +12 Odd\r\n\r\n", phase: trace.PhaseHead, text: "malformed HTTP status code", reason: "a status has three digits"},
		{name: "two lengths", raw: ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", phase: trace.PhaseHead, text: "Content-Length", reason: "the end cannot be known"},
		{name: "large head", raw: ok + "X-Large: " + strings.Repeat("x", 9000) + "\r\n\r\n", phase: trace.PhaseHead, text: "larger than the limit of 2048", reason: "heads are bounded"},
		{name: "head just too large", raw: ok + "X-Large: " + strings.Repeat("x", 2048) + "\r\n\r\n", phase: trace.PhaseHead, text: "larger than the limit of 2048", reason: "reading ahead does not widen the limit"},
		{name: "interim flood", raw: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 500), phase: trace.PhaseHead, text: "larger than the limit of 2048", reason: "interim answers count as head"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := listen(t, func(conn net.Conn) {
				readRequest(bufio.NewReader(conn))
				conn.Write([]byte(tt.raw))
				conn.(*net.TCPConn).CloseWrite()
				untilGone(conn)
			})
			shot := order(url)
			if tt.method != "" {
				shot = Shot{Method: tt.method, URL: url}
			}
			x := New(Options{HeaderLimit: 2048}).Send(t.Context(), shot)
			if x.Wire != 1 || x.Sent == 0 {
				t.Errorf("wire %d, sent %d, want once", x.Wire, x.Sent)
			}
			if tt.phase != "" {
				wantBroken(t, x, tt.phase, tt.text)
				return
			}
			if !x.Complete() {
				t.Fatalf("broke in %q: %s (%s)", x.Broke, x.Error, tt.reason)
			}
			if x.Response.Status != tt.status || x.Response.Body.Text != tt.body {
				t.Errorf("got %d %q, want %d %q (%s)", x.Response.Status, x.Response.Body.Text, tt.status, tt.body, tt.reason)
			}
		})
	}
}

func TestAnswerHeaders(t *testing.T) {
	raw := "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nX-B:  b \r\nSet-Cookie: c=2\r\nX-Folded: one\r\n  two\r\nContent-Length: 0\r\n\r\n"
	a := readAnswer(strings.NewReader(raw), reading{method: "GET", lim: limits{head: 1 << 10, body: 10, whole: 10}, clock: func() trace.Nanos { return 1 }})
	if a.err != nil {
		t.Fatal(a.err)
	}
	want := []trace.Header{
		{Name: "set-cookie", Value: "a=1"}, {Name: "X-B", Value: "b"}, {Name: "Set-Cookie", Value: "c=2"},
		{Name: "X-Folded", Value: "one two"}, {Name: "Content-Length", Value: "0"},
	}
	if !slices.Equal(a.response.Headers, want) {
		t.Errorf("got %q, want %q: order, spelling and repetition of the final answer are kept", a.response.Headers, want)
	}
}

// FuzzAnswer reads arbitrary bytes as an answer: it ends, does not panic, keeps its limits, and says either what came or
// what was wrong with it.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 204 No\n\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n\xff\xfe", "SSH-2.0", "HTTP/1.1 200\r\n: x\r\n\r\n",
	} {
		f.Add([]byte(seed), true)
	}
	lim := limits{head: 256, body: 16, whole: 64}
	f.Fuzz(func(t *testing.T, raw []byte, post bool) {
		method := "HEAD"
		if post {
			method = "POST"
		}
		a := readAnswer(bytes.NewReader(raw), reading{method: method, lim: lim, clock: func() trace.Nanos { return 1 }})
		if (a.response == nil) == (a.err == nil) || (a.response == nil) == (a.phase == "") {
			t.Fatalf("response %v, phase %q, error %v", a.response, a.phase, a.err)
		}
		if a.response == nil {
			return
		}
		body := a.response.Body
		if a.response.Status < 100 || int64(len(body.Bytes())) > lim.body || body.Size > lim.whole {
			t.Fatalf("out of bounds: %+v", a.response)
		}
		if body.Truncated != (body.Size > lim.body) || body.Truncated != (body.SHA256 != "") {
			t.Fatalf("inconsistent body: %+v", body)
		}
	})
}

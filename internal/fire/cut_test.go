package fire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"retrysafe/internal/trace"
)

// everything reads until the client is gone, and gives what came and how it ended.
func everything(conn net.Conn) (string, error) {
	all, err := io.ReadAll(conn)
	if err == nil {
		err = io.EOF
	}
	return string(all), err
}

func TestCut(t *testing.T) {
	const body = `{"item":"tea","quantity":2}`
	tests := []struct {
		name   string
		cut    trace.Cut
		body   string // what the server reads of it
		want   error
		text   string
		reason string
	}{
		{"close", trace.Cut{At: "sent", By: "close"}, body, io.EOF, "after the last byte", "a FIN"},
		{"by default", trace.Cut{At: "sent"}, body, io.EOF, "after the last byte", "a FIN"},
		{"reset", trace.Cut{At: "sent", By: "reset"}, body, syscall.ECONNRESET, "after the last byte", "an RST"},
		{"later", trace.Cut{At: "sent", After: trace.Nanos(5 * time.Millisecond)}, body, io.EOF, "after the last byte", "a pause first"},
		{"headers", trace.Cut{At: "headers"}, "", io.EOF, "after the header block", "no byte of the body"},
		{"headers reset", trace.Cut{At: "headers", By: "reset"}, "", syscall.ECONNRESET, "after the header block", "an RST"},
		{"half", trace.Cut{At: "half-body"}, body[:13], io.EOF, "after half of the body", "13 of 27 bytes"},
		{"half later", trace.Cut{At: "half-body", After: trace.Nanos(5 * time.Millisecond)}, body[:13], io.EOF, "after half of the body", "a pause first"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read, gone := make(chan string, 1), make(chan error, 1)
			url := listen(t, func(conn net.Conn) {
				all, err := everything(conn)
				read <- all
				gone <- err
			})
			shot := order(url)
			shot.Cut = &tt.cut
			x := New(Options{}).Send(t.Context(), shot)
			wantBroken(t, x, trace.PhaseCut, "left on purpose "+tt.text)
			whole := string(New(Options{}).prepare(shot, true).wire)
			if want, got := whole[:len(whole)-len(body)]+tt.body, <-read; got != want {
				t.Errorf("the server read %q, want %q", got, want)
			}
			if err := <-gone; !errors.Is(err, tt.want) {
				t.Errorf("the server saw %v, want %v (%s)", err, tt.want, tt.reason)
			}
			if x.Cut.Done < x.Sent+tt.cut.After || x.Done != x.Cut.Done || (x.Sent != 0) != (tt.body == body) || x.Wire != 1 {
				t.Errorf("sent %d, left %d, done %d, wire %d", x.Sent, x.Cut.Done, x.Done, x.Wire)
			}
			if tt.cut.Done != 0 {
				t.Error("the caller's cut was changed")
			}
		})
	}
}

// TestCutWithoutABody: there is one moment only.
func TestCutWithoutABody(t *testing.T) {
	for _, at := range []string{"headers", "half-body", "sent"} {
		for _, h2 := range []bool{false, true} {
			var url string
			client := New(Options{})
			if h2 {
				client = New(Options{Firing: FiringH2})
				url = listenRaw(t, func(r *raw) {
					r.WriteSettings()
					if r.end() == 0 {
						t.Error("the request did not end")
					}
					untilGone(r.conn)
				})
			} else {
				url = listen(t, func(conn net.Conn) { everything(conn) })
			}
			x := client.Send(t.Context(), Shot{Method: "DELETE", URL: url, Cut: &trace.Cut{At: at, After: trace.Nanos(5 * time.Millisecond)}})
			wantBroken(t, x, trace.PhaseCut, "left on purpose after the last byte")
			if x.Sent == 0 || x.Cut.Done < x.Sent {
				t.Errorf("%s: sent %d, left %d", at, x.Sent, x.Cut.Done)
			}
		}
	}
}

// TestCutAtAnswer leaves a server that has begun to answer and would go on.
func TestCutAtAnswer(t *testing.T) {
	tests := []struct {
		name   string
		by     string
		raw    string
		want   error
		reason string
	}{
		{"one byte", "close", "H", io.EOF, "the first byte is enough"},
		{"all at once", "close", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", io.EOF, "a quick answer does not escape the cut"},
		{"reset", "reset", "HTTP/1.1 200 OK\r\n", syscall.ECONNRESET, "an RST"},
		{"interim", "close", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2", io.EOF, "an interim answer is not the answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			gone := make(chan error, 1)
			url := listen(t, func(conn net.Conn) {
				readRequest(bufio.NewReader(conn))
				io.WriteString(conn, tt.raw)
				gone <- untilGone(conn)
			})
			shot := order(url)
			shot.Cut = &trace.Cut{At: "answer", By: tt.by, After: trace.Nanos(2 * time.Millisecond)}
			x := New(Options{}).Send(t.Context(), shot)
			wantBroken(t, x, trace.PhaseCut, "left on purpose after the first byte of the answer")
			if err := <-gone; !errors.Is(err, tt.want) {
				t.Errorf("the server saw %v, want %v (%s)", err, tt.want, tt.reason)
			}
			if x.FirstByte == 0 || x.Cut.Done < x.FirstByte+shot.Cut.After || x.Sent == 0 {
				t.Errorf("sent %d, first byte %d, left %d", x.Sent, x.FirstByte, x.Cut.Done)
			}
		})
	}
}

// cutSeen is what a server sees of the stream that it does not answer completely.
type cutSeen struct {
	bytes int
	reset bool
	code  http2.ErrCode
}

// serveCut answers streams that carry X-Stays and begins an answer to others. It says what became of those.
func (r *raw) serveCut(seen chan<- cutSeen) {
	r.WriteSettings()
	got := map[uint32]*cutSeen{}
	defer func() {
		for _, s := range got {
			seen <- *s
		}
	}()
	stays := map[uint32]bool{}
	for f := r.next(); f != nil; f = r.next() {
		id := f.Header().StreamID
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			got[id] = &cutSeen{}
			for _, field := range f.RegularFields() {
				stays[id] = stays[id] || field.Name == "x-stays"
			}
		case *http2.DataFrame:
			got[id].bytes += len(f.Data())
		case *http2.RSTStreamFrame:
			got[id].reset, got[id].code = true, f.ErrCode
		}
		if _, ended := ends(f); ended && stays[id] {
			r.ok(id)
			delete(got, id)
		} else if ended {
			r.head(id, false, block(200))
		}
	}
}

// TestCutH2 looks at the frames with which a client leaves.
func TestCutH2(t *testing.T) {
	const size = len(`{"item":"tea","quantity":2}`)
	tests := []struct {
		at, by string
		body   int  // bytes that come
		reset  bool // RST_STREAM comes
		reason string
	}{
		{"headers", "reset", 0, true, "CANCEL"}, {"headers", "close", 0, false, "the connection is closed"},
		{"half-body", "reset", size / 2, true, "CANCEL"}, {"half-body", "close", size / 2, false, "the connection is closed"},
		{"sent", "reset", size, true, "CANCEL"}, {"sent", "", size, false, "the connection is closed"},
		{"answer", "reset", size, true, "CANCEL"}, {"answer", "close", size, false, "the connection is closed"},
	}
	for _, tt := range tests {
		for name, fire := range map[string]func(*Client, Shot) trace.Exchange{
			"send": func(c *Client, s Shot) trace.Exchange { return c.Send(t.Context(), s) },
			"volley": func(c *Client, s Shot) trace.Exchange {
				stays := s
				stays.Cut, stays.Header = nil, []trace.Header{{Name: "X-Stays", Value: "1"}}
				all, burst := c.Volley(t.Context(), []Shot{stays, s})
				if partial := tt.body < size; !all[0].Complete() || partial != (burst.Copies == 1) || (tt.by == "reset") != (all[0].Conn == all[1].Conn) {
					t.Errorf("the other: %+v broke in %q: %s, connections %d and %d, burst %+v", all[0].Response, all[0].Broke, all[0].Error, all[0].Conn, all[1].Conn, burst)
				}
				return all[1]
			},
		} {
			t.Run(name+" "+tt.at+" "+tt.by, func(t *testing.T) {
				seen := make(chan cutSeen, 2)
				url := listenRaw(t, func(r *raw) { r.serveCut(seen) })
				shot := order(url)
				shot.Cut = &trace.Cut{At: tt.at, By: tt.by}
				x := fire(New(Options{Firing: FiringH2}), shot)
				if got := <-seen; got.bytes != tt.body || got.reset != tt.reset || got.reset && got.code != http2.ErrCodeCancel {
					t.Errorf("the server saw %+v, want %d bytes and reset %v (%s)", got, tt.body, tt.reset, tt.reason)
				}
				wantBroken(t, x, trace.PhaseCut, "left on purpose")
				if x.Cut.Done == 0 || (x.Sent != 0) != (tt.body == size) {
					t.Errorf("sent %d, left %d", x.Sent, x.Cut.Done)
				}
			})
		}
	}
}

// TestCutThatComesTooLate: when the exchange ends by itself first, there was no cut.
func TestCutThatComesTooLate(t *testing.T) {
	serve := func(raw string) string {
		return listen(t, func(conn net.Conn) {
			readRequest(bufio.NewReader(conn))
			io.WriteString(conn, raw)
		})
	}
	client := New(Options{})
	shot := order(serve("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"))
	shot.Cut = &trace.Cut{At: "sent", After: trace.Nanos(time.Hour)}
	if x := client.Send(t.Context(), shot); !x.Complete() || x.Response.Status != 201 || x.Cut == nil || x.Cut.Done != 0 {
		t.Errorf("got %+v, cut %+v, broke %q %s, want the answer", x.Response, x.Cut, x.Broke, x.Error)
	}
	shot.URL = serve("")
	x := client.Send(t.Context(), shot)
	wantBroken(t, x, trace.PhaseAnswer, "closed the connection without an answer")
	if x.Cut.Done != 0 {
		t.Error("the server left first, the cut is noted as done")
	}
}

func TestCutStopped(t *testing.T) {
	url := listen(t, func(conn net.Conn) { untilGone(conn) })
	ctx, cancel := context.WithCancel(t.Context())
	shot := order(url)
	shot.Cut = &trace.Cut{At: "sent", After: trace.Nanos(time.Hour)}
	shot.OnSent = cancel
	x := New(Options{}).Send(ctx, shot)
	wantBroken(t, x, trace.PhaseAnswer, "stopped: context canceled")
	if x.Cut.Done != 0 {
		t.Error("the cut is noted as done")
	}
}

// TestLeaveAtOnce: a client that leaves right after the last byte has left, however fast the server is.
func TestLeaveAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	c := New(Options{})
	for i := range 300 {
		x := c.Send(t.Context(), Shot{Method: "POST", URL: server.URL, Cut: &trace.Cut{At: "sent"}})
		if x.Broke != trace.PhaseCut || x.Response != nil || x.Cut.Done == 0 || x.Wire != 1 {
			t.Fatalf("send %d: broke in %q, answer %v, cut %+v", i, x.Broke, x.Response, x.Cut)
		}
	}
}

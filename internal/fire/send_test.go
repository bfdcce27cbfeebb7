package fire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func TestSend(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Key", r.Header.Get("Idempotency-Key"))
		w.WriteHeader(201)
		w.Write(body)
	}))
	defer server.Close()
	client, sent := New(Options{}), 0
	shot := order(server.URL)
	shot.OnSent = func() { sent++ }
	for n := 1; n <= 2; n++ {
		x := client.Send(t.Context(), shot)
		if !x.Complete() || x.Response.Status != 201 || x.Response.Body.Text != string(shot.Body) {
			t.Fatalf("got %+v, broke %q %s", x.Response, x.Broke, x.Error)
		}
		if x.Conn != n || x.Wire != 1 || sent != n || x.Protocol != "HTTP/1.1" || x.Broke != "" || x.Error != "" {
			t.Errorf("connection %d, wire %d, sent %d, protocol %q, broke %q", x.Conn, x.Wire, sent, x.Protocol, x.Broke)
		}
		if x.Started <= 0 || x.Sent < x.Started || x.FirstByte <= x.Started || x.Done < x.FirstByte || x.Done < x.Sent {
			t.Errorf("times out of order: %d %d %d %d", x.Started, x.Sent, x.FirstByte, x.Done)
		}
		if first := x.Request.Headers[0]; first.Name != "Host" || x.Request.Body.Text != string(shot.Body) {
			t.Errorf("request noted as %+v", x.Request)
		}
	}
}

func TestTLS(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = discardLog()
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(handler)
	defer plain.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	tests := []struct {
		name   string
		o      Options
		url    string
		text   string // the protocol, or the error of one that is not answered
		reason string
	}{
		{"insecure", Options{TLS: insecure()}, server.URL, "HTTP/2 over TLS 1.3", "as asked for"},
		{"roots", Options{TLS: config(roots)}, server.URL, "HTTP/2 over TLS 1.3", "the certificate is trusted"},
		{"h1", Options{TLS: insecure(), Firing: FiringH1}, server.URL, "HTTP/1.1 over TLS 1.3", "HTTP/2 is not offered to the server"},
		{"barrier", Options{TLS: insecure(), Firing: FiringBarrier}, server.URL, "HTTP/1.1 over TLS 1.3", "a barrier is over HTTP/1.1"},
		{"unknown", Options{}, server.URL, "certificate", "the certificate is not trusted"},
		{"plain server", Options{TLS: insecure()}, "https" + strings.TrimPrefix(plain.URL, "http"), "tls: ", "the server does not speak TLS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := New(tt.o).Send(t.Context(), order(tt.url))
			if !strings.HasPrefix(tt.text, "HTTP") {
				wantBroken(t, x, trace.PhaseTLS, tt.text)
				if x.Wire != 0 || x.Conn != 1 {
					t.Errorf("wire %d, connection %d, want a connection and nothing sent", x.Wire, x.Conn)
				}
				return
			}
			if !x.Complete() || x.Response.Body.Text[:6] != tt.text[:6] || x.Protocol != tt.text {
				t.Errorf("got %+v over %q, broke %q %s (%s)", x.Response, x.Protocol, x.Broke, x.Error, tt.reason)
			}
		})
	}
}

func TestNoConnection(t *testing.T) {
	x := New(Options{}).Send(t.Context(), order(closedPort(t)))
	wantBroken(t, x, trace.PhaseDial, "connection refused")
	if x.Wire != 0 || x.Conn != 0 || x.Protocol != "" {
		t.Errorf("wire %d, connection %d, protocol %q, want none", x.Wire, x.Conn, x.Protocol)
	}
}

// TestOneSendIsOneRequest is what the client of net/http does not pass: it sends a keyed POST again when a
// connection that was kept alive drops.
func TestOneSendIsOneRequest(t *testing.T) {
	var seen atomic.Int64
	url := listen(t, func(conn net.Conn) {
		br := bufio.NewReader(conn)
		for answered := false; ; answered = true {
			if _, _, ok := readRequest(br); !ok {
				return
			}
			if seen.Add(1); answered || seen.Load() > 1 {
				return
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	client := New(Options{})
	shot := order(url)
	shot.Header = append(shot.Header, trace.Header{Name: "Connection", Value: "keep-alive"})
	for n := range int64(5) {
		x := client.Send(t.Context(), shot)
		if n > 0 {
			wantBroken(t, x, trace.PhaseAnswer, "closed the connection without an answer")
		}
		if got := seen.Load(); got != n+1 || x.Wire != 1 {
			t.Fatalf("the server saw %d requests after %d sends; wire %d", got, n+1, x.Wire)
		}
	}
}

func TestTimeouts(t *testing.T) {
	drip := func(conn net.Conn, first string) {
		io.WriteString(conn, first)
		for tick := time.Tick(time.Millisecond); ; <-tick {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
		}
	}
	tests := []struct {
		name   string
		serve  func(net.Conn)
		phase  trace.Phase
		reason string
	}{
		{"silent", func(conn net.Conn) { untilGone(conn) }, trace.PhaseAnswer, "nothing comes"},
		{"slow head", func(conn net.Conn) { drip(conn, "HTTP/1.1 200 OK\r\nX-Slow: ") }, trace.PhaseHead, "each byte comes in time, all together do not"},
		{"slow body", func(conn net.Conn) { drip(conn, "HTTP/1.1 200 OK\r\n\r\n") }, trace.PhaseBody, "each byte comes in time, all together do not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := listen(t, func(conn net.Conn) {
				br := bufio.NewReader(conn)
				readRequest(br)
				tt.serve(conn)
			})
			x := New(Options{RequestTimeout: 60 * time.Millisecond}).Send(t.Context(), order(url))
			wantBroken(t, x, tt.phase, "no complete answer within 60ms")
			if took := (x.Done - x.Started).Duration(); took < 50*time.Millisecond {
				t.Errorf("took %v, less than the timeout (%s)", took, tt.reason)
			}
		})
	}
}

func TestServerThatDoesNotRead(t *testing.T) {
	url := listen(t, func(conn net.Conn) { <-t.Context().Done() })
	shot := order(url)
	shot.Body = bytes.Repeat([]byte("x"), 32<<20)
	x := New(Options{RequestTimeout: 100 * time.Millisecond}).Send(t.Context(), shot)
	wantBroken(t, x, trace.PhaseWrite, "no complete answer within 100ms")
	if x.Sent != 0 || x.Wire != 1 {
		t.Errorf("sent %d, wire %d, want begun and not ended", x.Sent, x.Wire)
	}
}

// TestAnswerBeforeTheBody: a server that refuses a large body early is heard, though the body never gets through.
func TestAnswerBeforeTheBody(t *testing.T) {
	url := listen(t, func(conn net.Conn) {
		http.ReadRequest(bufio.NewReader(conn))
		io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno")
		<-t.Context().Done()
	})
	shot := order(url)
	shot.Body = bytes.Repeat([]byte("x"), 32<<20)
	shot.OnSent = func() { t.Error("OnSent was called") }
	x := New(Options{}).Send(t.Context(), shot)
	if !x.Complete() || x.Response.Status != 413 || x.Sent != 0 {
		t.Errorf("got %+v, sent %d, broke %q %s, want 413 and not sent", x.Response, x.Sent, x.Broke, x.Error)
	}
}

func TestCancel(t *testing.T) {
	read := make(chan struct{})
	url := listen(t, func(conn net.Conn) {
		br := bufio.NewReader(conn)
		readRequest(br)
		close(read)
		untilGone(br)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-read
		cancel()
	}()
	client := New(Options{})
	x := client.Send(ctx, order(url))
	wantBroken(t, x, trace.PhaseAnswer, "stopped: context canceled")
	if x.Wire != 1 || x.Sent == 0 {
		t.Errorf("wire %d, sent %d, want once", x.Wire, x.Sent)
	}
	x = client.Send(ctx, order(url))
	wantBroken(t, x, trace.PhaseDial, "stopped: context canceled")
	if x.Wire != 0 {
		t.Errorf("wire %d after the context had ended, want 0", x.Wire)
	}
}

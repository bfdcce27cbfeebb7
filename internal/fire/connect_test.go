package fire

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

// forward is a proxy that connects as asked.
func forward(t *testing.T, asked *atomic.Int64) *url.URL {
	raw := listen(t, func(conn net.Conn) {
		br := bufio.NewReader(conn)
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		asked.Add(1)
		if r.Method != "CONNECT" || r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:secret")) {
			io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		to, err := net.Dial("tcp", r.RequestURI)
		if err != nil {
			io.WriteString(conn, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
			return
		}
		defer to.Close()
		io.WriteString(conn, "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
		var wg sync.WaitGroup
		wg.Go(func() {
			io.Copy(to, br)
			to.(*net.TCPConn).CloseWrite()
		})
		io.Copy(conn, to)
		conn.Close()
		wg.Wait()
	})
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("me", "secret")
	return u
}

// always is a proxy for every URL.
func always(proxy *url.URL) func(*url.URL) *url.URL {
	return func(*url.URL) *url.URL { return proxy }
}

func TestProxy(t *testing.T) {
	var asked atomic.Int64
	proxy := forward(t, &asked)
	plain := httptest.NewServer(http.HandlerFunc(echo))
	defer plain.Close()
	for target, protocol := range map[string]string{plain.URL: "HTTP/1.1", serveH2(t, true, nil, echo): "HTTP/2 over TLS 1.3"} {
		client := New(Options{TLS: insecure(), Proxy: always(proxy)})
		shots, want := mixed(target)
		exchanges, burst := client.Volley(t.Context(), shots)
		for i, x := range append(exchanges, client.Send(t.Context(), shots[0])) {
			if !x.Complete() || x.Response.Body.Text != want[i%len(want)] || x.Protocol != protocol {
				t.Errorf("%+v over %q, broke in %q: %s", x.Response, x.Protocol, x.Broke, x.Error)
			}
		}
		if burst.Copies != 5 {
			t.Errorf("burst %+v", burst)
		}
	}
	if n := asked.Load(); n != 6+2 {
		t.Errorf("the proxy was asked %d times, want 8", n)
	}
}

func TestBadProxy(t *testing.T) {
	var asked atomic.Int64
	stranger := *forward(t, &asked)
	stranger.User = nil
	says := func(text string) *url.URL {
		u, _ := url.Parse(listen(t, func(conn net.Conn) {
			readRequest(bufio.NewReader(conn))
			io.WriteString(conn, text)
			conn.(*net.TCPConn).CloseWrite()
			untilGone(conn)
		}))
		return u
	}
	silent, _ := url.Parse(listen(t, func(conn net.Conn) { untilGone(conn) }))
	tests := []struct {
		name   string
		proxy  *url.URL
		text   string
		reason string
	}{
		{"refuses", &stranger, `refuses to connect to 127.0.0.1:1: it answers "HTTP/1.1 407`, "its answer is shown"},
		{"target down", forward(t, &asked), `it answers "HTTP/1.1 502`, "the proxy says so"},
		{"no proxy", says("SSH-2.0\r\n\r\n"), `it answers "SSH-2.0"`, "another protocol is named by what it says"},
		{"closes", says(""), "does not answer CONNECT 127.0.0.1:1: EOF", "nothing came"},
		{"large head", says("HTTP/1.1 200 OK\r\n" + strings.Repeat("x", 5<<10)), "larger than 4096 bytes", "heads are bounded"},
		{"silent", silent, "no connection within 200ms", "the time for a connection holds"},
		{"https", &url.URL{Scheme: "https", Host: "127.0.0.1:1"}, "expected a proxy such as http://", "TLS to a proxy is not spoken"},
		{"down", &url.URL{Scheme: "http", Host: strings.TrimPrefix(closedPort(t), "http://")}, ": dial tcp", "nobody listens at the proxy, which is named"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			limit := 10 * time.Second
			if tt.name == "silent" {
				limit = 200 * time.Millisecond
			}
			x := New(Options{Proxy: always(tt.proxy), ConnectTimeout: limit}).Send(t.Context(), order("http://127.0.0.1:1"))
			wantBroken(t, x, trace.PhaseDial, tt.text)
			if x.Wire != 0 || strings.Contains(x.Error, "secret") {
				t.Errorf("wire %d, error %q", x.Wire, x.Error)
			}
		})
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	server.Listener.Close()
	server.Listener = l
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.Protocols.SetHTTP1(true)
	server.Start()
	defer server.Close()
	for _, firing := range []string{FiringAuto, FiringH2, FiringBarrier} {
		client := New(Options{UnixSocket: path, Firing: firing})
		shots, want := mixed("http://shop.test")
		exchanges, burst := client.Volley(t.Context(), shots)
		for i, x := range exchanges {
			if !x.Complete() || x.Response.Body.Text != want[i] {
				t.Errorf("%+v, broke in %q: %s", x.Response, x.Broke, x.Error)
			}
		}
		shots[0].Cut = &trace.Cut{At: "headers", By: "reset"}
		if x := client.Send(t.Context(), shots[0]); burst.Copies != 5 || x.Broke != trace.PhaseCut || (x.Cut.By == "close") != (firing != FiringH2) {
			t.Errorf("burst %+v, broke in %q, cut %+v", burst, x.Broke, x.Cut)
		}
	}
}

// TestManyConnections: as many handshakes as there should be are under way at once, and the others wait for them
// without losing their time.
func TestManyConnections(t *testing.T) {
	var inside, most atomic.Int64
	full := make(chan struct{})
	fill := sync.OnceFunc(func() { close(full) })
	server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	server.Config.ErrorLog = discardLog()
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		n := inside.Add(1)
		defer inside.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == dialling {
			fill()
		}
		<-full
		return nil, nil
	}}
	server.StartTLS()
	defer server.Close()
	const n = 3 * dialling
	exchanges, burst := New(Options{TLS: insecure(), Firing: FiringH1}).Volley(t.Context(), slices.Repeat([]Shot{order(server.URL)}, n))
	for i, x := range exchanges {
		if !x.Complete() {
			t.Fatalf("shot %d broke in %q: %s", i, x.Broke, x.Error)
		}
	}
	if burst.Copies != n || most.Load() > dialling {
		t.Errorf("burst of %d, %d handshakes at once", burst.Copies, most.Load())
	}
}

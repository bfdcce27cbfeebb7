package fire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"retrysafe/internal/trace"
)

// serveH2 starts a server of net/http that speaks HTTP/2: over TLS, or h2c by prior knowledge.
func serveH2(t testing.TB, secure bool, config *http.HTTP2Config, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = discardLog()
	server.Config.HTTP2 = config
	server.EnableHTTP2 = secure
	if secure {
		server.StartTLS()
	} else {
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL
}

// clientFor speaks HTTP/2 to the URL: as negotiated, or because it is told to.
func clientFor(url string, o Options) *Client {
	o.TLS = insecure()
	if strings.HasPrefix(url, "http:") {
		o.Firing = FiringH2
	}
	return New(o)
}

func TestVolleyH2(t *testing.T) {
	for secure, protocol := range map[bool]string{true: "HTTP/2 over TLS 1.3", false: "HTTP/2"} {
		t.Run(protocol, func(t *testing.T) {
			url := serveH2(t, secure, nil, echo)
			shots, want := mixed(url)
			sent := 0
			for i := range shots {
				shots[i].OnSent = func() { sent++ }
			}
			exchanges, burst := clientFor(url, Options{}).Volley(t.Context(), shots)
			for i, x := range exchanges {
				if !x.Complete() || x.Response.Body.Text != want[i] || x.Wire != 1 || x.Conn != 1 || x.Protocol != protocol {
					t.Errorf("shot %d: %+v over %s, wire %d, connection %d, broke %q %s", i, x.Response, x.Protocol, x.Wire, x.Conn, x.Broke, x.Error)
				}
				if x.Started == 0 || x.Started > x.Sent || x.Sent != burst.Release[0] || x.FirstByte < x.Started || x.Done < x.FirstByte {
					t.Errorf("shot %d: times %d %d %d %d, release %d", i, x.Started, x.Sent, x.FirstByte, x.Done, burst.Release)
				}
				if x.Request.Headers[0].Name != "host" || slices.ContainsFunc(x.Request.Headers, func(h trace.Header) bool { return h.Name == "connection" }) {
					t.Errorf("shot %d: sent headers noted as %v", i, x.Request.Headers)
				}
			}
			if burst.Technique != "http/2 last data byte or end of stream in one write" || burst.Fallback != "" ||
				burst.Copies != 5 || burst.Connections != 1 || sent != 5 || len(burst.Release) != 5 || burst.Spread != 0 {
				t.Errorf("burst %+v, sent %d", burst, sent)
			}
			if burst.RTT <= 0 || burst.Jitter <= 0 {
				t.Errorf("RTT %d, jitter %d", burst.RTT, burst.Jitter)
			}
		})
	}
}

// TestReleaseH2: before the release a PING follows the requests, of each of which the very end is missing; after it all
// ends come in one piece.
func TestReleaseH2(t *testing.T) {
	const n = 20
	tests := []struct {
		technique string
		body      string
		end       int // bytes of the last frame, without its head
		reason    string
	}{
		{"http/2 last data byte in one write", `{"item":"tea"}`, 1, "the last byte ends the stream"},
		{"http/2 last data byte in one write", `x`, 1, "a body of one byte is held back whole"},
	}
	for _, tt := range tests {
		t.Run(tt.technique+" "+tt.body, func(t *testing.T) {
			url := listenRaw(t, func(r *raw) {
				r.WriteSettings()
				got := map[uint32]int{}
				r.mute = true // acknowledges by itself below
				for {
					f, err := r.ReadFrame()
					if err != nil {
						t.Error(err)
						return
					}
					if id, ended := ends(f); ended {
						t.Errorf("stream %d ended before the release", id)
					}
					if f.Header().Type == http2.FrameHeaders || f.Header().Type == http2.FrameData {
						got[f.Header().StreamID] += int(f.Header().Length) * int(f.Header().Type^1) // DATA is type 0
					}
					if ping, ok := f.(*http2.PingFrame); ok {
						r.pings++
						r.WritePing(true, ping.Data)
						if r.pings == warmPings+1 {
							break
						}
					}
				}
				for id, bytes := range got {
					if bytes != len(tt.body)-tt.end {
						t.Errorf("%d bytes of stream %d came before the release, of %d", bytes, id, len(tt.body))
					}
				}
				piece := make([]byte, 64<<10)
				size, err := r.conn.Read(piece)
				if len(got) != n || size != n*(9+tt.end) {
					t.Errorf("the release of %d streams came in a piece of %d bytes, %v", len(got), size, err)
				}
				for id := range got {
					r.ok(id)
				}
				untilGone(r.conn)
			})
			shot := Shot{Method: "POST", URL: url, Body: []byte(tt.body)}
			exchanges, burst := New(Options{Firing: FiringH2}).Volley(t.Context(), slices.Repeat([]Shot{shot}, n))
			for i, x := range exchanges {
				if !x.Complete() {
					t.Fatalf("shot %d broke in %q: %s", i, x.Broke, x.Error)
				}
			}
			if burst.Technique != tt.technique || burst.Copies != n {
				t.Errorf("burst %+v (%s)", burst, tt.reason)
			}
		})
	}
}

// TestLanes shows that shots of two lanes never share a connection over HTTP/2, and are one burst all the same.
func TestLanes(t *testing.T) {
	url := serveH2(t, true, nil, echo)
	shots := slices.Repeat([]Shot{order(url)}, 5)
	for i := range shots {
		shots[i].Lane = i % 2
	}
	exchanges, burst := clientFor(url, Options{}).Volley(t.Context(), shots)
	for i, x := range exchanges {
		if !x.Complete() || x.Wire != 1 || x.Conn == exchanges[1-i%2].Conn || x.Conn != exchanges[i%2].Conn {
			t.Errorf("shot %d: connection %d, wire %d, %s", i, x.Conn, x.Wire, x.Error)
		}
	}
	if burst.Copies != 5 || burst.Connections != 2 || burst.Fallback != "" || burst.Technique != "http/2 last data byte in one write" {
		t.Errorf("burst %+v", burst)
	}
	if spread := burst.Spread.Duration(); spread <= 0 || len(burst.Release) != 5 {
		t.Errorf("released %v", burst.Release)
	}
}

// TestReleaseWithoutBodyH2: requests without a body come whole and in one piece, because a server starts them when their
// headers are there.
func TestReleaseWithoutBodyH2(t *testing.T) {
	const n = 20
	url := listenRaw(t, func(r *raw) {
		r.WriteSettings()
		r.mute = true // acknowledges by itself below
		for r.pings < warmPings+1 {
			f, err := r.ReadFrame()
			if err != nil {
				t.Error(err)
				return
			}
			switch f := f.(type) {
			case *http2.HeadersFrame:
				t.Errorf("stream %d began before the release", f.StreamID)
			case *http2.PingFrame:
				r.pings++
				r.WritePing(true, f.Data)
			}
		}
		piece := make([]byte, 64<<10)
		size, err := r.conn.Read(piece)
		if err != nil {
			t.Error(err)
			return
		}
		whole := 0
		frames := http2.NewFramer(nil, bytes.NewReader(piece[:size]))
		for {
			f, err := frames.ReadFrame()
			if err != nil {
				break
			}
			if h, ok := f.(*http2.HeadersFrame); ok && h.StreamEnded() {
				whole++
				r.ok(h.StreamID)
			}
		}
		if whole != n {
			t.Errorf("%d whole requests came in one piece, want %d", whole, n)
		}
		untilGone(r.conn)
	})
	shot := Shot{Method: "POST", URL: url}
	exchanges, burst := New(Options{Firing: FiringH2, RequestTimeout: 5 * time.Second}).Volley(t.Context(), slices.Repeat([]Shot{shot}, n))
	for i, x := range exchanges {
		if !x.Complete() || x.Wire != 1 || x.Started == 0 || x.Sent < x.Started {
			t.Fatalf("shot %d: broke in %q: %s, wire %d", i, x.Broke, x.Error, x.Wire)
		}
	}
	if burst.Technique != "http/2 whole requests in one write" || burst.Copies != n {
		t.Errorf("burst %+v", burst)
	}
}

func TestStreamLimit(t *testing.T) {
	var requests atomic.Int64
	url := serveH2(t, true, &http.HTTP2Config{MaxConcurrentStreams: 10}, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		echo(w, r)
	})
	exchanges, burst := clientFor(url, Options{}).Volley(t.Context(), slices.Repeat([]Shot{order(url)}, 25))
	conns := map[int]int{}
	for i, x := range exchanges {
		if !x.Complete() || x.Wire != 1 {
			t.Fatalf("shot %d: wire %d, broke in %q: %s", i, x.Wire, x.Broke, x.Error)
		}
		conns[x.Conn]++
	}
	if len(conns) != 3 || burst.Connections != 3 || burst.Copies != 25 || requests.Load() != 25 {
		t.Errorf("connections %v, burst %+v, %d requests", conns, burst, requests.Load())
	}
	if want := "the server allows 10 streams on a connection, so they were released over 3"; burst.Fallback != want {
		t.Errorf("fallback %q, want %q", burst.Fallback, want)
	}
}

// TestBodiesH2 sends bodies larger than any window or frame, and headers larger than a frame.
func TestBodiesH2(t *testing.T) {
	url := serveH2(t, true, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", fmt.Sprint(len(r.Header.Get("X-Long"))))
		w.Header().Set("Trailer", "X-End")
		w.WriteHeader(http.StatusEarlyHints)
		io.Copy(w, r.Body)
		w.Header().Set("X-End", "1")
	})
	shot := order(url)
	shot.Header = append(shot.Header, trace.Header{Name: "X-Long", Value: strings.Repeat("x", 40_000)})
	shot.Body = bytes.Repeat([]byte("0123456789"), 300_000)
	client := clientFor(url, Options{BodyLimit: 4 << 20})
	exchanges, burst := client.Volley(t.Context(), []Shot{shot, shot, order(url)})
	for i, x := range append(exchanges, client.Send(t.Context(), shot)) {
		want := shot.Body
		if i == 2 {
			want = order(url).Body
		}
		if !x.Complete() || x.Response.Body.Text != string(want) || x.Response.Status != 200 {
			t.Errorf("shot %d: broke in %q: %s", i, x.Broke, x.Error)
		}
		if i != 2 && x.Complete() && !slices.Contains(x.Response.Headers, trace.Header{Name: "x-long", Value: "40000"}) {
			t.Errorf("shot %d: headers %v", i, x.Response.Headers)
		}
	}
	if burst.Copies != 3 {
		t.Errorf("burst %+v", burst)
	}
}

// TestWithoutH2: what is asked for cannot be had.
func TestWithoutH2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	server.Config.ErrorLog = discardLog()
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(http.HandlerFunc(echo))
	defer plain.Close()
	tests := []struct {
		name, firing, url string
		phase             trace.Phase // empty: answered
		text              string      // the error, or the fallback
		technique         string
	}{
		{"auto", FiringAuto, server.URL, "", "the server does not offer HTTP/2", "http/1.1 last byte over TLS"},
		{"h1", FiringH1, server.URL, "", "", "http/1.1 last byte over TLS"},
		{"barrier", FiringBarrier, server.URL, "", "", "barrier"},
		{"plain barrier", FiringBarrier, plain.URL, "", "", "barrier"},
		{"plain auto", FiringAuto, plain.URL, "", "", "http/1.1 last byte"},
		{"h2", FiringH2, server.URL, trace.PhaseTLS, "does not offer HTTP/2 (ALPN): use firing auto or h1", "http/2 last data byte in one write"},
		{"h2c", FiringH2, plain.URL, trace.PhaseDial, `an answer that begins with "HTTP/1.1 `, "http/2 last data byte in one write"},
		{"unknown", "h3", plain.URL, trace.PhaseDial, `firing "h3" is not known`, "http/1.1 last byte"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := New(Options{TLS: insecure(), Firing: tt.firing})
			exchanges, burst := client.Volley(t.Context(), []Shot{order(tt.url), order(tt.url), order(tt.url)})
			if burst.Technique != tt.technique {
				t.Errorf("technique %q, want %q", burst.Technique, tt.technique)
			}
			for _, x := range append(exchanges, client.Send(t.Context(), order(tt.url))) {
				if tt.phase != "" {
					wantBroken(t, x, tt.phase, tt.text)
				} else if !x.Complete() || x.Wire != 1 {
					t.Errorf("wire %d, broke in %q: %s", x.Wire, x.Broke, x.Error)
				}
			}
			if tt.phase == "" && (burst.Fallback != tt.text || burst.Copies != 3 || burst.Connections != 3 || burst.RTT == 0) {
				t.Errorf("burst %+v, want fallback %q", burst, tt.text)
			}
			if tt.phase == "" {
				wantSorted(t, exchanges, burst)
			}
		})
	}
}

// TestMixedVolley releases over both versions together, to servers of both kinds.
func TestMixedVolley(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(echo))
	defer plain.Close()
	secure := serveH2(t, true, nil, echo)
	exchanges, burst := New(Options{TLS: insecure()}).Volley(t.Context(), []Shot{order(plain.URL), order(secure), order(plain.URL), order(secure), order(closedPort(t))})
	for i, protocol := range []string{"HTTP/1.1", "HTTP/2 over TLS 1.3", "HTTP/1.1", "HTTP/2 over TLS 1.3"} {
		if x := exchanges[i]; !x.Complete() || x.Protocol != protocol {
			t.Errorf("shot %d over %q, broke in %q: %s", i, x.Protocol, x.Broke, x.Error)
		}
	}
	wantBroken(t, exchanges[4], trace.PhaseDial, "connection refused")
	if burst.Technique != "http/2 last data byte in one write and http/1.1 last byte" || burst.Copies != 4 || burst.Connections != 3 || burst.Fallback != "" {
		t.Errorf("burst %+v", burst)
	}
	wantSorted(t, exchanges[:4], burst)
}

// wantSorted checks that the burst is made of the moments of sending.
func wantSorted(t *testing.T, exchanges []trace.Exchange, burst trace.Burst) {
	t.Helper()
	var sent []trace.Nanos
	for _, x := range exchanges {
		if x.Sent < x.Started {
			t.Errorf("started %d, sent %d", x.Started, x.Sent)
		}
		sent = append(sent, x.Sent)
	}
	if slices.Sort(sent); !slices.Equal(sent, burst.Release) {
		t.Errorf("sent %d, release %d", sent, burst.Release)
	}
}

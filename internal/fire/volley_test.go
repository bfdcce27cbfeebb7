package fire

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

// echo answers with what it got.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL, r.Header.Get("Idempotency-Key"), body)
}

// mixed are different requests to one server, and what echo answers to them.
func mixed(url string) (shots []Shot, want []string) {
	for i := range 4 {
		s := order(url)
		s.URL = fmt.Sprintf("%s/orders?n=%d", url, i)
		s.Header = []trace.Header{{Name: "Idempotency-Key", Value: fmt.Sprint("k", i)}}
		s.Body = bytes.Repeat([]byte{byte('a' + i)}, 1+i*3000)
		shots = append(shots, s)
		want = append(want, fmt.Sprintf("POST /orders?n=%d k%d %s", i, i, s.Body))
	}
	shots = append(shots, Shot{Method: "DELETE", URL: url + "/orders/7"})
	return shots, append(want, "DELETE /orders/7  ")
}

func TestVolley(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(echo))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(echo))
	defer secure.Close()
	for url, technique := range map[string]string{plain.URL: "http/1.1 last byte", secure.URL: "http/1.1 last byte over TLS"} {
		t.Run(technique, func(t *testing.T) {
			shots, want := mixed(url)
			sent := 0
			for i := range shots {
				shots[i].OnSent = func() { sent++ }
			}
			exchanges, burst := New(Options{TLS: insecure()}).Volley(t.Context(), shots)
			for i, x := range exchanges {
				if !x.Complete() || x.Response.Body.Text != want[i] || x.Wire != 1 {
					t.Errorf("shot %d: %+v, wire %d, broke %q %s", i, x.Response, x.Wire, x.Broke, x.Error)
				}
				if x.Started == 0 || x.Sent < x.Started {
					t.Errorf("shot %d: started %d, sent %d", i, x.Started, x.Sent)
				}
			}
			if burst.Technique != technique || burst.Copies != 5 || burst.Connections != 5 || sent != 5 {
				t.Errorf("burst %+v, sent %d", burst, sent)
			}
			wantRelease(t, exchanges, burst)
		})
	}
}

// wantRelease checks that the burst is made of the moments of sending, and measured right.
func wantRelease(t *testing.T, exchanges []trace.Exchange, burst trace.Burst) {
	t.Helper()
	var sent []trace.Nanos
	conns := map[int]bool{}
	for _, x := range exchanges {
		if x.Sent != 0 {
			sent = append(sent, x.Sent)
			conns[x.Conn] = true
		}
	}
	slices.Sort(sent)
	if !slices.Equal(sent, burst.Release) || len(conns) != len(sent) || burst.Copies != len(sent) {
		t.Fatalf("sent %d over %d connections, burst %+v", sent, len(conns), burst)
	}
	for _, x := range exchanges {
		if x.Sent != 0 && x.Started >= burst.Release[0] {
			t.Errorf("a request was begun at %d, after the first release at %d", x.Started, burst.Release[0])
		}
	}
	if last := len(sent) - 1; burst.Spread != sent[last]-sent[0] || burst.FirstGap != sent[1]-sent[0] {
		t.Errorf("spread %d, first gap %d of %d", burst.Spread, burst.FirstGap, sent)
	}
}

// TestNothingIsReleasedEarly stops the volley by not reading one of its requests, which is larger than what the
// system buffers: as long as it is not written, no last byte of another may arrive.
func TestNothingIsReleasedEarly(t *testing.T) {
	const small = 3
	var held sync.WaitGroup
	held.Add(small)
	url := listen(t, func(conn net.Conn) {
		br := bufio.NewReader(conn)
		r, err := http.ReadRequest(br)
		if err != nil {
			t.Error(err)
			return
		}
		if r.ContentLength > 1000 {
			held.Wait()
		} else {
			holdsBack(t, conn, r)
			held.Done()
		}
		io.Copy(io.Discard, r.Body)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	shots := slices.Repeat([]Shot{order(url)}, small)
	large := order(url)
	large.Body = bytes.Repeat([]byte("x"), 32<<20)
	exchanges, burst := New(Options{}).Volley(t.Context(), append(shots, large))
	for i, x := range exchanges {
		if !x.Complete() {
			t.Errorf("shot %d broke in %q: %s", i, x.Broke, x.Error)
		}
	}
	if burst.Copies != small+1 {
		t.Errorf("released %d, want all", burst.Copies)
	}
}

// holdsBack reads all that comes of a body within 30 ms. At most two bytes may be missing, and one must be.
func holdsBack(t *testing.T, conn net.Conn, r *http.Request) {
	conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	n, err := io.Copy(io.Discard, r.Body)
	conn.SetReadDeadline(time.Time{})
	if missing := r.ContentLength - n; err == nil || missing < 1 || missing > 2 {
		t.Errorf("%d of %d bytes came before the release (%v)", n, r.ContentLength, err)
	}
	// A body does not go on after an error, so the rest is read here.
	r.Body = io.NopCloser(io.LimitReader(conn, r.ContentLength-n))
}

func TestVolleyWithDeadTargets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	invalid := order(server.URL)
	invalid.Method = ""
	shots := []Shot{order(server.URL), order(closedPort(t)), order(server.URL), invalid, order(server.URL)}
	exchanges, burst := New(Options{}).Volley(t.Context(), shots)
	for _, i := range []int{0, 2, 4} {
		if x := exchanges[i]; !x.Complete() || x.Response.Status != 200 {
			t.Errorf("shot %d broke in %q: %s", i, x.Broke, x.Error)
		}
	}
	wantBroken(t, exchanges[1], trace.PhaseDial, "connection refused")
	wantBroken(t, exchanges[3], trace.PhaseDial, "not sent: ")
	if burst.Copies != 3 || exchanges[1].Wire != 0 || exchanges[3].Wire != 0 {
		t.Errorf("burst %+v, wire %d and %d", burst, exchanges[1].Wire, exchanges[3].Wire)
	}
	wantRelease(t, exchanges, burst)
}

// TestVolleyAnsweredEarly: one server answers 413 and leaves while its last byte is held back.
func TestVolleyAnsweredEarly(t *testing.T) {
	early := listen(t, func(conn net.Conn) {
		http.ReadRequest(bufio.NewReader(conn))
		io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno")
	})
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	exchanges, burst := New(Options{}).Volley(t.Context(), []Shot{order(server.URL), order(early), order(server.URL)})
	for i, want := range []int{200, 413, 200} {
		if x := exchanges[i]; !x.Complete() || x.Response.Status != want {
			t.Errorf("shot %d: %+v, broke in %q: %s", i, x.Response, x.Broke, x.Error)
		}
	}
	wantRelease(t, exchanges, burst)
}

// TestVolleyThatOneServerStalls: a request that is not read ends in time, and the others are released before theirs is up.
func TestVolleyThatOneServerStalls(t *testing.T) {
	stalled := listen(t, func(conn net.Conn) { <-t.Context().Done() })
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	large := order(stalled)
	large.Body = bytes.Repeat([]byte("x"), 32<<20)
	client := New(Options{RequestTimeout: 2 * time.Second})
	exchanges, burst := client.Volley(t.Context(), []Shot{order(server.URL), large, order(server.URL)})
	wantBroken(t, exchanges[1], trace.PhaseWrite, "no complete answer")
	if !exchanges[0].Complete() || !exchanges[2].Complete() || burst.Copies != 2 {
		t.Errorf("broke %q and %q, burst %+v", exchanges[0].Error, exchanges[2].Error, burst)
	}
}

func TestVolleyCut(t *testing.T) {
	gone := make(chan error, 1)
	url := listen(t, func(conn net.Conn) {
		br := bufio.NewReader(conn)
		if r, _, _ := readRequest(br); r.Header.Get("X-Wait") != "" {
			gone <- untilGone(br)
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	leaving := order(url)
	leaving.Header = append(leaving.Header, trace.Header{Name: "X-Wait", Value: "1"})
	leaving.Cut = &trace.Cut{At: "sent"}
	exchanges, burst := New(Options{}).Volley(t.Context(), []Shot{order(url), leaving})
	wantBroken(t, exchanges[1], trace.PhaseCut, "on purpose")
	if !exchanges[0].Complete() || burst.Copies != 2 || exchanges[1].Cut.Done < exchanges[1].Sent {
		t.Errorf("got %+v, cut %+v, burst %+v", exchanges[0].Response, exchanges[1].Cut, burst)
	}
	if err := <-gone; err != io.EOF {
		t.Errorf("the server saw %v, want the end of the connection", err)
	}
}

func TestVolleyStopped(t *testing.T) {
	var connected sync.WaitGroup
	connected.Add(2)
	url := listen(t, func(conn net.Conn) {
		connected.Done()
		untilGone(conn)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		connected.Wait()
		cancel()
	}()
	exchanges, _ := New(Options{}).Volley(ctx, slices.Repeat([]Shot{order(url)}, 2))
	for i, x := range exchanges {
		if x.Complete() || x.Error != "stopped: context canceled" {
			t.Errorf("shot %d: %+v, broke in %q: %q", i, x.Response, x.Broke, x.Error)
		}
	}
}

func TestEmptyVolley(t *testing.T) {
	exchanges, burst := New(Options{}).Volley(t.Context(), nil)
	if len(exchanges) != 0 || burst.Copies != 0 || burst.Technique != "http/1.1 last byte" {
		t.Errorf("got %v, %+v", exchanges, burst)
	}
}

func TestHoldBack(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	tests := []struct {
		name   string
		took   []time.Duration
		answer time.Duration // 0: none was seen
		want   int
		reason string
	}{
		{"same machine", []time.Duration{90 * us, 3 * ms}, 300 * us, 2, "the quickest connection and answer tell the distance"},
		{"network", []time.Duration{2 * ms, 3 * ms}, 300 * us, 1, "a second segment would add its own delay"},
		{"proxy", []time.Duration{90 * us}, 4 * ms, 1, "what answers the connection is near, the server is not"},
		{"unknown", []time.Duration{90 * us}, 0, 1, "it may be a proxy"},
		{"none", nil, 300 * us, 1, "nothing to release"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := New(Options{})
			var flights []*flight
			for _, took := range tt.took {
				f := client.prepare(order("http://127.0.0.1:1"), false)
				f.link.took = took
				flights = append(flights, f)
				client.answers.saw(address(f.url), &trace.Exchange{Sent: 1, FirstByte: 1 + trace.Nanos(tt.answer)})
				client.answers.saw(address(f.url), &trace.Exchange{FirstByte: 1})
			}
			if got := holdBack(flights); got != tt.want {
				t.Errorf("holds back %d bytes, want %d (%s)", got, tt.want, tt.reason)
			}
		})
	}
}

// TestVolleyFromAfar releases in the way that is used through a network: one byte is held back, none goes ahead.
func TestVolleyFromAfar(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	client := New(Options{})
	shots, want := mixed(server.URL)
	flights := make([]*flight, len(shots))
	for i, s := range shots {
		flights[i] = client.prepare(s, false)
	}
	const back = 1
	for _, f := range flights {
		if !f.dial(t.Context()) || !f.begin(t.Context(), time.Second) || !f.load(back) {
			t.Fatal(f.x.Broke, f.x.Error, f.writeErr)
		}
	}
	at := map[*flight]trace.Nanos{}
	released := client.loose(hold(flights, back), at)
	for _, f := range released {
		f.sent(at[f])
	}
	finishAll(t.Context(), flights)
	for i, f := range flights {
		if !f.x.Complete() || f.x.Response.Body.Text != want[i] {
			t.Errorf("shot %d: %+v, broke in %q: %s", i, f.x.Response, f.x.Broke, f.x.Error)
		}
	}
	if len(released) != len(shots) {
		t.Errorf("released %d of %d", len(released), len(shots))
	}
}

func TestLargeVolley(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	const n = 200
	exchanges, burst := New(Options{}).Volley(t.Context(), slices.Repeat([]Shot{order(server.URL)}, n))
	for i, x := range exchanges {
		if !x.Complete() {
			t.Fatalf("shot %d broke in %q: %s", i, x.Broke, x.Error)
		}
	}
	if burst.Copies != n {
		t.Errorf("released %d of %d", burst.Copies, n)
	}
	wantRelease(t, exchanges, burst)
}

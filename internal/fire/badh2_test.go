package fire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"retrysafe/internal/trace"
)

// TestAnswersH2 sends one request to servers that answer it in all kinds of ways.
func TestAnswersH2(t *testing.T) {
	settings := func(r *raw) { r.WriteSettings() }
	tests := []struct {
		name   string
		method string
		hello  func(*raw) // nil sends SETTINGS
		serve  func(r *raw, id uint32)
		status int
		body   string
		phase  trace.Phase // empty for a complete answer
		text   string
		reason string
	}{
		{name: "usual", serve: func(r *raw, id uint32) { r.ok(id) }, status: 200, body: "ok", reason: "headers and data"},
		{name: "no body", serve: func(r *raw, id uint32) { r.head(id, true, block(204)) }, status: 204, reason: "the headers end the stream"},
		{name: "head", method: "HEAD", serve: func(r *raw, id uint32) { r.head(id, true, block(200, "content-length", "5")) }, status: 200, reason: "the length is not that of this answer"},
		{name: "interim", serve: func(r *raw, id uint32) {
			r.head(id, false, block(103, "link", "</a>"))
			r.head(id, false, block(100))
			r.ok(id)
		}, status: 200, body: "ok", reason: "interim answers are skipped"},
		{name: "trailers", serve: func(r *raw, id uint32) {
			r.head(id, false, block(201))
			r.WriteData(id, false, []byte("ok"))
			r.head(id, true, block(0, "grpc-status", "0"))
		}, status: 201, body: "ok", reason: "trailers end the answer"},
		{name: "padding", serve: func(r *raw, id uint32) {
			r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block(200), EndHeaders: true, PadLength: 200})
			r.WriteDataPadded(id, true, []byte("ok"), make([]byte, 250))
		}, status: 200, body: "ok", reason: "padding is no part of the body"},
		{name: "continuation", serve: func(r *raw, id uint32) {
			b := block(200, "x-a", strings.Repeat("abc", 100))
			r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b[:5]})
			r.WriteContinuation(id, false, b[5:9])
			r.WriteContinuation(id, true, b[9:])
			r.WriteData(id, true, []byte("ok"))
		}, status: 200, body: "ok", reason: "a header block may come in pieces"},
		{name: "unknown frames", serve: func(r *raw, id uint32) {
			r.WriteRawFrame(0xfa, 0xff, id, []byte("?"))
			r.WriteRawFrame(http2.FramePriority, 0, id, []byte{0, 0, 0, 0, 1})
			r.WritePing(false, [8]byte{1})
			r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
			r.ok(id)
			r.WriteData(id+20, false, []byte("nobody's"))
		}, status: 200, body: "ok", reason: "what is unknown is ignored"},
		{name: "refused", serve: func(r *raw, id uint32) { r.WriteRSTStream(id, http2.ErrCodeRefusedStream) },
			phase: trace.PhaseAnswer, text: "the server reset the stream: REFUSED_STREAM", reason: "recorded, not sent again"},
		{name: "reset in the body", serve: func(r *raw, id uint32) {
			r.head(id, false, block(200, "content-length", "5"))
			r.WriteData(id, false, []byte("ok"))
			r.WriteRSTStream(id, http2.ErrCodeInternal)
		}, phase: trace.PhaseBody, text: "status 200, then after 2 of 5 bytes of the body: the server reset the stream: INTERNAL_ERROR", reason: "half an answer is none"},
		{name: "short body", serve: func(r *raw, id uint32) {
			r.head(id, false, block(200, "content-length", "5"))
			r.WriteData(id, true, []byte("ok"))
		}, phase: trace.PhaseBody, text: "after 2 of 5 bytes", reason: "less than announced is malformed"},
		{name: "goaway", serve: func(r *raw, id uint32) { r.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("too many")) },
			phase: trace.PhaseAnswer, text: `GOAWAY (ENHANCE_YOUR_CALM) "too many" and did not process`, reason: "the request was not processed"},
		{name: "goaway and gone", serve: func(r *raw, id uint32) { r.WriteGoAway(id, http2.ErrCodeNo, nil); r.conn.Close() },
			phase: trace.PhaseAnswer, text: "the server sent GOAWAY (NO_ERROR)", reason: "it may have processed it"},
		{name: "goaway and answer", serve: func(r *raw, id uint32) { r.WriteGoAway(id, http2.ErrCodeNo, nil); r.ok(id) }, status: 200, body: "ok", reason: "a graceful shutdown answers"},
		{name: "closed", serve: func(r *raw, id uint32) { r.conn.Close() }, phase: trace.PhaseAnswer, text: "closed the connection without an answer", reason: "ambiguous"},
		{name: "closed in the head", serve: func(r *raw, id uint32) {
			r.conn.Write([]byte{0, 0, 90, 1, 4, 0, 0, 0, byte(id), 0x88})
			r.conn.Close()
		}, phase: trace.PhaseHead, text: "EOF", reason: "the head is incomplete"},
		{name: "garbage", serve: func(r *raw, id uint32) { io.WriteString(r.conn, strings.Repeat("garbage!", 20)) },
			phase: trace.PhaseAnswer, text: "frame too large", reason: "malformed is evidence"},
		{name: "data first", serve: func(r *raw, id uint32) { r.WriteData(id, true, []byte("ok")) }, phase: trace.PhaseAnswer, text: "DATA before the headers", reason: "malformed is evidence"},
		{name: "no status", serve: func(r *raw, id uint32) { r.head(id, true, block(0, "a", "b")) }, phase: trace.PhaseHead, text: `status ""`, reason: "malformed is evidence"},
		{name: "101", serve: func(r *raw, id uint32) { r.head(id, true, block(101)) }, phase: trace.PhaseHead, text: `status "101"`, reason: "HTTP/2 has no upgrade"},
		{name: "upper case", serve: func(r *raw, id uint32) { r.head(id, true, block(200, "X-A", "b")) }, phase: trace.PhaseHead, text: "PROTOCOL_ERROR", reason: "names are in lower case"},
		{name: "interim end", serve: func(r *raw, id uint32) { r.head(id, true, block(100)) }, phase: trace.PhaseHead, text: "status 100 ends the answer", reason: "an interim answer is no answer"},
		{name: "two heads", serve: func(r *raw, id uint32) { r.head(id, false, block(200)); r.head(id, false, block(200)) }, phase: trace.PhaseBody, text: "trailers", reason: "malformed is evidence"},
		{name: "bad compression", serve: func(r *raw, id uint32) { r.head(id, true, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) },
			phase: trace.PhaseHead, text: "COMPRESSION_ERROR", reason: "malformed is evidence"},
		{name: "push", serve: func(r *raw, id uint32) {
			r.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: block(0, ":method", "GET"), EndHeaders: true})
		}, phase: trace.PhaseAnswer, text: "PUSH_PROMISE", reason: "pushing is off"},
		{name: "window overflow", serve: func(r *raw, id uint32) { r.WriteWindowUpdate(0, 1<<31-1) }, phase: trace.PhaseAnswer, text: "window", reason: "malformed is evidence"},
		{name: "large head", serve: func(r *raw, id uint32) { r.head(id, true, block(200, "x-a", strings.Repeat("x", 3000))) },
			phase: trace.PhaseHead, text: "larger than the limit of 2048", reason: "heads are bounded"},
		{name: "very large head", serve: func(r *raw, id uint32) { r.head(id, true, block(200, "x-a", strings.Repeat("\x01", 15000))) },
			phase: trace.PhaseHead, text: "larger than the limit of 2048", reason: "heads are bounded"},
		{name: "interim flood", serve: func(r *raw, id uint32) {
			for range 100 {
				r.head(id, false, block(100))
			}
		}, phase: trace.PhaseHead, text: "larger than the limit of 2048", reason: "interim answers count as head"},
		{name: "first frame", hello: func(r *raw) { r.WritePing(false, [8]byte{}) }, phase: trace.PhaseDial, text: "expected a SETTINGS frame first, found PING", reason: "not HTTP/2"},
		{name: "bad settings", hello: func(r *raw) { r.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) }, phase: trace.PhaseDial, text: "MAX_FRAME_SIZE", reason: "malformed is evidence"},
		{name: "gone at once", hello: func(r *raw) { r.conn.Close() }, phase: trace.PhaseDial, text: "does not speak HTTP/2: EOF", reason: "no settings"},
		{name: "small header list", hello: func(r *raw) { r.WriteSettings(http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 100}) },
			phase: trace.PhaseDial, text: "the server accepts 100 (SETTINGS_MAX_HEADER_LIST_SIZE)", reason: "not sent, as it would be refused"},
		{name: "no table", hello: func(r *raw) { r.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0}) },
			serve: func(r *raw, id uint32) { r.ok(id) }, status: 200, body: "ok", reason: "the compression table is the server's to limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := listenRaw(t, func(r *raw) {
				if tt.hello == nil {
					tt.hello = settings
				}
				tt.hello(r)
				if id := r.end(); id != 0 && tt.serve != nil {
					tt.serve(r, id)
				}
				untilGone(r.conn)
			})
			shot := order(url)
			if tt.method != "" {
				shot = Shot{Method: tt.method, URL: url}
			}
			x := New(Options{Firing: FiringH2, HeaderLimit: 2048}).Send(t.Context(), shot)
			if wire := x.Wire; wire != 1 && tt.phase != trace.PhaseDial || wire != 0 && tt.phase == trace.PhaseDial {
				t.Errorf("wire %d", wire)
			}
			if tt.phase != "" {
				wantBroken(t, x, tt.phase, tt.text)
				return
			}
			if !x.Complete() {
				t.Fatalf("broke in %q: %s (%s)", x.Broke, x.Error, tt.reason)
			}
			if x.Response.Status != tt.status || x.Response.Body.Text != tt.body || x.FirstByte < x.Started {
				t.Errorf("got %d %q, want %d %q (%s)", x.Response.Status, x.Response.Body.Text, tt.status, tt.body, tt.reason)
			}
		})
	}
}

// TestBadVolleysH2 fires six shots at servers that do not play along. Each request is on the wire once.
func TestBadVolleysH2(t *testing.T) {
	tests := []struct {
		name     string
		serve    func(*raw)
		broken   string // what is wrong with those that broke
		complete int
		copies   int
		fallback string
		reason   string
	}{
		{"goaway", func(r *raw) {
			r.WriteSettings()
			for id := r.end(); id != 5; id = r.end() {
				r.ok(id)
			}
			r.WriteGoAway(5, http2.ErrCodeNo, nil)
			r.ok(5)
			untilGone(r.conn)
		}, "GOAWAY (NO_ERROR) and did not process this request", 3, 6, "", "those above the last stream were not processed"},
		{"goaway before the release", func(r *raw) {
			r.WriteSettings()
			for n := 0; n < 6; {
				if _, ok := r.next().(*http2.DataFrame); ok {
					n++
				}
			}
			r.WriteGoAway(5, http2.ErrCodeNo, nil)
			r.serveAll()
		}, "GOAWAY (NO_ERROR) and did not process this request", 3, 3, "", "those that are not processed are not released"},
		{"refused", func(r *raw) {
			r.WriteSettings()
			for id := r.end(); id != 0; id = r.end() {
				if id > 7 {
					r.WriteRSTStream(id, http2.ErrCodeRefusedStream)
				} else {
					r.ok(id)
				}
			}
		}, "reset the stream: REFUSED_STREAM", 4, 6, "", "recorded, not sent again"},
		{"mute", func(r *raw) {
			r.mute = true
			r.WriteSettings()
			r.serveAll()
		}, "", 6, 6, "the server does not acknowledge PING, so a pause had to do", "named, and not a hang"},
		{"tiny windows", func(r *raw) {
			r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
			for f := r.next(); f != nil; f = r.next() {
				id, ended := ends(f)
				if ended {
					r.ok(id)
				} else {
					r.WriteWindowUpdate(id, 3)
				}
			}
		}, "", 6, 6, "", "the body goes as the windows open"},
		{"no window at first", func(r *raw) {
			r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			for range 6 {
				r.next()
			}
			r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100})
			r.serveAll()
		}, "", 6, 6, "", "settings change the windows of open streams"},
		{"early answer", func(r *raw) {
			r.WriteSettings()
			for f := r.next(); f != nil; f = r.next() {
				id, ended := ends(f)
				if _, ok := f.(*http2.MetaHeadersFrame); ok && id == 3 {
					r.head(id, false, block(413))
					r.WriteData(id, true, []byte("no"))
					r.WriteRSTStream(id, http2.ErrCodeNo)
				}
				if ended {
					r.ok(id)
				}
			}
		}, "", 6, 5, "", "what is answered is not released"},
		{"closed without answers", func(r *raw) {
			r.WriteSettings()
			for range 6 {
				r.end()
			}
		}, "closed the connection without an answer", 0, 6, "", "ambiguous"},
		{"closed after the release", func(r *raw) {
			r.WriteSettings()
			for range 6 {
				defer r.ok(r.end())
			}
		}, "", 6, 6, "", "what was answered counts"},
		{"closed before the release", func(r *raw) {
			r.WriteSettings()
			r.next()
		}, "connection", 0, 0, "", "nobody was released"},
		{"garbage before the release", func(r *raw) {
			r.WriteSettings()
			r.next()
			io.WriteString(r.conn, strings.Repeat("garbage!", 20))
			untilGone(r.conn)
		}, "", 0, 0, "", "nobody was released"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var conns atomic.Int64
			url := listenRaw(t, func(r *raw) {
				if conns.Add(1) > 1 {
					t.Error("a second connection")
				}
				tt.serve(r)
			})
			exchanges, burst := New(Options{Firing: FiringH2}).Volley(t.Context(), slices.Repeat([]Shot{order(url)}, 6))
			complete := 0
			for i, x := range exchanges {
				if x.Wire != 1 {
					t.Errorf("shot %d: wire %d", i, x.Wire)
				}
				if x.Complete() {
					complete++
				} else if !strings.Contains(x.Error, tt.broken) || x.Broke == "" || x.Done == 0 {
					t.Errorf("shot %d broke in %q: %s, want %q", i, x.Broke, x.Error, tt.broken)
				}
			}
			if complete != tt.complete || burst.Copies != tt.copies || burst.Fallback != tt.fallback {
				t.Errorf("%d complete, burst %+v (%s)", complete, burst, tt.reason)
			}
		})
	}
}

// TestStalledH2: a stream that is not read ends in time, and the others are released before theirs is up.
func TestStalledH2(t *testing.T) {
	url := listenRaw(t, func(r *raw) {
		r.WriteSettings()
		r.WriteWindowUpdate(0, 1<<20)
		r.serveAll()
	})
	large := order(url)
	large.Body = bytes.Repeat([]byte("x"), 1<<20)
	client := New(Options{Firing: FiringH2, RequestTimeout: time.Second})
	exchanges, burst := client.Volley(t.Context(), []Shot{order(url), large, order(url)})
	wantBroken(t, exchanges[1], trace.PhaseWrite, "the server took 65534 of 1048576 bytes of the body within 500ms")
	if !exchanges[0].Complete() || !exchanges[2].Complete() || burst.Copies != 2 {
		t.Errorf("broke %q and %q, burst %+v", exchanges[0].Error, exchanges[2].Error, burst)
	}
}

func TestTimeoutsH2(t *testing.T) {
	tests := []struct {
		name   string
		serve  func(*raw)
		phase  trace.Phase
		text   string
		reason string
	}{
		{"no settings", func(r *raw) {}, trace.PhaseDial, "no connection within 60ms", "a connection begins with settings"},
		{"no answer", func(r *raw) { r.WriteSettings() }, trace.PhaseAnswer, "no complete answer within 70ms", "nothing comes"},
		{"half an answer", func(r *raw) { r.WriteSettings(); r.head(r.end(), false, block(200)) }, trace.PhaseBody, "status 200, then after 0 bytes", "the answer does not end"},
		{"no window", func(r *raw) { r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}) }, trace.PhaseWrite, "no complete answer within 70ms", "the body cannot be sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := listenRaw(t, func(r *raw) {
				tt.serve(r)
				untilGone(r.conn)
			})
			client := New(Options{Firing: FiringH2, RequestTimeout: 70 * time.Millisecond, ConnectTimeout: 60 * time.Millisecond})
			wantBroken(t, client.Send(t.Context(), order(url)), tt.phase, tt.text)
		})
	}
}

func TestCancelH2(t *testing.T) {
	read := make(chan struct{}, 1)
	url := listenRaw(t, func(r *raw) {
		r.WriteSettings()
		r.end()
		read <- struct{}{}
		untilGone(r.conn)
	})
	client := New(Options{Firing: FiringH2})
	for name, fire := range map[string]func(context.Context) trace.Exchange{
		"send": func(ctx context.Context) trace.Exchange { return client.Send(ctx, order(url)) },
		"volley": func(ctx context.Context) trace.Exchange {
			all, _ := client.Volley(ctx, []Shot{order(url), order(url)})
			return all[1]
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-read
				cancel()
			}()
			x := fire(ctx)
			wantBroken(t, x, trace.PhaseAnswer, "stopped: context canceled")
			if x = fire(ctx); x.Complete() || x.Wire != 0 || x.Error != "stopped: context canceled" {
				t.Errorf("after the context had ended: wire %d, broke in %q: %s", x.Wire, x.Broke, x.Error)
			}
		})
	}
}

// FuzzFrames reads arbitrary bytes as what a server sends: it ends, does not panic, and keeps its limits.
func FuzzFrames(f *testing.F) {
	seed := func(fill func(*http2.Framer)) { f.Add(frames(fill)) }
	seed(func(fr *http2.Framer) {
		fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 7})
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block(200, "content-length", "2"), EndHeaders: true})
		fr.WriteDataPadded(1, true, []byte("ok"), make([]byte, 3))
	})
	seed(func(fr *http2.Framer) {
		fr.WriteSettings()
		fr.WriteGoAway(1, http2.ErrCodeNo, []byte("bye"))
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: block(100), EndHeaders: true})
		fr.WriteRSTStream(3, http2.ErrCodeCancel)
		fr.WriteWindowUpdate(0, 5)
		fr.WriteWindowUpdate(1, 5)
		fr.WritePing(false, [8]byte{})
	})
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lim := limits{head: 256, body: 16, whole: 64}
		s := &session{
			c: &Client{clock: func() trace.Nanos { return 1 }, limits: lim}, conn: discard{}, window: 65535,
			ready: make(chan struct{}), news: make(chan struct{}, 1), pongs: make(chan struct{}, 1), streams: map[uint32]*stream{},
		}
		for _, id := range []uint32{1, 3} {
			s.streams[id] = &stream{s: s, id: id, answers: make(chan answer, 1), length: -1, how: reading{lim: lim}, keeper: keeper{lim: lim}}
		}
		s.fail(s.takeAll(bytes.NewReader(data)))
		for id, st := range s.streams {
			a := <-st.answers
			if (a.response == nil) == (a.err == nil) || s.fault == nil {
				t.Fatalf("stream %d: %+v, session %v", id, a, s.fault)
			}
			if a.response != nil && (int64(len(a.response.Body.Bytes())) > lim.body || a.response.Body.Size > lim.whole || a.response.Status < 200) {
				t.Fatalf("out of bounds: %+v", a.response)
			}
			if st.headSize > lim.head+int64(len(data))*300 || fmt.Sprint(a.err) == "" {
				t.Fatalf("stream %d took %d bytes of headers", id, st.headSize)
			}
		}
	})
}

// discard is a connection that takes everything.
type discard struct{ net.Conn }

func (discard) Write(p []byte) (int, error) { return len(p), nil }

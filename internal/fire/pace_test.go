package fire

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Rate: 10})
		start := time.Now()
		took := func() time.Duration { return time.Since(start).Round(time.Millisecond) }
		for _, s := range []struct {
			url  string
			n    int
			want time.Duration
			why  string
		}{
			{"http://a/1", 1, 0, "the first is free"},
			{"http://a/2", 1, 100 * time.Millisecond, "ten a second"},
			{"http://a/3", 5, 600 * time.Millisecond, "a burst is paid for before it goes out"},
			{"http://b/1", 1, 600 * time.Millisecond, "another host has a rate of its own"},
			{"http://a/4", 1, 700 * time.Millisecond, "as long after the burst as after one"},
			{"::", 9, 700 * time.Millisecond, "what cannot be sent waits for nothing"},
		} {
			if c.Pace(t.Context(), s.url, s.n); took() != s.want {
				t.Errorf("%s: after %s, want %s", s.why, took(), s.want)
			}
		}
		time.Sleep(time.Hour)
		start = time.Now()
		if c.Pace(t.Context(), "http://a/5", 3); took() != 200*time.Millisecond {
			t.Errorf("a long rest is not saved up: after %s", took())
		}
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		if c.Pace(ctx, "http://a/6", 1); took() != 250*time.Millisecond || ctx.Err() == nil {
			t.Errorf("a deadline that comes first is waited for: after %s", took())
		}
		start = time.Now()
		if New(Options{}).Pace(t.Context(), "http://a/1", 1000); took() != 0 {
			t.Errorf("without a rate: after %s", took())
		}
	})
}

// What goes through the client keeps to the rate, and what is released together stays together.
func TestPacedSends(t *testing.T) {
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer s.Close()
	c := New(Options{Rate: 100})
	shot := Shot{Method: "POST", URL: s.URL, Body: []byte("x")}
	paid := shot
	paid.Paced = true
	c.Send(t.Context(), shot)
	begun := c.clock()
	c.Send(t.Context(), paid)
	if x := c.Send(t.Context(), shot); (x.Started - begun).Duration() < 5*time.Millisecond {
		t.Errorf("sent after %s, want the rest of 10 ms", (x.Started - begun).Duration())
	}
	begun = c.clock()
	x, burst := c.Volley(t.Context(), slices.Repeat([]Shot{shot}, 5))
	if waited := (x[0].Started - begun).Duration(); waited < 40*time.Millisecond {
		t.Errorf("the burst began after %s, want at least 40 ms", waited)
	}
	if burst.Copies != 5 || burst.Spread.Duration() > 30*time.Millisecond || seen.Load() != 8 {
		t.Errorf("burst %+v, %d requests", burst, seen.Load())
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if x := c.Send(ctx, shot); x.Wire != 0 || seen.Load() != 8 {
		t.Errorf("sent after the end: %+v", x)
	}
}

package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func TestProgress(t *testing.T) {
	start := time.Unix(0, 0)
	for _, c := range []struct {
		p    progress
		took time.Duration
		want string
	}{
		{progress{total: 54, what: "a: b"}, time.Minute, "0 of 54 scenarios: a: b"},
		{progress{total: 54, done: 36, what: "a: b"}, 18 * time.Second, "36 of 54 scenarios, about 9 s left: a: b"},
		{progress{total: 54, done: 54, what: "a: b"}, 18 * time.Second, "54 of 54 scenarios: a: b"},
		{progress{large: true, total: 1000, what: "a: b"}, time.Minute, "0 of 1000 endpoints: a: b"},
		{progress{large: true, total: 1000, done: 100, what: "a: b"}, time.Minute, "100 of 1000 endpoints, about 9 min left: a: b"},
		{progress{large: true, total: 1000, done: 990, failing: 2, what: "a: b"}, 99 * time.Minute, "990 of 1000 endpoints, 2 failing, about 60 s left: a: b"},
		{progress{large: true, total: 1000, done: 10, what: "a: b"}, 2 * time.Minute, "10 of 1000 endpoints, about 3 h left: a: b"},
	} {
		c.p.started = start
		if got := c.p.line(start.Add(c.took)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestProgressFollows(t *testing.T) {
	var out bytes.Buffer
	p, ended := &progress{w: &out, on: true, width: 30, large: true, total: 20, started: time.Now()}, 0
	j := &job{onEndpoint: func(int, *trace.Endpoint) { ended++ }}
	p.follow(j)
	j.onStart("create order", "same-key-again")
	j.onEndpoint(0, &trace.Endpoint{Verdict: trace.Fail})
	p.clear()
	want := "\r\x1b[K0 of 20 endpoints: create ord\r\x1b[K1 of 20 endpoints, 1 failing,\r\x1b[K"
	if out.String() != want || ended != 1 {
		t.Errorf("got %q, want %q; %d endpoints were handed on", out.String(), want, ended)
	}
	out.Reset()
	few, told := &progress{w: &out, on: true, width: 60, total: 2, started: time.Now()}, 0
	j = &job{onCase: func(*trace.Endpoint, *trace.Case) { told++ }}
	few.follow(j)
	j.onStart("create order", "same-key-again")
	j.onCase(&trace.Endpoint{}, &trace.Case{})
	j.onEndpoint(0, &trace.Endpoint{})
	if got := out.String(); !strings.Contains(got, "0 of 2 scenarios: create order: same-key-again") || !strings.Contains(got, "1 of 2 scenarios, about 0 s left: ") || told != 1 {
		t.Errorf("got %q; %d cases were handed on", got, told)
	}
	out.Reset()
	quiet := &progress{w: &out}
	j = &job{}
	quiet.follow(j)
	quiet.clear()
	if j.onStart != nil || strings.Contains(out.String(), "\r") {
		t.Error("progress is shown where nobody looks")
	}
}

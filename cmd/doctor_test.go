package cmd

import (
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/fire"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

const us = trace.Nanos(1000)

// answered are n answered exchanges, each on the connection that conn gives.
func answered(n int, conn func(i int) int) []trace.Exchange {
	out := make([]trace.Exchange, n)
	for i := range out {
		out[i] = trace.Exchange{Wire: 1, Conn: conn(i), Protocol: "HTTP/1.1", Started: 100 * us, Sent: 110 * us, FirstByte: 400 * us,
			Response: &trace.Response{Status: 405}}
	}
	return out
}

// wireOf is a wire on which every copy has a connection of its own and leaves 10 us after the one before.
func wireOf(rtt, jitter trace.Nanos) *measured {
	own := func(i int) int { return i + 1 }
	m := &measured{alone: answered(2, own), connect: []float64{200, 300}}
	for _, n := range []int{5, 20} {
		v := volleys{copies: n}
		for range 2 {
			b := trace.Burst{Technique: "http/1.1 last byte", Copies: n, Connections: n, RTT: rtt, Jitter: jitter, FirstGap: 10 * us, Spread: trace.Nanos(n-1) * 10 * us}
			for i := range n {
				b.Release = append(b.Release, trace.Nanos(i)*10*us)
			}
			v.add(answered(n, own), b)
		}
		m.volleys = append(m.volleys, v)
	}
	return m
}

func TestDoctorFigures(t *testing.T) {
	d := wireOf(150*us, 5*us).figures(fire.Shot{Method: "HEAD", URL: "http://127.0.0.1/"})
	if d.Requests != 2+2*5+2*20 || !slices.Equal(d.Statuses, []int{405}) || d.ConnectUS != (trace.Quantiles{P50: 200, P95: 300}) || d.AnswerUS.P50 != 300 {
		t.Errorf("sums are wrong: %+v", d)
	}
	if v := d.Volleys[1]; v.Copies != 20 || v.Rounds != 2 || v.Connections != 20 || v.SpreadUS.P50 != 190 || v.FirstGapUS.P50 != 10 || v.RTTUS != 150 || v.JitterUS != 5 {
		t.Errorf("the volley of 20 is %+v", v)
	}
	if len(d.Warnings) > 0 {
		t.Errorf("a good wire is warned of: %q", d.Warnings)
	}
	var windows []float64
	for _, e := range d.Efforts {
		windows = append(windows, e.DetectsWindowUS)
	}
	if len(windows) != 3 || !(windows[0] > windows[1] && windows[1] >= windows[2] && windows[2] >= 20) { // nothing below 20 us is stated
		t.Errorf("more effort sees narrower windows, got %v", windows)
	}
	if got, want := d.Efforts[2].Schedule, "20 rounds of 5, 20 of 20, 5 of 50 that count as 20"; got != want {
		t.Errorf("schedule %q, want %q", got, want)
	}
}

func TestDoctorWarnings(t *testing.T) {
	tests := []struct {
		change func(m *measured)
		want   string
		reason string
	}{
		{func(m *measured) { *m = *wireOf(20000*us, 1500*us) }, "without the jitter", "jitter decides what is seen"},
		{func(m *measured) { m.proxied = true }, "the proxy may pass on", "separate connections through a proxy"},
		{func(m *measured) { m.volleys[0].bursts[1].Fallback = "no HTTP/2" }, "weaker than it could be: no HTTP/2", "a fallback is never silent"},
		{func(m *measured) {
			m.alone[0].Response.Headers = []trace.Header{{Name: "via", Value: "1.1 gate"}}
		}, "Via: 1.1 gate", "a gateway says so"},
		{func(m *measured) {
			m.volleys[1].exchanges[3] = trace.Exchange{Error: "reset"}
			m.volleys[1].bursts[0].Copies--
		}, "of 40 copies in volleys of 20, 1 were not released together and 1 not answered (reset)", "lost copies are told"},
	}
	for _, tt := range tests {
		m := wireOf(150*us, 5*us)
		tt.change(m)
		if got := m.warnings(); len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%s: got %q, want one with %q", tt.reason, got, tt.want)
		}
	}
}

// The doctor speaks about the schedules of the built-in race scenarios, so it must count with their copies.
func TestDoctorCopies(t *testing.T) {
	list, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.ID != "same-key-concurrent" {
			continue
		}
		if got := s.Sends()[0].Together; got != doctorCopies {
			t.Errorf("%s releases %d together, the doctor counts with %d", s.ID, got, doctorCopies)
		}
		return
	}
	t.Error("there is no same-key-concurrent any more")
}

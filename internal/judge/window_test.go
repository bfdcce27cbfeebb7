package judge

import (
	"slices"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func bursts(rounds, copies, connections int, gap, jitter time.Duration) []trace.Burst {
	b := trace.Burst{Copies: copies, Connections: connections, RTT: trace.Nanos(3 * jitter), Jitter: trace.Nanos(jitter)}
	for i := range copies {
		b.Release = append(b.Release, trace.Nanos(i)*trace.Nanos(gap))
	}
	return slices.Repeat([]trace.Burst{b}, rounds)
}

func apart(bs []trace.Burst, d time.Duration) []trace.Burst {
	for i := range bs {
		bs[i].AnswerDeviation = trace.Nanos(d)
	}
	return bs
}

func TestDetectableWindow(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name        string
		bursts      []trace.Burst
		least, most float64
		reason      string
	}{
		{"nothing", nil, 0, 0, "no burst, no claim"},
		{"one copy", bursts(5, 1, 1, 0, 0), 0, 0, "nothing to race with"},
		{"one round", bursts(1, 5, 5, 10*us, 0), 150, 400, "one round needs a wide window"},
		{"twelve rounds", bursts(12, 5, 5, 10*us, 0), 20, 60, "chances add up"},
		{"many copies", bursts(12, 20, 20, 5*us, 0), 15, 50, "more copies, no worse"},
		{"late release", bursts(12, 5, 5, 2000*us, 0), 2000, 2300, "the copies were sent 2 ms apart"},
		{"network, own connections", bursts(12, 5, 5, 10*us, 1667*us), 300, 1200, "each connection jitters by itself"},
		{"near, set up slowly", bursts(12, 5, 5, 10*us, 300*us), 20, 60, "processors jitter, the wire does not"},
		{"network behind a proxy", apart(bursts(12, 5, 5, 10*us, 50*us), 1250*us), 300, 1200, "the answers come apart"},
		{"network, one connection", bursts(12, 5, 1, 0, 1667*us), 20, 60, "copies on one connection arrive together"},
	} {
		if got := DetectableWindow(c.bursts); got < c.least || got > c.most {
			t.Errorf("%s: %.0f us, want %.0f to %.0f: %s", c.name, got, c.least, c.most, c.reason)
		}
	}
	if a, b := DetectableWindow(bursts(3, 5, 5, 10*us, 0)), DetectableWindow(bursts(3, 5, 5, 10*us, 0)); a != b {
		t.Errorf("the same record was judged as %f and %f", a, b)
	}
}

func TestRoundUp(t *testing.T) {
	for in, want := range map[float64]float64{0: 0, 123: 130, 120: 120, 9.1: 9.1, 1001: 1100, 47.2: 48} {
		if got := roundUp(in); got < want-1e-6 || got > want+1e-6 {
			t.Errorf("roundUp(%g) = %g, want %g", in, got, want)
		}
	}
}

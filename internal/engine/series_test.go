package engine

import (
	"slices"
	"testing"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func TestGaps(t *testing.T) {
	const every = 10 * time.Millisecond
	gaps := func(seed string, n int, jitter float64) []time.Duration {
		rd := &round{e: &endpointRun{run: &run{Config: Config{Seed: seed}}, t: &trace.Endpoint{Name: "e"}}, s: &scenarios.Scenario{ID: "s"}, t: &trace.Round{N: n}}
		return rd.gaps(0, &scenarios.Send{Times: 50, Every: every, Jitter: jitter})
	}
	a := gaps("seed", 1, 0.8)
	if !slices.Equal(a, gaps("seed", 1, 0.8)) {
		t.Error("the same seed must draw the same schedule")
	}
	if slices.Equal(a, gaps("deed", 1, 0.8)) || slices.Equal(a, gaps("seed", 2, 0.8)) {
		t.Error("another seed and another round must draw another schedule")
	}
	if least, most := slices.Min(a), slices.Max(a); least < every/5 || most > 9*every/5 || most-least < every {
		t.Errorf("gaps from %s to %s, expected nearly all from 2ms to 18ms", least, most)
	}
	if even := gaps("seed", 1, 0); slices.Min(even) != every || slices.Max(even) != every {
		t.Errorf("without jitter from %s to %s", slices.Min(even), slices.Max(even))
	}
}

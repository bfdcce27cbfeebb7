package main

import (
	"io"
	"strings"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{nil, .5, 0},
		{[]float64{7}, .95, 7},
		{[]float64{3, 1, 2}, .5, 2},
		{[]float64{4, 1, 3, 2}, 0, 1},
		{[]float64{4, 1, 3, 2}, 1, 4},
	} {
		if got := quantile(c.values, c.q); got != c.want {
			t.Errorf("%v at %v: expected %v, found %v", c.values, c.q, c.want, got)
		}
	}
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		moments       []int64
		first, spread float64
	}{
		{nil, 0, 0},
		{[]int64{5000}, 0, 0},
		{[]int64{9000, 1000, 1500}, .5, 8},
	} {
		if first, spread := gaps(c.moments); first != c.first || spread != c.spread {
			t.Errorf("%v: expected %v and %v, found %v and %v", c.moments, c.first, c.spread, first, spread)
		}
	}
}

func TestRoundsFor(t *testing.T) {
	for _, c := range []struct{ rounds, n, want int }{
		{300, 2, 300}, {300, 20, 300}, {300, 50, 120}, {300, 200, 30}, {10, 200, 10}, {1000, 200, 100},
	} {
		if got := roundsFor(c.rounds, c.n); got != c.want {
			t.Errorf("%d rounds, %d copies: expected %d, found %d", c.rounds, c.n, c.want, got)
		}
	}
}

func TestRatioLine(t *testing.T) {
	for _, c := range []struct {
		n               int
		ours, reference float64
		want            string
	}{
		{5, 24, 20, "N=5 x: 24.0 / 20.0 us = 1.20, at most 1.2 as wanted"},
		{5, 30, 20, "N=5 x: 30.0 / 20.0 us = 1.50, MORE than the 1.2 wanted"},
		{20, 30, 20, "N=20 x: 30.0 / 20.0 us = 1.50"},
	} {
		if got := ratioLine("x", c.n, c.ours, c.reference); got != c.want {
			t.Errorf("expected %q, found %q", c.want, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, args := range []string{"-copies 1", "-copies x", "-windows 5", "-rounds 0", "more", "-no-such-flag"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%q: expected an error", args)
		}
	}
}

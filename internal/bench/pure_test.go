package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/plan"
)

func TestInterval(t *testing.T) {
	// The figures are those of the formula, worked out apart from this code.
	for _, c := range []struct {
		rate      rate
		low, high float64
	}{
		{rate{0, 0}, 0, 1},
		{rate{0, 10}, 0, .2775},
		{rate{10, 10}, .7225, 1},
		{rate{5, 10}, .2366, .7634},
		{rate{81, 263}, .2553, .3662},
		{rate{297, 300}, .9710, .9966},
	} {
		low, high := c.rate.interval()
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%+v: expected %.4f to %.4f, found %.4f to %.4f", c.rate, c.low, c.high, low, high)
		}
	}
}

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

func TestVerdict(t *testing.T) {
	tools := []tool{{name: "us", ours: true}, {name: "us too", ours: true}, {name: "a"}, {name: "b"}, {name: "broken"}}
	for _, c := range []struct {
		reason   string
		us, a, b rate
		want     string
	}{
		{"overlap on both sides", rate{90, 100}, rate{88, 100}, rate{95, 100}, "us: not below any peer, not above any peer"},
		{"clear of both", rate{100, 100}, rate{50, 100}, rate{60, 100}, "us: not below any peer, above every peer"},
		{"between them", rate{70, 100}, rate{99, 100}, rate{30, 100}, "us: BELOW a, above 1 of 2 (b)"},
		{"under both", rate{10, 100}, rate{99, 100}, rate{80, 100}, "us: BELOW a, b, not above any peer"},
		{"few invocations say nothing", rate{5, 5}, rate{2, 5}, rate{3, 5}, "us: not below any peer, not above any peer"},
		{"all of ours failed", rate{}, rate{2, 5}, rate{3, 5}, "us: nothing to compare"},
		{"all peers failed", rate{5, 5}, rate{}, rate{}, "us: nothing to compare"},
	} {
		scores := []score{{found: c.us}, {found: rate{100, 100}}, {found: c.a}, {found: c.b}, {failed: 100}}
		got := verdicts(tools, scores)
		if len(got) != 2 || got[0] != c.want {
			t.Errorf("%s: expected %q and a line for the other, found %q", c.reason, c.want, got)
		}
	}
}

func TestCommands(t *testing.T) {
	a := attempt{url: "http://127.0.0.1:1", key: "k", dir: t.TempDir()}
	for _, p := range peers() {
		c, err := p.build(a, "/bin/curl")
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(c.args, "\n") + "\n" + c.stdin
		if p.program == "nuclei" {
			file, err := os.ReadFile(filepath.Join(a.dir, "race.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			all += string(file)
		}
		if !strings.Contains(all, a.url) || !strings.Contains(all, "Idempotency-Key") {
			t.Errorf("%s: expected the URL and the key, found %s", p.name, all)
		}
	}
}

func TestCurlParallel(t *testing.T) {
	a := attempt{url: "https://127.0.0.1:1", key: "k"}
	args := curlParallel(a, "--http2")
	if args[0] != "-q" {
		t.Errorf("expected -q first, or it has no effect, found %q", args[0])
	}
	for _, want := range []string{"-Z", "--parallel-immediate", "--http2", "Idempotency-Key: k", payload("k")} {
		if !slices.Contains(args, want) {
			t.Errorf("expected %s, found %q", want, args)
		}
	}
	urls, outputs := 0, 0
	for i, arg := range args {
		if arg == "https://127.0.0.1:1/orders" {
			urls++
		}
		if arg == "-o" && args[i+1] == os.DevNull {
			outputs++
		}
	}
	if urls != peerCopies || outputs != peerCopies {
		t.Errorf("expected %d transfers, each with its own output, found %d and %d", peerCopies, urls, outputs)
	}
}

func TestFindTools(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", "")
	if err := os.WriteFile(filepath.Join(dir, "hey"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	found, missing := findTools("retrysafe", "bench", dir)
	var names []string
	for _, f := range found {
		if !f.ours {
			names = append(names, f.name)
		}
	}
	if strings.Join(names, ", ") != "hey, hey -h2" || len(names)+len(missing) != len(peers()) {
		t.Errorf("expected hey alone, and the others missing, found %q and %q", names, missing)
	}
	c, err := found[len(found)-1].command(attempt{url: "https://127.0.0.1:1", key: "k"})
	if err != nil || c.path != filepath.Join(dir, "hey") || c.args[0] != "-h2" {
		t.Errorf("expected hey -h2 of that folder, found %+v, %v", c, err)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args                       string
		rounds, whole, invocations int
	}{
		{"", 300, 0, 300},
		{"-whole 7", 300, 7, 300},
		{"-all", 300, 100, 300},
		{"-all -quick", 40, 3, 8},
		{"-all -quick -rounds 9 -whole 2", 9, 2, 8},
		{"-peers -quick -invocations 2", 40, 0, 2},
	} {
		s, err := parse(strings.Fields(c.args), io.Discard)
		if err != nil || s.rounds != c.rounds || s.whole != c.whole || s.invocations != c.invocations {
			t.Errorf("%q: expected %d, %d, %d, found %+v, %v", c.args, c.rounds, c.whole, c.invocations, s, err)
		}
	}
	for _, args := range []string{"-copies 1", "-copies x", "-windows 5", "-rounds 0", "-only (", "more", "-no-such-flag"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%q: expected an error", args)
		}
	}
}

func TestPlanOf(t *testing.T) {
	p, err := plan.Parse("large.yaml", []byte(planOf(12)), func(string) (string, bool) { return "http://127.0.0.1:1", true })
	if err != nil || len(p.Endpoints) != 12 || p.Endpoints[11].Name != "create order 0012" {
		t.Errorf("got %+v, %v", p, err)
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

const (
	// peerCopies is how many copies every tool sends in an invocation.
	peerCopies = 5
	// patience is how long an invocation may take before it is ended and counts as failed.
	patience = time.Minute
	// stillness is for how long the count must not have moved, beside what window and network add: a tool that leaves
	// before its answers are in must not look worse than it is.
	stillness = 5 * time.Millisecond
)

// bench is what the table of tools works with.
type bench struct {
	bin, dir string // the build of retrysafe, and a folder for templates
	tools    []tool
	delay    time.Duration
}

// peerTable prints how often one invocation of each tool makes the shop create a second order.
func peerTable(out io.Writer, bin string, s settings) error {
	server, err := watchArrivals()
	if err != nil {
		return err
	}
	defer server.stop()
	dir, err := os.MkdirTemp("", "retrysafe-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, missing := findTools(bin, server.self, s.tools)
	if len(missing) > 0 {
		fmt.Fprintf(out, "not found, left out: %s (-help says how to install them)\n", strings.Join(missing, ", "))
	}
	b := bench{bin: bin, dir: dir, delay: s.delay}
	for _, t := range all {
		if !s.only.MatchString(t.name) {
			continue
		}
		if err := b.try(server, t); err != nil {
			fmt.Fprintf(out, "left out: %s: %v\n", t.name, err)
			continue
		}
		b.tools = append(b.tools, t)
	}
	if len(b.tools) == 0 {
		return fmt.Errorf("no tool is left that can be measured: look at -only and -tools")
	}
	for _, w := range orElse(s.windows, "20us", "100us", "500us", "1ms", "5ms") {
		if err := b.window(out, w, s.invocations); err != nil {
			return err
		}
	}
	return nil
}

// try checks that a tool sends what it is meant to: all copies, once, over the right version of HTTP. Whole runs need a
// shop and are not tried.
func (b *bench) try(server *watched, t tool) error {
	if t.whole {
		return nil
	}
	c, err := t.command(attempt{url: t.of(server.Plain, server.Secure), key: newKey(0), dir: b.dir})
	if err != nil {
		return err
	}
	code, output := c.run()
	got, err := server.take()
	wantH2 := 0
	if t.secure {
		wantH2 = peerCopies
	}
	if err == nil && (code != 0 || got.Requests != peerCopies || got.OverH2 != wantH2) {
		err = fmt.Errorf("expected exit code 0 and %d requests, %d of them over HTTP/2, found %d, %d and %d: %s",
			peerCopies, wantH2, code, got.Requests, got.OverH2, tail(output))
	}
	return err
}

// tail is the end of a tool's output, in one line.
func tail(output string) string {
	const most = 200
	line := strings.Join(strings.Fields(output), " ")
	return line[max(0, len(line)-most):]
}

// score is what a tool did in one window. Invocations that failed or had no effect at all are not among found.of.
type score struct {
	found  rate
	failed int
	why    string // of the last failure
	wall   []float64
}

// window prints the part of the table for one window.
func (b *bench) window(out io.Writer, nominal string, invocations int) error {
	plain, err := serve(b.bin, "io", nominal, "h1", b.delay)
	if err != nil {
		return err
	}
	defer plain.stop()
	secure, err := serve(b.bin, "io", nominal, "h2", b.delay)
	if err != nil {
		return err
	}
	defer secure.stop()
	ctx := context.Background()
	scores := make([]score, len(b.tools))
	for i := range invocations {
		for _, j := range rand.Perm(len(b.tools)) {
			t := b.tools[j]
			shop := plain
			if t.secure {
				shop = secure
			}
			if err := b.invoke(ctx, shop, t, newKey(i), nominal, &scores[j]); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	realPlain, err := plain.window(ctx)
	if err != nil {
		return err
	}
	realSecure, err := secure.window(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nI/O window of nominal %s, really %.0f us (HTTP) and %.0f us (HTTPS)\n", nominal, realPlain, realSecure)
	printScores(out, b.tools, scores)
	for _, line := range verdicts(b.tools, scores) {
		fmt.Fprintf(out, "%s: %s\n", nominal, line)
	}
	return nil
}

// invoke calls a tool once and looks whether it found the race.
func (b *bench) invoke(ctx context.Context, shop *running, t tool, key, nominal string, s *score) error {
	c, err := t.command(attempt{url: shop.url, key: key, dir: b.dir})
	if err != nil {
		return err
	}
	start := time.Now()
	code, output := c.run()
	wall := time.Since(start)
	found, failed := code == 1, code != 0 && code != 1 && code != 3
	if !t.whole {
		window, err := time.ParseDuration(nominal)
		if err != nil {
			return err
		}
		n, err := settled(ctx, shop, key, stillness+2*window+2*b.delay)
		if err != nil {
			return err
		}
		found, failed = n > 1, code != 0 || n == 0
	}
	if failed {
		s.failed, s.why = s.failed+1, fmt.Sprintf("exit code %d: %s", code, tail(output))
		return nil
	}
	s.found.of++
	if found {
		s.found.found++
	}
	s.wall = append(s.wall, ms(wall))
	return nil
}

// settled counts the orders until their number has not changed for that long.
func settled(ctx context.Context, shop *running, key string, still time.Duration) (int, error) {
	n, err := shop.orders(ctx, key)
	for since := time.Now(); err == nil && time.Since(since) < still; {
		time.Sleep(time.Millisecond)
		var now int
		if now, err = shop.orders(ctx, key); now != n {
			n, since = now, time.Now()
		}
	}
	return n, err
}

func printScores(out io.Writer, tools []tool, scores []score) {
	fmt.Fprintf(out, "%-36s %4s %6s %14s %9s %6s\n", "tool", "n", "found", "95 % interval", "wall ms", "failed")
	for i, t := range tools {
		s := scores[i]
		low, high := s.found.interval()
		fmt.Fprintf(out, "%-36s %4d %6.3f %14s %9.1f %6d", t.name, s.found.of, s.found.share(),
			fmt.Sprintf("%.3f to %.3f", low, high), quantile(s.wall, .5), s.failed)
		if s.why != "" {
			fmt.Fprintf(out, "  %s", s.why)
		}
		fmt.Fprintln(out)
	}
}

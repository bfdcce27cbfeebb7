// Command bench measures how often a volley finds a race of a known width, side by side with what the
// judge predicts from the release alone. It starts the built-in shop in a process of its own with the fault
// check-then-insert, so that the two sides do not share a scheduler.
//
//	go run ./internal/bench -rounds 300 -windows 20us,50us,100us,500us
//	go run ./internal/bench -whole 100         whole runs of same-key-concurrent with their defaults
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/judge"
	"retrysafe/internal/trace"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	rounds := flag.Int("rounds", 300, "rounds for each cell")
	copies := flag.Int("copies", 5, "copies in a round")
	windows := flag.String("windows", "20us,50us,100us,200us,500us", "nominal race windows")
	kinds := flag.String("kinds", "io,cpu", "kinds of window")
	schemes := flag.String("schemes", "h1,tls,h2", "h1, tls (HTTP/1.1 over TLS) or h2")
	delay := flag.Duration("delay", 0, "put a network between client and shop that delays every segment by a random time up to this")
	whole := flag.Int("whole", 0, "count in how many of so many whole runs the race is found, instead of single rounds")
	flag.Parse()
	bin, cleanup, err := build()
	if err != nil {
		return err
	}
	defer cleanup()
	if *whole > 0 {
		return wholeRuns(bin, strings.Split(*kinds, ","), strings.Split(*windows, ","), strings.Split(*schemes, ","), *whole, *delay)
	}
	fmt.Printf("%-4s %-6s %-4s %4s %8s %8s %10s %10s %10s\n", "kind", "window", "via", "N", "real us", "found", "predicted", "gap p50 us", "gap p95 us")
	for _, kind := range strings.Split(*kinds, ",") {
		for _, w := range strings.Split(*windows, ",") {
			for _, scheme := range strings.Split(*schemes, ",") {
				c, err := measure(bin, kind, w, scheme, *rounds, *copies, *delay)
				if err != nil {
					return err
				}
				fmt.Printf("%-4s %-6s %-4s %4d %8.0f %8.3f %10.3f %10.1f %10.1f\n", kind, w, scheme, *copies, c.real, c.found, c.predicted, c.gap50, c.gap95)
			}
		}
	}
	return nil
}

func build() (bin string, cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "retrysafe-bench")
	if err != nil {
		return "", nil, err
	}
	bin = dir + "/retrysafe"
	if out, err := exec.Command("go", "build", "-o", bin, "retrysafe").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%w: %s", err, out)
	}
	return bin, func() { _ = os.RemoveAll(dir) }, nil
}

// cell is one line of the table; gaps are between the first two releases, as the client saw them.
type cell struct{ real, found, predicted, gap50, gap95 float64 }

func measure(bin, kind, window, scheme string, rounds, copies int, delay time.Duration) (cell, error) {
	direct, url, stop, err := serve(bin, kind, window, scheme, delay)
	if err != nil {
		return cell{}, err
	}
	defer stop()
	options := fire.Options{TLS: &tls.Config{InsecureSkipVerify: true}}
	if scheme == "tls" {
		options.Firing = fire.FiringH1
	}
	client := fire.New(options)
	ctx := context.Background()
	found := 0
	var gaps []float64
	var bursts []trace.Burst
	for i := range rounds {
		shots := slices.Repeat([]fire.Shot{shot(url, i)}, copies)
		answers, burst := client.Volley(ctx, shots)
		if n := distinct(answers); n > 1 {
			found++
		} else if n == 0 {
			return cell{}, fmt.Errorf("no answer: %+v", answers[0])
		}
		gaps = append(gaps, burst.FirstGap.Micros())
		burst.AnswerDeviation = trace.AnswerDeviation(answers)
		bursts = append(bursts, burst)
	}
	slices.Sort(gaps)
	c := cell{found: float64(found) / float64(rounds), gap50: gaps[len(gaps)/2], gap95: gaps[len(gaps)*95/100]}
	x := client.Send(ctx, fire.Shot{Method: "GET", URL: direct + "/window"})
	var w struct {
		P50 float64 `json:"p50_us"`
	}
	if x.Response == nil {
		return c, fmt.Errorf("no answer from /window: %s", x.Error)
	}
	err = json.Unmarshal(x.Response.Body.Bytes(), &w)
	c.real, c.predicted = w.P50, judge.DetectionRate(bursts, w.P50)
	return c, err
}

// serve starts a shop with the fault; url leads to it through the network, direct does not.
func serve(bin, kind, window, scheme string, delay time.Duration) (direct, url string, stop func(), err error) {
	args := []string{"serve", "--fault", "check-then-insert", "--work", "1ns", "--window", window, "--window-kind", kind}
	if scheme != "h1" {
		args = append(args, "--tls")
	}
	shop := exec.Command(bin, args...)
	out, err := shop.StdoutPipe()
	if err != nil {
		return "", "", nil, err
	}
	if err := shop.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() {
		_ = shop.Process.Signal(syscall.SIGTERM)
		_ = shop.Wait()
	}
	direct, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", "", nil, err
	}
	direct = strings.TrimSpace(direct)
	if delay == 0 {
		return direct, direct, stop, nil
	}
	protocol, host, _ := strings.Cut(direct, "://")
	l, err := network(host, delay)
	if err != nil {
		stop()
		return "", "", nil, err
	}
	return direct, protocol + "://" + l.Addr().String(), func() { _ = l.Close(); stop() }, nil
}

func shot(url string, i int) fire.Shot {
	key := fmt.Sprintf("bench-%d-%d", i, time.Now().UnixNano())
	return fire.Shot{Method: "POST", URL: url + "/orders",
		Header: []trace.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Idempotency-Key", Value: key}},
		Body:   []byte(`{"qty": 1, "sku": "A1", "reference": "` + key + `"}`)}
}

// distinct is how many different things the answers name.
func distinct(answers []trace.Exchange) int {
	seen := map[string]bool{}
	for _, x := range answers {
		var o struct{ ID string }
		if x.Response != nil && json.Unmarshal(x.Response.Body.Bytes(), &o) == nil && o.ID != "" {
			seen[o.ID] = true
		}
	}
	return len(seen)
}

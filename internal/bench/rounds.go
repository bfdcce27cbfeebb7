package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/judge"
	"retrysafe/internal/trace"
)

// roundTable prints how often single rounds find a window of a known width.
func roundTable(out io.Writer, bin string, s settings) error {
	fmt.Fprintf(out, "%-4s %-6s %-4s %4s %8s %8s %10s %10s %10s\n",
		"kind", "window", "via", "N", "real us", "found", "predicted", "gap p50 us", "gap p95 us")
	for _, kind := range s.kinds {
		for _, w := range orElse(s.windows, "20us", "50us", "100us", "200us", "500us") {
			for _, scheme := range s.schemes {
				for _, n := range orElse(s.copies, 5) {
					c, err := measure(bin, kind, w, scheme, s.rounds, n, s.delay)
					if err != nil {
						return err
					}
					fmt.Fprintf(out, "%-4s %-6s %-4s %4d %8.0f %8.3f %10.3f %10.1f %10.1f\n",
						kind, w, scheme, n, c.real, c.found, c.predicted, c.gap50, c.gap95)
				}
			}
		}
	}
	return nil
}

// cell is one line of the table; gaps are between the first two releases, as the client saw them.
type cell struct{ real, found, predicted, gap50, gap95 float64 }

func measure(bin, kind, window, scheme string, rounds, copies int, delay time.Duration) (cell, error) {
	shop, err := serve(bin, kind, window, scheme, delay)
	if err != nil {
		return cell{}, err
	}
	defer shop.stop()
	options := fire.Options{TLS: insecure()}
	if scheme == "tls" {
		options.Firing = fire.FiringH1
	}
	client := fire.New(options)
	ctx := context.Background()
	found := 0
	var gaps []float64
	var bursts []trace.Burst
	for i := range rounds {
		shots := slices.Repeat([]fire.Shot{shot(shop.url, newKey(i))}, copies)
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
	c := cell{found: float64(found) / float64(rounds), gap50: quantile(gaps, .5), gap95: quantile(gaps, .95)}
	if c.real, err = shop.window(ctx); err != nil {
		return c, err
	}
	c.predicted = judge.DetectionRate(bursts, c.real)
	return c, nil
}

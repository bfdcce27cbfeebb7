package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

const (
	// warmUps are rounds of each technique that are not counted: the first ones pay for page faults and name tables.
	warmUps = 3
	// ratioCopies and ratioLimit are the goal: at that many copies, the median first gap may be at most that many times
	// the reference's.
	ratioCopies, ratioLimit = 5, 1.2
)

// arrivalNotes go before the table.
const arrivalNotes = `Microseconds p50/p95 at handler entry and at the end of the body; ms per round: wall p50, client's CPU mean.
plain h1 and plain h2 are the same techniques written as plainly as possible.
Where a byte of the body is held back, handlers are entered before the release: the end is what counts.

`

// series is what a technique did, a value for each round: microseconds, and milliseconds for what it cost.
type series struct {
	entryGap, entrySpread, endGap, endSpread, wall, cpu []float64
}

// arrivalTable prints how close together the copies reach their handlers and the ends of their bodies.
func arrivalTable(out io.Writer, s settings) error {
	server, err := watchArrivals()
	if err != nil {
		return err
	}
	defer server.stop()
	all, idle := techniques(server.arrivalURLs)
	defer idle()
	fmt.Fprint(out, arrivalNotes)
	fmt.Fprintf(out, "%4s %6s %-18s %15s %15s %15s %15s %8s %8s\n",
		"N", "rounds", "technique", "entry gap", "entry spread", "end gap", "end spread", "wall ms", "CPU ms")
	var ratios []string
	for _, n := range orElse(s.copies, 2, 5, 20, 50, 200) {
		rounds := roundsFor(s.rounds, n)
		measured, err := arrive(server, all, rounds, n)
		if err != nil {
			return err
		}
		for i, t := range all {
			m := measured[i]
			fmt.Fprintf(out, "%4d %6d %-18s %15s %15s %15s %15s %8.2f %8.2f\n", n, rounds, t.name,
				both(m.entryGap), both(m.entrySpread), both(m.endGap), both(m.endSpread), quantile(m.wall, .5), mean(m.cpu))
		}
		ratios = append(ratios, ratioLines(all, measured, n)...)
	}
	fmt.Fprintf(out, "\nFirst gap p50 at the end of the body, retrysafe / reference:\n")
	for _, line := range ratios {
		fmt.Fprintln(out, line)
	}
	return nil
}

// roundsFor is how many rounds of n copies are made where up to 20 copies have rounds: as many requests, but not fewer
// than 30 rounds unless fewer are wanted.
func roundsFor(rounds, n int) int {
	if n <= 20 {
		return rounds
	}
	return max(rounds*20/n, min(rounds, 30))
}

func both(values []float64) string {
	return fmt.Sprintf("%.1f/%.1f", quantile(values, .5), quantile(values, .95))
}

// arrive lets every technique make a round in turn, in a new order each time.
func arrive(server *watched, all []technique, rounds, n int) ([]series, error) {
	measured := make([]series, len(all))
	for round := range warmUps + rounds {
		for _, i := range rand.Perm(len(all)) {
			one, err := arriveOnce(server, all[i], newKey(round), n)
			if err != nil {
				return nil, fmt.Errorf("%s, %d copies: %w", all[i].name, n, err)
			}
			if round >= warmUps {
				measured[i].add(one)
			}
		}
	}
	return measured, nil
}

// sample is one round.
type sample struct {
	taken
	wall, cpu time.Duration
}

func arriveOnce(server *watched, t technique, key string, n int) (s sample, err error) {
	start, cpu := time.Now(), cpuTime()
	err = t.round(key, n)
	s.wall, s.cpu = time.Since(start), cpuTime()-cpu
	if err != nil {
		return s, err
	}
	if s.taken, err = server.take(); err != nil {
		return s, err
	}
	if s.Requests != n {
		return s, fmt.Errorf("expected %d requests at the server, found %d", n, s.Requests)
	}
	return s, nil
}

func (m *series) add(s sample) {
	m.entryGap, m.entrySpread = append(m.entryGap, s.EntryGap), append(m.entrySpread, s.EntrySpread)
	m.endGap, m.endSpread = append(m.endGap, s.EndGap), append(m.endSpread, s.EndSpread)
	m.wall, m.cpu = append(m.wall, ms(s.wall)), append(m.cpu, ms(s.cpu))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ratioLines hold what has a reference against it.
func ratioLines(all []technique, measured []series, n int) (lines []string) {
	for i, t := range all {
		for j, r := range all {
			if r.name == t.reference {
				lines = append(lines, ratioLine(t.name, n, quantile(measured[i].endGap, .5), quantile(measured[j].endGap, .5)))
			}
		}
	}
	return lines
}

// ratioLine says what the ratio is, and whether it keeps to the goal where there is one.
func ratioLine(name string, n int, ours, reference float64) string {
	ratio := ours / reference
	line := fmt.Sprintf("N=%d %s: %.1f / %.1f us = %.2f", n, name, ours, reference, ratio)
	switch {
	case n != ratioCopies:
		return line
	case ratio <= ratioLimit:
		return fmt.Sprintf("%s, at most %v as wanted", line, ratioLimit)
	}
	return fmt.Sprintf("%s, MORE than the %v wanted", line, ratioLimit)
}

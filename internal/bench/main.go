// Command bench prints every table of the firing benchmark. Run it in the root of the repository:
//
//	go run ./internal/bench                    how often one round shows a race window, beside what the judge predicts
//	go run ./internal/bench -delay 5ms         the same through a network that delays every segment by up to 5 ms
//	go run ./internal/bench -whole 100         in how many of 100 whole runs with their defaults the race is found
//	go run ./internal/bench -arrivals          how close together the copies arrive, and what a round costs
//	go run ./internal/bench -peers             how often one invocation finds the race, beside other tools
//	go run ./internal/bench -large 1000        time and memory of a plan of 1,000 endpoints, beside one of 10; half an hour
//	go run ./internal/bench -html              size and first view of the HTML report of 1,000 endpoints, in Chromium
//	go run ./internal/bench -all               all but -large and -html, two hours or more; with -quick five minutes
//
// The built-in shop with the fault check-then-insert, the server that notes arrivals, and what is compared are
// processes of their own, so that the two sides do not share a scheduler. What is compared takes turns, so that a
// busy moment of the machine hits all alike.
//
// The other tools are looked for in the folder of -tools and then in PATH; those that are missing are named. curl and
// xargs come with most systems; the others are installed so:
//
//	go install github.com/rakyll/hey@latest
//	go install github.com/tsenart/vegeta/v12@latest
//	go install github.com/projectdiscovery/nuclei/v3/cmd/nuclei@latest
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if part := os.Getenv(partEnv); part != "" {
		return runPart(part, args, out)
	}
	s, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	if s.arrivals {
		return arrivalTable(out, s)
	}
	bin, cleanup, err := build()
	if err != nil {
		return err
	}
	defer cleanup()
	switch {
	case s.large > 0:
		return largePlan(out, bin, s)
	case s.html:
		return pageTable(out, bin)
	case s.all:
		return everything(out, bin, s)
	case s.peers:
		return peerTable(out, bin, s)
	case s.whole > 0:
		return wholeRuns(out, bin, s)
	}
	return roundTable(out, bin, s)
}

// everything prints all tables, each under a heading.
func everything(out io.Writer, bin string, s settings) error {
	far := s
	if far.delay == 0 {
		far.delay = farDelay
	}
	near := s
	near.delay = 0
	sections := []struct {
		title string
		print func() error
	}{
		{"Arrivals", func() error { return arrivalTable(out, s) }},
		{"Single rounds", func() error { return roundTable(out, bin, near) }},
		{"Whole runs", func() error { return wholeRuns(out, bin, near) }},
		{"Tools on loopback", func() error { return peerTable(out, bin, near) }},
		{fmt.Sprintf("Tools through a network of 0 to %v a segment", far.delay), func() error { return peerTable(out, bin, far) }},
	}
	for i, section := range sections {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "== %s\n\n", section.title)
		if err := section.print(); err != nil {
			return err
		}
	}
	return nil
}

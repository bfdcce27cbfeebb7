// Command bench prints every table of the firing benchmark. Run it in the root of the repository:
//
//	go run ./internal/bench                    how often one round shows a race window, beside what the judge predicts
//	go run ./internal/bench -delay 5ms         the same through a network that delays every segment by up to 5 ms
//	go run ./internal/bench -whole 100         in how many of 100 whole runs with their defaults the race is found
//	go run ./internal/bench -arrivals          how close together the copies arrive, and what a round costs
//
// The built-in shop with the fault check-then-insert, the server that notes arrivals, and what is compared are
// processes of their own, so that the two sides do not share a scheduler. What is compared takes turns, so that a
// busy moment of the machine hits all alike.
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
		return runPart(part, out)
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
	if s.whole > 0 {
		return wholeRuns(out, bin, s)
	}
	return roundTable(out, bin, s)
}

package main

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// farDelay is the network of -all: most delay of a segment each way.
const farDelay = 5 * time.Millisecond

// settings are the flags. Lists that are empty mean what the mode has by default.
type settings struct {
	arrivals, peers, all, html bool
	rounds                     int // of each cell
	whole                      int // runs of each cell; 0 means another mode
	large                      int // endpoints of the plan; 0 means another mode
	effort                     string
	invocations                int // of each tool and window
	copies                     []int
	windows                    []string
	kinds, schemes             []string
	delay                      time.Duration // most delay of a segment each way; 0 means no network
	tools                      string        // folder; empty means PATH only
	only                       *regexp.Regexp
}

// usage goes before the flags in -help.
const usage = `go run ./internal/bench prints the tables of the firing benchmark; run it in the root of the repository.
Without a mode (-arrivals, -peers, -whole N, -large N, -html, -all): how often one round shows a window, beside what is predicted.

The other tools of -peers are looked for in the folder of -tools and then in PATH. curl and xargs come with most systems:
  go install github.com/rakyll/hey@latest
  go install github.com/tsenart/vegeta/v12@latest
  go install github.com/projectdiscovery/nuclei/v3/cmd/nuclei@latest

`

// parse reads the flags; complaints and help go to w.
func parse(args []string, w io.Writer) (s settings, err error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(w)
	fs.Usage = func() {
		fmt.Fprint(w, usage)
		fs.PrintDefaults()
	}
	fs.BoolVar(&s.arrivals, "arrivals", false, "print how close together the copies arrive, and what a round costs")
	fs.BoolVar(&s.peers, "peers", false, "print how often one invocation finds the race, beside other tools")
	fs.BoolVar(&s.all, "all", false, "print all tables")
	quick := fs.Bool("quick", false, "few repetitions where no number is given: quick, and too few to conclude from")
	fs.IntVar(&s.rounds, "rounds", 300, "rounds for each cell; -arrivals takes fewer for more than 20 copies")
	fs.IntVar(&s.whole, "whole", 0, "count in how many of so many whole runs the race is found (100 with -all)")
	fs.IntVar(&s.large, "large", 0, "measure time and memory of a plan of so many endpoints, beside one of 10")
	fs.BoolVar(&s.html, "html", false, "measure the HTML report of a large run: its size, and its first view in Chromium")
	fs.StringVar(&s.effort, "effort", "smoke", "effort of the runs of -large")
	fs.IntVar(&s.invocations, "invocations", 300, "invocations of each tool for each window, with -peers")
	copies := fs.String("copies", "", "copies in a round, a list (default 5, with -arrivals 2,5,20,50,200); not for -peers")
	windows := fs.String("windows", "",
		"nominal race windows, a list (default 20us,50us,100us,200us,500us, with -peers 20us,100us,500us,1ms,5ms)")
	kinds := fs.String("kinds", "io,cpu", "kinds of window; -peers always takes io")
	schemes := fs.String("schemes", "h1,tls,h2", "h1, tls (HTTP/1.1 over TLS) or h2")
	fs.DurationVar(&s.delay, "delay", 0,
		"put a network between client and shop that delays every segment by a random time up to this")
	fs.StringVar(&s.tools, "tools", "", "folder to look for the other tools in, before PATH")
	only := fs.String("only", "", "with -peers: only the tools whose name matches this regular expression")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	if fs.NArg() > 0 {
		return s, fmt.Errorf("expected flags only, found %q", fs.Arg(0))
	}
	s.kinds, s.schemes, s.windows = list(*kinds), list(*schemes), list(*windows)
	if s.copies, err = numbers(*copies); err != nil {
		return s, fmt.Errorf("-copies: %w", err)
	}
	if s.only, err = regexp.Compile(*only); err != nil {
		return s, fmt.Errorf("-only: %w", err)
	}
	s.scale(fs, *quick)
	return s, s.check()
}

// scale fills in the numbers that are not given.
func (s *settings) scale(fs *flag.FlagSet, quick bool) {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	rounds, invocations, whole := s.rounds, s.invocations, 100
	if quick {
		rounds, invocations, whole = 40, 8, 3
	}
	if !given["rounds"] {
		s.rounds = rounds
	}
	if !given["invocations"] {
		s.invocations = invocations
	}
	if s.all && s.whole == 0 {
		s.whole = whole
	}
}

func (s *settings) check() error {
	if s.rounds < 1 || s.invocations < 1 || s.whole < 0 || s.large < 0 {
		return fmt.Errorf("-rounds and -invocations must be at least 1, and -whole and -large not below 0")
	}
	if i := slices.IndexFunc(s.copies, func(n int) bool { return n < 2 }); i >= 0 {
		return fmt.Errorf("-copies must be at least 2, found %d", s.copies[i])
	}
	for _, w := range s.windows {
		if _, err := time.ParseDuration(w); err != nil {
			return fmt.Errorf("-windows: %w", err)
		}
	}
	return nil
}

// list splits at commas; an empty text is an empty list.
func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func numbers(text string) (all []int, err error) {
	for _, word := range list(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("expected a number, found %q", word)
		}
		all = append(all, n)
	}
	return all, nil
}

// orElse gives the list, or otherwise when it is empty.
func orElse[T any](given []T, otherwise ...T) []T {
	if len(given) == 0 {
		return otherwise
	}
	return given
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"retrysafe/internal/fire"
)

// partEnv is set in the environment of the processes that this program starts from its own file, to one of the parts.
const partEnv = "RETRYSAFE_BENCH_PART"

// The parts.
const (
	partArrivals = "arrivals" // serves and notes arrivals until standard input ends
	partRound    = "round"    // fires one round: FIRING URL KEY
)

// runPart does what such a process is for.
func runPart(part string, args []string, out io.Writer) error {
	switch {
	case part == partArrivals:
		return serveArrivals(os.Stdin, out)
	case part == partRound && len(args) == 3:
		return oneRound(args[0], args[1], args[2])
	}
	return fmt.Errorf("%s is for this program alone, found %q with %d arguments: unset it", partEnv, part, len(args))
}

// oneRound is the least that a tool of ours can do: a client and one volley.
func oneRound(firing, url, key string) error {
	client := fire.New(fire.Options{TLS: insecure(), Firing: firing})
	return volley(client, slices.Repeat([]fire.Shot{shot(url, key)}, peerCopies))
}

// volley releases the shots, and complains unless all of them were answered.
func volley(client *fire.Client, shots []fire.Shot) error {
	answers, burst := client.Volley(context.Background(), shots)
	for _, x := range answers {
		if !x.Complete() {
			return fmt.Errorf("no complete answer: %s", x.Error)
		}
	}
	if burst.Copies != len(shots) {
		return fmt.Errorf("expected %d copies to be released, found %d", len(shots), burst.Copies)
	}
	return nil
}

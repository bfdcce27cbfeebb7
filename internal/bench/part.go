package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"retrysafe/internal/fire"
)

// partEnv is set in the environment of the processes that this program starts from its own file, to one of the parts.
const partEnv = "RETRYSAFE_BENCH_PART"

// partArrivals serves and notes arrivals until standard input ends.
const partArrivals = "arrivals"

// runPart does what such a process is for.
func runPart(part string, out io.Writer) error {
	if part == partArrivals {
		return serveArrivals(os.Stdin, out)
	}
	return fmt.Errorf("%s is for this program alone, found %q: unset it", partEnv, part)
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

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// wholeRuns counts in how many whole runs, with their default effort, the race is found.
func wholeRuns(out io.Writer, bin string, s settings) error {
	fmt.Fprintf(out, "%-4s %-6s %-4s %12s %8s\n", "kind", "window", "via", "found", "wall s")
	for _, kind := range s.kinds {
		for _, w := range orElse(s.windows, "20us", "50us", "100us", "200us", "500us") {
			for _, scheme := range s.schemes {
				start := time.Now()
				found, err := wholeCell(bin, kind, w, scheme, s.whole, s.delay)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "%-4s %-6s %-4s %5d of %3d %8.1f\n", kind, w, scheme, found, s.whole, time.Since(start).Seconds())
			}
		}
	}
	return nil
}

func wholeCell(bin, kind, window, scheme string, n int, delay time.Duration) (found int, err error) {
	shop, err := serve(bin, kind, window, scheme, delay)
	if err != nil {
		return 0, err
	}
	defer shop.stop()
	args := wholeArgs()
	if scheme == "tls" {
		args = append(args, "--firing", "h1")
	}
	for range n {
		c := exec.Command(bin, args...)
		c.Env = append(os.Environ(), "RETRYSAFE_TARGET="+shop.url)
		out, _ := c.CombinedOutput()
		switch code := c.ProcessState.ExitCode(); code {
		case 0:
		case 1:
			found++
		default:
			return found, fmt.Errorf("exit code %d: %s", code, out)
		}
	}
	return found, nil
}

// wholeArgs are what a whole run is called with; its target is in the environment.
func wholeArgs() []string {
	return []string{"run", "fixtures/plans/shop.yaml", "--scenario", "same-key-concurrent", "--endpoint", "create order",
		"--quiet", "--insecure"}
}

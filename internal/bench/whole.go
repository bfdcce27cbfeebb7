package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// wholeRuns counts in how many of n whole runs, with their default effort, the race is found.
func wholeRuns(bin string, kinds, windows, schemes []string, n int, delay time.Duration) error {
	fmt.Printf("%-4s %-6s %-4s %12s %8s\n", "kind", "window", "via", "found", "wall s")
	for _, kind := range kinds {
		for _, w := range windows {
			for _, scheme := range schemes {
				start := time.Now()
				found, err := wholeCell(bin, kind, w, scheme, n, delay)
				if err != nil {
					return err
				}
				fmt.Printf("%-4s %-6s %-4s %5d of %3d %8.1f\n", kind, w, scheme, found, n, time.Since(start).Seconds())
			}
		}
	}
	return nil
}

func wholeCell(bin, kind, window, scheme string, n int, delay time.Duration) (found int, err error) {
	_, url, stop, err := serve(bin, kind, window, scheme, delay)
	if err != nil {
		return 0, err
	}
	defer stop()
	args := []string{"run", "fixtures/plans/shop.yaml", "--scenario", "same-key-concurrent", "--endpoint", "create order", "--quiet", "--insecure"}
	if scheme == "tls" {
		args = append(args, "--firing", "h1")
	}
	for range n {
		c := exec.Command(bin, args...)
		c.Env = append(os.Environ(), "RETRYSAFE_TARGET="+url)
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

package cmd

import (
	"context"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"retrysafe/fixtures"
)

// startInherited serves the booking service until the script ends. $RETRYSAFE_TARGET is its URL.
func startInherited(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: inherited")
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- fixtures.ServeInherited(ctx, "127.0.0.1:0", 10*time.Millisecond, func(url string) { ready <- url })
	}()
	select {
	case url := <-ready:
		ts.Setenv("RETRYSAFE_TARGET", url)
	case err := <-done:
		ts.Fatalf("the service did not start: %v", err)
	}
	ts.Defer(func() {
		stop()
		<-done
	})
}

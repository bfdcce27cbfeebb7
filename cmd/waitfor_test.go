package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/fire"
)

// TestWaitInterrupted: an interrupt ends the wait at once, also while an answer is awaited, and has the exit code of any other.
func TestWaitInterrupted(t *testing.T) {
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	w := &waiter{client: fire.New(fire.Options{}), urls: []*url.URL{u}, timeout: time.Hour,
		tell: func(format string, args ...any) { fmt.Fprintf(&told, format+"\n", args...) }}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-asked
		interrupt()
	}()
	start := time.Now()
	err = w.wait(ctx)
	var code exitError
	if !errors.As(err, &code) || int(code) != ExitInterrupted || time.Since(start) > waitOnce {
		t.Errorf("ended with %v after %s", err, time.Since(start))
	}
	if want := "interrupted while waiting for " + server.URL + "; nothing was tested\n"; told.String() != want {
		t.Errorf("told %q, want %q", told.String(), want)
	}
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// warmHold is how long the answer to GET /warm takes: as long as it is out, another request needs a connection of its own.
const warmHold = 2 * time.Millisecond

// arrivals notes when requests for /orders reach their handler, and when their bodies are complete. The benchmarks of
// internal/fire have one of their own: they cannot import this package, which imports theirs.
type arrivals struct {
	mu          sync.Mutex
	entry, ends []int64 // nanoseconds
	overH2      int
}

// taken is what was noted since the last look: how many requests came, how many of them over HTTP/2, and first gaps and
// spreads in microseconds, 0 for fewer than two.
type taken struct {
	Requests, OverH2                         int
	EntryGap, EntrySpread, EndGap, EndSpread float64
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	entry := time.Now().UnixNano()
	switch r.URL.Path {
	case "/take":
		_ = json.NewEncoder(w).Encode(a.take())
		return
	case "/warm":
		time.Sleep(warmHold)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	end := time.Now().UnixNano()
	a.mu.Lock()
	a.entry, a.ends = append(a.entry, entry), append(a.ends, end)
	if r.ProtoMajor == 2 {
		a.overH2++
	}
	a.mu.Unlock()
	_, _ = io.WriteString(w, `{"id":1}`)
}

// take gives what was noted and forgets it.
func (a *arrivals) take() taken {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := taken{Requests: len(a.ends), OverH2: a.overH2}
	t.EntryGap, t.EntrySpread = gaps(a.entry)
	t.EndGap, t.EndSpread = gaps(a.ends)
	a.entry, a.ends, a.overH2 = a.entry[:0], a.ends[:0], 0
	return t
}

// gaps gives the first gap and the spread of moments, in microseconds. It sorts them.
func gaps(moments []int64) (first, spread float64) {
	slices.Sort(moments)
	n := len(moments)
	if n < 2 {
		return 0, 0
	}
	return float64(moments[1]-moments[0]) / 1e3, float64(moments[n-1]-moments[0]) / 1e3
}

// arrivalURLs are where the same handler is served: HTTP/1.1, and HTTPS with HTTP/1.1 and HTTP/2.
type arrivalURLs struct{ Plain, Secure string }

// serveArrivals says where it serves in one line of JSON, and ends when stdin does.
func serveArrivals(stdin io.Reader, stdout io.Writer) error {
	seen := &arrivals{}
	plain := httptest.NewServer(seen)
	defer plain.Close()
	secure := httptest.NewUnstartedServer(seen)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	if err := json.NewEncoder(stdout).Encode(arrivalURLs{plain.URL, secure.URL}); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, stdin)
	return err
}

// watched is such a server in a process of its own.
type watched struct {
	arrivalURLs
	self string // this program's file
	stop func()
}

// watchArrivals starts it.
func watchArrivals() (*watched, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	server := exec.Command(self)
	server.Env = append(os.Environ(), partEnv+"="+partArrivals)
	in, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	w := &watched{self: self, stop: func() {
		_ = in.Close()
		_ = server.Wait()
	}}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &w.arrivalURLs)
	}
	if err != nil {
		w.stop()
		return nil, fmt.Errorf("expected the arrival server's URLs, found %q: %w", line, err)
	}
	return w, nil
}

// take asks what arrived since the last time.
func (w *watched) take() (t taken, err error) {
	resp, err := http.Get(w.Plain + "/take")
	if err != nil {
		return t, err
	}
	defer resp.Body.Close()
	return t, json.NewDecoder(resp.Body).Decode(&t)
}

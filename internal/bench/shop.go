package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/trace"
)

// build compiles retrysafe into a temporary folder, which cleanup removes.
func build() (bin string, cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "retrysafe-bench")
	if err != nil {
		return "", nil, err
	}
	bin = dir + "/retrysafe"
	if out, err := exec.Command("go", "build", "-o", bin, "retrysafe").CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("%w: %s", err, out)
	}
	return bin, func() { _ = os.RemoveAll(dir) }, nil
}

// running is a shop with the fault in a process of its own. url leads to it through the network if there is one,
// direct does not.
type running struct {
	direct, url string
	stop        func()
	client      *fire.Client
}

// serve starts a shop with a window of that kind; scheme is h1, tls or h2.
func serve(bin, kind, window, scheme string, delay time.Duration) (*running, error) {
	args := []string{"--fault", "check-then-insert", "--work", "1ns", "--window", window, "--window-kind", kind}
	if scheme != "h1" {
		args = append(args, "--tls")
	}
	shop, err := start(bin, args...)
	if err != nil || delay == 0 {
		return shop, err
	}
	protocol, host, _ := strings.Cut(shop.direct, "://")
	l, err := network(host, delay)
	if err != nil {
		shop.stop()
		return nil, err
	}
	shop.url = protocol + "://" + l.Addr().String()
	stop := shop.stop
	shop.stop = func() { _ = l.Close(); stop() }
	return shop, nil
}

// start starts a shop in a process of its own, with these flags.
func start(bin string, flags ...string) (*running, error) {
	process := exec.Command(bin, append([]string{"serve"}, flags...)...)
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		_ = process.Wait()
	}
	direct, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("expected the shop's URL, found %q: %w", direct, err)
	}
	direct = strings.TrimSpace(direct)
	return &running{direct: direct, url: direct, stop: stop, client: fire.New(fire.Options{TLS: insecure()})}, nil
}

// window asks how wide the window really was: the median in microseconds.
func (r *running) window(ctx context.Context) (float64, error) {
	var w struct {
		P50 float64 `json:"p50_us"`
	}
	err := r.get(ctx, "/window", &w)
	return w.P50, err
}

// orders asks how many orders have that reference.
func (r *running) orders(ctx context.Context, reference string) (int, error) {
	var c struct{ Count int }
	err := r.get(ctx, "/orders/count?reference="+reference, &c)
	return c.Count, err
}

func (r *running) get(ctx context.Context, path string, into any) error {
	x := r.client.Send(ctx, fire.Shot{Method: "GET", URL: r.direct + path})
	if !x.Complete() {
		return fmt.Errorf("no answer from %s: %s", path, x.Error)
	}
	return json.Unmarshal(x.Response.Body.Bytes(), into)
}

func insecure() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// newKey is a key that no other round has.
func newKey(i int) string { return fmt.Sprintf("bench-%d-%d", i, time.Now().UnixNano()) }

// payload is the body of an order with the key as its reference.
func payload(key string) string { return `{"qty": 1, "sku": "A1", "reference": "` + key + `"}` }

func shot(url, key string) fire.Shot {
	return fire.Shot{Method: "POST", URL: url + "/orders",
		Header: []trace.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Idempotency-Key", Value: key}},
		Body:   []byte(payload(key))}
}

// distinct is how many different things the answers name.
func distinct(answers []trace.Exchange) int {
	seen := map[string]bool{}
	for _, x := range answers {
		var o struct{ ID string }
		if x.Response != nil && json.Unmarshal(x.Response.Body.Bytes(), &o) == nil && o.ID != "" {
			seen[o.ID] = true
		}
	}
	return len(seen)
}

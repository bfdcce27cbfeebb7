package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// fewEndpoints is the plan that a large one is compared with.
	fewEndpoints = 10
	// mostPerEndpoint is how much longer an endpoint of a large plan may take, mostResident how much memory its run may need in MiB.
	mostPerEndpoint = 1.2
	mostResident    = 200
)

// planOf is a plan of so many endpoints, each of which is the order of the shop.
func planOf(endpoints int) string {
	var b strings.Builder
	b.WriteString(`version: 1
target: ${RETRYSAFE_TARGET}
counters:
  orders: {http: "GET /orders/count?reference={{marker}}", value: $.count}
endpoints:
`)
	for i := range endpoints {
		fmt.Fprintf(&b, `  - name: create order %04d
    request: POST /orders
    key: {header: Idempotency-Key}
    required: true
    body: {sku: A1, qty: 1, reference: "{{marker}}"}
    other_body: {qty: 2}
    counters: {orders: 1}
    key_lifetime: 3s
`, i+1)
	}
	return b.String()
}

// spent is what a run took.
type spent struct {
	endpoints int
	took      time.Duration
	resident  float64 // MiB
	document  int64   // bytes
}

func (c spent) each() float64 { return c.took.Seconds() / float64(c.endpoints) }

// largePlan runs a plan of many endpoints between two of few, so that a busy hour of the machine hits both, and complains
// when an endpoint of it takes longer or the run needs more memory than it should.
func largePlan(out io.Writer, bin string, s settings) error {
	fmt.Fprintf(out, "%9s %8s %14s %14s %12s\n", "endpoints", "wall s", "s an endpoint", "resident MiB", "document MB")
	var all []spent
	for _, n := range []int{fewEndpoints, s.large, fewEndpoints} {
		c, err := runPlan(bin, n, s.effort)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%9d %8.1f %14.2f %14.0f %12.1f\n", c.endpoints, c.took.Seconds(), c.each(), c.resident, float64(c.document)/1e6)
		all = append(all, c)
	}
	few, large := (all[0].each()+all[2].each())/2, all[1]
	fmt.Fprintf(out, "an endpoint of the large plan takes %.2f times as long\n", large.each()/few)
	if large.each() > mostPerEndpoint*few {
		return fmt.Errorf("expected at most %.1f times the time for each endpoint", mostPerEndpoint)
	}
	if large.resident > mostResident {
		return fmt.Errorf("expected at most %d MiB of resident memory, found %.0f", mostResident, large.resident)
	}
	return nil
}

// runPlan runs a plan of so many endpoints against a shop of its own.
func runPlan(bin string, endpoints int, effort string) (spent, error) {
	shop, err := start(bin)
	if err != nil {
		return spent{}, err
	}
	defer shop.stop()
	dir, err := os.MkdirTemp("", "retrysafe-large")
	if err != nil {
		return spent{}, err
	}
	defer os.RemoveAll(dir)
	plan, document := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(plan, []byte(planOf(endpoints)), 0o600); err != nil {
		return spent{}, err
	}
	c := exec.Command(bin, "run", plan, "--effort", effort, "--report", "json="+document)
	c.Env = append(os.Environ(), "RETRYSAFE_TARGET="+shop.url)
	start := time.Now()
	text, err := c.CombinedOutput()
	took := time.Since(start)
	if c.ProcessState == nil {
		return spent{}, err
	}
	info, err := os.Stat(document)
	if err != nil {
		return spent{}, fmt.Errorf("exit code %d: %s", c.ProcessState.ExitCode(), text)
	}
	return spent{endpoints, took, mostMemory(c.ProcessState), info.Size()}, nil
}

//go:build unix

package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/report"
)

var (
	kills    = flag.Int("kills", 8, "rounds of TestKill")
	killSeed = flag.Uint64("kill-seed", 1, "what TestKill draws its shops, victims and moments from")
)

const killPlan = `version: 1
target: ${RETRYSAFE_TARGET}
limits: {request: 2s, count: 1s, in_progress: 1s, wait: 10s}
counters:
  orders: {http: "GET /orders/count?reference={{marker}}", value: $.count}
endpoints:
  - name: create order
    setup:
      - {request: POST /carts, body: {sku: A1}, capture: {cart: $.id}}
    request: POST /orders
    key: {header: Idempotency-Key}
    required: true
    body: {cart: "{{cart}}", qty: 1, reference: "{{marker}}"}
    other_body: {qty: 2}
    counters: {orders: 1}
    key_lifetime: 3s
    cleanup: {request: "DELETE /orders/{{id}}", capture: {id: $.id}}
`

// victim is what is killed in the middle of a run.
type victim struct {
	name string
	kill func(*killing) error
	// code is the exit code of a run that was under way; -1 for a process that was killed, 0 for whatever the report says.
	code int
	// blameless is true when an honest shop must not be accused because of it. A shop that lost its rows may be.
	blameless bool
}

func victims() []victim {
	tool := func(s syscall.Signal) func(*killing) error {
		return func(k *killing) error { return k.tool.Process.Signal(s) }
	}
	return []victim{
		{"tool by SIGINT", tool(syscall.SIGINT), ExitInterrupted, true},
		{"tool by SIGTERM", tool(syscall.SIGTERM), ExitInterrupted, true},
		{"tool by SIGKILL", tool(syscall.SIGKILL), -1, true},
		{"shop", func(k *killing) error { return k.shop.Process.Kill() }, 0, true},
		{"network", func(k *killing) error { k.link.cutAll(); return nil }, 0, true},
		{"database", func(k *killing) error { return loseDatabase(k.database) }, 0, false},
	}
}

// loseDatabase overwrites the files of an SQLite database, which are open.
func loseDatabase(file string) error {
	for _, name := range []string{file, file + "-wal"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, bytes.Repeat([]byte("lost"), int(info.Size())/4), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// killing is one run in which something is killed.
type killing struct {
	dir, database string
	shop, tool    *exec.Cmd
	link          *tcpLink
	stdout        bytes.Buffer
	stderr        bytes.Buffer
}

// begin starts the shop, and the network between it and the tool. At the moment'th connection what is to be done is done; 0 is never.
func (k *killing) begin(t *testing.T, bin, fault string, moment int, do func() error) {
	t.Helper()
	k.dir = t.TempDir()
	k.database = filepath.Join(k.dir, "shop.db")
	args := []string{"serve", "--work", "5ms", "--store", "sqlite=" + k.database}
	if fault != "" {
		args = append(args, "--fault", fault)
	}
	k.shop = exec.Command(bin, args...)
	out, err := k.shop.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.shop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = k.shop.Process.Kill()
		_ = k.shop.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	k.link = newTCPLink(t, strings.TrimPrefix(strings.TrimSpace(url), "http://"), moment, do)
	plan := filepath.Join(k.dir, "plan.yaml")
	if err := os.WriteFile(plan, []byte(killPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	k.tool = exec.Command(bin, "run", plan, "--effort", "smoke", "--report", "json="+k.document())
	k.tool.Env = append(os.Environ(), "RETRYSAFE_TARGET=http://"+k.link.address())
	k.tool.Stdout, k.tool.Stderr = &k.stdout, &k.stderr
	k.tool.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func (k *killing) document() string { return filepath.Join(k.dir, "out.json") }

// end waits for the tool and gives its exit code, -1 for a signal.
func (k *killing) end(t *testing.T) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- k.tool.Wait() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		_ = k.tool.Process.Kill()
		<-done
		t.Fatalf("the tool did not end:\n%s\n%s", &k.stdout, &k.stderr)
	}
	if err := syscall.Kill(-k.tool.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("something of the tool is still running: %v", err)
	}
	return k.tool.ProcessState.ExitCode()
}

// read gives the results document; nil when there is none.
func (k *killing) read(t *testing.T) *trace.Run {
	t.Helper()
	f, err := os.Open(k.document())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run, err := report.ReadRun(f)
	if err != nil {
		t.Fatalf("the results document is broken: %v", err)
	}
	return run
}

// TestKill kills something at a random step of a run: there is always a report or a clear error, with the right exit code, never
// a wrong pass, and nothing is left running.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each round is a run: run it without -short")
	}
	bin := build(t)
	random := rand.New(rand.NewPCG(*killSeed, 0))
	faults := []string{"", "no-dedupe", "answer-not-stored"}
	whole := map[string]*undisturbed{}
	for n := range *kills {
		fault := faults[random.IntN(len(faults))]
		v := victims()[(n+int(*killSeed))%len(victims())]
		share := random.Float64()
		t.Run(fmt.Sprintf("%d %s, %s", n, v.name, orHonest(fault)), func(t *testing.T) {
			if whole[fault] == nil {
				whole[fault] = undisturbedRun(t, bin, fault)
			}
			killOnce(t, bin, fault, v, whole[fault], 1+int(share*float64(whole[fault].connections-1)))
		})
	}
}

func orHonest(fault string) string {
	if fault == "" {
		return "honest shop"
	}
	return fault
}

// undisturbed is what comes of a run in which nothing is killed.
type undisturbed struct {
	connections int
	verdicts    map[string]trace.Verdict
	code        int
}

func undisturbedRun(t *testing.T, bin, fault string) *undisturbed {
	t.Helper()
	k := &killing{}
	k.begin(t, bin, fault, 0, nil)
	if err := k.tool.Start(); err != nil {
		t.Fatal(err)
	}
	u := &undisturbed{code: k.end(t), verdicts: map[string]trace.Verdict{}}
	u.connections = k.link.seen()
	for _, c := range k.read(t).Endpoints[0].Cases {
		u.verdicts[c.Scenario] = c.Verdict
	}
	return u
}

func killOnce(t *testing.T, bin, fault string, v victim, whole *undisturbed, moment int) {
	k, started := &killing{}, make(chan struct{})
	k.begin(t, bin, fault, moment, func() error {
		<-started
		return v.kill(k)
	})
	err := k.tool.Start()
	close(started)
	if err != nil {
		t.Fatal(err)
	}
	code := k.end(t)
	t.Logf("at connection %d of %d: exit code %d", moment, whole.connections, code)
	if err := k.link.failed(); err != nil {
		t.Fatal(err)
	}
	run := k.read(t)
	if v.code < 0 && code < 0 {
		killedWhole(t, k, run)
		return
	}
	if run == nil {
		t.Fatalf("exit code %d without a results document:\n%s\n%s", code, &k.stdout, &k.stderr)
	}
	if _, err := os.Stat(k.document() + report.PartialSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the partial record is left behind: %v", err)
	}
	checkCode(t, run, code, v, whole)
	if !strings.Contains(k.stdout.String(), fmt.Sprintf("\nexit %d: ", code)) {
		t.Errorf("the report does not tell the exit code %d:\n%s", code, &k.stdout)
	}
	for _, c := range run.Endpoints[0].Cases {
		undisturbed := whole.verdicts[c.Scenario]
		passes := c.Verdict == trace.Pass || c.Verdict == trace.Warn
		if passes && !slices.Contains([]trace.Verdict{trace.Pass, trace.Warn}, undisturbed) {
			t.Errorf("%s: verdict %s, undisturbed %s", c.Scenario, c.Verdict, undisturbed)
		}
		if c.Verdict == trace.Fail && undisturbed != trace.Fail && v.blameless {
			t.Errorf("%s: accused because of what was killed: %+v", c.Scenario, c.Findings)
		}
	}
}

// checkCode compares the exit code with the record. The last requests of a run are those that clean up: who is killed then does not
// change what was found.
func checkCode(t *testing.T, run *trace.Run, code int, v victim, whole *undisturbed) {
	t.Helper()
	if run.Summary.ExitCode != code {
		t.Errorf("exit code %d, in the results document %d", code, run.Summary.ExitCode)
	}
	worst := ExitOK
	for _, c := range run.Endpoints[0].Cases {
		switch {
		case c.Verdict == trace.Fail:
			worst = ExitViolations
		case worst != ExitViolations && (c.Verdict == trace.Inconclusive || c.Verdict == trace.Error):
			worst = ExitInconclusive
		}
	}
	want := worst
	if run.Info.Interrupted {
		want = ExitInterrupted
	}
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	if v.code == ExitInterrupted && !run.Info.Interrupted && code != whole.code {
		t.Errorf("exit code %d of a run that was interrupted behind its end, want %d", code, whole.code)
	}
}

// killedWhole checks what a tool leaves behind that could do nothing any more: no document, or a whole one, and a record
// that nobody takes for one.
func killedWhole(t *testing.T, k *killing, run *trace.Run) {
	t.Helper()
	if run != nil {
		return // it was killed behind its end
	}
	text, err := os.ReadFile(k.document() + report.PartialSuffix)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, line := range lines[:len(lines)-1] { // the last one may be cut, or is empty
		if !json.Valid(line) {
			t.Errorf("a line of the partial record is broken: %.200q", line)
		}
	}
	if run, err := report.ReadRun(bytes.NewReader(text)); err != nil || !run.Info.Interrupted {
		t.Errorf("the partial record does not read as that of a run that was interrupted: %v", err)
	}
}

package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"retrysafe/fixtures"
	"retrysafe/internal/trace"
)

var update = flag.Bool("update", false, "write what was found to testdata")

// matrixFile pins the rules that every variant of the shop must be reported with, a line for each scenario that
// reports any: VARIANT SCENARIO RULES. Rules in parentheses may be missing; only racy variants have them.
const matrixFile = "testdata/matrix.txt"

// racy variants lose a race or not: they run alone, so that nothing else takes their processors.
func racy() []string {
	return []string{"check-then-insert", "article-decorator", "article-express-naive"}
}

// TestMatrix runs the built program on every variant of the shop, each in a process of its own, and compares
// what every scenario reports with what is pinned. Under the race detector it runs each fault in the scenarios
// that catch it.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("the matrix takes minutes: run it without -short")
	}
	pinned := readMatrix(t)
	m := &matrix{bin: build(t), dir: t.TempDir()}
	variants := fixtures.Variants()
	if raceEnabled {
		variants = slices.DeleteFunc(variants, func(v fixtures.Variant) bool { return v.Kind != fixtures.KindFault })
		m.only = pinned
	}
	for _, v := range variants {
		if slices.Contains(racy(), v.Name) {
			m.run(v)
		}
	}
	var g errgroup.Group
	g.SetLimit(8)                                 // most of a run is waiting
	for _, v := range slices.Backward(variants) { // the slow ones are near the end of the list
		if !slices.Contains(racy(), v.Name) {
			g.Go(func() error { m.run(v); return nil })
		}
	}
	_ = g.Wait()
	if *update {
		m.write(t)
		return
	}
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) { m.check(t, v, pinned) })
	}
}

// rules is what is reported: rules by "VARIANT SCENARIO".
type rules map[string][]string

// matrix runs variants and keeps what came of them.
type matrix struct {
	bin, dir string
	// only limits each variant to the scenarios that are pinned for it; nil for all.
	only rules

	mu      sync.Mutex
	results map[string]result
}

type result struct {
	run    *trace.Run
	exit   int
	output string
	err    error
}

func (m *matrix) run(v fixtures.Variant) {
	r := m.execute(v)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results == nil {
		m.results = map[string]result{}
	}
	m.results[v.Name] = r
}

// execute serves the variant in one process and tests it with another.
func (m *matrix) execute(v fixtures.Variant) result {
	shop := exec.Command(m.bin, "serve", "--fault", v.Name)
	out, err := shop.StdoutPipe()
	if err != nil {
		return result{err: err}
	}
	if err := shop.Start(); err != nil {
		return result{err: err}
	}
	defer func() {
		_ = shop.Process.Signal(syscall.SIGTERM)
		_ = shop.Wait()
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return result{err: fmt.Errorf("the shop printed no URL: %w", err)}
	}
	file := filepath.Join(m.dir, v.Name+".json")
	args := []string{"run", filepath.Join("..", v.Plan), "--report", "json=" + file}
	for key := range m.only {
		if variant, scenario, _ := strings.Cut(key, " "); variant == v.Name {
			args = append(args, "--scenario", scenario)
		}
	}
	c := exec.Command(m.bin, args...)
	c.Env = append(os.Environ(), "RETRYSAFE_TARGET="+strings.TrimSpace(url))
	text, _ := c.CombinedOutput()
	r := result{exit: c.ProcessState.ExitCode(), output: string(text), run: &trace.Run{}}
	doc, err := os.ReadFile(file)
	if err != nil {
		r.err = err
		return r
	}
	r.err = json.Unmarshal(doc, r.run)
	return r
}

// check compares a variant's results with what is pinned and with what its kind promises.
func (m *matrix) check(t *testing.T, v fixtures.Variant, pinned rules) {
	r := m.results[v.Name]
	if r.err != nil {
		t.Fatalf("%v\n%s", r.err, r.output)
	}
	seen := map[string]bool{}
	severe := false
	for _, ep := range r.run.Endpoints {
		for _, c := range ep.Cases {
			var got []string
			for _, f := range c.Findings {
				got = append(got, f.Rule)
				seen[f.Rule] = true
				severe = severe || f.Severity.AtLeast(trace.Major)
			}
			if want := pinned[v.Name+" "+c.Scenario]; !fits(got, want) {
				t.Errorf("%s, %s: reported %v, pinned %v", ep.Name, c.Scenario, got, want)
			}
		}
	}
	for _, rule := range v.Rules {
		if !seen[rule] {
			t.Errorf("%s was not reported", rule)
		}
	}
	want := ExitOK
	if severe {
		want = ExitViolations
	}
	if r.exit != want {
		t.Errorf("exit code %d, want %d", r.exit, want)
	}
	if v.Kind == fixtures.KindHonest && severe {
		t.Error("an honest variant must have no finding at major or above")
	}
	if t.Failed() {
		t.Log(r.output)
	}
}

// fits reports whether got holds every rule that must be there, and none that neither must nor may.
func fits(got, pinned []string) bool {
	var must, may []string
	for _, p := range pinned {
		if name, ok := strings.CutPrefix(p, "("); ok {
			may = append(may, strings.TrimSuffix(name, ")"))
			continue
		}
		must = append(must, p)
	}
	for _, g := range got {
		if !slices.Contains(must, g) && !slices.Contains(may, g) {
			return false
		}
	}
	return !slices.ContainsFunc(must, func(p string) bool { return !slices.Contains(got, p) })
}

func readMatrix(t *testing.T) rules {
	text, err := os.ReadFile(matrixFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	out := rules{}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 2 && f[0] != "#" {
			out[f[0]+" "+f[1]] = f[2:]
		}
	}
	return out
}

// write pins what was found.
func (m *matrix) write(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "# variant scenario rules; in parentheses: rules that may be missing. Made by: go test ./cmd -run TestMatrix -update")
	for _, v := range fixtures.Variants() {
		r := m.results[v.Name]
		if r.err != nil {
			t.Fatalf("%s: %v\n%s", v.Name, r.err, r.output)
		}
		found := map[string]map[string]bool{}
		for _, ep := range r.run.Endpoints {
			for _, c := range ep.Cases {
				for _, f := range c.Findings {
					if found[c.Scenario] == nil {
						found[c.Scenario] = map[string]bool{}
					}
					found[c.Scenario][f.Rule] = true
				}
			}
		}
		for _, scenario := range slices.Sorted(maps.Keys(found)) {
			fmt.Fprintln(&b, v.Name, scenario, strings.Join(slices.Sorted(maps.Keys(found[scenario])), " "))
		}
	}
	if err := os.WriteFile(matrixFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// build makes the program, with the race detector where the test has it.
func build(t *testing.T) string {
	bin := filepath.Join(t.TempDir(), "retrysafe")
	args := []string{"build", "-o", bin}
	if raceEnabled {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "retrysafe")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

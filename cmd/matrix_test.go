package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"retrysafe/fixtures"
	"retrysafe/internal/trace"
)

var update = flag.Bool("update", false, "write what was found to testdata")

var chosen = flag.String("variants", "", "run, check and pin only these variants of the shop, separated by commas")

var store = flag.String("store", "", "run the variants of the shop on sqlite=FILE, postgres=DSN, mysql=DSN or redis=ADDR, each in a part of its own")

var together = flag.Int("together", 0, "how many variants run at the same time; 0 for what the store is made for")

// matrixFile pins what every variant of the shop must be reported with: a line for each endpoint and scenario that reports
// rules, VARIANT ENDPOINT SCENARIO RULES, and one for the causes that are named for an endpoint, VARIANT ENDPOINT = CAUSES.
// Names in parentheses may be missing; only variants that are racy, or slow on a busy machine, have them. Spaces in the names of endpoints are written as hyphens.
const matrixFile = "testdata/matrix.txt"

// TestMatrix runs the built program on every variant of the shop, each in a process of its own, and compares
// what every scenario reports with what is pinned. Under the race detector, short or not, it runs the first fault of each
// family in one scenario that catches it.
func TestMatrix(t *testing.T) {
	if testing.Short() && !raceEnabled {
		t.Skip("the matrix takes minutes: run it without -short")
	}
	pinned := readMatrix(t)
	m := &matrix{bin: build(t), dir: t.TempDir(), store: *store}
	variants := m.offered(t, chosenVariants(t))
	if raceEnabled {
		variants = firstFaults(variants)
		m.only = telling(variants, pinned)
	}
	m.run(t, variants, pinned)
	if *update {
		m.write(t, pinned)
		return
	}
	for _, v := range variants {
		t.Run(v.Name, func(t *testing.T) { m.check(t, v, pinned) })
	}
}

// chosenVariants are those that -variants names, all of them where it names none.
func chosenVariants(t *testing.T) []fixtures.Variant {
	all := fixtures.Variants()
	if *chosen == "" {
		return all
	}
	var out []fixtures.Variant
	for name := range strings.SplitSeq(*chosen, ",") {
		i := slices.IndexFunc(all, func(v fixtures.Variant) bool { return v.Name == name })
		if i < 0 {
			t.Fatalf("-variants names %q, which the shop does not have: retrysafe serve --list", name)
		}
		out = append(out, all[i])
	}
	return out
}

// firstFaults are the first faults of each family.
func firstFaults(variants []fixtures.Variant) []fixtures.Variant {
	seen := map[string]bool{}
	return slices.DeleteFunc(variants, func(v fixtures.Variant) bool {
		other := v.Kind != fixtures.KindFault || seen[v.Family]
		seen[v.Family] = seen[v.Family] || !other
		return other
	})
}

// offered are the variants that the store can have. The others are skipped, each with the reason.
func (m *matrix) offered(t *testing.T, variants []fixtures.Variant) []fixtures.Variant {
	kind := cmp.Or(m.store, fixtures.StoreMemory)
	kind, _, _ = strings.Cut(kind, "=")
	return slices.DeleteFunc(variants, func(v fixtures.Variant) bool {
		lacks := len(v.Stores) > 0 && !slices.Contains(v.Stores, kind)
		if lacks {
			t.Run(v.Name, func(t *testing.T) {
				t.Skipf("a technique that %s lacks: -store NAME=ADDRESS, of %s", kind, strings.Join(v.Stores, " or "))
			})
		}
		return lacks
	})
}

// atOnce is how many variants run at the same time: most of a run is waiting. Database servers allow a hundred connections, and a
// shop takes up to twenty; files of SQLite share a disk.
func (m *matrix) atOnce() int {
	kind, _, _ := strings.Cut(m.store, "=")
	switch {
	case *together > 0:
		return *together
	case kind == fixtures.StorePostgres, kind == fixtures.StoreMySQL, kind == fixtures.StoreSQLite:
		return 4
	}
	return 16
}

// rules is what is reported: rules by "VARIANT ENDPOINT SCENARIO", causes by "VARIANT ENDPOINT =".
type rules map[string][]string

// causes stands for a scenario where causes are pinned.
const causes = "="

// telling picks for each variant one scenario in which it is reported with its first rule.
func telling(variants []fixtures.Variant, pinned rules) rules {
	out := rules{}
	for _, v := range variants {
		for _, key := range slices.Sorted(maps.Keys(pinned)) {
			if strings.HasPrefix(key, v.Name+" ") && slices.Contains(pinned[key], v.Rules[0]) {
				out[key] = pinned[key]
				break
			}
		}
	}
	return out
}

// matrix runs variants and keeps what came of them.
type matrix struct {
	bin, dir string
	// store is where shops keep what they know; empty: wherever the variant says.
	store string
	// only limits each variant to the scenarios that are pinned for it; nil for all.
	only rules

	ports   ports
	results map[string]result
}

type result struct {
	run    *trace.Run
	exit   int
	output string
	err    error
}

// execute serves the variant in one process and tests it with another, in these scenarios or, where there are none, in all.
func (m *matrix) execute(v fixtures.Variant, scenarios []string) result {
	dir, err := os.MkdirTemp(m.dir, v.Name)
	if err != nil {
		return result{err: err}
	}
	flags, remove, err := m.flags(v)
	if err != nil {
		return result{err: err}
	}
	defer remove()
	flags, sinks, err := m.sinks(flags)
	if err != nil {
		return result{err: err}
	}
	shop := exec.Command(m.bin, append([]string{"serve", "--fault", v.Name}, flags...)...)
	shop.Dir = dir
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
	env, err := addresses(bufio.NewReader(out), v)
	if err != nil {
		return result{err: err}
	}
	file := filepath.Join(dir, "results.json")
	args := []string{"run", filepath.Join("..", v.Plan), "--allow-disruptive", "--insecure", "--report", "json=" + file}
	if v.Plan == fixtures.ShopPlan || v.Endpoint != "" {
		args = append(args, "--endpoint", cmp.Or(v.Endpoint, "create order"))
	}
	for _, id := range scenarios {
		args = append(args, "--scenario", id)
	}
	c := exec.Command(m.bin, args...)
	c.Env = append(append(os.Environ(), env...), sinks...)
	text, _ := c.CombinedOutput()
	r := result{exit: c.ProcessState.ExitCode(), output: string(text), run: &trace.Run{}}
	doc, err := os.ReadFile(file)
	if err != nil {
		r.err = fmt.Errorf("%w\n%s", err, text)
		return r
	}
	r.err = json.Unmarshal(doc, r.run)
	return r
}

// sinks gives a variant that sends to sinks ports of its own, in its flags and in the variables that the plans name.
func (m *matrix) sinks(flags []string) (own, env []string, err error) {
	own = slices.Clone(flags)
	for i := range own {
		name, prefix := "", ""
		switch own[i] {
		case "--smtp":
			name = "RETRYSAFE_SINK_SMTP"
		case "--provider":
			name, prefix = "RETRYSAFE_SINK_HTTP", "http://"
		default:
			continue
		}
		addr, err := m.ports.free()
		if err != nil {
			return nil, nil, err
		}
		own[i+1], env = prefix+addr, append(env, name+"="+addr)
	}
	return own, env, nil
}

// ports gives addresses that nobody listens on, another one each time. They are below the ports that the system hands out,
// so that no connection takes one in the meantime.
type ports struct {
	mu   sync.Mutex
	last int
}

func (p *ports) free() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == 0 {
		p.last = 10000 + mathrand.IntN(10000) // two processes at the same time should not meet
	}
	for range 1000 {
		p.last++
		addr := fmt.Sprintf("127.0.0.1:%d", p.last)
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("no free port was found")
}

// flags are what the variant's shop is started with. Call remove when it has ended.
func (m *matrix) flags(v fixtures.Variant) (flags []string, remove func(), err error) {
	if m.store == "" {
		return v.Flags, func() {}, nil
	}
	own, err := fixtures.StoreIn(m.store, "retrysafe_matrix_"+strings.ToLower(rand.Text()))
	if err != nil {
		return nil, nil, err
	}
	flags = slices.Clone(v.Flags)
	if i := slices.Index(flags, "--store"); i >= 0 {
		flags = slices.Delete(flags, i, i+2)
	}
	return append(flags, "--store", own), func() { _ = fixtures.RemoveStore(own) }, nil
}

// addresses reads what the shop prints: its base URL, then one for each instance or the one of its supervisor, and gives the
// variables that the plans name.
func addresses(out *bufio.Reader, v fixtures.Variant) ([]string, error) {
	names := []string{"RETRYSAFE_TARGET"}
	for i, flag := range v.Flags {
		switch flag {
		case "--instances":
			n, _ := strconv.Atoi(v.Flags[i+1])
			for k := range n {
				names = append(names, fmt.Sprintf("RETRYSAFE_REPLICA_%d", k+1))
			}
		case "--supervise":
			names = append(names, "RETRYSAFE_CONTROL")
		}
	}
	for i, name := range names {
		line, err := out.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("the shop printed no %s: %w", name, err)
		}
		names[i] = name + "=" + strings.TrimPrefix(strings.TrimSpace(line), "control ")
	}
	return names, nil
}

// reported is what an endpoint is reported with, by scenario, and the causes.
func reported(variant string, ep *trace.Endpoint) rules {
	out := rules{}
	place := variant + " " + strings.ReplaceAll(ep.Name, " ", "-") + " "
	for _, c := range ep.Cases {
		for _, f := range c.Findings {
			out[place+c.Scenario] = append(out[place+c.Scenario], f.Rule)
		}
	}
	for _, d := range ep.Diagnoses {
		out[place+causes] = append(out[place+causes], d.ID)
	}
	return out
}

// check compares a variant's results with what is pinned and with what its kind promises.
func (m *matrix) check(t *testing.T, v fixtures.Variant, pinned rules) {
	r := m.results[v.Name]
	if r.err != nil {
		t.Fatalf("%v\n%s", r.err, r.output)
	}
	seen := map[string]bool{}
	severe := false
	want := rules{}
	ran := map[string]bool{}
	for _, ep := range r.run.Endpoints {
		ran[strings.ReplaceAll(ep.Name, " ", "-")] = true
	}
	for key, names := range pinned {
		if f := strings.Fields(key); f[0] == v.Name && ran[f[1]] && (m.only == nil || m.only[key] != nil) {
			want[key] = names
		}
	}
	for i := range r.run.Endpoints {
		ep := &r.run.Endpoints[i]
		for key, got := range reported(v.Name, ep) {
			if m.only != nil && m.only[key] == nil {
				continue
			}
			if !fits(got, want[key]) {
				t.Errorf("%s: reported %v, pinned %v", key, got, want[key])
			}
			delete(want, key)
		}
		for _, c := range ep.Cases {
			for _, f := range c.Findings {
				seen[f.Rule] = true
				severe = severe || f.Severity.AtLeast(trace.Major)
			}
		}
	}
	for key, names := range want {
		if !fits(nil, names) {
			t.Errorf("%s: reported nothing, pinned %v", key, names)
		}
	}
	for i, rule := range v.Rules {
		if !seen[rule] && (i == 0 || m.only == nil) {
			t.Errorf("%s was not reported", rule)
		}
	}
	code := ExitOK
	if severe {
		code = ExitViolations
	}
	if r.exit != code {
		t.Errorf("exit code %d, want %d", r.exit, code)
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
		if f := strings.Fields(line); len(f) > 3 && f[0] != "#" {
			out[strings.Join(f[:3], " ")] = f[3:]
		}
	}
	return out
}

// write pins what was found. What was allowed to be missing still is.
func (m *matrix) write(t *testing.T, pinned rules) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "# variant endpoint scenario rules; variant endpoint = causes; in parentheses: what may be missing.\n"+
		"# Made by: go test ./cmd -run TestMatrix -update")
	for _, v := range fixtures.Variants() {
		r, ran := m.results[v.Name]
		if !ran {
			for _, key := range slices.Sorted(maps.Keys(pinned)) {
				if strings.HasPrefix(key, v.Name+" ") {
					fmt.Fprintln(&b, key, strings.Join(pinned[key], " "))
				}
			}
			continue
		}
		if r.err != nil {
			t.Fatalf("%s: %v\n%s", v.Name, r.err, r.output)
		}
		for i := range r.run.Endpoints {
			found := reported(v.Name, &r.run.Endpoints[i])
			for key, names := range pinned {
				if strings.HasPrefix(key, v.Name+" "+strings.ReplaceAll(r.run.Endpoints[i].Name, " ", "-")+" ") {
					found[key] = allowed(found[key], names)
				}
			}
			for _, key := range slices.Sorted(maps.Keys(found)) {
				if len(found[key]) == 0 {
					continue
				}
				fmt.Fprintln(&b, key, strings.Join(slices.Sorted(slices.Values(found[key])), " "))
			}
		}
	}
	if err := os.WriteFile(matrixFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// allowed are the names that were found, those in parentheses that were pinned so.
func allowed(found, pinned []string) []string {
	for _, p := range pinned {
		if name, ok := strings.CutPrefix(p, "("); ok {
			found = append(slices.DeleteFunc(found, func(f string) bool { return f == strings.TrimSuffix(name, ")") }), p)
		}
	}
	return found
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

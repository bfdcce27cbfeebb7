package cmd

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v4"
	"golang.org/x/sync/errgroup"

	"retrysafe/fixtures"
	"retrysafe/internal/trace"
)

// TestTryHonest starts from a bare plan for each honest variant of the shop, has `try` say which lines it should have, pastes them where it says,
// and wants the next run to be conclusive. It takes two to four minutes on two
// processors that others use too, half of it waiting.
func TestTryHonest(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceEnabled {
		t.Skip("it starts every honest variant of the shop: run it without -short and -race")
	}
	m := &matrix{bin: build(t), dir: t.TempDir()}
	variants := slices.DeleteFunc(fixtures.Variants(), func(v fixtures.Variant) bool { return v.Kind != fixtures.KindHonest })
	if len(variants) < 40 {
		t.Fatalf("%d honest variants, expected most of them", len(variants))
	}
	results := make([]result, len(variants))
	lines := make([]string, len(variants))
	var g errgroup.Group
	g.SetLimit(8)
	for i, v := range variants {
		if store, unset := storeFor(v); unset == "" {
			g.Go(func() error { results[i], lines[i] = m.on(store).tryAndRun(v); return nil })
		}
	}
	_ = g.Wait()
	for i, v := range variants {
		t.Run(v.Name, func(t *testing.T) {
			if _, unset := storeFor(v); unset != "" {
				t.Skipf("%s is not set: it holds the address of a server for tests", unset)
			}
			r := results[i]
			if r.err != nil {
				t.Fatalf("%v\n%s", r.err, r.output)
			}
			for _, ep := range r.run.Endpoints {
				for _, c := range ep.Cases {
					if c.Verdict == trace.Inconclusive || c.Verdict == trace.Error || slices.ContainsFunc(c.Findings, func(f trace.Finding) bool { return f.Severity.AtLeast(trace.Major) }) {
						t.Errorf("%s: %s %s", c.Scenario, c.Verdict, c.Detail)
					}
				}
			}
			if s := r.run.Summary.Cases; s.Pass+s.Warn < 2 || r.exit != ExitOK {
				t.Errorf("exit code %d, %+v", r.exit, s)
			}
			for _, want := range expectedOf(v.Name) {
				if !strings.Contains(lines[i], want) {
					t.Errorf("no line %s", want)
				}
			}
			if t.Failed() {
				t.Logf("pasted:\n%s\n%s", lines[i], r.output)
			}
		})
	}
}

// storeFor is a store that has the technique of a variant, or the variable that would name its server; both empty for a variant that any
// store will do for.
func storeFor(v fixtures.Variant) (store, unset string) {
	if len(v.Stores) == 0 {
		return "", ""
	}
	kind := v.Stores[0]
	variable := "RETRYSAFE_TEST_" + strings.ToUpper(kind)
	if address := os.Getenv(variable); address != "" {
		return kind + "=" + address, ""
	}
	return "", variable
}

// on is the same matrix on a store, where one is named.
func (m *matrix) on(store string) *matrix {
	if store == "" {
		return m
	}
	return &matrix{bin: m.bin, dir: m.dir, store: store}
}

// expectedOf are lines that must have been proposed for a variant: what makes it what it is.
func expectedOf(variant string) []string {
	switch variant {
	case "redirects-after-post":
		return []string{"answers: {success: [303]}", "required: true"}
	case "volatile-fields":
		return []string{"ignore: {json: [$.served_at]}", "required: true"}
	case "asynchronous-job", "asynchronous-job-409":
		return []string{"await: {follow: Location, until: {$.status: done}}", "required: true"}
	case "asynchronous-creation":
		return []string{"settle: ", "required: true"}
	case "5-mib-answers":
		return []string{"limits: {body: 6MiB}"}
	case "double-click-deduplicated", "put-if-match", "put-updates-time", "delete-again-204":
		return nil // a key is optional, or there is none
	case "natural-key":
		return nil // its convention requires a key
	}
	return []string{"required: true"}
}

// learnable are the fields of an endpoint that a bare plan lacks: those that a try can tell, and those that core scenarios do not need.
func learnable() []string {
	return []string{"required", "other_body", "invalid_body", "other_query", "other_endpoint", "fail", "settle", "key_lifetime", "retry_window",
		"stores", "answers", "await", "ignore", "cleanup", "skip", "double_click"}
}

// coreScenarios are those of the next run; the ones of other kinds do not apply.
func coreScenarios() []string {
	return []string{"first-request", "same-key-again", "same-key-concurrent", "same-key-different-body", "fresh-key-per-retry", "missing-key", "reordered-body", "repeated-*"}
}

// bare is the plan of a variant without what can be learned, with the one endpoint that shows it.
func bare(v fixtures.Variant) (text []byte, endpoint string, err error) {
	text, err = fixtures.Plans.ReadFile(strings.TrimPrefix(v.Plan, "fixtures/"))
	if err != nil {
		return nil, "", err
	}
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return nil, "", err
	}
	root := doc.Content[0]
	drop(root, "hooks", "limits", "replicas")
	for i := 0; i < len(root.Content); i += 2 {
		if root.Content[i].Value != "endpoints" {
			continue
		}
		list := root.Content[i+1]
		list.Content = slices.DeleteFunc(list.Content, func(ep *yaml.Node) bool {
			name := ep.Content[1].Value // each has its name first
			endpoint = cmp.Or(endpoint, v.Endpoint, name)
			return name != endpoint
		})
		drop(list.Content[0], learnable()...)
	}
	text, err = yaml.Dump(&doc)
	return text, endpoint, err
}

// drop takes fields out of a mapping.
func drop(n *yaml.Node, fields ...string) {
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if slices.Contains(fields, n.Content[i].Value) {
			n.Content = slices.Delete(n.Content, i, i+2)
		}
	}
}

// tryAndRun serves the variant, tries its bare plan, pastes what is proposed, and runs the result.
func (m *matrix) tryAndRun(v fixtures.Variant) (r result, proposed string) {
	dir := filepath.Join(m.dir, v.Name)
	if r.err = os.Mkdir(dir, 0o755); r.err != nil {
		return r, ""
	}
	flags, remove, err := m.flags(v)
	if err != nil {
		return result{err: err}, ""
	}
	defer remove()
	flags, sinks, err := m.sinks(flags)
	if err != nil {
		return result{err: err}, ""
	}
	shop := exec.Command(m.bin, append([]string{"serve", "--fault", v.Name}, flags...)...)
	shop.Dir = dir
	out, err := shop.StdoutPipe()
	if err == nil {
		err = shop.Start()
	}
	if err != nil {
		return result{err: err}, ""
	}
	defer func() {
		_ = shop.Process.Signal(syscall.SIGTERM)
		_ = shop.Wait()
	}()
	env, err := addresses(bufio.NewReader(out), v)
	if err != nil {
		return result{err: err}, ""
	}
	env = slices.Concat(os.Environ(), env, sinks)
	text, endpoint, err := bare(v)
	if err != nil {
		return result{err: err}, ""
	}
	file, doc := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "results.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return result{err: err}, ""
	}
	said, code := m.command(dir, env, "try", "plan.yaml", endpoint, "--insecure", "--quiet")
	if code != ExitOK && code != ExitInconclusive {
		return result{err: fmt.Errorf("try ended with %d", code), output: said}, ""
	}
	text, proposed, err = pasted(string(text), said, endpoint)
	if err != nil {
		return result{err: err, output: said}, proposed
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return result{err: err}, ""
	}
	if checked, code := m.command(dir, env, "validate", "plan.yaml"); code != ExitOK {
		return result{err: fmt.Errorf("the plan with the lines is not valid"), output: checked + said}, proposed
	}
	if code == ExitInconclusive { // the plan did not work before
		if again, code := m.command(dir, env, "try", "plan.yaml", endpoint, "--insecure", "--quiet"); code != ExitOK {
			return result{err: fmt.Errorf("with the lines, try ended with %d", code), output: said + again}, proposed
		}
	}
	args := []string{"run", "plan.yaml", "--endpoint", endpoint, "--effort", "smoke", "--insecure", "--report", "json=" + doc}
	for _, s := range coreScenarios() {
		args = append(args, "--scenario", s)
	}
	r.output, r.exit = m.command(dir, env, args...)
	r.output, r.run = said+r.output, &trace.Run{}
	raw, err := os.ReadFile(doc)
	if err == nil {
		err = json.Unmarshal(raw, r.run)
	}
	r.err = err
	return r, proposed
}

// command runs the program in a folder and gives what it says and its exit code.
func (m *matrix) command(dir string, env []string, args ...string) (string, int) {
	c := exec.Command(m.bin, args...)
	c.Dir, c.Env = dir, env
	text, _ := c.CombinedOutput()
	return string(text), c.ProcessState.ExitCode()
}

// headings say where lines belong, as `try` writes them.
var headings = regexp.MustCompile(`^  (In endpoint '(.*)'|At the top level of|In place of line|Under line|In the braces of) .*:$`)

// pasted puts the lines below the heading "Paste" where they belong: those of the endpoint behind its name, others at the end.
func pasted(plan, said, endpoint string) (text []byte, lines string, err error) {
	_, said, ok := strings.Cut(said, "\n  Paste, because")
	if !ok {
		return []byte(plan), "", nil
	}
	said, _, _ = strings.Cut(said, "\n  Decide, because")
	said, _, _ = strings.Cut(said, "\nexit ")
	var here, top strings.Builder
	var to *strings.Builder
	for _, line := range strings.Split(said, "\n")[1:] {
		switch found := headings.FindStringSubmatch(line); {
		case found != nil && found[2] == endpoint:
			to = &here
		case found != nil && strings.HasPrefix(found[1], "At the top"):
			to = &top
		case found != nil:
			return nil, said, fmt.Errorf("a bare plan has nothing to replace: %s", line)
		case line != "" && to != nil:
			to.WriteString(line + "\n")
		}
	}
	name := regexp.MustCompile(`(?m)^.*name: ` + regexp.QuoteMeta(endpoint) + `\n`).FindStringIndex(plan)
	if name == nil {
		return nil, said, fmt.Errorf("no endpoint %q in\n%s", endpoint, plan)
	}
	return []byte(plan[:name[1]] + here.String() + plan[name[1]:] + top.String()), here.String() + top.String(), nil
}

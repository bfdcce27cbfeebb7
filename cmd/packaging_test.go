package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v4"
)

// parsed is a YAML file of the repository.
func parsed[T any](t *testing.T, file string) T {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// action is what action.yml says.
type action struct {
	Inputs map[string]struct {
		Default  string
		Required bool
	}
	Runs struct {
		Steps []struct {
			ID, Run string
			Env     map[string]string
		}
	}
}

// pipeline is what is used of the README's examples.
type pipeline struct {
	Jobs map[string]struct {
		Steps []struct {
			Uses string
			With map[string]string
		}
	}
	Spec struct {
		Completions int
		Template    struct {
			Spec struct{ Containers []struct{ Args []string } }
		}
	}
}

// readmePipelines are the README's examples for CI systems.
func readmePipelines(t *testing.T) []pipeline {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []pipeline
	for _, b := range regexp.MustCompile("(?ms)^```yml\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(b[1], "version: 1") {
			continue // a plan
		}
		var p pipeline
		if err := yaml.Unmarshal([]byte(b[1]), &p); err != nil {
			t.Fatalf("%v in\n%s", err, b[1])
		}
		found = append(found, p)
	}
	return found
}

// quick makes a command that is there to be copied fit for a test: one scenario, and files of the test.
func quick(command string) string {
	command = strings.ReplaceAll(command, "retrysafe run ", "retrysafe run --scenario first-request ")
	return strings.NewReplacer("/plan/", "", "/results/", "").Replace(command)
}

// TestPipelines runs what the action, the GitLab template and the README's examples run, on the built-in shop.
func TestPipelines(t *testing.T) {
	t.Parallel()
	a := parsed[action](t, "action.yml")
	gitlab := parsed[map[string]struct {
		Variables map[string]string
		Script    []string
		Artifacts struct {
			Paths   []string
			Reports map[string]string
		}
	}](t, ".ci/gitlab.yml")[".retrysafe"]
	var script, files strings.Builder
	file := func(name, text string) { fmt.Fprintf(&files, "-- %s --\n%s\n", name, text) }

	script.WriteString("shop\nenv GITHUB_OUTPUT=output\nenv PLAN=retrysafe.yaml\nenv DIR=out\nenv ARGS=--label\nexec touch output\n")
	i := slices.IndexFunc(a.Runs.Steps, func(s struct {
		ID, Run string
		Env     map[string]string
	}) bool {
		return s.ID == "run"
	})
	file("action.sh", "set -eo pipefail\n"+quick(a.Runs.Steps[i].Run))
	script.WriteString("! exec bash action.sh\ngrep exit-code=2 output\n") // --label wants a value
	script.WriteString("env ARGS=--effort=smoke\nexec bash action.sh\ngrep exit-code=0 output\nexists out/results.json out/junit.xml out/report.html out/results.sarif\n")

	for name, value := range gitlab.Variables {
		fmt.Fprintf(&script, "env %s=%s\n", name, value)
	}
	file("gitlab.sh", quick(strings.Join(gitlab.Script, "\n")))
	script.WriteString("exec sh -e gitlab.sh\n")
	for _, f := range append(gitlab.Artifacts.Paths, gitlab.Artifacts.Reports["junit"], gitlab.Artifacts.Reports["codequality"]) {
		fmt.Fprintf(&script, "exists %s\n", f)
	}

	parts := 0
	for _, p := range readmePipelines(t) {
		for _, job := range p.Jobs {
			for _, step := range job.Steps {
				for input := range step.With {
					if _, known := a.Inputs[input]; strings.HasPrefix(step.Uses, "retrysafe/") && !known {
						t.Errorf("the README gives the action %q, which is none of its inputs", input)
					}
				}
			}
		}
		for _, c := range p.Spec.Template.Spec.Containers {
			file("part.sh", quick(c.Args[0]))
			for parts < p.Spec.Completions {
				fmt.Fprintf(&script, "env JOB_COMPLETION_INDEX=%d\nexec sh -e part.sh\n", parts)
				parts++
			}
		}
	}
	if parts < 2 {
		t.Fatal("the README has no indexed job")
	}
	script.WriteString("exec retrysafe report 0.json 1.json 2.json 3.json\nstdout 'PASS  4 of 4'\n")
	file("retrysafe.yaml", `version: 1
target: ${RETRYSAFE_TARGET}
counters: {orders: {http: "GET /orders/count?reference={{marker}}", value: $.count}}
defaults: {key: {header: Idempotency-Key}}
endpoints:
  - {name: a, request: POST /orders, body: {qty: 1, reference: "{{marker}}"}, counters: [orders]}
  - {name: b, request: POST /orders, body: {qty: 2, reference: "{{marker}}"}, counters: [orders]}
  - {name: c, request: POST /orders, body: {qty: 3, reference: "{{marker}}"}, counters: [orders]}
  - {name: d, request: POST /orders, body: {qty: 4, reference: "{{marker}}"}, counters: [orders]}`)
	path := filepath.Join(t.TempDir(), "pipelines.txtar")
	if err := os.WriteFile(path, []byte(script.String()+files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := scriptParams(t)
	p.Dir, p.Files = "", []string{path}
	testscript.Run(t, p)
}

// TestActionReadsNoInputAsScript: what a workflow hands in reaches the shell through the environment only.
func TestActionReadsNoInputAsScript(t *testing.T) {
	t.Parallel()
	for _, s := range parsed[action](t, "action.yml").Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("a step puts an expression into its script:\n%s", s.Run)
		}
	}
}

// TestCommitHook: a hook checks plans and never sends anything.
func TestCommitHook(t *testing.T) {
	t.Parallel()
	hooks := parsed[[]struct{ ID, Entry, Language, Files string }](t, ".pre-commit-hooks.yaml")
	for _, h := range hooks {
		if !strings.HasPrefix(h.Entry, "retrysafe validate") {
			t.Errorf("%s runs %s", h.ID, h.Entry)
		}
		files := regexp.MustCompile(h.Files)
		for file, want := range map[string]bool{"retrysafe.yaml": true, "a/.retrysafe.yaml": true, "a/orders.retrysafe.yml": true, "a/notretrysafe.yaml": false} {
			if files.MatchString(file) != want {
				t.Errorf("%s: matches %s: %v, want %v", h.ID, file, !want, want)
			}
		}
	}
	if len(hooks) != 1 {
		t.Errorf("%d hooks, want 1", len(hooks))
	}
}

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
		Strategy struct{ Matrix map[string][]string }
		Steps    []struct {
			Uses, Run string
			With      map[string]string
		}
	}
	Parts  struct{ Parallel int }    `yaml:"retry-safety"`
	Report struct{ Script []string } `yaml:"retry-safety-report"`
	Spec   struct {
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

// image is the program in its image, which a test has without it.
var image = regexp.MustCompile(`docker run .* ghcr\.io/retrysafe/retrysafe:\S+ `)

// quick makes a command that is there to be copied fit for a test: one scenario, and files of the test.
func quick(command string) string {
	command = strings.ReplaceAll(command, "retrysafe run ", "retrysafe run --scenario first-request ")
	command = image.ReplaceAllString(command, "retrysafe ")
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
		fmt.Fprintf(&script, "exec sh -c 'ls %s'\n", f)
	}

	parts := 0
	merged := map[string]string{} // scripts that make one report of parts, by their names
	for _, p := range readmePipelines(t) {
		for i := range p.Parts.Parallel {
			fmt.Fprintf(&script, "env CI_NODE_INDEX=%d\nenv CI_NODE_TOTAL=%d\nexec sh -e gitlab.sh\n", i+1, p.Parts.Parallel)
			merged["gitlab-report.sh"] = strings.Join(p.Report.Script, "\n")
		}
		for _, job := range p.Jobs {
			for _, step := range job.Steps {
				if image.MatchString(step.Run) {
					merged["github-report.sh"] = step.Run
				}
				for _, part := range job.Strategy.Matrix["part"] {
					at := strings.NewReplacer("${{ matrix.part }}", part)
					if strings.HasPrefix(step.Uses, "retrysafe/") {
						fmt.Fprintf(&script, "env ARGS=%s\nenv DIR=%s\nexec bash action.sh\n", at.Replace(step.With["args"]), at.Replace(step.With["report-dir"]))
					}
				}
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
	if parts < 2 || len(merged) != 2 {
		t.Fatalf("the README has an indexed job of %d parts, and %d other reports of parts: want several, and 2", parts, len(merged))
	}
	for name, command := range merged {
		file(name, quick(command))
		fmt.Fprintf(&script, "rm report.html\nexec sh -e %s\nstdout 'PASS  4 of 4'\nexists report.html\n", name)
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

// TestActionInstalls runs the action's installation, with archives in the place of GitHub's that are named as the release names
// them: what has another digest is not installed.
func TestActionInstalls(t *testing.T) {
	t.Parallel()
	release := parsed[struct {
		Archives []struct {
			Name string `yaml:"name_template"`
		}
		Checksum struct {
			Name string `yaml:"name_template"`
		}
	}](t, ".goreleaser.yaml")
	archive := strings.NewReplacer("{{ .ProjectName }}", "retrysafe", "{{ .Version }}", "1.2.3", "{{ .Os }}", "linux", "{{ .Arch }}", "amd64").Replace(release.Archives[0].Name) + ".tar.gz"
	script := strings.NewReplacer("ARCHIVE", archive, "CHECKSUMS", release.Checksum.Name, "INSTALL", parsed[action](t, "action.yml").Runs.Steps[0].Run).Replace(installed)
	path := filepath.Join(t.TempDir(), "install.txtar")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	p := scriptParams(t)
	p.Dir, p.Files = "", []string{path}
	testscript.Run(t, p)
}

const installed = `chmod 755 fake/curl
exec tar -czf github/ARCHIVE -C built retrysafe
exec sh -c 'cd github && sha256sum ARCHIVE >CHECKSUMS'
env PATH=$WORK/fake:$PATH
env SYSTEM=Linux
env MACHINE=X64
env RUNNER_TEMP=$WORK/temp
env GITHUB_PATH=$WORK/path
env VERSION=1.2.3
exec bash install.sh
exec sh -c '. "$(cat path)/retrysafe"'
stdout installed
env VERSION=v1.2.3
exec bash install.sh
rm path
env VERSION=1.2.4
! exec bash install.sh
env VERSION=1.2.3
env MACHINE=RISCV64
! exec bash install.sh
stdout '^::error::no release for RISCV64'
env MACHINE=X64
cp fake/curl built/retrysafe
exec tar -czf github/ARCHIVE -C built retrysafe
! exec bash install.sh
! exists path
-- built/retrysafe --
echo installed
-- github/README --
-- fake/curl --
#!/bin/sh
for arg; do
	case "$arg" in https://github.com/retrysafe/retrysafe/releases/download/v1.2.3/*) cp "$WORK/github/${arg##*/}" . || exit 22 ;; esac
done
-- install.sh --
set -eo pipefail
INSTALL`

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

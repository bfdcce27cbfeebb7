package recorded

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// load reads a run that was recorded on the shop with a fault.
func load(t *testing.T, name string) *trace.Run {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../judge/testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func decode(t *testing.T, text []byte) *trace.Run {
	t.Helper()
	run := &trace.Run{}
	if err := json.Unmarshal(text, run); err != nil {
		t.Fatal(err)
	}
	return run
}

func clone(t *testing.T, run *trace.Run) *trace.Run {
	t.Helper()
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func causes(t *testing.T) []scenarios.Diagnosis {
	t.Helper()
	d, err := scenarios.Diagnoses()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func same(t *testing.T, what string, got, want *trace.Run) {
	t.Helper()
	a, _ := json.MarshalIndent(got, "", " ")
	b, _ := json.MarshalIndent(want, "", " ")
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			t.Fatalf("%s: line %d is %s, want %s", what, i+1, x[i], y[i])
		}
	}
	if len(x) != len(y) {
		t.Fatalf("%s: %d lines, want %d", what, len(x), len(y))
	}
}

// TestJudgeAgain judges records by their own terms: nothing changes.
func TestJudgeAgain(t *testing.T) {
	for _, name := range []string{"no-dedupe", "conflict-on-replay", "waits-and-returns"} {
		want := load(t, name)
		got := clone(t, want)
		if err := Judge(got, Terms{Diagnoses: causes(t)}); err != nil {
			t.Fatal(err)
		}
		Sum(want, causes(t)) // the catalogue of causes may have grown since
		same(t, name, got, want)
	}
}

func verdicts(run *trace.Run) map[string]trace.Verdict {
	out := map[string]trace.Verdict{}
	for _, c := range run.Endpoints[0].Cases {
		out[c.Scenario] = c.Verdict
	}
	return out
}

func TestJudgeByAnotherLevel(t *testing.T) {
	run := load(t, "conflict-on-replay")
	if run.Summary.ExitCode != 1 {
		t.Fatalf("exit code %d", run.Summary.ExitCode)
	}
	if err := Judge(run, Terms{FailOn: trace.Critical}); err != nil {
		t.Fatal(err)
	}
	if run.Summary.ExitCode != 3 || run.Info.FailOn != trace.Critical || run.Summary.Cases.Fail != 0 || run.Summary.Cases.Warn == 0 {
		t.Errorf("by critical rules alone: %+v", run.Summary)
	}
}

// TestJudgeByAnotherDialect has a convention that documents a conflict for the retry of what is done.
func TestJudgeByAnotherDialect(t *testing.T) {
	run := load(t, "conflict-on-replay")
	run.Endpoints[0].Facts.Stated = []string{trace.StatedKey}
	before := verdicts(run)
	if err := Judge(run, Terms{Dialect: "ietf", Diagnoses: causes(t)}); err != nil {
		t.Fatal(err)
	}
	after := verdicts(run)
	if run.Info.Dialect != "ietf" || len(run.Info.Notes) != 1 || !strings.Contains(run.Info.Notes[0], "sf-string") {
		t.Errorf("dialect %s, notes %q", run.Info.Dialect, run.Info.Notes)
	}
	if before["missing-key"] == trace.Skip || after["same-key-again"] != trace.Fail {
		t.Errorf("before %v, after %v", before, after)
	}
	if f := run.Endpoints[0].Facts; !f.Required || len(f.Statuses.Mismatch) == 0 {
		t.Errorf("facts %+v", f)
	}
}

// TestDialectNeeds shows cases that the other dialect leaves out, or that the record lacks.
func TestDialectNeeds(t *testing.T) {
	run := load(t, "waits-and-returns")
	ep := &run.Endpoints[0]
	ep.Facts.Stated, run.Info.Dialect = []string{trace.StatedKey}, "ietf" // which requires keys
	there := false
	for i := range ep.Cases {
		there = there || ep.Cases[i].Scenario == "missing-key" && ep.Cases[i].Stop == nil
	}
	if !there {
		t.Fatal("the record has no case missing-key")
	}
	if err := Judge(run, Terms{Dialect: "any"}); err != nil {
		t.Fatal(err)
	}
	if c := caseOf(ep, "missing-key"); c.Verdict != trace.Skip || !strings.Contains(c.Detail, "not required") {
		t.Errorf("where keys are optional: %s %s", c.Verdict, c.Detail)
	}
	if err := Judge(run, Terms{Dialect: "ietf"}); err != nil {
		t.Fatal(err)
	}
	if c := caseOf(ep, "missing-key"); c.Verdict != trace.Inconclusive || !strings.Contains(c.Detail, "was not run under dialect any") {
		t.Errorf("where they are required again: %s %s", c.Verdict, c.Detail)
	}
}

func caseOf(ep *trace.Endpoint, scenario string) *trace.Case {
	for i := range ep.Cases {
		if ep.Cases[i].Scenario == scenario {
			return &ep.Cases[i]
		}
	}
	return &trace.Case{}
}

// several is a recorded run with n endpoints.
func several(t *testing.T, n int) *trace.Run {
	t.Helper()
	run := load(t, "no-dedupe")
	ep := run.Endpoints[0]
	run.Endpoints, run.Summary.Requests = nil, 0
	for i := range n {
		ep.Name, ep.Place = fmt.Sprintf("endpoint %d", i+1), i+1
		run.Endpoints = append(run.Endpoints, ep)
		run.Summary.Requests += 7
	}
	run = clone(t, run)
	Sum(run, causes(t))
	return run
}

// part is the record of a run of some of the endpoints.
func part(t *testing.T, whole *trace.Run, at ...int) *trace.Run {
	t.Helper()
	run := clone(t, whole)
	run.Endpoints = nil
	for _, i := range at {
		run.Endpoints = append(run.Endpoints, clone(t, whole).Endpoints[i])
	}
	run.Summary.Requests = 7 * len(at)
	Sum(run, nil)
	return run
}

// TestMergeParts puts a run together again that was split.
func TestMergeParts(t *testing.T) {
	whole := several(t, 5)
	got, err := Merge([]Source{{"b", part(t, whole, 1, 4)}, {"c", part(t, whole, 2)}, {"a", part(t, whole, 0, 3)}}, false, causes(t))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "merged", got, whole)
}

func TestMergeShards(t *testing.T) {
	whole := several(t, 3)
	shards := func() []Source {
		var out []Source
		for i := range 3 {
			run := part(t, whole, i)
			run.Info.Shard = &trace.Shard{N: i + 1, Of: 3}
			out = append(out, Source{fmt.Sprint(i + 1), run})
		}
		return out
	}
	got, err := Merge(shards(), false, causes(t))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "merged shards", got, whole)
	if _, err := Merge(shards()[:2], false, nil); err == nil || !strings.Contains(err.Error(), "shard 3/3 is missing") {
		t.Errorf("without the third: %v", err)
	}
	got, err = Merge(shards()[:2], true, nil)
	if err != nil || len(got.Info.Notes) != 1 || !strings.Contains(got.Info.Notes[0], "shard 3/3 is missing") {
		t.Errorf("without the third by force: %v, %v", got.Info.Notes, err)
	}
	other := shards()
	other[1].Run.Info.Shard.Of = 4
	if _, err := Merge(other, false, nil); err == nil || !strings.Contains(err.Error(), "2 is shard 2 of 4, another one is of 3") {
		t.Errorf("shards of two runs: %v", err)
	}
}

func TestMergeTellsRuns(t *testing.T) {
	whole := several(t, 2)
	a, b := part(t, whole, 0), part(t, whole, 1)
	b.Info.ID, b.Info.ElapsedMS, b.Info.Started = "other", a.Info.ElapsedMS+5, a.Info.Started.Add(-time.Minute)
	b.Info.Interrupted = true
	got, err := Merge([]Source{{"a", a}, {"b", b}}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Info.Merged) != 2 || got.Info.ElapsedMS != b.Info.ElapsedMS || !got.Info.Started.Equal(b.Info.Started) || got.Summary.ExitCode != 130 {
		t.Errorf("merged %v, %d ms from %s, exit code %d", got.Info.Merged, got.Info.ElapsedMS, got.Info.Started, got.Summary.ExitCode)
	}
}

func TestMergeRefuses(t *testing.T) {
	whole := several(t, 2)
	for _, tt := range []struct {
		want   string
		change func(*trace.Run)
		force  bool
	}{
		{"another plan", func(r *trace.Run) { r.Info.Plan.Digest = "sha256:1" }, false},
		{"another target", func(r *trace.Run) { r.Info.Target = "http://127.0.0.1:2" }, false},
		{"another dialect", func(r *trace.Run) { r.Info.Dialect = "ietf" }, false},
		{"another fail-on level", func(r *trace.Run) { r.Info.FailOn = trace.Minor }, false},
		{"with different texts", func(r *trace.Run) { r.Info.Scenarios["first-request"] += "#" }, false},
		{"both have the endpoint", func(r *trace.Run) { r.Endpoints[0].Name = "endpoint 1" }, true},
		{"", func(r *trace.Run) { r.Info.Target = "http://127.0.0.1:2" }, true},
	} {
		b := part(t, whole, 1)
		tt.change(b)
		_, err := Merge([]Source{{"a", part(t, whole, 0)}, {"b", b}}, tt.force, nil)
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("want %q, got %v", tt.want, err)
		}
	}
	if run := several(t, 1); !reflect.DeepEqual(run, mustMerge(t, run)) {
		t.Error("one record is not itself")
	}
}

func mustMerge(t *testing.T, run *trace.Run) *trace.Run {
	t.Helper()
	out, err := Merge([]Source{{"a", run}}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJudgeRefuses(t *testing.T) {
	run := load(t, "no-dedupe")
	delete(run.Info.Scenarios, run.Endpoints[0].Cases[3].Scenario)
	if err := Judge(run, Terms{}); err == nil || !strings.Contains(err.Error(), "not its text") {
		t.Errorf("a scenario without its text: %v", err)
	}
	run = load(t, "no-dedupe")
	run.Info.Scenarios["first-request"] = "steps: ["
	if err := Judge(run, Terms{}); err == nil || !strings.Contains(err.Error(), "first-request.yaml") {
		t.Errorf("a text that is no scenario: %v", err)
	}
}

package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// The catalogue itself must be whole, and readable on a narrow terminal.
func TestExplainTheCatalogue(t *testing.T) {
	rules, err := scenarios.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		var out bytes.Buffer
		if err := Explain(&out, rule, Options{Width: MinWidth}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if twwidth.Width(line) > MinWidth {
				t.Errorf("%s: a line of more than %d columns: %q", rule.ID, MinWidth, line)
			}
		}
		for _, part := range []string{"why:", "fix:", "source:"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %s", rule.ID, part)
			}
		}
	}
}

// The examples of the catalogue fit a report of the default width, so that no line of code is broken there.
func TestExplainTheDiagnoses(t *testing.T) {
	list, err := scenarios.Diagnoses()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		var out bytes.Buffer
		if err := ExplainDiagnosis(&out, d, Options{Width: MinWidth}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if twwidth.Width(line) > MinWidth {
				t.Errorf("%s: a line of more than %d columns: %q", d.ID, MinWidth, line)
			}
		}
		for line := range strings.SplitSeq(d.Example, "\n") {
			if twwidth.Width(line) > DefaultWidth-4 {
				t.Errorf("%s: a line of code is wider than the report: %q", d.ID, line)
			}
		}
	}
}

func testDiagnosis() scenarios.Diagnosis {
	d := brokenCauses()[0]
	return scenarios.Diagnosis{ID: d.ID, Title: d.Title, Why: d.Why, Fix: d.Fix, Example: d.Example,
		Explains: []trace.Symptom{{Rule: "duplicate-creation"}, {Scenario: "same-key-concurrent", Rule: "body-not-replayed"}}}
}

func testScenarios() []*scenarios.Scenario {
	return []*scenarios.Scenario{
		{ID: "same-key-again", Title: "The same request again, three times in a row", About: "A client that saw a time-out\nsends the request again.\n",
			Kinds: []string{"create"}, Needs: [][]string{{"key"}}, File: "scenarios/same-key-again.yaml", Text: "id: same-key-again\nsteps:\n  - send: {key: A}\n"},
		{ID: "delayed-expiry", Title: "Replayed before the key's lifetime ends, executed again after it, whatever happens in between them",
			Needs: [][]string{{"key"}, {"key_lifetime", "expire"}}},
	}
}

func TestDocumentationGolden(t *testing.T) {
	tests := []struct {
		file  string
		write func(io.Writer, Options) error
		opts  Options
	}{
		{"explain.txt", func(w io.Writer, o Options) error { return Explain(w, testRules()[0], o) }, Options{Width: 80}},
		{"explain-diagnosis.txt", func(w io.Writer, o Options) error { return ExplainDiagnosis(w, testDiagnosis(), o) }, Options{Width: 80}},
		{"diagnoses.txt", func(w io.Writer, o Options) error {
			return DiagnosisList(w, []scenarios.Diagnosis{testDiagnosis()}, o)
		}, Options{}},
		{"explain-reason.txt", func(w io.Writer, o Options) error { return ExplainReason(w, testReasons()[0], o) }, Options{Width: 80}},
		{"reasons.txt", func(w io.Writer, o Options) error { return ReasonList(w, testReasons(), o) }, Options{}},
		{"rules.txt", func(w io.Writer, o Options) error { return RuleList(w, testRules(), o) }, Options{Color: true}},
		{"scenarios.txt", func(w io.Writer, o Options) error { return ScenarioList(w, testScenarios(), o) }, Options{}},
		{"scenarios-40.txt", func(w io.Writer, o Options) error { return ScenarioList(w, testScenarios(), o) }, Options{Width: 40}},
		{"brief.txt", func(w io.Writer, o Options) error { return Brief(w, "a broken shop", "it forgets", fullRun(), o) }, Options{Rules: testRules()}},
		{"scenario.txt", func(w io.Writer, o Options) error { return ScenarioShow(w, testScenarios()[0], o) }, Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			var out bytes.Buffer
			if err := tt.write(&out, tt.opts); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.file, out.Bytes())
			if err := tt.write(full{}, tt.opts); !errors.Is(err, errFull) {
				t.Errorf("got %v, want %v", err, errFull)
			}
		})
	}
}

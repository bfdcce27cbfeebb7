package judge

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

var update = flag.Bool("update", false, "write what is concluded now into the recorded runs")

// TestRecordedRuns judges runs again that were recorded on the shop (testdata/FAULT.json, by `retrysafe run
// fixtures/plans/shop.yaml --effort smoke --endpoint 'create payment' --report json=FAULT.json`): the record alone must
// lead to the same conclusions.
func TestRecordedRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d recorded runs: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var run trace.Run
			if err := json.Unmarshal(text, &run); err != nil {
				t.Fatal(err)
			}
			for i := range run.Endpoints {
				again(t, &run, &run.Endpoints[i])
			}
			requests := run.Summary.Requests
			summary := Summarize(run.Endpoints)
			summary.Requests = requests
			if !reflect.DeepEqual(summary, run.Summary) {
				t.Errorf("summary %+v, recorded %+v", summary, run.Summary)
			}
			if *update {
				rewrite(t, file, &run)
			}
		})
	}
}

func again(t *testing.T, run *trace.Run, ep *trace.Endpoint) {
	if got := Learn(ep.Facts, ep.Control); !reflect.DeepEqual(got, ep.Control.Learned) {
		t.Errorf("learned %+v, recorded %+v", got, ep.Control.Learned)
	}
	rules := Catalogue{}
	for id, severity := range run.Info.Rules {
		rules[id] = scenarios.Rule{ID: id, Severity: severity}
	}
	findings := 0
	for i := range ep.Cases {
		c := &ep.Cases[i]
		s, err := scenarios.Parse(c.Scenario+".yaml", []byte(run.Info.Scenarios[c.Scenario]))
		if err != nil {
			t.Fatal(err)
		}
		got := Case(Input{Scenario: s, Facts: ep.Facts, Control: ep.Control, Case: c, Rules: rules, FailOn: run.Info.FailOn})
		if *update {
			c.Result = got
		}
		if !reflect.DeepEqual(got, c.Result) {
			t.Errorf("%s: judged %+v\nrecorded %+v", c.Scenario, got, c.Result)
		}
		findings += len(got.Findings)
	}
	if (findings > 0) != (run.Summary.Cases.Fail > 0) {
		t.Errorf("%d findings, %d failed cases", findings, run.Summary.Cases.Fail)
	}
}

func rewrite(t *testing.T, file string, run *trace.Run) {
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

package report

import (
	"fmt"
	"io"

	"retrysafe/internal/trace"
)

// The part of CTRF that is written. The schema takes no other fields; what is ours stands under `extra`. Times are milliseconds.
type (
	ctrfReport struct {
		ReportFormat string      `json:"reportFormat"`
		SpecVersion  string      `json:"specVersion"`
		Timestamp    string      `json:"timestamp"`
		GeneratedBy  string      `json:"generatedBy"`
		Results      ctrfResults `json:"results"`
	}
	ctrfResults struct {
		Tool        ctrfTool        `json:"tool"`
		Summary     ctrfSummary     `json:"summary"`
		Tests       []ctrfTest      `json:"tests"`
		Environment ctrfEnvironment `json:"environment"`
	}
	ctrfTool struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	ctrfSummary struct {
		Tests   int   `json:"tests"`
		Passed  int   `json:"passed"`
		Failed  int   `json:"failed"`
		Pending int   `json:"pending"`
		Skipped int   `json:"skipped"`
		Other   int   `json:"other"`
		Start   int64 `json:"start"`
		Stop    int64 `json:"stop"`
	}
	ctrfTest struct {
		Name      string            `json:"name"`
		Status    string            `json:"status"`
		Duration  int64             `json:"duration"`
		Suite     []string          `json:"suite"`
		Message   string            `json:"message,omitempty"`
		Trace     string            `json:"trace,omitempty"`
		RawStatus string            `json:"rawStatus"`
		FilePath  string            `json:"filePath,omitempty"`
		Line      int               `json:"line,omitempty"`
		Extra     map[string]string `json:"extra,omitempty"`
	}
	ctrfEnvironment struct {
		Extra map[string]string `json:"extra"`
	}
)

// CTRF writes the run in the Common Test Report Format: a test for each scenario of each endpoint. What could not be judged has the
// status "other".
func CTRF(w io.Writer, run *trace.Run, o Options) error {
	start := run.Info.Started.UnixMilli()
	out := ctrfReport{ReportFormat: "CTRF", SpecVersion: "1.0.0", GeneratedBy: "retrysafe " + run.Info.Tool.Version,
		Timestamp: run.Info.Started.UTC().Format("2006-01-02T15:04:05Z"),
		Results: ctrfResults{Tool: ctrfTool{"retrysafe", run.Info.Tool.Version}, Tests: []ctrfTest{},
			Summary:     ctrfSummary{Start: start, Stop: start + run.Info.ElapsedMS},
			Environment: ctrfEnvironment{map[string]string{"target": run.Info.Target, "run": run.Info.ID, "dialect": run.Info.Dialect}}}}
	sum := &out.Results.Summary
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for _, c := range tested(ep) {
			t := ctrfTest{Name: fmt.Sprintf("%s: %s", heading(ep), c.Scenario), Duration: max(0, (c.Ended - c.Started).Duration().Milliseconds()),
				Suite: []string{heading(ep)}, RawStatus: string(c.Verdict), FilePath: fileOf(run, ep)}
			if t.FilePath != "" {
				t.Line = line(ep)
			}
			switch c.Verdict {
			case trace.Pass, trace.Warn:
				t.Status = "passed"
				sum.Passed++
			case trace.Fail:
				t.Status = "failed"
				sum.Failed++
			case trace.Skip:
				t.Status = "skipped"
				sum.Skipped++
			default:
				t.Status = "other"
				sum.Other++
			}
			if f := worst(c); f != nil {
				t.Message, t.Trace = oneLine(f.Message), accounts(ep, c, o.Rules)
				t.Extra = map[string]string{"retrysafe.rule": f.Rule, "retrysafe.severity": string(f.Severity)}
			} else if c.Reason != "" {
				t.Message = whyNot(c)
				t.Extra = map[string]string{"retrysafe.reason": string(c.Reason)}
			}
			if t.Extra != nil && ep.Owner != "" {
				t.Extra["retrysafe.owner"] = oneLine(ep.Owner)
			}
			out.Results.Tests = append(out.Results.Tests, t)
		}
	}
	sum.Tests = len(out.Results.Tests)
	return writeJSON(w, out)
}

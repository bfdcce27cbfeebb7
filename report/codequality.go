package report

import (
	"fmt"
	"io"

	"retrysafe/internal/trace"
)

// codeIssue is an entry of GitLab's code quality report, a subset of the Code Climate format.
type codeIssue struct {
	Description string       `json:"description"`
	CheckName   string       `json:"check_name"`
	Fingerprint string       `json:"fingerprint"`
	Severity    string       `json:"severity"`
	Location    codeLocation `json:"location"`
}

type codeLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// CodeQuality writes the findings, warnings among them, for GitLab's code quality widget: each at the line of its endpoint in the plan.
// What could not be judged is no issue of the code and left out, and so is what the baseline accepts: the widget knows no accepted
// issues and would count it with the new ones. An empty list closes what was reported before.
func CodeQuality(w io.Writer, run *trace.Run, _ Options) error {
	issues := []codeIssue{}
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for _, c := range tested(ep) {
			for _, f := range c.Findings {
				if f.Accepted != nil {
					continue
				}
				issue := codeIssue{Description: fmt.Sprintf("%s, %s: %s", heading(ep), c.Scenario, oneLine(f.Message)),
					CheckName: f.Rule, Fingerprint: Fingerprint(ep, c.Scenario, f.Rule), Severity: string(f.Severity)}
				if ep.Owner != "" {
					issue.Description += " (" + owned(ep) + ")"
				}
				issue.Location.Path, issue.Location.Lines.Begin = orElse(fileOf(run, ep), "retrysafe.yaml"), line(ep)
				issues = append(issues, issue)
			}
		}
	}
	return writeJSON(w, issues)
}

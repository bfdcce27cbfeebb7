package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// The part of SARIF 2.1.0 that is written. Empty strings are left out: readers refuse them where a value is required.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Automation  sarifAutomation   `json:"automationDetails"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string         `json:"id"`
		ShortDescription sarifText      `json:"shortDescription"`
		FullDescription  sarifText      `json:"fullDescription"`
		Help             sarifText      `json:"help"`
		Configuration    sarifLevel     `json:"defaultConfiguration"`
		Properties       sarifRuleExtra `json:"properties"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifRuleExtra struct {
		Tags             []string `json:"tags"`
		Precision        string   `json:"precision"`
		ProblemSeverity  string   `json:"problem.severity"`
		SecuritySeverity string   `json:"security-severity"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		ExitCode      int                 `json:"exitCode"`
		Start         string              `json:"startTimeUtc"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations,omitempty"`
		Properties map[string]string `json:"properties"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   map[string]string  `json:"properties"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// SARIF writes the findings, warnings among them, as SARIF 2.1.0, each at the line of its endpoint in the plan. What could not be judged is a
// notification of the invocation. The file is written without a finding too, which is how alerts are closed. Without a plan file
// (`probe`) results have no location, and GitHub does not show them.
func SARIF(w io.Writer, run *trace.Run, o Options) error {
	out := sarifRun{Results: []sarifResult{}, Automation: sarifAutomation{ID: "retrysafe/" + orElse(planFile(run), run.Info.Target) + "/"}}
	out.Tool.Driver = sarifDriver{Name: "retrysafe", Version: orElse(run.Info.Tool.Version, "dev"), Rules: []sarifRule{}}
	known := map[string]int{}
	for _, r := range o.Rules {
		known[r.ID] = len(known)
		out.Tool.Driver.Rules = append(out.Tool.Driver.Rules, sarifRuleOf(r))
	}
	invocation := sarifInvocation{Successful: run.Summary.ExitCode <= 1, ExitCode: run.Summary.ExitCode,
		Start: run.Info.Started.UTC().Format("2006-01-02T15:04:05.000Z"), Notifications: []sarifNotification{}}
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for _, c := range tested(ep) {
			for k := range c.Findings {
				f := &c.Findings[k]
				index, ok := known[f.Rule]
				if !ok {
					index = len(known)
					known[f.Rule] = index
					out.Tool.Driver.Rules = append(out.Tool.Driver.Rules, sarifRuleOf(scenarios.Rule{ID: f.Rule, Severity: f.Severity}))
				}
				out.Results = append(out.Results, sarifResult{RuleID: f.Rule, RuleIndex: index, Level: sarifLevelOf(f.Severity),
					Message:      sarifText{Text: fmt.Sprintf("%s, %s: %s", heading(ep), c.Scenario, clean(f.Message))},
					Locations:    sarifLocations(run, ep),
					Fingerprints: map[string]string{"primaryLocationLineHash": Fingerprint(ep, c.Scenario, f.Rule) + ":1"},
					Suppressions: sarifSuppressions(f),
					Properties:   sarifProperties(ep, c, f)})
			}
			if level := unjudgedLevel(c); level != "" {
				invocation.Notifications = append(invocation.Notifications, sarifNotification{Level: level,
					Message:   sarifText{Text: fmt.Sprintf("%s, %s could not be judged: %s", heading(ep), c.Scenario, whyNot(c))},
					Locations: sarifLocations(run, ep), Properties: map[string]string{"reason": string(c.Reason)}})
			}
		}
	}
	out.Invocations = []sarifInvocation{invocation}
	return writeJSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{out}})
}

// unjudgedLevel is the level of a notification that a case could not be judged: an error where the plan requires it; empty when it
// was judged, or skipped as it may be.
func unjudgedLevel(c *trace.Case) string {
	switch {
	case required(c):
		return "error"
	case c.Verdict == trace.Inconclusive || c.Verdict == trace.Error:
		return "warning"
	}
	return ""
}

func sarifRuleOf(r scenarios.Rule) sarifRule {
	title := orElse(r.Title, r.ID)
	help := strings.TrimSpace(r.Why + "\n\nFix: " + orElse(r.Fix, "see `retrysafe explain "+r.ID+"`"))
	return sarifRule{ID: r.ID, ShortDescription: sarifText{Text: title}, FullDescription: sarifText{Text: orElse(r.Why, title)},
		Help:          sarifText{Text: help, Markdown: strings.Replace(help, "Fix:", "**Fix:**", 1) + "\n\n`retrysafe explain " + r.ID + "`"},
		Configuration: sarifLevel{sarifLevelOf(r.Severity)},
		Properties: sarifRuleExtra{Tags: slices.Concat([]string{"idempotency", "reliability"}, r.Behaviours), Precision: "high",
			ProblemSeverity: problemSeverity(r.Severity), SecuritySeverity: securitySeverity(r.Severity)}}
}

func sarifLevelOf(s trace.Severity) string {
	if s.AtLeast(trace.Major) {
		return "error"
	}
	return "warning"
}

func problemSeverity(s trace.Severity) string {
	if s.AtLeast(trace.Major) {
		return "error"
	}
	return "recommendation"
}

// securitySeverity puts a severity where GitHub's code scanning has its bands: above 9.0 is critical, 7.0 to 8.9 high, 4.0 to
// 6.9 medium, below low.
func securitySeverity(s trace.Severity) string {
	switch s {
	case trace.Critical:
		return "9.1"
	case trace.Major:
		return "7.0"
	}
	return "3.0"
}

func sarifProperties(ep *trace.Endpoint, c *trace.Case, f *trace.Finding) map[string]string {
	out := map[string]string{"endpoint": clean(ep.Name), "request": clean(ep.Request), "scenario": c.Scenario, "expected": clean(f.Expected), "actual": clean(f.Actual)}
	if ep.Owner != "" {
		out["owner"] = oneLine(ep.Owner)
	}
	return out
}

func sarifLocations(run *trace.Run, ep *trace.Endpoint) []sarifLocation {
	file := fileOf(run, ep)
	if file == "" {
		return nil
	}
	return []sarifLocation{{sarifPhysical{sarifArtifact{fileURI(file)}, sarifRegion{line(ep)}}}}
}

// fileURI is a path as a reference of RFC 3986: relative, or a whole file URI where the path is absolute (SARIF 2.1.0 section 3.4.3).
func fileURI(path string) string {
	u := url.URL{Path: path}
	if len(path) > 2 && path[1] == ':' && path[2] == '/' { // a drive of Windows
		u.Path = "/" + path
	}
	if strings.HasPrefix(u.Path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}

// writeJSON writes a document with two spaces of indentation and a line feed at its end.
func writeJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

func sarifSuppressions(f *trace.Finding) []sarifSuppression {
	if f.Accepted == nil {
		return nil
	}
	return []sarifSuppression{{"external", acceptance(f)}}
}

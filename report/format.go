package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Format is a way to write a finished, judged run besides the terminal's.
type Format struct {
	// Name is what `--report NAME=FILE` calls it.
	Name string
	// About says in a few words who reads it.
	About string
	// Write writes the run, with the catalogues of the options; how text looks plays no part. An error is the writer's.
	Write func(w io.Writer, run *trace.Run, o Options) error
}

// Whole reports whether the format shows every exchange of a run. The others do with Endpoint.Brief and its evidence.
func (f Format) Whole() bool { return f.Name == "har" }

// Formats are all of them, by name. The JSON document, which is written while the run goes on, is JSONWriter's.
func Formats() []Format {
	return []Format{
		{"codequality", "GitLab code quality", CodeQuality},
		{"ctrf", "Common Test Report Format, for dashboards", CTRF},
		{"github", "annotations of a GitHub workflow, for standard output", GitHub},
		{"har", "the recorded traffic, for browsers and proxies", HAR},
		{"html", "one page for an audit: timelines, answers side by side, what was not tested", HTML},
		{"junit", "JUnit XML, for Jenkins, GitLab and most others", JUnit},
		{"markdown", "a summary for a pull request or a wiki", Markdown},
		{"sarif", "SARIF 2.1.0, for code scanning", SARIF},
		{"tap", "Test Anything Protocol 14", TAP},
	}
}

// tested are the cases of an endpoint that are behaviours: those of scenarios for another kind of endpoint are none.
func tested(ep *trace.Endpoint) []*trace.Case {
	var out []*trace.Case
	for i := range ep.Cases {
		if c := &ep.Cases[i]; !c.NotApplicable() {
			out = append(out, c)
		}
	}
	return out
}

// Fingerprint tells a finding from all others of a plan, and stays the same when the plan's lines move: 16 hexadecimal digits.
func Fingerprint(ep *trace.Endpoint, scenario, rule string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{rule, ep.Name, ep.Request, scenario}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// heading names an endpoint with its request, such as "create order (POST /orders)".
func heading(ep *trace.Endpoint) string {
	if ep.Name == ep.Request {
		return clean(ep.Name)
	}
	return fmt.Sprintf("%s (%s)", oneLine(ep.Name), oneLine(ep.Request))
}

// line is where the plan declares an endpoint; 1 without a plan, since no reader takes 0.
func line(ep *trace.Endpoint) int { return max(1, ep.Line) }

// planFile is where tools that know a repository find the plan, with slashes: its path from the root, or as it was given where it is in
// none; empty without a file.
func planFile(run *trace.Run) string {
	return slashed(run.Info.Plan.InRepository, run.Info.Plan.Path)
}

// fileOf is planFile for the file that declares an endpoint.
func fileOf(run *trace.Run, ep *trace.Endpoint) string {
	if ep.File != "" {
		return slashed(ep.InRepository, ep.File)
	}
	return planFile(run)
}

func slashed(inRepository, path string) string {
	if inRepository != "" {
		return inRepository
	}
	return strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "./")
}

// place is where people find the endpoint, such as "retrysafe.yaml:12"; empty without a file.
func place(run *trace.Run, ep *trace.Endpoint) string {
	path := orElse(ep.File, run.Info.Plan.Path)
	if path == "" || ep.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", oneLine(path), ep.Line)
}

// owned is "owner payments"; empty for an endpoint without one.
func owned(ep *trace.Endpoint) string {
	if ep.Owner == "" {
		return ""
	}
	return "owner " + oneLine(ep.Owner)
}

// ruleOf finds a rule in the catalogue; the zero rule with that id when it is not there.
func ruleOf(rules []scenarios.Rule, id string) scenarios.Rule {
	for _, r := range rules {
		if r.ID == id {
			return r
		}
	}
	return scenarios.Rule{ID: id}
}

// whyNot says why a case was not judged, such as "no-overlap: the copies never ran at the same time".
func whyNot(c *trace.Case) string {
	text := string(c.Reason)
	if c.Detail != "" {
		text += ": " + oneLine(c.Detail)
	}
	return text
}

// required reports whether a case failed because the plan requires what was skipped: it has no finding, but a reason.
func required(c *trace.Case) bool { return c.Verdict == trace.Fail && c.Reason != "" }

// worst is the first of a case's findings that hurts most; nil when it has none.
func worst(c *trace.Case) *trace.Finding {
	if len(c.Findings) == 0 {
		return nil
	}
	return &c.Findings[0]
}

// account tells all of a finding in plain text: both sides, counts, diagnosis, fix and lines to copy.
func account(ep *trace.Endpoint, c *trace.Case, f *trace.Finding, rules []scenarios.Rule) string {
	var b strings.Builder
	rule := ruleOf(rules, f.Rule)
	fmt.Fprintf(&b, "%s (%s)", f.Rule, f.Severity)
	if rule.Title != "" {
		fmt.Fprintf(&b, ": %s", rule.Title)
	}
	fmt.Fprintf(&b, "\n%s\n\nexpected: %s\nactual:   %s\n", clean(f.Message), limit(clean(f.Expected), longValue), limit(clean(f.Actual), longValue))
	if text := acceptance(f); text != "" {
		fmt.Fprintf(&b, "accepted: %s\n", text)
	}
	if ep.Owner != "" {
		fmt.Fprintf(&b, "owner:    %s\n", oneLine(ep.Owner))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Counts)) {
		n := f.Counts[name]
		fmt.Fprintf(&b, "counts:   %s went from %d to %d, expected %d\n", oneLine(name), n.Before, n.After, n.Expected)
	}
	found := arrivalsOf(ep, c, f.Arrivals)
	for _, a := range found[:min(len(found), manyExchanges)] {
		fmt.Fprintf(&b, "sent out: %s: %s\n", oneLine(a.Sink), oneLine(a.String()))
	}
	if d := diagnosisOf(ep, c.Scenario, f.Rule); d != nil {
		fmt.Fprintf(&b, "\ndiagnosis: %s\nfix:       %s\n", clean(d.Title), clean(d.Fix))
	} else if rule.Fix != "" {
		fmt.Fprintf(&b, "\nfix: %s\n", rule.Fix)
	}
	if len(f.Curl) > 0 {
		fmt.Fprintf(&b, "\nby hand:\n")
		for _, l := range f.Curl {
			fmt.Fprintf(&b, "  %s\n", clean(l))
		}
	}
	fmt.Fprintf(&b, "\nmore: retrysafe explain %s\n", f.Rule)
	return b.String()
}

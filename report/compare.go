package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
)

// DiffSchemaV1 names the format of a Comparison as JSON.
const DiffSchemaV1 = "retrysafe/diff/v1"

// Comparison says what changed from one run to a later one. Its fields are the machine-readable form at the same time.
type Comparison struct {
	// Schema is DiffSchemaV1.
	Schema string      `json:"schema"`
	Old    ComparedRun `json:"old"`
	New    ComparedRun `json:"new"`
	// Notes say what makes the runs hard to compare, one sentence each.
	Notes []string `json:"notes"`
	// NewFindings are those that the old run does not have, Remaining are in both, as the new run has them.
	NewFindings []ComparedFinding `json:"new_findings"`
	Remaining   []ComparedFinding `json:"remaining"`
	// Fixed were found in cases that the new run judged, and did not find them in. Unclear are those that it did not judge.
	Fixed   []ComparedFinding `json:"fixed"`
	Unclear []ComparedFinding `json:"unclear"`
	// Lost are cases that the old run judged and the new one did not, Gained the reverse.
	Lost   []ComparedCase `json:"no_longer_judged"`
	Gained []ComparedCase `json:"judged_now"`
}

// ComparedRun names a run.
type ComparedRun struct {
	ID      string        `json:"id"`
	Started string        `json:"started"`
	Target  string        `json:"target"`
	Plan    string        `json:"plan"`
	Verdict trace.Verdict `json:"verdict"`
}

// ComparedFinding is a finding with the case that it belongs to.
type ComparedFinding struct {
	Fingerprint string         `json:"fingerprint"`
	Endpoint    string         `json:"endpoint"`
	Request     string         `json:"request"`
	Scenario    string         `json:"scenario"`
	Rule        string         `json:"rule"`
	Severity    trace.Severity `json:"severity"`
	Message     string         `json:"message"`
	// Accepted is who answers for it; nil when nobody does.
	Accepted *trace.Accepted `json:"accepted,omitempty"`
	// FailOn is the least severity that fails the endpoint, or trace.Never; empty for that of the run.
	FailOn trace.Severity `json:"fail_on,omitempty"`
	// Owner is who answers for the endpoint; empty when the plan does not say.
	Owner string `json:"owner,omitempty"`
}

// ComparedCase is a case that only one of the runs judged.
type ComparedCase struct {
	Endpoint string `json:"endpoint"`
	Scenario string `json:"scenario"`
	// Verdict is that of the run which judged it.
	Verdict trace.Verdict `json:"verdict"`
	// Reason and Detail say why the other one did not.
	Reason trace.Code `json:"reason"`
	Detail string     `json:"detail"`
}

// Compare says what changed from one run to a later one. Findings are told apart by their Fingerprint.
func Compare(before, after *trace.Run) *Comparison {
	c := &Comparison{Schema: DiffSchemaV1, Old: compared(before), New: compared(after), Notes: []string{},
		NewFindings: []ComparedFinding{}, Remaining: []ComparedFinding{}, Fixed: []ComparedFinding{}, Unclear: []ComparedFinding{},
		Lost: []ComparedCase{}, Gained: []ComparedCase{}}
	c.note(before, after)
	was, is := index(before), index(after)
	for _, f := range is.findings {
		if was.has(f.Fingerprint) {
			c.Remaining = append(c.Remaining, f)
		} else {
			c.NewFindings = append(c.NewFindings, f)
		}
	}
	for _, f := range was.findings {
		switch {
		case is.has(f.Fingerprint):
		case is.judged(f.Endpoint, f.Scenario):
			c.Fixed = append(c.Fixed, f)
		default:
			c.Unclear = append(c.Unclear, f)
		}
	}
	c.Lost, c.Gained = append(c.Lost, only(was, is)...), append(c.Gained, only(is, was)...)
	return c
}

// Fails reports whether a new finding that nobody accepts fails its endpoint. Level is the least severity that does where the plan says
// nothing of the endpoint, or whatever it says when always is true.
func (c *Comparison) Fails(level trace.Severity, always bool) bool {
	return slices.ContainsFunc(c.NewFindings, func(f ComparedFinding) bool {
		least := level
		if f.FailOn != "" && !always {
			least = f.FailOn
		}
		return f.Accepted == nil && f.Severity.AtLeast(least)
	})
}

func compared(run *trace.Run) ComparedRun {
	return ComparedRun{run.Info.ID, run.Info.Started.UTC().Format("2006-01-02T15:04:05Z"), run.Info.Target, planName(run.Info.Plan), run.Summary.Verdict}
}

// note says in what the runs differ beside what they found.
func (c *Comparison) note(before, after *trace.Run) {
	x, y := &before.Info, &after.Info
	for _, f := range []struct{ what, a, b string }{
		{"target", x.Target, y.Target}, {"dialect", x.Dialect, y.Dialect}, {"effort", x.Effort, y.Effort},
	} {
		if f.a != f.b {
			c.Notes = append(c.Notes, fmt.Sprintf("the runs differ in %s: %s, then %s", f.what, orElse(f.a, "none"), orElse(f.b, "none")))
		}
	}
	if x.Plan.Digest != y.Plan.Digest {
		c.Notes = append(c.Notes, "the plan was changed between the runs")
	}
	for _, r := range []*trace.Run{before, after} {
		if r.Info.Interrupted {
			c.Notes = append(c.Notes, fmt.Sprintf("run %s was interrupted", r.Info.ID))
		}
	}
}

// indexed is a run by cases and findings.
type indexed struct {
	findings []ComparedFinding
	known    map[string]bool
	cases    map[trace.Symptom]*trace.Case // by endpoint and scenario
	order    []trace.Symptom
}

func caseKey(endpoint, scenario string) trace.Symptom {
	return trace.Symptom{Scenario: scenario, Rule: endpoint}
}

func index(run *trace.Run) *indexed {
	x := &indexed{known: map[string]bool{}, cases: map[trace.Symptom]*trace.Case{}}
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for k := range ep.Cases {
			c := &ep.Cases[k]
			key := caseKey(ep.Name, c.Scenario)
			x.cases[key], x.order = c, append(x.order, key)
			for _, f := range c.Findings {
				print := Fingerprint(ep, c.Scenario, f.Rule)
				x.known[print] = true
				x.findings = append(x.findings, ComparedFinding{print, ep.Name, ep.Request, c.Scenario, f.Rule, f.Severity, f.Message, f.Accepted, ep.Facts.FailOn, ep.Owner})
			}
		}
	}
	return x
}

func (x *indexed) has(print string) bool { return x.known[print] }

// judged reports whether the run judged a case.
func (x *indexed) judged(endpoint, scenario string) bool {
	c := x.cases[caseKey(endpoint, scenario)]
	return c != nil && slices.Contains([]trace.Verdict{trace.Pass, trace.Warn, trace.Fail}, c.Verdict)
}

// only are the cases that a judged and b did not.
func only(a, b *indexed) []ComparedCase {
	var out []ComparedCase
	for _, key := range a.order {
		endpoint, scenario := key.Rule, key.Scenario
		if !a.judged(endpoint, scenario) || b.judged(endpoint, scenario) {
			continue
		}
		c := ComparedCase{endpoint, scenario, a.cases[key].Verdict, "", "the other run does not have the case"}
		if other := b.cases[key]; other != nil {
			c.Reason, c.Detail = other.Reason, other.Detail
		}
		out = append(out, c)
	}
	return out
}

// Diff writes a comparison for people. The error is that of the writer.
func Diff(w io.Writer, c *Comparison, o Options) error {
	p := newPrinter(o)
	head, style := "SAME  ", p.good
	switch {
	case len(c.NewFindings) > 0:
		head, style = "WORSE  ", p.bad
	case len(c.Lost)+len(c.Unclear) > 0:
		head, style = "LESS IS KNOWN  ", p.warn
	case len(c.Fixed) > 0:
		head = "BETTER  "
	}
	p.hang(0, 2, style, head, style, fmt.Sprintf("%s, %d fixed, %d remaining; %s no longer judged, %d judged now",
		plural(len(c.NewFindings), "new violation"), len(c.Fixed), len(c.Remaining), plural(len(c.Lost), "case"), len(c.Gained)))
	p.blank()
	p.field(2, "old", fmt.Sprintf("%s, %s, %s, %s", c.Old.ID, c.Old.Started, c.Old.Target, c.Old.Verdict))
	p.field(2, "new", fmt.Sprintf("%s, %s, %s, %s", c.New.ID, c.New.Started, c.New.Target, c.New.Verdict))
	for _, note := range c.Notes {
		p.styled(2, "note", p.warn, note)
	}
	p.compared("New", "✗", p.bad, c.NewFindings, true)
	p.compared("Fixed", "✓", p.good, c.Fixed, false)
	p.compared("Found before, not judged now", "?", p.warn, c.Unclear, false)
	p.compared("Remaining", "✗", p.bad, c.Remaining, false)
	p.onlyOne("No longer judged", c.Lost, "was")
	p.onlyOne("Judged now", c.Gained, "is")
	return p.flush(w)
}

// CompareJSON writes a comparison for programs. The error is that of the writer.
func CompareJSON(w io.Writer, c *Comparison) error { return writeJSON(w, c) }

func (p *printer) compared(title, mark string, style *color.Color, list []ComparedFinding, whole bool) {
	if len(list) == 0 {
		return
	}
	p.blank()
	p.raw(0, p.bold.Sprint(title))
	for _, f := range list {
		p.hang(2, 4, style, fmt.Sprintf("%s %s  ", mark, oneLine(string(f.Severity))), p.plain,
			fmt.Sprintf("%s in %s on %s", f.Rule, f.Scenario, oneLine(f.Endpoint)))
		if whole {
			p.para(4, p.dim, limit(f.Message, longValue))
		}
	}
}

func (p *printer) onlyOne(title string, list []ComparedCase, verb string) {
	if len(list) == 0 {
		return
	}
	p.blank()
	p.raw(0, p.bold.Sprint(title))
	for _, c := range list {
		p.hang(2, 4, p.warn, "? ", p.plain, fmt.Sprintf("%s on %s, %s %s; %s", c.Scenario, oneLine(c.Endpoint), verb, word(c.Verdict),
			limit(whyOther(c), longValue)))
	}
}

func whyOther(c ComparedCase) string {
	if c.Reason == "" {
		return c.Detail
	}
	return string(c.Reason) + ": " + oneLine(c.Detail)
}

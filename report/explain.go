package report

import (
	"io"
	"slices"
	"strings"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Explain writes what a rule means, whom a violation hurts, how to fix it, and where the demand comes
// from. The error is that of the writer.
func Explain(w io.Writer, rule scenarios.Rule, o Options) error {
	p := newPrinter(o)
	p.hang(0, 2, p.severity(rule.Severity), oneLine(string(rule.Severity))+"  ", p.bold, rule.ID)
	p.para(0, p.bold, rule.Title)
	p.blank()
	p.field(0, "why", rule.Why)
	p.blank()
	p.field(0, "fix", rule.Fix)
	p.blank()
	p.styled(0, "source", p.dim, rule.Source)
	return p.flush(w)
}

// ExplainDiagnosis writes how a pattern of findings shows a diagnosis, how to repair it, and which findings it
// explains. The error is that of the writer.
func ExplainDiagnosis(w io.Writer, d scenarios.Diagnosis, o Options) error {
	p := newPrinter(o)
	p.hang(0, 2, p.label, "diagnosis  ", p.bold, d.ID)
	p.para(0, p.bold, d.Title)
	p.blank()
	p.field(0, "why", d.Why)
	p.blank()
	p.field(0, "fix", d.Fix)
	p.blank()
	p.code(0, "example", d.Example)
	p.blank()
	names := make([]string, len(d.Explains))
	for i, s := range d.Explains {
		names[i] = s.Rule
		if s.Scenario != "" {
			names[i] += " in " + s.Scenario
		}
	}
	p.field(0, "explains", strings.Join(names, ", "))
	return p.flush(w)
}

// ExplainReason writes what a reason code means, what to try, and whether --allow-inconclusive may name it. The error is that of
// the writer.
func ExplainReason(w io.Writer, r scenarios.Reason, o Options) error {
	p := newPrinter(o)
	p.hang(0, 2, p.warn, string(verdictOf(r.Code))+"  ", p.bold, string(r.Code))
	p.para(0, p.bold, r.Title)
	p.blank()
	p.field(0, "means", r.Means)
	p.blank()
	p.field(0, "try", r.Fix)
	p.blank()
	p.field(0, "allow", permission(r.Code))
	return p.flush(w)
}

// verdictOf is the verdict of the cases that have the code.
func verdictOf(c trace.Code) trace.Verdict {
	if slices.Contains(trace.SkipCodes(), c) {
		return trace.Skip
	}
	return trace.Inconclusive
}

// permission says what --allow-inconclusive does about a code.
func permission(c trace.Code) string {
	switch {
	case c.Allowable():
		return "--allow-inconclusive " + string(c) + " turns such cases into skips, which do not change the exit code"
	case verdictOf(c) == trace.Skip:
		return "a skip does not change the exit code, so there is nothing to allow"
	}
	return "never: --allow-inconclusive refuses it, because nothing would have been tested"
}

// ReasonList writes a table of reason codes, in the order given, for `retrysafe explain` without an argument. The error is that
// of the writer.
func ReasonList(w io.Writer, list []scenarios.Reason, o Options) error {
	p := newPrinter(o)
	var rows []row
	for _, r := range list {
		rows = append(rows, row{id: string(r.Code), note: string(verdictOf(r.Code)), text: r.Title})
	}
	if err := p.list(rows, "reason code", "verdict", "what happened"); err != nil {
		return err
	}
	p.blank()
	p.para(0, p.dim, "retrysafe explain CODE says what it means and what to try")
	return p.flush(w)
}

// DiagnosisList writes a table of diagnoses, in the order given, for `retrysafe explain` without an argument. The
// error is that of the writer.
func DiagnosisList(w io.Writer, list []scenarios.Diagnosis, o Options) error {
	p := newPrinter(o)
	var rows []row
	for _, d := range list {
		rows = append(rows, row{id: d.ID, note: plural(len(d.Explains), "finding"), text: d.Title})
	}
	if err := p.list(rows, "diagnosis", "explains", "what is likely wrong"); err != nil {
		return err
	}
	p.blank()
	p.para(0, p.dim, "retrysafe explain DIAGNOSIS says how it is told and how to repair it")
	return p.flush(w)
}

// RuleList writes a table of rules with severity and title, in the order given, for `retrysafe explain` without
// an argument. The error is that of the writer.
func RuleList(w io.Writer, rules []scenarios.Rule, o Options) error {
	p := newPrinter(o)
	var rows []row
	for _, r := range rules {
		rows = append(rows, row{id: r.ID, note: string(r.Severity), text: r.Title, style: p.severity(r.Severity).Sprint})
	}
	if err := p.list(rows, "rule", "severity", "broken when"); err != nil {
		return err
	}
	p.blank()
	p.para(0, p.dim, "retrysafe explain RULE shows why it matters and how to fix it")
	return p.flush(w)
}

// ScenarioList writes a table of scenarios with what they need of the plan, in the order given. The
// error is that of the writer.
func ScenarioList(w io.Writer, list []*scenarios.Scenario, o Options) error {
	p := newPrinter(o)
	var rows []row
	for _, s := range list {
		rows = append(rows, row{id: s.ID, note: needs(s), text: s.Title})
	}
	if err := p.list(rows, "scenario", "needs", "what it does"); err != nil {
		return err
	}
	p.blank()
	p.para(0, p.dim, "retrysafe scenarios ID shows the script with its documentation")
	return p.flush(w)
}

// ScenarioShow writes the documentation of a scenario and then the script that it is made of. The error is
// that of the writer.
func ScenarioShow(w io.Writer, s *scenarios.Scenario, o Options) error {
	p := newPrinter(o)
	p.para(0, p.bold, s.ID)
	p.para(0, p.bold, s.Title)
	p.blank()
	p.para(0, p.plain, strings.Join(strings.Fields(s.About), " "))
	p.blank()
	p.field(0, "applies", orElse(strings.Join(s.Kinds, ", "), "every kind of endpoint"))
	p.field(0, "needs", orElse(needs(s), "nothing"))
	p.field(0, "file", s.File)
	p.blank()
	for line := range strings.SplitSeq(strings.TrimRight(s.Text, "\n"), "\n") {
		p.raw(2, clean(line))
	}
	return p.flush(w)
}

// needs are the things of the plan that a scenario needs: "key, expire or key_lifetime".
func needs(s *scenarios.Scenario) string {
	all := make([]string, len(s.Needs))
	for i, alternatives := range s.Needs {
		all[i] = strings.Join(alternatives, " or ")
	}
	return strings.Join(all, ", ")
}

// row is a line of a list: an id, a short note and a sentence.
type row struct {
	id, note, text string
	// style paints the note; nil leaves it plain.
	style func(...any) string
}

// list writes rows as a table whose last column is cut to the width, or below each other on a narrow screen.
func (p *printer) list(rows []row, header ...string) error {
	if p.narrow() {
		for _, r := range rows {
			p.para(0, p.bold, r.id)
			p.para(2, p.plain, r.text)
			p.styled(2, header[1], p.dim, r.note)
		}
		return nil
	}
	ids, notes := len(header[0]), len(header[1])
	for _, r := range rows {
		ids, notes = max(ids, len(r.id)), max(notes, len(r.note))
	}
	notes = min(notes, p.width/3)
	room := p.width - ids - notes - 5
	var cells [][]string
	for _, r := range rows {
		note := shorten(oneLine(r.note), notes)
		if r.style != nil {
			note = r.style(note)
		}
		cells = append(cells, []string{p.bold.Sprint(oneLine(r.id)), note, shorten(oneLine(r.text), room)})
	}
	return p.table(0, header, cells)
}

// severity is the style of a severity.
func (p *printer) severity(s trace.Severity) *color.Color {
	if s == trace.Minor {
		return p.warn
	}
	return p.bad
}

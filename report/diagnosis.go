package report

import (
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

// diagnosis names the likely cause of several findings first: it is what one reads and repairs. Why and how is told once in a report.
func (p *printer) diagnosis(run *trace.Run, ep *trace.Endpoint, d *trace.Diagnosis) {
	p.styled(2, "diagnosis", p.bold, d.Title)
	told := p.told[d.ID]
	if told == "" {
		p.field(2, "why", d.Why)
		p.remedy(2, d)
	}
	p.raw(2, p.label.Sprint("symptoms"))
	for _, s := range symptomsOf(run, ep, d) {
		mark, style := p.grade(s.worst, s.fails)
		p.hang(4, 2, style, mark, p.plain, s.rule+" in "+strings.Join(s.scenarios, ", "))
	}
	if told != "" {
		p.styled(2, "fix", p.dim, "as above for "+oneLine(told))
		return
	}
	p.told[d.ID] = ep.Name
	p.styled(2, "more", p.dim, "retrysafe explain "+oneLine(d.ID))
}

// remedy says what to change, in words and as code.
func (p *printer) remedy(indent int, d *trace.Diagnosis) {
	p.field(indent, "fix", d.Fix)
	p.code(indent, "example", d.Example)
}

// symptom is one rule that was broken for the same reason.
type symptom struct {
	rule      string
	scenarios []string
	worst     trace.Severity
	fails     bool
}

// symptomsOf are the findings that a diagnosis explains, one for each rule, worst first, else in the order of the cases.
func symptomsOf(run *trace.Run, ep *trace.Endpoint, d *trace.Diagnosis) []symptom {
	var all []symptom
	for _, f := range findingsOf(ep) {
		if f.d != d {
			continue
		}
		i := slices.IndexFunc(all, func(s symptom) bool { return s.rule == f.f.Rule })
		if i < 0 {
			all, i = append(all, symptom{rule: f.f.Rule, worst: f.f.Severity}), len(all)
		}
		all[i].fails = all[i].fails || fails(run, ep, f.f)
		all[i].scenarios = append(all[i].scenarios, f.c.Scenario)
	}
	return all
}

// code writes lines below their label as they are, so that they keep their columns; only what is wider than the screen
// is broken.
func (p *printer) code(indent int, label, text string) {
	if text == "" {
		return
	}
	p.raw(indent, p.label.Sprint(label))
	room := p.width - indent - 2
	for line := range strings.SplitSeq(strings.TrimRight(clean(text), "\n"), "\n") {
		if twwidth.Width(line) <= room {
			p.raw(indent+2, line)
			continue
		}
		for _, part := range wrap(line, room) {
			p.raw(indent+2, part)
		}
	}
}

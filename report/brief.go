package report

import (
	"io"

	"retrysafe/internal/trace"
)

// Brief writes a run in short: a heading with about below it, a line for each case that broke a rule, the names of the others, the diagnoses with their fixes, and for
// each finding what was expected and what came. The error is that of the writer.
func Brief(w io.Writer, heading, about string, run *trace.Run, o Options) error {
	p := newPrinter(o)
	c := coverageOf(run)
	word, style := headWord(run.Summary.Verdict, &c, p.palette)
	p.hang(0, 2, style, word+"  ", p.bold, heading+": "+c.counts())
	p.para(2, p.dim, about)
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		p.cases(ep)
		p.named(ep, trace.Pass)
		p.named(ep, trace.Inconclusive)
		p.named(ep, trace.Error)
		p.named(ep, trace.Skip)
		for j := range ep.Diagnoses {
			p.blank()
			p.styled(2, "diagnosis", p.bold, ep.Diagnoses[j].Title)
			p.remedy(2, &ep.Diagnoses[j])
		}
		for _, f := range findingsOf(ep) {
			p.brief(run, ep, f)
		}
	}
	p.blank()
	return p.flush(w)
}

func (p *printer) brief(run *trace.Run, ep *trace.Endpoint, found found) {
	f := found.f
	mark, style := p.grade(f.Severity, fails(run, ep, f))
	p.blank()
	p.hang(2, 4, style, mark, p.bold, f.Rule+" in "+found.c.Scenario)
	p.para(4, p.plain, limit(f.Message, longValue))
	p.field(4, "expected", limit(f.Expected, longValue))
	p.field(4, "actual", limit(f.Actual, longValue))
	if rule, known := p.rules[f.Rule]; known && found.d == nil && !p.explained[f.Rule] {
		p.explained[f.Rule] = true
		p.field(4, "fix", rule.Fix)
	}
}

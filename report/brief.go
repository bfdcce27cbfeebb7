package report

import (
	"fmt"
	"io"

	"retrysafe/internal/trace"
)

// Brief writes a run in short: a heading with about below it, a line for each case, and for each finding what was
// expected, what came, and the fix. The error is that of the writer.
func Brief(w io.Writer, heading, about string, run *trace.Run, o Options) error {
	p := newPrinter(o)
	c := coverageOf(run)
	word, style := headWord(run.Summary.Verdict, &c, p.palette)
	p.hang(0, 2, style, word+"  ", p.bold, heading+": "+c.String())
	p.para(2, p.dim, about)
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		p.cases(ep)
		for _, f := range findingsOf(ep) {
			p.brief(run, f.c, f.f)
		}
	}
	p.blank()
	return p.flush(w)
}

func (p *printer) brief(run *trace.Run, c *trace.Case, f *trace.Finding) {
	mark, style := symbol(trace.Fail), p.bad
	if !f.Severity.AtLeast(failOn(run)) {
		mark, style = symbol(trace.Warn), p.warn
	}
	p.blank()
	p.hang(2, 4, style, fmt.Sprintf("%s %s  ", mark, oneLine(string(f.Severity))), p.bold, f.Rule+" in "+c.Scenario)
	p.para(4, p.plain, limit(f.Message, longValue))
	p.field(4, "expected", limit(f.Expected, longValue))
	p.field(4, "actual", limit(f.Actual, longValue))
	if rule, known := p.rules[f.Rule]; known && !p.explained[f.Rule] {
		p.explained[f.Rule] = true
		p.field(4, "fix", rule.Fix)
	}
}

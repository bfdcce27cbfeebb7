package report

import (
	"fmt"
	"strings"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
)

// colour is how a text looks.
type colour = color.Color

// decideShown is how many lines to decide on are shown of an endpoint in reports that are not verbose.
const decideShown = 8

// planLines writes lines of plan, those for one place together and ready to paste, under a heading that says where. Why stands above each as
// a comment, and goes with it.
func (p *printer) planLines(t *Try, l *trace.Lesson, lines []trace.PlanLine, heading string) {
	if len(lines) == 0 {
		return
	}
	p.blank()
	p.para(2, p.bold, heading)
	left := 0
	if lines[0].Guess && !p.verbose && len(lines) > decideShown {
		left, lines = len(lines)-decideShown, lines[:decideShown]
	}
	where := ""
	for i := range lines {
		line := &lines[i]
		if to := whereIn(t, l, line); to != where {
			where = to
			p.blank()
			p.para(2, p.plain, to+":")
		}
		p.planLine(line)
		if line.With != nil {
			where = whereIn(t, l, line.With)
			p.para(2, p.plain, where+" beside it:")
			p.planLine(line.With)
		}
	}
	if left > 0 {
		p.blank()
		p.para(2, p.dim, fmt.Sprintf("and %s more: --verbose shows all", plural(left, "line")))
	}
}

// whereIn says where a line of plan belongs.
func whereIn(t *Try, l *trace.Lesson, line *trace.PlanLine) string {
	file := oneLine(orElse(line.File, t.Plan))
	switch {
	case line.Replaces > 0:
		return fmt.Sprintf("In place of line %d of %s", line.Replaces, file)
	case line.Into > 0:
		return fmt.Sprintf("Under line %d of %s", line.Into, file)
	case line.Top:
		return fmt.Sprintf("At the top level of %s", file)
	case line.Braces:
		return fmt.Sprintf("In the braces of endpoint '%s' (%s), with a comma", oneLine(l.Endpoint), placeIn(t, l))
	}
	return fmt.Sprintf("In endpoint '%s' (%s)", oneLine(l.Endpoint), placeIn(t, l))
}

func (p *printer) planLine(line *trace.PlanLine) {
	indent, why := line.Indent, line.Why
	switch {
	case line.AllOf:
		why += "; nothing can be tested without it"
	case len(line.Enables) > 0:
		why += fmt.Sprintf("; enables %s", strings.Join(line.Enables, ", "))
	}
	if why != "" {
		for _, part := range wrap(oneLine(why), max(p.width-indent-2, MinWidth)) {
			p.raw(indent, p.dim.Sprint("# "+part))
		}
	}
	p.copyable(indent, line.Text)
}

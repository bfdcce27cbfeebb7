package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"retrysafe/internal/trace"
)

// newTable is a table without borders whose cells are taken as they are: the library neither
// rewrites headers nor wraps or trims cells, because its wrapping can exceed the width.
func newTable(w io.Writer, align ...tw.Align) *tablewriter.Table {
	return tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint()),
		tablewriter.WithRendition(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleASCII),
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
		}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
	)
}

// table writes rows below a header, without the space that the library puts before the first cell.
func (p *printer) table(indent int, header []string, rows [][]string, align ...tw.Align) error {
	var b strings.Builder
	t := newTable(&b, align...)
	t.Header(header)
	for _, row := range rows {
		if err := t.Append(row); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	for line := range strings.Lines(b.String()) {
		p.raw(indent, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), " "))
	}
	return nil
}

// summary shows at a glance what did not simply pass or was left out, in verbose reports all: scenarios by endpoints where that
// fits, of a large run scenario by scenario how many endpoints of each, else endpoint by endpoint how many cases of each verdict, and the
// legend with the total of each. A single endpoint needs none.
func (p *printer) summary(run *trace.Run) error {
	scenarios := p.scenarioIDs(run)
	if len(scenarios) == 0 || len(run.Endpoints) == 1 {
		return nil
	}
	p.blank()
	p.raw(0, p.bold.Sprint("Summary"))
	p.blank()
	var err error
	switch {
	case Large(len(run.Endpoints)):
		err = p.byScenario(run, scenarios)
	case p.gridWidth(run, scenarios) <= p.width-2:
		err = p.grid(run, scenarios)
	default:
		p.tallies(run)
	}
	if err != nil {
		return err
	}
	p.blank()
	p.para(2, p.plain, "in all: "+legend(run))
	return nil
}

// scenarioIDs are the scenarios of the summary, in the order in which they come.
func (p *printer) scenarioIDs(run *trace.Run) []string {
	var ids []string
	seen := map[string]bool{}
	for i := range run.Endpoints {
		for j := range run.Endpoints[i].Cases {
			c := &run.Endpoints[i].Cases[j]
			plain := c.Verdict == trace.Pass || c.Verdict == trace.Skip
			if id := c.Scenario; !seen[id] && !c.NotApplicable() && (p.verbose || !plain) {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// gridWidth is how wide the grid would be, with a space on each side of every cell.
func (p *printer) gridWidth(run *trace.Run, scenarios []string) int {
	first := 0
	for _, id := range scenarios {
		first = max(first, twwidth.Width(oneLine(id)))
	}
	width := first + 2
	for i := range run.Endpoints {
		width += max(twwidth.Width(oneLine(run.Endpoints[i].Name)), 1) + 2
	}
	return width
}

func (p *printer) grid(run *trace.Run, scenarios []string) error {
	header := []string{""}
	for i := range run.Endpoints {
		header = append(header, p.bold.Sprint(oneLine(run.Endpoints[i].Name)))
	}
	var rows [][]string
	for _, id := range scenarios {
		row := []string{oneLine(id)}
		for i := range run.Endpoints {
			row = append(row, p.mark(&run.Endpoints[i], id))
		}
		rows = append(rows, row)
	}
	return p.table(2, header, rows)
}

// mark is the verdict of a scenario on an endpoint as a symbol; a space where there is no such case, or it does not apply.
func (p *printer) mark(ep *trace.Endpoint, scenario string) string {
	for i := range ep.Cases {
		if c := &ep.Cases[i]; c.Scenario == scenario && !c.NotApplicable() {
			return p.of(c.Verdict).Sprint(symbol(c.Verdict))
		}
	}
	return " "
}

func (p *printer) tallies(run *trace.Run) {
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		n := map[trace.Verdict]int{}
		for j := range ep.Cases {
			if c := &ep.Cases[j]; !c.NotApplicable() {
				n[c.Verdict]++
			}
		}
		p.hang(2, 4, p.of(ep.Verdict), badge(ep.Verdict), p.bold, ep.Name)
		p.para(6, p.plain, tally(n))
	}
}

// legend names the symbols with the number of cases of each.
func legend(run *trace.Run) string {
	t := run.Summary.Cases
	return tally(map[trace.Verdict]int{
		trace.Pass: t.Pass, trace.Fail: t.Fail, trace.Warn: t.Warn,
		trace.Inconclusive: t.Inconclusive, trace.Skip: t.Skip, trace.Error: t.Error,
	})
}

func tally(n map[trace.Verdict]int) string {
	var parts []string
	for _, v := range []trace.Verdict{trace.Pass, trace.Fail, trace.Warn, trace.Inconclusive, trace.Skip, trace.Error} {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %s", symbol(v), n[v], v))
		}
	}
	return strings.Join(parts, ", ")
}

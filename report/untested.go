package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
)

// gap is a reason for which cases were not tested.
type gap struct {
	verdict trace.Verdict
	reason  trace.Code
	detail  string
	// enabled is true when the record itself says what would make the cases conclusive.
	enabled bool
	cases   places
}

// places are cases by endpoint, to be named without repeating what they share.
type places struct {
	n         int
	endpoints []string
	scenarios map[string][]string
}

func (p *places) add(endpoint, scenario string) {
	if p.scenarios == nil {
		p.scenarios = map[string][]string{}
	}
	if _, ok := p.scenarios[endpoint]; !ok {
		p.endpoints = append(p.endpoints, endpoint)
	}
	p.scenarios[endpoint] = append(p.scenarios[endpoint], scenario)
	p.n++
}

// String is such as "delayed-expiry, missing-key on create order, create payment; missing-key on create refund".
func (p *places) String() string {
	var lists []string
	on := map[string][]string{}
	for _, ep := range p.endpoints {
		list := strings.Join(p.scenarios[ep], ", ")
		if on[list] == nil {
			lists = append(lists, list)
		}
		on[list] = append(on[list], ep)
	}
	for i, list := range lists {
		lists[i] += " on " + strings.Join(on[list], ", ")
	}
	return strings.Join(lists, "; ")
}

// untested lists what was not tested, by reason, and what would enable it.
func (p *printer) untested(run *trace.Run, c coverage) {
	gaps := gapsOf(run)
	if len(gaps) > 0 {
		p.blank()
		p.raw(0, p.bold.Sprintf("Not tested: %d of %s", c.untested+c.failed, plural(c.total(), "behaviour")))
		for _, g := range gaps {
			p.gap(g)
		}
	}
	if c.notApplicable > 0 {
		p.blank()
		p.para(2, p.dim, fmt.Sprintf("%s not applicable: for another kind of endpoint, so not counted as a behaviour",
			plural(c.notApplicable, "case")))
	}
	p.enabling(c)
}

func gapsOf(run *trace.Run) []gap {
	var gaps []gap
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for j := range ep.Cases {
			c := &ep.Cases[j]
			if c.Reason == trace.NotApplicable || slices.Contains([]trace.Verdict{trace.Pass, trace.Warn, trace.Fail}, c.Verdict) {
				continue
			}
			gaps = addGap(gaps, ep.Name, c)
		}
	}
	return gaps
}

func addGap(gaps []gap, endpoint string, c *trace.Case) []gap {
	i := slices.IndexFunc(gaps, func(g gap) bool {
		return g.verdict == c.Verdict && g.reason == c.Reason && g.detail == c.Detail
	})
	if i < 0 {
		i, gaps = len(gaps), append(gaps, gap{verdict: c.Verdict, reason: c.Reason, detail: c.Detail, enabled: c.Enable != ""})
	}
	gaps[i].cases.add(endpoint, c.Scenario)
	return gaps
}

func (p *printer) gap(g gap) {
	p.blank()
	p.hang(2, 4, p.of(g.verdict), badge(g.verdict), p.bold, g.cases.String())
	text := string(g.reason)
	if g.detail != "" {
		text = strings.TrimPrefix(text+": "+limit(g.detail, longValue), ": ")
	}
	p.para(4, p.plain, text)
	if !g.enabled {
		p.styled(4, "try", p.plain, hint(g.reason, g.detail))
	}
}

// enabling writes the lines of plan, ready to be copied, and the cases that each piece enables.
func (p *printer) enabling(c coverage) {
	if len(c.enable) == 0 {
		return
	}
	p.blank()
	p.raw(0, p.bold.Sprint("To test more"))
	for _, e := range c.enable {
		p.blank()
		title := "add to the plan, for "
		if e.flag() {
			title = "run with this flag, for "
		}
		p.para(2, p.plain, title+e.cases.String()+":")
		p.blank()
		p.para(6, p.label, e.text)
	}
}

// ending says what the exit code means.
func (p *printer) ending(run *trace.Run, c coverage) {
	text, style := meaning(run, &c, p.palette)
	p.blank()
	p.para(0, style, fmt.Sprintf("exit %d: %s", run.Summary.ExitCode, text))
}

func meaning(run *trace.Run, c *coverage, pal palette) (string, *color.Color) {
	switch run.Summary.ExitCode {
	case 0:
		if c.incomplete() {
			return fmt.Sprintf("nothing failed, but %s", untestedOf(c)), pal.warn
		}
		return "nothing failed", pal.good
	case 1:
		return fmt.Sprintf("violations of severity %s or above were found", failOn(run)), pal.bad
	case 3:
		if c.failed > 0 {
			return "no violation was found, but the tool itself failed", pal.bad
		}
		return "no violation was found, but something could not be judged", pal.warn
	case 130:
		return "interrupted; the report shows what was seen until then", pal.warn
	}
	return "see the documentation of exit codes", pal.plain
}

func untestedOf(c *coverage) string {
	if c.total() == 0 {
		return "nothing was tested"
	}
	return fmt.Sprintf("%d of %s not tested", c.untested+c.failed, plural(c.total(), "behaviour")+were(c.total()))
}

func were(n int) string {
	if n == 1 {
		return " was"
	}
	return " were"
}

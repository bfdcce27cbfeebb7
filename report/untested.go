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

// among is such as "delayed-expiry, missing-key on create order, create payment; missing-key on create refund", in a run of so
// many endpoints.
func (p *places) among(endpoints int) string {
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
		if n := len(on[list]); n == endpoints && Large(n) {
			lists[i] += fmt.Sprintf(" on all %d endpoints", n)
		} else {
			lists[i] += " on " + several(on[list])
		}
	}
	return strings.Join(lists, "; ")
}

// gapsShown is how many reasons are told: about two hundred lines.
const gapsShown = 60

// untested lists what was not tested, by reason, and what would enable it.
func (p *printer) untested(run *trace.Run, c coverage) {
	gaps := gapsOf(run)
	if len(gaps) > 0 {
		p.blank()
		p.raw(0, p.bold.Sprintf("Not tested: %d of %s", c.untested+c.failed, plural(c.total(), "behaviour")))
		for _, g := range gaps[:min(len(gaps), gapsShown)] {
			p.gap(run, g)
		}
		if left := len(gaps) - gapsShown; left > 0 {
			p.blank()
			p.para(2, p.dim, fmt.Sprintf("and for %s, which the JSON document has", plural(left, "more reason")))
		}
	}
	if c.notApplicable > 0 {
		p.blank()
		p.para(2, p.dim, fmt.Sprintf("%s not applicable: for another kind of endpoint, so not counted as a behaviour",
			plural(c.notApplicable, "case")))
	}
	p.enabling(run, c)
}

// gapsOf are the reasons, in the order in which they come; in a large run those for which a case was to be tested and could
// not be come first.
func gapsOf(run *trace.Run) []gap {
	var gaps []gap
	at := map[gapKey]int{}
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for j := range ep.Cases {
			c := &ep.Cases[j]
			if c.NotApplicable() || slices.Contains([]trace.Verdict{trace.Pass, trace.Warn, trace.Fail}, c.Verdict) {
				continue
			}
			key := gapKey{c.Verdict, c.Reason, c.Detail}
			k, known := at[key]
			if !known {
				k = len(gaps)
				at[key], gaps = k, append(gaps, gap{verdict: c.Verdict, reason: c.Reason, detail: c.Detail, enabled: c.Enable != ""})
			}
			gaps[k].cases.add(ep.Name, c.Scenario)
		}
	}
	if Large(len(run.Endpoints)) {
		slices.SortStableFunc(gaps, func(a, b gap) int { return Urgency(a.verdict) - Urgency(b.verdict) })
	}
	return gaps
}

// gapKey is what the cases of a gap share.
type gapKey struct {
	verdict trace.Verdict
	reason  trace.Code
	detail  string
}

func (p *printer) gap(run *trace.Run, g gap) {
	p.blank()
	p.hang(2, 4, p.of(g.verdict), badge(g.verdict), p.bold, g.cases.among(len(run.Endpoints)))
	text := string(g.reason)
	if g.detail != "" {
		text = strings.TrimPrefix(text+": "+limit(g.detail, longValue), ": ")
	}
	p.para(4, p.plain, text)
	if !g.enabled {
		p.styled(4, "try", p.plain, p.hint(g.reason, g.detail))
	}
}

// enabling writes the lines of plan, ready to be copied, and the cases that each piece enables.
func (p *printer) enabling(run *trace.Run, c coverage) {
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
		p.para(2, p.plain, title+e.cases.among(len(run.Endpoints))+":")
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

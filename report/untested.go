package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
)

// gap is a reason for which cases were not tested, and the lines of plan or the flag that would change that.
type gap struct {
	verdict trace.Verdict
	reason  trace.Code
	detail  string
	enable  string
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
// many endpoints. What is the same on all of them is "on every endpoint", and nothing where there is one.
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
		switch n := len(on[list]); {
		case endpoints == 1:
		case n == endpoints && Large(n):
			lists[i] += fmt.Sprintf(" on all %d endpoints", n)
		case n == endpoints:
			lists[i] += " on every endpoint"
		default:
			lists[i] += " on " + several(on[list])
		}
	}
	return strings.Join(lists, "; ")
}

// gapsShown is how many reasons are told: about two hundred lines.
const gapsShown = 60

// untested lists what was not tested, by reason, with what would enable it.
func (p *printer) untested(run *trace.Run, c coverage) {
	gaps := gapsOf(run)
	if len(gaps) > 0 {
		p.blank()
		p.raw(0, p.bold.Sprintf("Not tested: %d of %s", c.untested+c.failed, plural(c.total(), "behaviour")))
		for i := range gaps[:min(len(gaps), gapsShown)] {
			p.gap(&gaps[i], len(run.Endpoints))
		}
		if left := len(gaps) - gapsShown; left > 0 {
			p.blank()
			p.para(2, p.dim, fmt.Sprintf("and for %s, which the JSON document has", plural(left, "more reason")))
		}
	}
	if c.notApplicable > 0 && p.verbose {
		p.blank()
		p.para(2, p.dim, fmt.Sprintf("%s not applicable: for another kind of endpoint, so not counted as a behaviour",
			plural(c.notApplicable, "case")))
	}
}

// gapsOf are the gaps of a run: errors of the tool, what could not be judged, what was left out; in each what enables most first.
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
			key := gapKeyOf(c)
			k, known := at[key]
			if !known {
				k = len(gaps)
				at[key], gaps = k, append(gaps, key.gap())
			}
			gaps[k].cases.add(ep.Name, c.Scenario)
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.cases.n, a.cases.n))
	})
	return gaps
}

func (g *gap) rank() int {
	switch {
	case g.verdict == trace.Error:
		return 0
	case g.verdict == trace.Inconclusive:
		return 1
	case g.enable != "":
		return 2
	}
	return 3
}

// gapKey is what the cases of a gap share.
type gapKey struct {
	verdict trace.Verdict
	reason  trace.Code
	detail  string
	enable  string
}

func gapKeyOf(c *trace.Case) gapKey {
	return gapKey{c.Verdict, c.Reason, c.Detail, strings.TrimRight(c.Enable, " \n")}
}

func (k gapKey) gap() gap {
	return gap{verdict: k.verdict, reason: k.reason, detail: k.detail, enable: k.enable}
}

// gapOf is the gap that one case leaves.
func gapOf(endpoint string, c *trace.Case) *gap {
	g := gapKeyOf(c).gap()
	g.cases.add(endpoint, c.Scenario)
	return &g
}

func (p *printer) gap(g *gap, endpoints int) {
	p.blank()
	p.hang(2, 4, p.of(g.verdict), badge(g.verdict), p.bold, g.cases.among(endpoints))
	text := string(g.reason)
	if g.detail != "" {
		text = strings.TrimPrefix(text+": "+limit(g.detail, longValue), ": ")
	}
	p.para(4, p.plain, text)
	p.remedyOf(g)
	if g.verdict == trace.Inconclusive && g.reason != "" {
		p.styled(4, "more", p.dim, "retrysafe explain "+oneLine(string(g.reason)))
	}
}

// remedyOf writes what to add to the plan, with the indentation that it has there, or to the command, or what to try.
func (p *printer) remedyOf(g *gap) {
	switch at := p.levelOf(g.enable); {
	case g.enable == "":
		p.styled(4, "try", p.plain, p.hint(g.reason, g.detail))
	case at == levelFlag:
		p.hang(4, 2, p.plain, "with the flag ", p.label, g.enable)
	case at == levelEndpoint:
		p.para(4, p.plain, p.whereTo(g)+":")
		p.copyable(10, g.enable) // the fields of an endpoint stand four columns in
	default:
		p.para(4, p.plain, p.whereTo(g)+":")
		p.copyable(6, g.enable)
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
		if c.accepted > 0 {
			return fmt.Sprintf("nothing failed: the baseline accepts %s", plural(c.accepted, "violated behaviour")), pal.warn
		}
		if c.incomplete() {
			return fmt.Sprintf("nothing failed, but %s", untestedOf(c)), pal.warn
		}
		return "nothing failed", pal.good
	case 1:
		if c.violated == c.accepted && len(run.Info.Baseline.In(trace.BaselineFixed)) > 0 {
			return "the baseline names violations that are fixed: take them out (retrysafe baseline update)", pal.bad
		}
		return fmt.Sprintf("violations of severity %s or above%s were found", failOn(run), orOwn(run)), pal.bad
	case 3:
		if c.failed > 0 {
			return "no violation was found, but the tool itself failed", pal.bad
		}
		if unreached(run) != "" {
			return "nothing was tested: the target was not reached", pal.warn
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

package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

// The columns of a case line beside the scenario's id: symbol and the longest word ("inconclusive"), and
// what "12 rounds x 5" and "59.9 s" need.
const (
	verdictColumns = 15
	roundsColumns  = 17
	timeColumns    = 8
	// leastTitle is the least room in which the beginning of a title still says something.
	leastTitle = 30
)

// cases writes one line for each case that broke a rule, in verbose reports for every case: verdict, scenario, title, rounds
// and copies, time.
func (p *printer) cases(ep *trace.Endpoint) {
	var shown []*trace.Case
	ids := 0
	for i := range ep.Cases {
		c := &ep.Cases[i]
		if p.verbose || c.Verdict == trace.Fail || c.Verdict == trace.Warn {
			shown = append(shown, c)
			ids = max(ids, twwidth.Width(oneLine(c.Scenario)))
		}
	}
	ids = min(ids, p.width/3)
	for _, c := range shown {
		if p.narrow() {
			p.narrowCase(c)
		} else {
			p.caseLine(c, ids)
		}
		if required(c) {
			p.para(4, p.plain, limit(c.Detail, longValue))
			p.remedyOf(gapOf(ep.Name, c))
		}
	}
}

// named writes how many cases have a verdict, and which ones: what needs no line of its own. What does not apply is left out.
func (p *printer) named(ep *trace.Endpoint, v trace.Verdict) {
	var ids []string
	for i := range ep.Cases {
		if c := &ep.Cases[i]; c.Verdict == v && !c.NotApplicable() {
			ids = append(ids, oneLine(c.Scenario))
		}
	}
	if len(ids) > 0 {
		p.hang(2, 4, p.of(v), fmt.Sprintf("%s %d %s  ", symbol(v), len(ids), v), p.plain, strings.Join(ids, ", "))
	}
}

func (p *printer) caseLine(c *trace.Case, ids int) {
	verdict := p.of(c.Verdict).Sprint(pad(symbol(c.Verdict)+" "+caseWord(c), verdictColumns))
	id := pad(shorten(oneLine(c.Scenario), ids), ids+2)
	tail := padLeft(effort(c), roundsColumns) + padLeft(elapsed(c), timeColumns)
	if c.Reason != "" {
		tail = padLeft(oneLine(string(c.Reason)), roundsColumns+timeColumns)
	}
	room := p.width - 2 - verdictColumns - ids - 2 - twwidth.Width(tail) - 1
	title := oneLine(c.Title)
	if room < leastTitle {
		title = "" // the id says it better than the beginning of a sentence
	}
	p.raw(2, verdict+p.bold.Sprint(id)+pad(shorten(title, room), room)+" "+p.dim.Sprint(tail))
}

func (p *printer) narrowCase(c *trace.Case) {
	p.hang(0, 2, p.of(c.Verdict), symbol(c.Verdict)+" "+caseWord(c)+"  ", p.bold, c.Scenario)
	note := strings.Trim(effort(c)+", "+elapsed(c), ", ")
	if c.Reason != "" {
		note = string(c.Reason)
	}
	p.para(4, p.dim, note)
}

// caseWord is the name of a case's verdict.
func caseWord(c *trace.Case) string {
	if c.Accepted() {
		return "accepted"
	}
	return word(c.Verdict)
}

// effort is how many rounds counted, and of how many copies: "12 rounds x 5"; empty when none did.
func effort(c *trace.Case) string {
	if c.Rounds == 0 {
		return ""
	}
	if c.Firing == nil {
		return plural(c.Rounds, "round")
	}
	if c.Firing.LeastCopies < c.Firing.Copies {
		return fmt.Sprintf("%s x %d-%d", plural(c.Rounds, "round"), c.Firing.LeastCopies, c.Firing.Copies)
	}
	return fmt.Sprintf("%s x %d", plural(c.Rounds, "round"), c.Firing.Copies)
}

// elapsed is how long a case took; empty for a case that has no rounds of its own.
func elapsed(c *trace.Case) string {
	if c.Ended == 0 || c.OnControl {
		return ""
	}
	return span((c.Ended - c.Started).Duration())
}

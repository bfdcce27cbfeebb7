package report

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
)

// arrivals writes a line for each thing that a finding's sinks got. Times count from the same moment as in the evidence
// above.
func (p *printer) arrivals(ep *trace.Endpoint, c *trace.Case, f *trace.Finding) {
	found := arrivalsOf(ep, c, f.Arrivals)
	if len(found) == 0 {
		return
	}
	origin := found[0].At
	for _, x := range lookUp(ep, c, f.Exchanges) {
		origin = min(origin, x.Started)
	}
	p.raw(4, p.label.Sprint("sent out")+p.dim.Sprint("  what sinks got, times as above"))
	for _, a := range found[:min(len(found), manyExchanges)] {
		line := fmt.Sprintf("@%d at %s ms, %s: %s", a.ID, moment(a.At, origin), oneLine(a.Sink), oneLine(a.String()))
		p.hang(6, 4, p.plain, "", p.plain, line)
	}
	if left := len(found) - manyExchanges; left > 0 {
		p.para(6, p.dim, fmt.Sprintf("and %d more in the JSON document", left))
	}
}

// arrivalsOf finds arrivals by id in the case, and in the control where findings may point as well.
func arrivalsOf(ep *trace.Endpoint, c *trace.Case, ids []int) []trace.Arrival {
	rounds := c.Trace
	if ep.Control != nil {
		rounds = slices.Concat(ep.Control.Rounds, rounds)
	}
	var found []trace.Arrival
	for i := range rounds {
		for _, a := range rounds[i].Arrivals {
			if slices.Contains(ids, a.ID) {
				found = append(found, a)
			}
		}
	}
	return found
}

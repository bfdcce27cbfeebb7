package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/tw"

	"retrysafe/internal/trace"
)

// Large reports whether a run of so many endpoints is told in short: one endpoint of each kind in full, the others by
// name. Ten in full are already some hundred lines.
func Large(endpoints int) bool { return endpoints > 10 }

// KindsShown is how many endpoints of a large run are shown in full at most.
const KindsShown = 25

// namesShown is how many endpoints are named where all of a kind are meant.
const namesShown = 8

// KindOf says what is to be said about an endpoint, as far as it can be said about others in one go: the verdict with the
// diagnoses, the rules that no diagnosis explains, or the reasons why nothing could be judged. Empty for an endpoint that passed or
// was skipped.
func KindOf(ep *trace.Endpoint) string {
	if settled(ep) {
		return ""
	}
	said := map[string]bool{}
	for i := range ep.Diagnoses {
		said["diagnosis "+ep.Diagnoses[i].ID] = true
	}
	for i := range ep.Cases {
		c := &ep.Cases[i]
		for _, f := range c.Findings {
			if diagnosisOf(ep, c.Scenario, f.Rule) == nil {
				said["rule "+f.Rule] = true
			}
		}
		if len(ep.Diagnoses) == 0 && (c.Verdict == trace.Inconclusive || c.Verdict == trace.Error) {
			said["reason "+string(c.Reason)] = true
		}
	}
	return string(ep.Verdict) + "; " + strings.Join(slices.Sorted(maps.Keys(said)), "; ")
}

// settled reports whether nothing has to be said about an endpoint.
func settled(ep *trace.Endpoint) bool { return ep.Verdict == trace.Pass || ep.Verdict == trace.Skip }

// alike are endpoints about which the same is to be said, in the order of the plan.
type alike struct {
	endpoints []*trace.Endpoint
}

// kinds are the endpoints that did not pass, by what is to be said about them: what fails first, then what could not be
// judged, then warnings; else in the order of the plan.
func kinds(run *trace.Run) []*alike {
	var all []*alike
	at := map[string]*alike{}
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		kind := KindOf(ep)
		if kind == "" {
			continue
		}
		if at[kind] == nil {
			at[kind] = &alike{}
			all = append(all, at[kind])
		}
		at[kind].endpoints = append(at[kind].endpoints, ep)
	}
	slices.SortStableFunc(all, func(a, b *alike) int { return Urgency(a.endpoints[0].Verdict) - Urgency(b.endpoints[0].Verdict) })
	return all
}

// Urgency orders verdicts as a large run is told: the lower, the earlier.
func Urgency(v trace.Verdict) int {
	return slices.Index([]trace.Verdict{trace.Fail, trace.Error, trace.Inconclusive, trace.Warn, trace.Pass, trace.Skip}, v)
}

// folded writes the endpoints of a large run: one of each kind in full, the others by name, those that passed as a number.
func (p *printer) folded(run *trace.Run) {
	for i, k := range kinds(run) {
		if i < KindsShown {
			p.endpoint(run, k.endpoints[0])
			p.others(k)
		} else {
			p.short(k)
		}
	}
	for _, v := range []trace.Verdict{trace.Pass, trace.Skip} {
		p.fold(run, v)
	}
}

// others names the endpoints about which the same is to be said.
func (p *printer) others(k *alike) {
	if rest := k.endpoints[1:]; len(rest) > 0 {
		p.blank()
		verb := "ends alike"
		if len(rest) > 1 {
			verb = "end alike"
		}
		p.para(2, p.bold, fmt.Sprintf("%s %s: %s", plural(len(rest), "more endpoint"), verb, names(rest)))
	}
}

// short writes a kind of which none is shown in full.
func (p *printer) short(k *alike) {
	ep := k.endpoints[0]
	p.blank()
	p.hang(0, 2, p.of(ep.Verdict), badge(ep.Verdict), p.bold, names(k.endpoints))
	for i := range ep.Diagnoses {
		p.styled(2, "diagnosis", p.plain, ep.Diagnoses[i].Title)
	}
	if len(ep.Diagnoses) == 0 {
		_, text, _ := strings.Cut(KindOf(ep), "; ")
		p.para(2, p.plain, text)
	}
}

// fold says how many endpoints have a verdict about which nothing is to be said, and how much of them was proved.
func (p *printer) fold(run *trace.Run, v trace.Verdict) {
	n, least, most := 0, 0, 0
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		if ep.Verdict != v {
			continue
		}
		proved := provedOf(ep)
		if n++; n == 1 {
			least = proved
		}
		least, most = min(least, proved), max(most, proved)
	}
	if n == 0 {
		return
	}
	each := fmt.Sprint(least)
	if most > least {
		each = fmt.Sprintf("%d to %d", least, most)
	}
	p.blank()
	behaviours := each + " behaviours"
	if most == 1 && least == 1 {
		behaviours = "1 behaviour"
	}
	p.hang(0, 2, p.of(v), badge(v), p.bold, fmt.Sprintf("%s, %s proved%s", plural(n, "endpoint"), behaviours, onEach(n)))
}

// onEach ends what is said of each of n endpoints.
func onEach(n int) string {
	if n == 1 {
		return ""
	}
	return " on each"
}

func provedOf(ep *trace.Endpoint) int {
	var c coverage
	for i := range ep.Cases {
		c.add(&ep.Cases[i])
	}
	return c.proved
}

// names are the names of endpoints, shortened where there are many.
func names(endpoints []*trace.Endpoint) string {
	var list []string
	for _, ep := range endpoints {
		name := oneLine(ep.Name)
		if ep.Owner != "" && ep.Verdict == trace.Fail {
			name += " (" + owned(ep) + ")"
		}
		list = append(list, name)
	}
	return several(list)
}

// several lists the first of many names, and says how many more there are.
func several(list []string) string {
	if len(list) <= namesShown+1 {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:namesShown], ", "), len(list)-namesShown)
}

// byScenario shows how many endpoints ended how, scenario by scenario.
func (p *printer) byScenario(run *trace.Run, scenarios []string) error {
	verdicts := []trace.Verdict{trace.Fail, trace.Error, trace.Inconclusive, trace.Warn, trace.Pass, trace.Skip}
	n := map[string]map[trace.Verdict]int{}
	for i := range run.Endpoints {
		for j := range run.Endpoints[i].Cases {
			c := &run.Endpoints[i].Cases[j]
			if c.NotApplicable() {
				continue
			}
			if n[c.Scenario] == nil {
				n[c.Scenario] = map[trace.Verdict]int{}
			}
			n[c.Scenario][c.Verdict]++
		}
	}
	var shown []trace.Verdict
	header, align := []string{""}, []tw.Align{tw.AlignLeft}
	for _, v := range verdicts {
		if slices.ContainsFunc(scenarios, func(id string) bool { return n[id][v] > 0 }) {
			shown, header, align = append(shown, v), append(header, word(v)), append(align, tw.AlignRight)
		}
	}
	var rows [][]string
	for _, id := range scenarios {
		row := []string{oneLine(id)}
		for _, v := range shown {
			cell := ""
			if n[id][v] > 0 {
				cell = p.of(v).Sprint(n[id][v])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return p.table(2, header, rows, align...)
}

// slowestEndpoints names the endpoints that took longest, from the start of their first case to the end of their last. Empty for a
// run that is not large.
func slowestEndpoints(run *trace.Run) string {
	if !Large(len(run.Endpoints)) {
		return ""
	}
	var all []taken
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		if took := lasted(ep); took > 0 {
			all = append(all, taken{ep.Name, took})
		}
	}
	return longest(all)
}

func lasted(ep *trace.Endpoint) time.Duration {
	var first, last trace.Nanos
	for i := range ep.Cases {
		c := &ep.Cases[i]
		if c.Ended == 0 || c.OnControl {
			continue
		}
		if first == 0 || c.Started < first {
			first = c.Started
		}
		last = max(last, c.Ended)
	}
	return (last - first).Duration()
}

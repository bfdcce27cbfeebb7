package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
)

// auditGaps is how many reasons for what is unknown are told at the end of an audit: the page is read, not searched.
const auditGaps = 5

// Audit writes one page about a whole API: its endpoints by the harm that a request does which comes twice, each with what is violated,
// proved and unknown, and what would tell more. Endpoints about which the same is to be said share an entry. The error is that of the
// writer.
func Audit(w io.Writer, run *trace.Run, o Options) error {
	p := newPrinter(o)
	c := coverageOf(run)
	entries := audited(run)
	p.auditHead(run, entries)
	heading := ""
	for _, e := range entries {
		if h := e.harm.heading(); h != heading {
			heading = h
			p.blank()
			p.raw(0, p.bold.Sprint(h))
		}
		p.audited(e)
	}
	p.auditGaps(run)
	p.ending(run, c)
	return p.flush(w)
}

// harm is what a request does that comes twice; the lower, the worse.
type harm int

const (
	harmCritical harm = iota
	harmMajor
	harmMinor
	harmUnknown
	harmNone
)

func (h harm) heading() string {
	switch h {
	case harmCritical, harmMajor:
		return "Harmed by a request that comes twice"
	case harmMinor:
		return "Usable, though not as the convention says"
	case harmUnknown:
		return "Unknown"
	}
	return "No harm found"
}

// mark begins an entry.
func (h harm) mark(p *printer) (string, *color.Color) {
	switch h {
	case harmCritical:
		return symbol(trace.Fail) + " critical  ", p.bad
	case harmMajor:
		return symbol(trace.Fail) + " major     ", p.bad
	case harmMinor:
		return symbol(trace.Warn) + " minor     ", p.warn
	case harmUnknown:
		return symbol(trace.Inconclusive) + " unknown   ", p.warn
	}
	return symbol(trace.Pass) + " proved    ", p.good
}

// auditEntry is what an audit says about one or more endpoints.
type auditEntry struct {
	harm                      harm
	endpoints                 []*trace.Endpoint
	violated, proved, unknown string
}

// audited are the entries, worst first, else in the order of the plan.
func audited(run *trace.Run) []*auditEntry {
	var all []*auditEntry
	for i := range run.Endpoints {
		e := auditOf(&run.Endpoints[i])
		k := slices.IndexFunc(all, func(o *auditEntry) bool {
			return o.harm == e.harm && o.violated == e.violated && o.proved == e.proved && o.unknown == e.unknown
		})
		if k < 0 {
			all = append(all, e)
		} else {
			all[k].endpoints = append(all[k].endpoints, e.endpoints...)
		}
	}
	slices.SortStableFunc(all, func(a, b *auditEntry) int { return cmp.Compare(a.harm, b.harm) })
	return all
}

func auditOf(ep *trace.Endpoint) *auditEntry {
	e := &auditEntry{endpoints: []*trace.Endpoint{ep}, harm: harmNone}
	var c coverage
	var proved []string
	unknown := map[trace.Code]int{}
	var codes []trace.Code
	why, left, repeated := "", "", false
	for _, k := range tested(ep) {
		c.add(k)
		switch k.Verdict {
		case trace.Pass, trace.Warn:
			proved = append(proved, k.Scenario)
			repeated = repeated || !k.OnControl
		case trace.Skip:
			left = cmp.Or(left, fmt.Sprintf("%s was not sent: %s", k.Scenario, oneLine(k.Detail)))
		case trace.Inconclusive, trace.Error:
			if unknown[k.Reason] == 0 {
				codes = append(codes, k.Reason)
			}
			unknown[k.Reason]++
			why = cmp.Or(why, oneLine(k.Detail))
		}
	}
	for _, f := range findingsOf(ep) {
		e.harm = min(e.harm, harmOf(f.f.Severity))
	}
	if e.harm == harmNone && !repeated { // what the control proves says nothing about repeats
		e.harm = harmUnknown
	}
	e.violated = violations(ep)
	if c.proved > 0 {
		e.proved = fmt.Sprintf("%d of %d: %s", c.proved, c.total(), several(proved))
	}
	e.unknown = unknownOf(unknown, codes, why)
	if e.harm == harmUnknown {
		e.unknown = cmp.Or(e.unknown, left)
	}
	return e
}

func harmOf(s trace.Severity) harm {
	switch s {
	case trace.Critical:
		return harmCritical
	case trace.Major:
		return harmMajor
	}
	return harmMinor
}

// violations are the causes of what was found, each with the rules that it explains, then the rules without a cause.
func violations(ep *trace.Endpoint) string {
	var parts []string
	for i := range ep.Diagnoses {
		var rules []string
		for _, s := range ep.Diagnoses[i].Symptoms {
			if !slices.Contains(rules, s.Rule) {
				rules = append(rules, s.Rule)
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", oneLine(ep.Diagnoses[i].Title), strings.Join(rules, ", ")))
	}
	for _, f := range findingsOf(ep) {
		if f.d == nil && !slices.Contains(parts, f.f.Rule) {
			parts = append(parts, f.f.Rule)
		}
	}
	return strings.Join(parts, "; ")
}

func unknownOf(n map[trace.Code]int, codes []trace.Code, why string) string {
	if len(codes) == 0 {
		return ""
	}
	var parts []string
	for _, code := range codes {
		parts = append(parts, fmt.Sprintf("%d %s", n[code], cmp.Or(string(code), "lost to a tool error")))
	}
	return limit(strings.Join(parts, ", ")+": "+why, longValue/2)
}

func (p *printer) auditHead(run *trace.Run, entries []*auditEntry) {
	harmed, unknown := 0, 0
	for _, e := range entries {
		switch e.harm {
		case harmCritical, harmMajor:
			harmed += len(e.endpoints)
		case harmUnknown:
			unknown += len(e.endpoints)
		}
	}
	c := coverageOf(run)
	name, style := headWord(run.Summary.Verdict, &c, p.palette)
	text := fmt.Sprintf("%d of %s harmed by a request that comes twice", harmed, plural(len(run.Endpoints), "endpoint"))
	if unknown > 0 {
		text += fmt.Sprintf(", %d unknown", unknown)
	}
	p.hang(0, 2, style, name+"  ", style, text)
	p.blank()
	p.field(2, "target", run.Info.Target)
	p.field(2, "sent", fmt.Sprintf("%s in %s; %s", plural(run.Summary.Requests, "request"), span(time.Duration(run.Info.ElapsedMS)*time.Millisecond), c.counts()))
	for _, note := range notes(&run.Info) {
		p.styled(2, "note", p.warn, note)
	}
	if c.uncounted > 0 {
		p.styled(2, "note", p.warn, uncountedNote(c))
	}
}

func (p *printer) audited(e *auditEntry) {
	mark, style := e.harm.mark(p)
	p.blank()
	var list []string
	for _, ep := range e.endpoints {
		list = append(list, heading(ep))
	}
	p.hang(0, 2, style, mark, p.bold, strings.Join(list, ", "))
	p.field(2, "violated", e.violated)
	p.field(2, "proved", e.proved)
	p.field(2, "unknown", e.unknown)
}

// auditGaps says what would tell more: of the reasons for which something was left out those that most cases share.
func (p *printer) auditGaps(run *trace.Run) {
	gaps := slices.DeleteFunc(gapsOf(run), func(g gap) bool { return g.enable == "" })
	if len(gaps) == 0 {
		return
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return b.cases.n - a.cases.n })
	p.blank()
	p.raw(0, p.bold.Sprint("What would tell more"))
	for i := range gaps[:min(len(gaps), auditGaps)] {
		g := &gaps[i]
		p.blank()
		p.hang(2, 2, p.plain, "- ", p.plain, fmt.Sprintf("%s: %s", plural(g.cases.n, "behaviour"), g.detail))
		p.remedyOf(g)
	}
	if left := len(gaps) - auditGaps; left > 0 {
		p.blank()
		p.para(2, p.dim, fmt.Sprintf("and %s: --report html=FILE has them all", plural(left, "more line")))
	}
}

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
)

// longValue is the most characters shown of a message or of one side of a comparison: six lines of a wide terminal.
const longValue = 600

// found is a finding with the case that it belongs to, and the diagnosis that explains it; nil when none does.
type found struct {
	c *trace.Case
	f *trace.Finding
	d *trace.Diagnosis
}

// findingsOf are the findings of all cases, worst first, else in the order of the cases.
func findingsOf(ep *trace.Endpoint) []found {
	var all []found
	for i := range ep.Cases {
		c := &ep.Cases[i]
		for j := range c.Findings {
			all = append(all, found{c, &c.Findings[j], diagnosisOf(ep, c.Scenario, c.Findings[j].Rule)})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		switch s, t := a.f.Severity, b.f.Severity; {
		case s == t:
			return 0
		case s.AtLeast(t):
			return -1
		}
		return 1
	})
	return all
}

// diagnosisOf is the diagnosis that explains a finding; nil when none does.
func diagnosisOf(ep *trace.Endpoint, scenario, rule string) *trace.Diagnosis {
	for i := range ep.Diagnoses {
		if slices.Contains(ep.Diagnoses[i].Symptoms, trace.Symptom{Scenario: scenario, Rule: rule}) {
			return &ep.Diagnoses[i]
		}
	}
	return nil
}

// grade begins the heading of a finding: a sign that tells whether it fails the run, and its severity.
func (p *printer) grade(s trace.Severity, fails bool) (string, *color.Color) {
	mark, style := symbol(trace.Fail), p.bad
	if !fails {
		mark, style = symbol(trace.Warn), p.warn
	}
	return fmt.Sprintf("%s %s  ", mark, oneLine(string(s))), style
}

// finding writes one broken rule with its evidence. Why it hurts and what to change is said here only where no
// diagnosis says it.
func (p *printer) finding(run *trace.Run, ep *trace.Endpoint, found found) {
	c, f := found.c, found.f
	mark, style := p.grade(f.Severity, fails(run, ep, f))
	rule, known := p.rules[f.Rule]
	p.blank()
	p.hang(2, 4, style, mark, p.bold, f.Rule+" in "+c.Scenario)
	if known {
		p.para(4, p.bold, rule.Title)
	}
	p.para(4, p.plain, limit(f.Message, longValue))
	p.styled(4, "accepted", p.warn, acceptance(f))
	p.blank()
	p.field(4, "expected", limit(f.Expected, longValue))
	p.field(4, "actual", limit(f.Actual, longValue))
	p.field(4, "counts", counts(f))
	if c.Uncounted {
		p.field(4, "counts", "no counter backed this: effects were judged by creation fields alone")
	}
	p.field(4, "rounds", seenIn(c, f))
	p.field(4, "fired", fired(c.Firing))
	p.evidence(ep, c, f)
	p.timeline(ep, c, f)
	p.arrivals(ep, c, f)
	switch {
	case found.d != nil && known:
		p.refer(ep, found.d, rule.ID)
	case known:
		p.advice(rule.ID, rule.Why, rule.Fix)
	}
	p.byHand(f.Curl)
}

// failOn is the least severity that fails the run; a record without one means major.
func failOn(run *trace.Run) trace.Severity { return cmp.Or(run.Info.FailOn, trace.Major) }

// fails reports whether a finding fails the run: it is severe enough for its endpoint, and nobody accepts it.
func fails(run *trace.Run, ep *trace.Endpoint, f *trace.Finding) bool {
	return f.Accepted == nil && f.Severity.AtLeast(cmp.Or(ep.Facts.FailOn, failOn(run)))
}

// orOwn says that some endpoints fail from another severity on, as the plan says; empty where none does.
func orOwn(run *trace.Run) string {
	for i := range run.Endpoints {
		if own := run.Endpoints[i].Facts.FailOn; own != "" && own != failOn(run) {
			return ", or of what the plan says of an endpoint,"
		}
	}
	return ""
}

// acceptance says why a finding is accepted, by whom and until when; empty when it is not.
func acceptance(f *trace.Finding) string {
	if f.Accepted == nil {
		return ""
	}
	return accepted(*f.Accepted)
}

func accepted(a trace.Accepted) string {
	var by []string
	if a.Owner != "" {
		by = append(by, oneLine(a.Owner))
	}
	if a.Expires != "" {
		by = append(by, "until "+oneLine(a.Expires))
	}
	if len(by) == 0 {
		return oneLine(a.Reason)
	}
	return fmt.Sprintf("%s (%s)", oneLine(a.Reason), strings.Join(by, ", "))
}

// advice says why a rule matters and what to change, once in a report.
func (p *printer) advice(id, why, fix string) {
	if p.explained[id] {
		p.styled(4, "fix", p.dim, "as above for "+id)
		return
	}
	p.explained[id] = true
	p.field(4, "why", why)
	p.field(4, "fix", fix)
	p.styled(4, "more", p.dim, "retrysafe explain "+id)
}

// refer names the diagnosis that was told above where there are several, and, once in a report, where to read about the rule.
func (p *printer) refer(ep *trace.Endpoint, d *trace.Diagnosis, rule string) {
	if len(ep.Diagnoses) > 1 {
		p.styled(4, "diagnosis", p.dim, "as above: "+d.Title)
	}
	if !p.explained[rule] {
		p.explained[rule] = true
		p.styled(4, "more", p.dim, "retrysafe explain "+rule)
	}
}

// byHand writes curl lines so that they can be copied: broken only where a shell allows it.
func (p *printer) byHand(lines []string) {
	if len(lines) == 0 {
		return
	}
	p.raw(4, p.label.Sprint("by hand"))
	for _, line := range lines {
		for _, part := range shellWrap(clean(line), p.width-6) {
			p.raw(6, part)
		}
	}
}

// counts are the counters before and after, one a line; those that the finding's own words show are left out.
func counts(f *trace.Finding) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(f.Counts)) {
		c := f.Counts[name]
		if strings.Contains(f.Actual, fmt.Sprintf("%s %+d (%d -> %d)", name, c.After-c.Before, c.Before, c.After)) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s went from %d to %d, expected %d", oneLine(name), c.Before, c.After, c.Expected))
	}
	return strings.Join(lines, "\n")
}

func seenIn(c *trace.Case, f *trace.Finding) string {
	if c.Rounds <= 1 && f.Seen <= 1 {
		return ""
	}
	return fmt.Sprintf("seen in %d of %d; the evidence is from round %d", f.Seen, c.Rounds, f.Round)
}

// fired says how copies were released together.
func fired(f *trace.Firing) string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("%d copies over %s, released by %s; from first to last %s, to the second %s",
		f.Copies, plural(f.Connections, "connection"), f.Technique, micros(f.SpreadUS), micros(f.FirstGapUS))
	if f.Fallback != "" {
		text += "; weaker technique because " + f.Fallback
	}
	return text
}

func micros(q trace.Quantiles) string {
	return fmt.Sprintf("%.0f us (95 %%: %.0f us)", q.P50, q.P95)
}

// shellWrap breaks a shell command at spaces outside of quotes, with a backslash at the end of each line. An
// argument that is wider than a line is left whole.
func shellWrap(command string, columns int) []string {
	var lines []string
	line := ""
	for _, arg := range shellUnits(command) {
		if line != "" && len([]rune(line))+len([]rune(arg))+3 > columns {
			lines = append(lines, line+` \`)
			line = " "
		}
		if line != "" {
			line += " "
		}
		line += arg
	}
	return append(lines, line)
}

// shellUnits are the arguments of a shell command, an option together with its value.
func shellUnits(command string) []string {
	var units []string
	open := false
	for _, arg := range shellArgs(command) {
		if option := strings.HasPrefix(arg, "-"); open && !option {
			units[len(units)-1] += " " + arg
			open = false
		} else {
			units, open = append(units, arg), option
		}
	}
	return units
}

// shellArgs splits a shell command at spaces outside of quotes; the arguments keep their quotes.
func shellArgs(command string) []string {
	var args []string
	var quote rune
	start, escaped := 0, false
	for i, r := range command {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			if i > start {
				args = append(args, command[start:i])
			}
			start = i + 1
		}
	}
	return append(args, command[start:])
}

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// Terminal writes the report of a finished, judged run for people: the headline with coverage, endpoint by
// endpoint, those that failed first, what broke with its diagnosis and evidence and what passed, a table of what broke where, what
// was not tested with the lines that enable it, and what the exit code means. Of a large run one endpoint of each kind is told. Where
// nothing was reached, that is all there is to tell. The error is that of the writer.
func Terminal(w io.Writer, run *trace.Run, o Options) error {
	p := newPrinter(o).about(run)
	c := coverageOf(run)
	if cause := unreached(run); cause != "" && !p.verbose {
		p.notReached(run, c, cause)
		p.facts(run, c)
		p.ending(run, c)
		return p.flush(w)
	}
	p.headline(run, c)
	p.facts(run, c)
	if Large(len(run.Endpoints)) {
		p.folded(run)
	} else {
		for _, ep := range failedFirst(run) {
			p.endpoint(run, ep)
		}
	}
	if err := p.summary(run); err != nil {
		return err
	}
	p.baseline(run.Info.Baseline)
	p.untested(run, c)
	p.ending(run, c)
	return p.flush(w)
}

// failedFirst are the endpoints, those that failed before the others.
func failedFirst(run *trace.Run) []*trace.Endpoint {
	var failed, others []*trace.Endpoint
	for i := range run.Endpoints {
		if ep := &run.Endpoints[i]; ep.Verdict == trace.Fail {
			failed = append(failed, ep)
		} else {
			others = append(others, ep)
		}
	}
	return append(failed, others...)
}

// facts says what was run, against what.
func (p *printer) facts(run *trace.Run, c coverage) {
	info := &run.Info
	p.blank()
	p.field(2, "target", info.Target)
	p.field(2, "plan", planName(info.Plan))
	p.field(2, "dialect", dialectName(info.Dialect))
	p.field(2, "sent", fmt.Sprintf("%s in %s", plural(run.Summary.Requests, "request"), span(time.Duration(info.ElapsedMS)*time.Millisecond)))
	if took := time.Duration(info.ElapsedMS) * time.Millisecond; p.verbose || took >= longRun || Large(len(run.Endpoints)) {
		p.field(2, "time", whereTimeWent(run))
	}
	p.field(2, "run", fmt.Sprintf("%s, %s, seed %s", info.ID, info.Started.UTC().Format("2006-01-02 15:04:05 UTC"), info.Seed))
	p.field(2, "labels", labels(info))
	p.field(2, "tool", info.Tool.Name+" "+info.Tool.Version)
	p.field(2, "baseline", baselineNote(info.Baseline))
	if len(info.Merged) > 0 {
		p.field(2, "merged", fmt.Sprintf("%s: %s", plural(len(info.Merged), "run"), strings.Join(info.Merged, ", ")))
	}
	for _, note := range notes(info) {
		p.styled(2, "note", p.warn, note)
	}
	if c.uncounted > 0 {
		p.styled(2, "note", p.warn, uncountedNote(c))
	}
}

// labels are such as "by=ada, commit=4f2a1c"; empty without any.
func labels(info *trace.Info) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(info.Labels)) {
		all = append(all, oneLine(name)+"="+oneLine(info.Labels[name]))
	}
	return strings.Join(all, ", ")
}

// notes say what part of a plan the run shows, and by what terms it was judged, where that does not go without saying.
func notes(info *trace.Info) []string {
	var out []string
	if s := info.Shard; s != nil {
		out = append(out, fmt.Sprintf("shard %d of %d: the other endpoints are tested elsewhere", s.N, s.Of))
	}
	if info.Interrupted {
		out = append(out, "interrupted: the report shows what was seen until then")
	}
	return append(out, info.Notes...)
}

func uncountedNote(c coverage) string {
	const how = "judged by creation fields alone, so an effect that answers do not show was not seen; add counters to the plan"
	if c.uncounted == c.proved+c.violated {
		return "no counter backed this: effects were " + how
	}
	return fmt.Sprintf("no counter backed %d of %d verdicts: their effects were %s", c.uncounted, c.proved+c.violated, how)
}

func planName(plan trace.PlanInfo) string {
	digest := plan.Digest
	if kind, sum, ok := strings.Cut(digest, ":"); ok && len(sum) > 12 {
		digest = kind + ":" + sum[:12]
	}
	return strings.Trim(orElse(plan.Path, "no plan file")+", "+digest, ", ")
}

func dialectName(name string) string {
	if name == "any" {
		return "any (only what all conventions share is asserted)"
	}
	return name
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// endpoint writes the verdict and its coverage, a line for what broke a rule, the diagnoses with their symptoms, the
// evidence of every finding, and what passed.
func (p *printer) endpoint(run *trace.Run, ep *trace.Endpoint) {
	p.blank()
	about := ""
	if known := strings.Trim(place(run, ep)+", "+owned(ep), ", "); known != "" {
		about = " (" + known + ")"
	}
	var c coverage
	for i := range ep.Cases {
		c.add(&ep.Cases[i])
	}
	style := p.of(ep.Verdict)
	if ep.Verdict == trace.Pass && c.untested > 0 {
		style = p.warn
	}
	p.hang(0, 2, style, badge(ep.Verdict), p.bold, fmt.Sprintf("%s: %s%s, %s", ep.Name, ep.Request, about, c.short()))
	p.blank()
	p.cases(ep)
	for i := range ep.Diagnoses {
		p.blank()
		p.diagnosis(run, ep, &ep.Diagnoses[i])
	}
	for _, f := range findingsOf(ep) {
		p.finding(run, ep, f)
	}
	if !p.verbose {
		p.blank()
		p.named(ep, trace.Pass)
	}
	p.learned(ep)
	p.powers(ep)
}

// learned says what the control taught, in verbose reports.
func (p *printer) learned(ep *trace.Endpoint) {
	if !p.verbose || ep.Control == nil || !ep.Control.Learned.Sound {
		return
	}
	l := &ep.Control.Learned
	fields := "no creation fields"
	if len(l.CreationFields) > 0 {
		fields = "creation fields " + strings.Join(l.CreationFields, ", ")
	}
	counters := "no counters"
	if len(ep.Facts.Counters) > 0 {
		names := make([]string, len(ep.Facts.Counters))
		for i, c := range ep.Facts.Counters {
			names[i] = fmt.Sprintf("%s +%d", c.Name, c.Rise)
		}
		counters = "counters " + strings.Join(names, ", ") + " seen after " + span(l.CountLag.Duration())
	}
	p.blank()
	p.styled(2, "learned", p.dim, fmt.Sprintf("success is %d, handled in %s%s; %s; %s",
		l.SuccessStatus, span(l.Handling.Duration()), awaited(ep), fields, counters))
}

// awaited says how long the work behind an answer took, and where it is asked for.
func awaited(ep *trace.Endpoint) string {
	a, l := ep.Facts.Await, &ep.Control.Learned
	if a == nil {
		return ""
	}
	text := fmt.Sprintf(", its work done %s later by %s", span(l.WorkTime.Duration()), oneLine(a.Follow))
	if len(l.ResultFields) > 0 {
		text += ", which then names " + strings.Join(l.ResultFields, ", ")
	}
	return text
}

// powers says what the passes would have caught: all of them in verbose reports, else the one with the
// most rounds, which is the race where there is one, and never the control beside one that had rounds of its own.
func (p *printer) powers(ep *trace.Endpoint) {
	var passed []*trace.Case
	for i := range ep.Cases {
		if ep.Cases[i].Power != "" {
			passed = append(passed, &ep.Cases[i])
		}
	}
	if len(passed) == 0 {
		return
	}
	p.blank()
	if p.verbose {
		for _, c := range passed {
			p.hang(2, 4, p.dim, oneLine(c.Scenario)+": ", p.dim, c.Power)
		}
		return
	}
	best := slices.MaxFunc(passed, func(a, b *trace.Case) int { return strength(a) - strength(b) })
	p.styled(2, "power", p.dim, fmt.Sprintf("%s: %s", best.Scenario, best.Power))
}

// strength orders passes: those that fired copies together before the others, by how many; the others by rounds, the control last.
func strength(c *trace.Case) int {
	if c.OnControl {
		return 0
	}
	if c.Firing != nil {
		return c.Rounds*c.Firing.LeastCopies + 1000
	}
	return c.Rounds
}

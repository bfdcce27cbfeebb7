package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// view is one round with what several checks need of it, worked out once.
type view struct {
	in      *Input
	learned trace.Learned
	round   *trace.Round
	class   []trace.Class
	// ids are the creation fields of success answers; nil where there are none.
	ids []identity
	// results are those of what was found where the work behind success answers is done; nil where there are none.
	results []identity
	// effects is what the created expectations of the round came to; set before the others are checked.
	effects effects
	// cut are the places of the script whose requests are reported as cut off in every round.
	cut []place
}

// effects sums up the created expectations of a round.
type effects struct {
	// stated is true when the scenario says how many effects there must be, judged when that could be checked
	// for every such expectation, counted when counters did it, and exceeded when there were more.
	stated, judged, counted, exceeded bool
	// once is true when counters show that one effect was expected and there was one.
	once bool
	// rule is the one that more effects break.
	rule string
}

// outcome is what one check found.
type outcome struct {
	// judged is true when the evidence sufficed to say that the expectation holds or is broken.
	judged   bool
	findings []trace.Finding
	// gaps say what could not be judged.
	gaps []trace.Reason
	// second is true when a finding shows more effects than there may be.
	second bool
	// decisive is true when a finding needs no more rounds to look for a worse one.
	decisive bool
	// doubted is a rule whose only evidence is a counter without a marker, which others may have moved.
	doubted string
	// uncounted is true when no counter took part in a judgement about effects.
	uncounted bool
}

func (o *outcome) gap(r *trace.Reason) { o.gaps = append(o.gaps, *r) }

func newView(in *Input, learned trace.Learned, r *trace.Round) *view {
	v := &view{in: in, learned: learned, round: r}
	v.class = make([]trace.Class, len(r.Exchanges))
	v.ids = make([]identity, len(r.Exchanges))
	v.results = make([]identity, len(r.Exchanges))
	for i := range r.Exchanges {
		v.class[i] = Classify(in.Facts, learned, r, i)
		if v.class[i] == trace.ClassSuccess {
			v.ids[i] = identify(learned.CreationFields, r, &r.Exchanges[i])
			if found := result(in.Facts, r, &r.Exchanges[i]); found != nil {
				v.results[i] = identify(learned.ResultFields, r, found)
			}
		}
	}
	return v
}

func (v *view) x(i int) *trace.Exchange { return &v.round.Exchanges[i] }

// labelled gives the exchanges under the labels, in the order of sending; without labels all of them.
func (v *view) labelled(labels []string) []int {
	var out []int
	for i := range v.round.Exchanges {
		if len(labels) == 0 || slices.Contains(labels, v.x(i).Label) {
			out = append(out, i)
		}
	}
	return out
}

// finals gives the last attempt of every send under the labels.
func (v *view) finals(labels []string) []int {
	type send struct {
		step, copy int
		label      string
	}
	last := map[send]int{}
	var out []int
	for _, i := range v.labelled(labels) {
		s := send{v.x(i).Step, v.x(i).Copy, v.x(i).Label}
		at, known := last[s]
		switch {
		case !known:
			last[s] = len(out)
			out = append(out, i)
		case v.x(i).Repeat >= v.x(out[at]).Repeat:
			out[at] = i
		}
	}
	return out
}

// of keeps the exchanges with that class.
func (v *view) of(class trace.Class, among []int) []int {
	var out []int
	for _, i := range among {
		if v.class[i] == class {
			out = append(out, i)
		}
	}
	return out
}

// send is the step's send that an exchange belongs to; nil for one of a volley or outside the script.
func (v *view) send(i int) *scenarios.Send {
	if s := v.x(i).Step; s >= 0 && s < len(v.in.Scenario.Steps) {
		return v.in.Scenario.Steps[s].Send
	}
	return nil
}

// together reports whether an exchange was released at the same time as others, or beside others in the background.
func (v *view) together(i int) bool {
	s := v.x(i).Step
	if s < 0 || s >= len(v.in.Scenario.Steps) {
		return false
	}
	st := v.in.Scenario.Steps[s]
	return len(st.Volley) > 1 || st.Send != nil && (st.Send.Together > 1 || st.Send.Every > 0 || st.Send.Background)
}

// name is how messages call an exchange.
func (v *view) name(i int) string {
	x := v.x(i)
	name := "`" + x.Label + "`"
	if x.Label == "" {
		name = fmt.Sprintf("step %d", x.Step+1)
	}
	if s := v.send(i); s != nil && (s.Times > 1 || s.Together > 1) {
		name += fmt.Sprintf(" copy %d", x.Copy+1)
	}
	return name
}

// changed says at which places the body of an exchange differs from the original; empty where that is not known.
func (v *view) changed(i int) string {
	places := v.in.Facts.Changed[v.x(i).Body]
	if len(places) == 0 {
		return ""
	}
	return ", with another " + strings.Join(places, " and ") + ","
}

// finding makes a finding whose evidence are the given exchanges, the reference first.
func (v *view) finding(rule, message, expected, actual string, evidence ...int) trace.Finding {
	f := trace.Finding{
		Rule: rule, Severity: v.in.severity(rule), Message: message, Expected: expected, Actual: actual,
		Exchanges: []int{}, Round: v.round.N, Seen: 1, Curl: v.curl(evidence),
	}
	for _, i := range evidence {
		f.Exchanges = append(f.Exchanges, v.x(i).ID)
	}
	return f
}

// severity is that of the catalogue; an unknown rule counts as major.
func (in *Input) severity(rule string) trace.Severity {
	if r, ok := in.Rules[rule]; ok && r.Severity != "" {
		return r.Severity
	}
	return trace.Major
}

// merge adds findings to those of the same round: one for each rule, the worst one's words, the evidence of all.
func merge(into, more []trace.Finding) []trace.Finding {
	for _, f := range more {
		i := slices.IndexFunc(into, func(g trace.Finding) bool { return g.Rule == f.Rule })
		if i < 0 {
			into = append(into, f)
			continue
		}
		g := into[i]
		if !g.Severity.AtLeast(f.Severity) {
			f, g = g, f
		}
		for _, id := range f.Exchanges {
			if !slices.Contains(g.Exchanges, id) {
				g.Exchanges = append(g.Exchanges, id)
			}
		}
		for _, id := range f.Arrivals {
			if !slices.Contains(g.Arrivals, id) {
				g.Arrivals = append(g.Arrivals, id)
			}
		}
		into[i] = g
	}
	return into
}

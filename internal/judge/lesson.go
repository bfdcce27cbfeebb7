package judge

import (
	"slices"
	"strings"
	"unicode/utf8"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Tried are the scripts of a try, by what they show: the same request again, by the sort of endpoint, and a request without its key. Their
// cases are among those of the endpoint; a case that is not there, or was stopped, teaches nothing.
type Tried struct {
	Again   []*scenarios.Scenario
	Keyless *scenarios.Scenario
	Rules   Catalogue
}

// bodyShown is how many bytes of a body a lesson repeats: half a screen.
const bodyShown = 2000

// Lesson concludes from the record of a try what it taught about an endpoint. The labels of each of Tried.Again must be "first" and "again",
// the one of Tried.Keyless "keyless". Assumed, Unsound, Requests, Removed and the lines of plan are left to the caller.
func Lesson(t Tried, ep *trace.Endpoint) trace.Lesson {
	l := trace.Lesson{Endpoint: ep.Name, Request: ep.Request, Kind: ep.Kind, File: ep.File, Line: ep.Line, Exchanges: exchangesOf(ep)}
	if ep.Control == nil || len(ep.Control.Rounds) == 0 {
		l.Learned.Reason = &trace.Reason{Code: trace.ControlUnsound, Detail: "the first request was not sent"}
		return l
	}
	c := ep.Control
	l.Learned, l.Located = c.Learned, c.Located
	first := &c.Rounds[0]
	if l.First = final(first); l.First == nil && len(first.Setup) > 0 {
		l.First = &first.Setup[len(first.Setup)-1]
	}
	if l.First != nil && l.First.Response != nil && utf8.Valid(content(l.First.Response)) {
		text := content(l.First.Response)
		l.Body = string(text[:min(len(text), bodyShown)])
	}
	if x := final(first); x != nil && x.Response != nil {
		answerOf(&l, x)
		workSeen(&l, ep.Facts, first, x)
	}
	l.Counters = risen(ep.Facts, first)
	for i := range ep.Cases {
		k := &ep.Cases[i]
		if len(k.Trace) == 0 || !c.Learned.Sound {
			continue
		}
		in := Input{Facts: ep.Facts, Control: c, Case: k, Rules: t.Rules}
		last := &k.Trace[len(k.Trace)-1]
		if k.Scenario == t.Keyless.ID {
			in.Scenario = t.Keyless
			l.Keyless = keylessOf(newView(&in, c.Learned, last))
		}
		for _, s := range t.Again {
			if k.Scenario == s.ID {
				in.Scenario = s
				l.Again = repetition(newView(&in, c.Learned, last), k)
			}
		}
	}
	return l
}

// exchangesOf are all exchanges of an endpoint in the order of sending.
func exchangesOf(ep *trace.Endpoint) []trace.Exchange {
	out := []trace.Exchange{}
	add := func(rounds []trace.Round) {
		for i := range rounds {
			out = slices.Concat(out, rounds[i].Setup, rounds[i].Exchanges)
			for _, w := range rounds[i].Work {
				out = append(out, w.Asked...)
			}
		}
	}
	if c := ep.Control; c != nil {
		add(c.Rounds)
		add(c.Variants)
		if c.Located != nil {
			out = append(out, *c.Located)
		}
	}
	for i := range ep.Cases {
		add(ep.Cases[i].Trace)
	}
	slices.SortFunc(out, func(a, b trace.Exchange) int { return a.ID - b.ID })
	return out
}

// answerOf takes from the first answer what a plan could name.
func answerOf(l *trace.Lesson, x *trace.Exchange) {
	l.Location = location(x)
	l.ErrorAt = seemsRefused(x.Response)
	doc := bodyJSON(x.Response)
	last := l.Location[strings.LastIndex(l.Location, "/")+1:]
	if doc == nil || last == "" {
		return
	}
	for _, leaf := range doc.leaves("$", "", nil) {
		if leaf.value.text == last && slices.Contains(l.Learned.CreationFields, leaf.path) {
			l.LocationField = leaf.path
			return
		}
	}
}

// workSeen takes from the record what was last answered where the work behind the first answer was asked for.
func workSeen(l *trace.Lesson, f trace.Facts, r *trace.Round, x *trace.Exchange) {
	l.Work = lastAsked(workOf(r, x.ID))
	if l.Work == nil || f.Await == nil || ReadWork(f.Await, l.Work) != trace.WorkDone {
		return
	}
	for _, m := range f.Await.Until {
		at := map[string]bool{}
		selected(content(l.Work.Response), []string{m.Path}, at)
		for _, leaf := range bodyJSON(l.Work.Response).leaves("$", "", nil) {
			if at[leaf.path] {
				l.WorkDone = append(l.WorkDone, trace.Match{Path: leaf.path, Values: []string{leaf.value.text}})
			}
		}
	}
}

// risen says what the requests of a round did to each counter.
func risen(f trace.Facts, r *trace.Round) []trace.Risen {
	before, after := reading(r, trace.ReadingBefore), reading(r, trace.ReadingAfter)
	if before == nil || after == nil {
		return nil
	}
	out := make([]trace.Risen, 0, len(f.Counters))
	for _, fact := range f.Counters {
		c, unreadable := changeOf(fact, before, after, nil)
		out = append(out, trace.Risen{Counter: fact.Name, By: c.rise(), Expected: fact.Rise, Source: c.source, Raw: c.raw, Error: unreadable})
	}
	return out
}

// keylessOf reads the answer to a request without its key; nil when it was not sent.
func keylessOf(v *view) *trace.Keyless {
	sent := v.finals([]string{"keyless"})
	if len(sent) == 0 {
		return nil
	}
	return &trace.Keyless{Class: v.class[sent[0]], Answer: *v.x(sent[0])}
}

// repetition lays the second of two equal requests beside the first; nil when it was not sent.
func repetition(v *view, c *trace.Case) *trace.Again {
	first, second := v.finals([]string{"first"}), v.finals([]string{"again"})
	if len(first) == 0 || len(second) == 0 {
		return nil
	}
	ref, i := first[0], second[0]
	unchanged := slices.IndexFunc(v.in.Scenario.Expect, func(e scenarios.Expectation) bool { return e.Unchanged != nil })
	out := &trace.Again{Outcome: trace.AgainUnknown, Answer: *v.x(i), Counters: risen(v.in.Facts, v.round), Findings: c.Findings}
	switch {
	case v.class[ref] != trace.ClassSuccess:
	case v.class[i] == trace.ClassRefused:
		out.Outcome = trace.AgainRefused
	case v.class[i] != trace.ClassSuccess:
	case v.roseTwice(out.Counters) || unchanged < 0 && v.otherCreation(ref, i) && !v.roseOnce(out.Counters):
		out.Outcome = trace.AgainAnother
	default:
		v.compareAgain(ref, i, out)
	}
	if unchanged >= 0 {
		byEffects(&v.in.Scenario.Expect[unchanged], c, out, v.in.Facts.States)
	}
	return out
}

// byEffects reads a repeat that is judged by what it changes, as that of a method is: it may have any answer that breaks no rule.
func byEffects(unchanged *scenarios.Expectation, c *trace.Case, out *trace.Again, states []string) {
	if c.Verdict == trace.Pass {
		out.Unchanged = states
	}
	switch {
	case slices.ContainsFunc(c.Findings, func(f trace.Finding) bool { return f.Rule == unchanged.Rule }):
		out.Outcome = trace.AgainAnother
	case len(c.Findings) == 0 && slices.Contains([]string{trace.AgainRefused, trace.AgainDiffers}, out.Outcome):
		out.Outcome = trace.AgainAllowed
	}
}

// roseTwice reports whether a counter rose by more than one effect.
func (v *view) roseTwice(counters []trace.Risen) bool {
	return slices.ContainsFunc(counters, func(c trace.Risen) bool { return c.Error == "" && c.By > c.Expected })
}

// roseOnce reports whether every counter rose by one effect, and there is one.
func (v *view) roseOnce(counters []trace.Risen) bool {
	return len(counters) > 0 && !slices.ContainsFunc(counters, func(c trace.Risen) bool { return c.Error != "" || c.By != c.Expected })
}

// compareAgain says in what two answers to one creation differ.
func (v *view) compareAgain(ref, i int, out *trace.Again) {
	a, b := v.x(ref).Response, v.x(i).Response
	headers, _ := v.headersDiffer(a, b)
	for _, line := range headers {
		name, _, _ := strings.Cut(line, ":")
		if v.headerVaries(name) {
			out.VolatileHeaders = append(out.VolatileHeaders, name)
			continue
		}
		out.Changed = append(out.Changed, "header "+name)
	}
	if ja, jb := bodyJSON(a), bodyJSON(b); ja != nil && jb != nil {
		places := v.volatilePlaces()
		for _, d := range diff(ja, jb, v.ignoring(a, b)) {
			if d.changed && places[d.path] {
				out.Volatile = append(out.Volatile, d.path)
				continue
			}
			out.Changed = append(out.Changed, d.path)
		}
	} else if f, differs := v.bodiesDiffer(ref, i); differs && f.Rule != ruleBytes {
		out.Changed = append(out.Changed, "the body")
	}
	out.Outcome = trace.AgainSame
	if len(out.Changed) > 0 || !v.in.rightStatus(a.Status, b.Status) {
		out.Outcome = trace.AgainDiffers
	}
}

// volatilePlaces are the places of the body that differ between the two first answers without naming what was created, or when it was.
func (v *view) volatilePlaces() map[string]bool {
	out := map[string]bool{}
	rounds := v.in.Control.Rounds
	if len(rounds) < 2 {
		return out
	}
	a, b := final(&rounds[0]), final(&rounds[1])
	ja, jb := bodyJSON(a.Response), bodyJSON(b.Response)
	if ja == nil || jb == nil {
		return out
	}
	ea, eb := echoesOf(&rounds[0], a), echoesOf(&rounds[1], b)
	other := map[string]*value{}
	for _, l := range jb.leaves("$", "", nil) {
		other[l.path] = l.value
	}
	for _, l := range ja.leaves("$", "", nil) {
		w := other[l.path]
		if w != nil && w.kind == l.value.kind && leafText(w, eb) != leafText(l.value, ea) && !isIdentity(l.path) && !ofCreation(l.name) {
			out[l.path] = true
		}
	}
	return out
}

// ofCreation reports whether a member of that name says when something was made: a replay that gives another moment tells of another one.
func ofCreation(name string) bool {
	plain := plainName(name)
	return strings.HasPrefix(plain, "created") || strings.HasPrefix(plain, "creation") || strings.HasPrefix(plain, "inserted")
}

// headerVaries reports whether a header differs between the two first answers, and is none that names what was created or its version.
func (v *view) headerVaries(name string) bool {
	rounds := v.in.Control.Rounds
	if len(rounds) < 2 || slices.Contains([]string{"location", "etag", "contenttype"}, plainName(name)) {
		return false
	}
	a, b := final(&rounds[0]).Response, final(&rounds[1]).Response
	return headerText(a.Headers, name) != headerText(b.Headers, name)
}

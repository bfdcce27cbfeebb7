package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// window is the part of a round that a created expectation is about.
type window struct {
	start, end *trace.Reading
	later      []*trace.Reading
	// members are the exchanges in it, earlier those before it.
	members, earlier []int
	// n is how many effects there may be, least how many there must be. They differ where each key has its own
	// effect and not every key was answered with success.
	n, least int
	// until is true when it ends before the round does.
	until bool
}

func (v *view) window(c *scenarios.Created) (window, bool) {
	since, until := c.Since, c.Until
	if since == "" {
		since = trace.ReadingBefore
	}
	if until == "" {
		until = trace.ReadingAfter
	}
	w := window{start: reading(v.round, since), end: reading(v.round, until), n: c.N, until: c.Until != ""}
	w.least = w.n
	if c.PerKey {
		all := v.labelled(nil)
		w.n, w.least = len(v.operations(all)), len(v.operations(v.of(trace.ClassSuccess, all)))
	}
	if c.Until == "" {
		w.later = v.late()
	}
	if c.Since != "" && w.start == nil || c.Until != "" && w.end == nil {
		return w, false
	}
	for i := range v.round.Exchanges {
		switch done := v.x(i).Done; {
		case v.x(i).OtherEndpoint:
		case c.Since != "" && done <= w.start.At:
			w.earlier = append(w.earlier, i)
		case c.Until == "" || done <= w.end.At:
			w.members = append(w.members, i)
		}
	}
	return w, true
}

// late are the looks at the end of the run.
func (v *view) late() []*trace.Reading {
	var out []*trace.Reading
	for i := range v.round.Readings {
		if v.round.Readings[i].Name == trace.ReadingLate {
			out = append(out, &v.round.Readings[i])
		}
	}
	return out
}

// keys are the different keys that were sent among some exchanges.
func (v *view) keys(among []int) map[string]bool {
	out := map[string]bool{}
	for _, i := range among {
		if v.x(i).Key != "" && v.x(i).Started != 0 {
			out[v.x(i).Key] = true
		}
	}
	return out
}

// created checks how many effects there were. With early set the counters may still be behind, so answers that name
// more creations than there may be count as a second effect as well.
func (v *view) created(e *scenarios.Expectation, early bool) outcome {
	w, ok := v.window(e.Created)
	if !ok {
		return outcome{}
	}
	if len(v.in.Facts.Counters) == 0 {
		return v.createdByAnswers(e, w)
	}
	var out outcome
	var cs []change
	if w.start != nil && w.end != nil {
		var unreadable []string
		cs, unreadable = changes(v.in.Facts.Counters, w.start, w.end, w.later)
		for _, why := range unreadable {
			out.gap(&trace.Reason{Code: trace.CounterUnreadable, Detail: why})
		}
	} else {
		out.gap(&trace.Reason{Code: trace.CounterUnreadable, Detail: "the counters were not read at both ends of the round"})
	}
	switch {
	case len(cs) == 0:
		byAnswers := v.createdByAnswers(e, w)
		byAnswers.gaps = append(out.gaps, byAnswers.gaps...)
		return byAnswers
	case len(out.gaps) > 0:
	case v.noisy() != nil:
		out.gap(v.noisy())
	case v.elsewhere(w, cs) != nil:
		out.gap(v.elsewhere(w, cs))
	default:
		if e.Created.PerKey && !slices.ContainsFunc(cs, func(c change) bool { return c.above(w.n) }) {
			w, cs = v.overfull(w, cs)
		}
		v.createdByCounts(e, w, cs, &out)
	}
	if early && !out.second {
		out.second = v.createdByAnswers(e, w).second
	}
	return out
}

// overfull narrows a window, and what its counters did, to requests that are counted together, where a counter rose by more effects than
// these have keys. Over all requests that need not show: others were refused.
func (v *view) overfull(w window, cs []change) (window, []change) {
	for _, counted := range w.end.Values {
		own := w
		own.members = slices.DeleteFunc(slices.Clone(w.members), func(i int) bool { return !slices.Contains(counted.Scopes, v.x(i).Scope) })
		if own.n = len(v.operations(own.members)); own.n == 0 {
			continue
		}
		later := make([]*trace.Reading, len(w.later))
		for i, l := range w.later {
			later[i] = countedTogether(l, counted.Scopes)
		}
		ofOwn, _ := changes(v.in.Facts.Counters, countedTogether(w.start, counted.Scopes), countedTogether(w.end, counted.Scopes), later)
		if slices.ContainsFunc(ofOwn, func(c change) bool { return c.above(own.n) }) {
			return own, ofOwn
		}
	}
	return w, cs
}

// countedTogether is a reading with the counts of these scopes alone.
func countedTogether(r *trace.Reading, scopes []string) *trace.Reading {
	part := *r
	part.Values = slices.DeleteFunc(slices.Clone(r.Values), func(v trace.Value) bool { return !slices.Equal(v.Scopes, scopes) })
	return &part
}

// noisy reports a counter that went on moving behind the round, when nothing was sent: what it rose by in the
// round may be somebody else's. What was sent behind a window that ended before the round did is no noise.
func (v *view) noisy() *trace.Reason {
	after, idle := reading(v.round, trace.ReadingAfter), reading(v.round, trace.ReadingIdle)
	if after == nil || idle == nil || idle.At <= after.At {
		return nil
	}
	return moved(v.in.Facts, after, idle)
}

func (v *view) createdByCounts(e *scenarios.Expectation, w window, cs []change, out *outcome) {
	var above, below, exact []change
	found, explained := v.downstream(e, w, cs)
	out.findings = append(out.findings, found...)
	out.second = len(explained) > 0
	for _, c := range cs {
		switch {
		case slices.Contains(explained, c.fact.Name):
			exact = append(exact, c)
		case c.above(w.n):
			above = append(above, c)
		case c.below(w.least):
			below = append(below, c)
		default:
			exact = append(exact, c)
		}
	}
	out.judged = true
	switch {
	case len(above) > 0 && e.Rule == "":
		out.judged = false
		out.gap(&trace.Reason{Code: trace.ControlUnsound,
			Detail: v.subject(w) + " had " + effectsOf(above) + ": " + risesText(w.n, above) +
				"; either the plan says too little (counters: how much one effect adds), or something on the way sends each request again"})
	case len(above) > 0:
		out.second = true
		rule := e.Rule
		switch {
		case w.n >= 1 && len(above) < len(cs) && len(above)+len(exact) == len(cs):
			rule = ruleSideEffect
		case w.n >= 1 && !e.Created.PerKey && v.answersAgree(w):
			rule = ruleSilent
		}
		f := v.finding(rule, v.subject(w)+" had "+effectsOf(above)+": "+risesText(w.n, above),
			expectedText(w.n, cs), actualText(cs), v.witnesses(w)...)
		f.Counts = countChanges(w.n, cs)
		f.Arrivals = idsOf(v.arrivedAt(w, above))
		out.findings = append(out.findings, f)
		out.doubted = rule
		for _, c := range above {
			if c.fact.Marked || v.createdByAnswers(e, w).second {
				out.doubted = ""
			}
		}
	case len(below) > 0:
		v.tooFew(e, w, cs, below, out)
	}
}

// The rules that created expectations choose by what was seen.
const (
	ruleSilent     = "silent-duplicate"
	ruleSideEffect = "side-effect-repeated"
	ruleNothing    = "nothing-created"
)

// tooFew judges a counter that rose by less than planned. That says something only beside a success answer; for
// the control only when nothing rose at all and what the answer named is not there either.
func (v *view) tooFew(e *scenarios.Expectation, w window, cs, below []change, out *outcome) {
	successes := v.of(trace.ClassSuccess, w.members)
	if len(successes) == 0 {
		out.judged = false
		return
	}
	if v.in.onControl() {
		for _, c := range cs {
			if c.rise() != 0 {
				out.judged = false
				return
			}
		}
		if !locatedMissing(v.in.Control) {
			out.judged = false // perhaps the counter looks at the wrong thing
			return
		}
	}
	if i := v.unseen(successes); i >= 0 {
		out.judged = false
		if v.anonymous(i) {
			out.gap(v.idleSuccess(i, w, below))
			return
		}
		out.gap(&trace.Reason{Code: trace.Assumption,
			Detail: fmt.Sprintf("%s; perhaps the counter does not see what other callers create: %s was answered with success: %s", risesText(w.least, below), v.name(i), v.naming(i)),
			Enable: "counters: caller: one that sees what every caller creates"})
		return
	}
	rule := e.Created.Below
	if rule == "" {
		rule = ruleNothing
	}
	actual := actualText(cs)
	for _, c := range below {
		actual += "\n" + c.said()
	}
	f := v.finding(rule, fmt.Sprintf("%s answered with success, but %s", plural(len(successes), "request"), risesText(w.least, below)),
		expectedText(w.least, cs), actual, successes...)
	f.Counts = countChanges(w.least, cs)
	out.findings = append(out.findings, f)
}

// answersAgree reports whether nobody who only sees the answers could tell that there was more than one effect.
func (v *view) answersAgree(w window) bool {
	successes := v.of(trace.ClassSuccess, w.members)
	if len(successes) < 2 {
		return false
	}
	for _, i := range w.members {
		switch v.class[i] {
		case trace.ClassSuccess:
			if !v.sameCreation(successes[0], i) {
				return false
			}
		case trace.ClassInProgress, trace.ClassBusy:
		default:
			return false
		}
	}
	return true
}

// witnesses are the success answers of a window, or everything in it when there are none, behind what an earlier run sent
// under the same key.
func (v *view) witnesses(w window) []int {
	var out []int
	for _, i := range w.earlier {
		if !v.x(i).Planted.IsZero() {
			out = append(out, i)
		}
	}
	if len(v.of(trace.ClassSuccess, w.members)) == 0 {
		return append(out, w.members...)
	}
	for _, i := range w.members {
		if v.class[i] == trace.ClassSuccess || v.x(i).Cut != nil {
			out = append(out, i)
		}
	}
	return out
}

// subject says what was sent in a window, such as "5 requests with one key".
func (v *view) subject(w window) string {
	sent := 0
	for _, i := range w.members {
		if v.x(i).Started != 0 {
			sent++
		}
	}
	switch keys := len(v.keys(w.members)); keys {
	case 0:
		return plural(sent, "request") + " without a key"
	case 1:
		return plural(sent, "request") + " with one key"
	default:
		return fmt.Sprintf("%s with %d keys", plural(sent, "request"), keys)
	}
}

func effectsOf(cs []change) string {
	most := int64(0)
	for _, c := range cs {
		if c.fact.Rise > 0 {
			most = max(most, c.rise()/c.fact.Rise)
		}
	}
	return plural(most, "effect")
}

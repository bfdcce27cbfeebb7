package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Case judges one case: every expectation of its scenario in every round that counts. A broken rule at or above
// FailOn fails it, whatever else is unclear; otherwise anything that could not be judged makes it inconclusive.
func Case(in Input) trace.Result {
	if reason := unfit(&in); reason != nil {
		return conclude(&in, trace.Result{}, reason)
	}
	if statedOnly(in.Scenario) {
		return stated(&in)
	}
	h := hear(&in, false)
	r := trace.Result{
		Rounds: h.counted, Findings: worstFirst(h.findings), Firing: firing(h.views), Uncounted: h.byAnswers && !h.needless(),
	}
	if text := sentTwice(in.rounds()); text != "" {
		r.Verdict, r.Detail = trace.Error, text
		return r
	}
	r = conclude(&in, r, h.reason())
	if r.Verdict == trace.Pass || r.Verdict == trace.Warn {
		r.Power = power(h)
	}
	return r
}

// Violated reports whether the rounds so far show for certain what a race is looked for: more effects than
// there may be, by counts or by answers, a critical mix-up of answers, a key that stays in progress, or work that is never done. Other broken rules do not end the
// search, because the worse one may still come; nor does a counter that is behind.
func Violated(in Input) bool {
	if unfit(&in) != nil {
		return false
	}
	h := hear(&in, true)
	return h.second || h.decisive || slices.ContainsFunc(h.findings, func(f trace.Finding) bool { return f.Rule == ruleStuck || f.Rule == ruleNeverDone })
}

// onControl reports whether the control's rounds are judged.
func (in *Input) onControl() bool { return in.Case.OnControl || in.Scenario.OnControl }

func (in *Input) rounds() []trace.Round {
	if !in.onControl() {
		return in.Case.Trace
	}
	if in.Control == nil {
		return nil
	}
	return in.Control.Rounds
}

// Repeat says why a round proves nothing and is better repeated: it took so long that its keys may have expired in it, or
// what had to be under way at the same time was not, where that is the point, or a copy was ahead of the request that it copies. Nil for a
// round that counts, or in which a request hung or had no answer: that is worth a look. Input.Case is not read.
func Repeat(in Input, r *trace.Round) *trace.Reason {
	v := newView(&in, in.Control.Learned, r)
	switch late, apart, overtaken := v.tooSlow(), v.noOverlap(), v.overtaken(); {
	case len(v.hanging()) > 0:
		return nil
	case late != nil:
		return late
	case overtaken != nil:
		return overtaken
	case apart != nil && !slices.ContainsFunc(r.Exchanges, func(x trace.Exchange) bool { return x.Response == nil }):
		return apart
	}
	return nil
}

// unfit says why nothing of the case can be judged; nil when something can.
func unfit(in *Input) *trace.Reason {
	stop := in.Case.Stop
	switch {
	case stop != nil && in.leftOut(stop.Code):
		return stop
	case in.Control == nil && stop != nil:
		return stop
	case in.Control == nil:
		return &trace.Reason{Code: trace.ControlUnsound, Detail: "the control was not sent, so there is nothing to measure against"}
	case in.Case.OnControl && !in.Scenario.OnControl:
		return nil // it is about the control itself
	case !in.Control.Learned.Sound && in.Control.Learned.Reason != nil:
		return in.Control.Learned.Reason
	case !in.Control.Learned.Sound:
		return &trace.Reason{Code: trace.ControlUnsound, Detail: "the control is not sound"}
	}
	for _, body := range []string{scenarios.BodyOther, scenarios.BodyFail, scenarios.BodyInvalid, scenarios.BodyReordered} {
		if why := in.Control.Learned.Bodies[body]; why != nil && in.Scenario.UsesBody(body) {
			return why
		}
	}
	return nil
}

// hearing collects what the rounds of a case show.
type hearing struct {
	in *Input
	// views are the rounds that are not void, counted is how many of them were judged.
	views    []*view
	counted  int
	findings []trace.Finding
	gaps     []trace.Reason
	// passedOver say why rounds were not judged; they matter only when no other round counts.
	passedOver []trace.Reason
	// judged says of each expectation, by index, whether any round could judge it.
	judged []bool
	// doubted are rules whose only evidence is a counter without a marker: they need a second round to show.
	doubted   map[string]bool
	second    bool
	decisive  bool
	uncounted bool
	// byAnswers is true when effects were judged where uncounted is.
	byAnswers bool
}

func hear(in *Input, early bool) *hearing {
	h := &hearing{in: in, judged: make([]bool, len(in.Scenario.Expect)), doubted: map[string]bool{}}
	rounds := in.rounds()
	for i := range rounds {
		if rounds[i].Void != "" {
			continue
		}
		h.views = append(h.views, newView(in, in.Control.Learned, &rounds[i]))
	}
	h.add(h.cutOffs())
	for _, v := range h.views {
		h.add(h.round(v, early))
	}
	if !early {
		h.findings = slices.DeleteFunc(h.findings, h.mayBeNoise)
	}
	return h
}

// mayBeNoise reports whether a finding rests on a counter without a marker alone, and showed in one round only:
// then it may have been somebody else.
func (h *hearing) mayBeNoise(f trace.Finding) bool {
	if !h.doubted[f.Rule] || f.Seen > 1 {
		return false
	}
	h.gaps = append(h.gaps, trace.Reason{Code: trace.CounterNoise,
		Detail: fmt.Sprintf("%s, but only in one of %s, and the counter has no marker: others may have moved it", f.Message, plural(h.counted, "round"))})
	return true
}

// round judges one round. What does not depend on the round being as planned comes first.
func (h *hearing) round(v *view, early bool) []trace.Finding {
	undone, unasked := v.undone()
	found := merge(merge(v.stuck(), v.hanging()), undone)
	switch why := v.passOver(); {
	case why != nil && len(found) > 0:
		h.counted++ // however long it took to get stuck
		return found
	case why != nil:
		h.passedOver = append(h.passedOver, *why)
		h.gaps = append(h.gaps, v.open()...) // whatever the round proves, that is worth a look
		return found
	}
	h.gaps = slices.Concat(h.gaps, v.open(), unasked)
	if why := v.assumptions(); why != nil {
		h.gaps = append(h.gaps, why...)
		return found
	}
	h.counted++
	v.effects = effects{judged: true, counted: true}
	for _, wantsEffects := range []bool{true, false} { // answers are read in the light of the effects
		for i := range h.in.Scenario.Expect {
			e := &h.in.Scenario.Expect[i]
			if (e.Created != nil) != wantsEffects {
				continue
			}
			out := v.check(e, early)
			if wantsEffects {
				v.effects.add(e, &out)
			}
			h.judged[i] = h.judged[i] || out.judged
			h.second = h.second || out.second
			h.decisive = h.decisive || out.decisive
			h.uncounted = h.uncounted || out.uncounted
			h.byAnswers = h.byAnswers || out.uncounted && out.judged
			if out.doubted != "" {
				h.doubted[out.doubted] = true
			}
			h.gaps = append(h.gaps, out.gaps...)
			found = merge(found, out.findings)
		}
	}
	return found
}

func (e *effects) add(x *scenarios.Expectation, out *outcome) {
	e.stated = true
	e.judged = e.judged && out.judged
	e.counted = e.counted && out.judged && !out.uncounted
	e.exceeded = e.exceeded || out.second
	e.once = e.once || *x.Created == (scenarios.Created{N: 1, Below: x.Created.Below}) &&
		out.judged && !out.uncounted && len(out.findings)+len(out.gaps) == 0
	if e.rule == "" {
		e.rule = x.Rule
	}
}

// check judges one expectation.
func (v *view) check(e *scenarios.Expectation, early bool) outcome {
	switch {
	case e.Created != nil:
		return v.created(e, early)
	case e.Same != nil:
		return v.same(e)
	case e.Distinct != nil:
		return v.distinct(e)
	case e.Refused != nil:
		return v.refused(e)
	case e.Accepted != nil:
		return v.accepted(e)
	case e.Failed != nil:
		return v.failed(e)
	}
	return v.checkBetween(e)
}

// checkBetween judges the forms that compare callers, endpoints, requests under way, and readings.
func (v *view) checkBetween(e *scenarios.Expectation) outcome {
	switch {
	case e.Hidden != nil:
		return v.hidden(e)
	case e.OneOf != nil:
		return v.oneOf(e)
	case e.Alike != nil:
		return v.alike(e.Rule, e.Alike)
	case e.Answered != nil:
		return v.answered(e)
	case e.Consistent != nil:
		return v.consistent(e)
	case e.Unchanged != nil:
		return v.unchanged(e)
	case e.Outlives != "":
		return v.in.outlives(e)
	case e.Never != "":
		return v.never(e)
	}
	return outcome{} // a form that nothing here knows proves nothing
}

// add merges the findings of a round into those of the case: the first round that shows a rule is the evidence.
func (h *hearing) add(found []trace.Finding) {
	for _, f := range found {
		i := slices.IndexFunc(h.findings, func(g trace.Finding) bool { return g.Rule == f.Rule })
		if i < 0 {
			h.findings = append(h.findings, f)
			continue
		}
		h.findings[i].Seen++
		if !h.findings[i].Severity.AtLeast(f.Severity) {
			f.Seen = h.findings[i].Seen
			h.findings[i] = f
		}
	}
}

// reason is what most keeps the case from being judged; nil when nothing does.
func (h *hearing) reason() *trace.Reason {
	stop, quick := h.in.Case.Stop, Unsuited(*h.in)
	switch {
	case quick != nil && (stop == nil || stop.Code == trace.NoOverlap):
		return quick
	case stop != nil:
		return stop
	case h.in.onControl() && !h.in.Control.Learned.Sound && h.in.Control.Learned.Reason != nil:
		return h.in.Control.Learned.Reason
	case len(h.gaps) > 0:
		return weightiest(h.gaps)
	case h.counted == 0 && len(h.passedOver) > 0:
		return weightiest(h.passedOver)
	case h.counted == 0:
		return &trace.Reason{Code: trace.NoEvidence, Detail: "no round of this case counts"}
	}
	return h.unjudged()
}

// sentTwice reports a request that reached the wire more than once: then the tool itself forged the evidence.
func sentTwice(rounds []trace.Round) string {
	for i := range rounds {
		for _, x := range rounds[i].Exchanges {
			if x.Wire > 1 {
				return fmt.Sprintf("exchange %d reached the wire %d times, expected once; please report this as a fault of retrysafe", x.ID, x.Wire)
			}
		}
	}
	return ""
}

func worstFirst(fs []trace.Finding) []trace.Finding {
	slices.SortStableFunc(fs, func(a, b trace.Finding) int {
		switch {
		case a.Severity == b.Severity:
			return 0
		case a.Severity.AtLeast(b.Severity):
			return -1
		}
		return 1
	})
	return fs
}

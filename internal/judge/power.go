package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// firing sums up the bursts of the rounds; nil when nothing was released together.
func firing(views []*view) *trace.Firing {
	var f *trace.Firing
	var spread, gap []float64
	var bursts []trace.Burst
	for _, v := range views {
		for _, b := range v.round.Bursts {
			if f == nil {
				f = &trace.Firing{Technique: b.Technique, LeastCopies: b.Copies}
			}
			if f.Fallback == "" {
				f.Fallback = b.Fallback
			}
			bursts = append(bursts, b)
			f.LeastCopies = min(f.LeastCopies, b.Copies)
			f.Copies, f.Connections = max(f.Copies, b.Copies), max(f.Connections, b.Connections)
			spread, gap = append(spread, b.Spread.Micros()), append(gap, b.FirstGap.Micros())
		}
	}
	if f != nil {
		f.SpreadUS, f.FirstGapUS = quantiles(spread), quantiles(gap)
		f.DetectsWindowUS = DetectableWindow(bursts)
	}
	return f
}

// quantiles are by nearest rank: the value that at least that share of the measurements does not exceed.
func quantiles(m []float64) trace.Quantiles {
	slices.Sort(m)
	at := func(share float64) float64 { return m[max(0, int(math.Ceil(share*float64(len(m))))-1)] }
	return trace.Quantiles{P50: at(.5), P95: at(.95)}
}

// power says what a pass is worth: what it would have caught, and how hard it looked.
func power(h *hearing) string {
	text := "shows that an uncontested request succeeds"
	if rules := caught(h); len(rules) > 0 {
		text = "would have caught " + strings.Join(rules, ", ")
	}
	text += "; " + effort(h)
	if bodies := changedBodies(h); bodies != "" {
		text += "; " + bodies
	}
	if look := look(h); look != "" {
		text += "; " + look
	}
	return text
}

// caught are the rules that the judged expectations stand for.
func caught(h *hearing) []string {
	var out []string
	add := func(rules ...string) {
		for _, r := range rules {
			if r != "" && h.in.asserts(r) && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	for i := range h.in.Scenario.Expect {
		e := &h.in.Scenario.Expect[i]
		if !h.judged[i] {
			continue
		}
		add(e.Rule)
		switch {
		case e.Created != nil:
			add(effectRules(h, e.Created)...)
		case e.Same != nil:
			add(ruleStatus, ruleHeaders, ruleBody, ruleConflict, ruleBytes)
			if h.in.Facts.Conflicts {
				add(ruleRefusal)
			}
		case e.Refused != nil && e.As != "", e.OneOf != nil:
			add(ruleRefusal)
		}
	}
	if slices.ContainsFunc(h.in.Scenario.Sends(), func(s scenarios.Send) bool { return s.UntilFinal }) {
		add(ruleStuck)
	}
	if h.in.Facts.Await != nil && !h.in.onControl() {
		add(ruleNeverDone)
	}
	return out
}

func effectRules(h *hearing, c *scenarios.Created) []string {
	if h.uncounted {
		if c.Since != "" {
			return []string{c.Below}
		}
		return nil
	}
	out := []string{c.Below}
	if c.Below == "" && (c.N > 0 || c.PerKey) {
		out = []string{ruleNothing}
	}
	if c.N > 0 && !c.PerKey && len(h.in.Control.Learned.CreationFields) > 0 {
		out = append(out, ruleSilent)
	}
	if (c.N > 0 || c.PerKey) && len(h.in.Facts.Counters) > 1 {
		out = append(out, ruleSideEffect)
	}
	keyed := func(f trace.CounterFact) bool { return f.Sink != nil && f.Sink.Key != "" }
	if (c.N > 0 || c.PerKey) && slices.ContainsFunc(h.in.Facts.Counters, keyed) {
		out = append(out, ruleDownstream, ruleDownstreamBody)
	}
	return out
}

// effort says how much was sent, and how.
func effort(h *hearing) string {
	text := plural(h.counted, "round")
	if f := firing(h.views); f != nil {
		text += fmt.Sprintf(" of %s over %s (%s; spread %.0f us, first gap %.0f us, medians)",
			copiesText(f), plural(f.Connections, "connection"), f.Technique, f.SpreadUS.P50, f.FirstGapUS.P50)
		if f.DetectsWindowUS > 0 {
			text += fmt.Sprintf(", which show a race window of %s or more with 99 %% (of waiting, as for a database)", microsText(f.DetectsWindowUS))
		}
		if h.in.Case.Ended != 0 && h.in.Case.RoundsEnded != "" {
			text += "; rounds ended because " + h.in.Case.RoundsEnded
		}
		if f.Fallback != "" {
			text += ", weaker than it could be: " + f.Fallback
		}
		return text
	}
	requests, conns := 0, map[int]bool{}
	for _, v := range h.views {
		requests += len(v.round.Exchanges)
		for i := range v.round.Exchanges {
			conns[v.x(i).Conn] = true
		}
	}
	text += fmt.Sprintf(", %s over %s", plural(requests, "request"), plural(len(conns), "connection"))
	for _, v := range h.views {
		for _, p := range v.round.Pauses {
			if strings.Contains(p.What, "left out") {
				return text + ", " + p.What
			}
		}
	}
	return text
}

// look says what the effects were judged by, and how late the last look at it was.
func look(h *hearing) string {
	has := func(form func(scenarios.Expectation) bool) bool {
		return slices.ContainsFunc(h.in.Scenario.Expect, form)
	}
	switch {
	case has(func(e scenarios.Expectation) bool { return e.Unchanged != nil }):
		return "compared before and after: " + h.watched()
	case !has(func(e scenarios.Expectation) bool { return e.Created != nil }):
		return ""
	case h.needless() && h.uncounted:
		return "effects were not judged: no counter, and the answers name nothing"
	case h.uncounted && len(h.in.Control.Learned.CreationFields) == 0:
		return "no counter: effects judged by the answers alone"
	case h.uncounted:
		return "no counter: effects judged by creation fields " + strings.Join(h.in.Control.Learned.CreationFields, ", ") + " alone"
	}
	still, late := looked(h.views)
	when := ""
	if h.in.Facts.Await != nil {
		when = " when the work behind the answers was done"
	}
	return fmt.Sprintf("counted by %s%s, which had been still for %.0f ms, last look %.1f s after the last answer",
		h.watched(), when, still.Duration().Seconds()*1e3, late.Duration().Seconds())
}

// watched names the counters and states that were read.
func (h *hearing) watched() string {
	var names []string
	for _, c := range h.in.Facts.Counters {
		names = append(names, c.Name)
	}
	if slices.ContainsFunc(h.in.Scenario.Expect, func(e scenarios.Expectation) bool { return e.Unchanged != nil }) {
		names = append(names, h.in.Facts.States...)
	}
	return strings.Join(names, ", ")
}

// looked gives the shortest time that the counters had been still at the end of a round, and how long
// after its last answer the last look was, in the round where that was shortest.
func looked(views []*view) (still, late trace.Nanos) {
	first := true
	for _, v := range views {
		var end, answered, rest trace.Nanos
		for _, r := range v.round.Readings {
			if r.Name == trace.ReadingAfter {
				rest = r.Still
			}
			if !slices.ContainsFunc(r.Values, func(n trace.Value) bool { return n.Error != "" }) {
				end = max(end, r.At) // one that failed saw nothing
			}
		}
		for i := range v.round.Exchanges {
			answered = max(answered, v.x(i).Done)
		}
		if first || rest < still {
			still = rest
		}
		if first || end-answered < late {
			late = end - answered
		}
		first = false
	}
	return still, late
}

// microsText is a span in the unit that reads best.
func microsText(us float64) string {
	if us < 1000 {
		return fmt.Sprintf("%.0f us", us)
	}
	return fmt.Sprintf("%.1f ms", us/1000)
}

func copiesText(f *trace.Firing) string {
	if f.LeastCopies == f.Copies {
		return fmt.Sprintf("%d copies", f.Copies) // never fewer than two
	}
	return fmt.Sprintf("%d to %d copies", f.LeastCopies, f.Copies)
}

// changedBodies says at which places the other bodies that were sent differed from the original, and which of them could not be
// sent.
func changedBodies(h *hearing) string {
	changed := h.in.Facts.Changed
	var sent []string
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		used := slices.ContainsFunc(h.views, func(v *view) bool {
			return slices.ContainsFunc(v.round.Exchanges, func(x trace.Exchange) bool { return x.Body == name })
		})
		if used {
			sent = append(sent, strings.Join(changed[name], " and "))
		}
	}
	if len(sent) == 0 {
		return ""
	}
	text := "a body with another "
	if len(sent) > 1 {
		text = "bodies with another "
	}
	text += strings.Join(sent, ", and with another ")
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if name != scenarios.BodyOther && h.in.Scenario.UsesBody(scenarios.BodyNested) && h.in.Control.Learned.Bodies[name] != nil {
			text += ", not " + strings.Join(changed[name], " and ") + ", with which a fresh key does not succeed either"
		}
	}
	return text
}

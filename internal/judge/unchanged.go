package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// unchanged checks that counters and states are the same at two readings.
func (v *view) unchanged(e *scenarios.Expectation) outcome {
	var out outcome
	since, until := e.Unchanged.Since, e.Unchanged.Until
	if since == "" {
		since = trace.ReadingBefore
	}
	if until == "" {
		until = trace.ReadingAfter
	}
	start, end := reading(v.round, since), reading(v.round, until)
	if start == nil || end == nil {
		out.gap(&trace.Reason{Code: trace.CounterUnreadable, Detail: "counters and states were not read at " + since + " and at " + until})
		return out
	}
	moves := slices.Concat(v.countsMoved(e, start, end, &out), v.statesMoved(start, end, &out))
	if len(out.gaps) > 0 || !out.judged {
		out.judged = false
		return out
	}
	if len(moves) > 0 {
		out.findings = []trace.Finding{v.movedFinding(e, start, end, moves)}
		if !slices.ContainsFunc(moves, func(m move) bool { return m.certain }) {
			out.doubted = e.Rule
		}
	}
	return out
}

// move is a counter or a state that differs between two readings.
type move struct {
	name, before, after string
	// certain is false when others may have moved it.
	certain bool
	counter *change
}

func (v *view) countsMoved(e *scenarios.Expectation, start, end *trace.Reading, out *outcome) []move {
	var moves []move
	w := window{start: start, end: end}
	if e.Unchanged.Until == "" {
		w.later = v.late()
	}
	cs, unreadable := changes(v.in.Facts.Counters, start, end, w.later)
	for _, why := range unreadable {
		out.gap(&trace.Reason{Code: trace.CounterUnreadable, Detail: why})
	}
	if why := v.noisy(); why != nil {
		out.gap(why)
	}
	for _, c := range cs {
		out.judged = true
		if c.rise() != 0 {
			moves = append(moves, move{"counter " + c.fact.Name, fmt.Sprint(c.before), fmt.Sprint(c.after), c.fact.Marked, &c})
		}
	}
	return moves
}

func (v *view) statesMoved(start, end *trace.Reading, out *outcome) []move {
	var moves []move
	var blind *trace.Reason
	for _, name := range v.in.Facts.States {
		if !slices.ContainsFunc(end.States, func(s trace.StateValue) bool { return s.State == name }) {
			out.gap(&trace.Reason{Code: trace.CounterUnreadable, Detail: fmt.Sprintf("state %s was not read after the requests", name)})
		}
	}
	for _, now := range end.States {
		was, ok := stateFor(start, now)
		switch {
		case !ok:
			out.gap(&trace.Reason{Code: trace.CounterUnreadable, Detail: fmt.Sprintf("state %s was not read before the requests", now.State)})
		case was.Error != "":
			out.gap(unreadableState(was))
		case now.Error != "":
			out.gap(unreadableState(now))
		case v.movesByItself(now):
			out.gap(&trace.Reason{Code: trace.CounterNoise,
				Detail: fmt.Sprintf("state %s moves while nothing is sent, so its changes prove nothing (asked: %s)", now.State, now.Source),
				Enable: "states: a `value:` that only this endpoint changes"})
		case v.showsNothing(now):
			blind = &trace.Reason{Code: trace.CounterUnreadable,
				Detail: fmt.Sprintf("state %s answered %s before the first request and ever since, so it shows nothing of it (asked: %s)", now.State, shorten(now.Value, 60), now.Source),
				Enable: "states: a request whose answer shows what the endpoint changes"}
		default:
			out.judged = true
			moves = append(moves, v.stateMoved(was, now, out)...)
		}
	}
	if blind != nil && !out.judged {
		out.gap(blind)
	}
	return moves
}

func (v *view) stateMoved(was, now trace.StateValue, out *outcome) []move {
	before, after, differ := differingParts(was.Value, now.Value)
	if !differ {
		return nil
	}
	if isDigest(was.Value) && isDigest(now.Value) {
		out.gap(&trace.Reason{Code: trace.CounterUnreadable,
			Detail: fmt.Sprintf("state %s changed, but is too long to tell whether more than a time did (asked: %s)", now.State, now.Source),
			Enable: "states: a `value:` that names the part that matters"})
		return nil
	}
	return []move{{"state " + now.State, before, after, v.ownState(now), nil}}
}

func (v *view) movedFinding(e *scenarios.Expectation, start, end *trace.Reading, moves []move) trace.Finding {
	var names, before, after []string
	counts := map[string]trace.CountChange{}
	for _, m := range moves {
		names = append(names, fmt.Sprintf("%s from %s to %s", m.name, shorten(m.before, 60), shorten(m.after, 60)))
		before = append(before, m.name+": "+shorten(m.before, excerptLimit))
		after = append(after, m.name+": "+shorten(m.after, excerptLimit))
		if m.counter != nil {
			counts[m.counter.fact.Name] = trace.CountChange{Before: m.counter.before, After: m.counter.after, Expected: m.counter.before}
		}
	}
	var between []int
	for i := range v.round.Exchanges {
		if x := v.x(i); x.Done > start.At && (e.Unchanged.Until == "" || x.Done <= end.At) {
			between = append(between, i)
		}
	}
	f := v.finding(e.Rule, fmt.Sprintf("%s changed %s", plural(len(between), "request"), strings.Join(names, ", ")),
		strings.Join(before, "\n"), strings.Join(after, "\n"), between...)
	if len(counts) > 0 {
		f.Counts = counts
	}
	return f
}

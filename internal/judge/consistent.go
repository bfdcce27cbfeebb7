package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// comparedRounds is in how many rounds, at most, two copies that meet the first request are looked for: three times those that
// in-progress-copy has by itself.
const comparedRounds = 9

// consistent checks that all answers that say "in progress" have one status. An endpoint whose copies wait gives none,
// which is consistent too, if two came while the first request was under way: by the clock of a client on a busy machine copies overlap with it
// that the server saw behind it. Where one alone is told so, it takes another that came in time, and waited: one answer agrees with itself.
func (v *view) consistent(e *scenarios.Expectation) outcome {
	var out outcome
	first, said, met, surely := -1, 0, 0, 0
	for _, i := range v.labelled(e.Consistent) {
		running := v.class[i] != trace.ClassNone && v.saysInProgress(i)
		switch v.class[i] {
		case trace.ClassNone, trace.ClassIntermediary, trace.ClassBusy:
		default:
			if v.meetsAnother(i, v.in.Control.Quickest()) {
				met++
			}
			if v.meetsAnother(i, v.learned.Handling) {
				surely++
			}
		}
		if !running {
			continue
		}
		said++
		if first < 0 {
			first = i
		}
		was, is := v.x(first).Response.Status, v.x(i).Response.Status
		if was == is {
			continue
		}
		out.findings = merge(out.findings, []trace.Finding{v.finding(e.Rule,
			fmt.Sprintf("while the first request was under way, %s was answered with %d and %s with %d", v.name(first), was, v.name(i), is),
			fmt.Sprintf("one status for all, such as %d", was), answerText(v.x(i)), first, i)})
	}
	out.judged = said > 1 || surely > 1 || said == 0 && met > 1
	return out
}

// meetsAnother reports whether an exchange was sent while an earlier one of its key had a good part of a handling time to go.
func (v *view) meetsAnother(i int, handling trace.Nanos) bool {
	x := v.x(i)
	return x.Sent != 0 && slices.ContainsFunc(v.round.Exchanges, func(o trace.Exchange) bool {
		return sameKey(&o, x) && o.Started < x.Started && x.Sent+goodPart(handling) < v.overAt(&o)
	})
}

// uncompared reports whether an expectation about what copies are told while the first request runs could be judged in none of
// the rounds.
func uncompared(in *Input, e *scenarios.Expectation) bool {
	return e.Consistent != nil && !slices.ContainsFunc(in.Case.Trace, func(r trace.Round) bool {
		return r.Void == "" && newView(in, in.Control.Learned, &r).consistent(e).judged
	})
}

// saysInProgress reports whether an answer says that another copy is still under way. Beyond the class of that name
// these are refusals with a status that is used for it, and 202 without a result, given while another copy was clearly
// running. 429 turns away for many reasons, so it counts only where it is documented.
func (v *view) saysInProgress(i int) bool {
	x := v.x(i)
	if v.class[i] == trace.ClassInProgress {
		return true
	}
	if !slices.ContainsFunc(v.round.Exchanges, func(o trace.Exchange) bool { return sameKey(&o, x) && v.clearlyDuring(&o, x) }) {
		return false
	}
	status := x.Response.Status
	switch v.class[i] {
	case trace.ClassRefused:
		return slices.Contains([]int{409, 423, 425}, status)
	case trace.ClassBusy:
		return slices.Contains(v.in.Facts.Statuses.InProgress, status)
	case trace.ClassSuccess:
		return status == 202 && status != v.learned.SuccessStatus && v.ids[i] == nil
	}
	return false
}

package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// oneOf checks requests of which either may win: success answers under two labels never name the same creation. A loser
// may be refused, as a mismatch or because the winner is still under way.
func (v *view) oneOf(e *scenarios.Expectation) outcome {
	var out outcome
	if v.in.waived(e) {
		return out
	}
	var won []int
	complete := true
	for _, i := range v.finals(e.OneOf) {
		switch v.class[i] {
		case trace.ClassSuccess:
			won = append(won, i)
		case trace.ClassRefused:
			if v.x(i).Response.Status == 401 {
				out.gap(authReason(v.x(i)))
				complete = false
				continue
			}
			out.findings = merge(out.findings, v.wrongRefusal(i, v.loserStatuses()))
		case trace.ClassNone, trace.ClassBusy, trace.ClassIntermediary:
			complete = false
		}
	}
	out.judged = complete && len(won) > 0
	for k, i := range won {
		for _, j := range won[:k] {
			if v.x(i).Label == v.x(j).Label {
				continue
			}
			f, told := v.oneCreation(e.Rule, j, i)
			out.judged = out.judged && told
			out.decisive = out.decisive || len(f) > 0 && f[0].Severity == trace.Critical
			out.findings = merge(out.findings, f)
		}
	}
	out.judged = out.judged || len(out.findings) > 0
	return out
}

// oneCreation judges two success answers to different requests. told is false when they cannot be told apart.
func (v *view) oneCreation(rule string, j, i int) (found []trace.Finding, told bool) {
	fields := v.learned.CreationFields
	a, b := v.ids[j].onlyNames(fields), v.ids[i].onlyNames(fields)
	if !a.same(b) {
		return nil, a.other(b)
	}
	return []trace.Finding{v.finding(rule,
		fmt.Sprintf("%s and %s, which differ, were both answered with success and with one creation", v.name(j), v.name(i)),
		"one of them refused, or another creation than "+v.naming(j), v.naming(i), j, i)}, true
}

// loserStatuses are the documented statuses for the request that came second; none where mismatches have none.
func (v *view) loserStatuses() []int {
	s := v.in.Facts.Statuses
	if len(s.Mismatch) == 0 {
		return nil
	}
	return slices.Concat(s.Mismatch, s.InProgress)
}

package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// same checks that the answers under the labels repeat the first success answer among them.
func (v *view) same(e *scenarios.Expectation) outcome {
	var out outcome
	among := v.labelled(e.Same)
	ref := v.reference(among)
	if ref < 0 {
		return out
	}
	for _, i := range among {
		if i == ref {
			continue
		}
		switch v.class[i] {
		case trace.ClassSuccess:
			out.judged = true
			out.findings = merge(out.findings, v.repeated(ref, i, &out))
		case trace.ClassRefused:
			if v.x(i).Response.Status == 401 {
				out.gap(authReason(v.x(i)))
				continue
			}
			out.judged = true
			if f, bad := v.refusedInstead(e.Rule, ref, i); bad {
				out.findings = merge(out.findings, []trace.Finding{f})
			}
		}
	}
	return out
}

// reference is the success answer that came first; -1 when there is none. Of copies that were under way together
// nobody knows which one ran, so among them the one that is most like an uncontested answer is preferred.
func (v *view) reference(among []int) int {
	ref := -1
	for _, i := range v.of(trace.ClassSuccess, among) {
		switch {
		case ref < 0, v.x(i).Done < v.x(ref).Started:
			ref = i
		case v.x(i).Started > v.x(ref).Done:
		case v.usual(i) > v.usual(ref), v.usual(i) == v.usual(ref) && v.x(i).Done < v.x(ref).Done:
			ref = i
		}
	}
	return ref
}

// usual says how much of an uncontested answer a success answer has: its status, and creation fields.
func (v *view) usual(i int) int {
	n := v.ids[i].size()
	if v.x(i).Response.Status == v.learned.SuccessStatus {
		n += 1 + len(v.learned.CreationFields)
	}
	return n
}

// repeated compares a success answer with the reference. One that names another creation is a second
// creation, which the created expectation reports, unless the counters say that there was only one.
func (v *view) repeated(ref, i int, out *outcome) []trace.Finding {
	if !v.ids[ref].other(v.ids[i]) {
		return v.replay(ref, i)
	}
	switch {
	case v.effects.exceeded:
		return nil
	case v.effects.stated && !v.effects.judged:
		return nil // the gap of the created expectation says why
	case v.effects.stated && !v.effects.counted:
		return nil
	}
	message := v.name(i) + " names another creation than the first answer"
	if v.effects.stated {
		message += ", yet the counters show no second effect"
	}
	return []trace.Finding{v.finding(ruleBody, message, v.naming(ref), v.naming(i), ref, i)}
}

// refusedInstead judges a refusal where the first answer should be repeated. A refusal that came while the first
// was still under way is at most the wrong way to say so.
func (v *view) refusedInstead(rule string, ref, i int) (trace.Finding, bool) {
	x, first := v.x(i), v.x(ref)
	status := x.Response.Status
	expected := answerText(first)
	running := x.Started < first.Done && slices.Contains([]int{409, 423, 425}, status)
	switch {
	case running && len(v.in.Facts.Statuses.InProgress) == 0:
		return trace.Finding{}, false
	case running:
		return v.finding(ruleRefusal, fmt.Sprintf("%s was refused with %d while the first was under way", v.name(i), status),
			fmt.Sprintf("one of the statuses %v, or the first answer", v.in.Facts.Statuses.InProgress), answerText(x), ref, i), true
	case rule != "":
		return v.finding(rule, fmt.Sprintf("%s was refused with %d, though the same request had been answered with %d before", v.name(i), status, first.Response.Status),
			expected, answerText(x), ref, i), true
	case v.isConflict(status):
		return v.finding(ruleConflict, fmt.Sprintf("%s was refused with %d, though the operation had succeeded with %d", v.name(i), status, first.Response.Status),
			expected, answerText(x), ref, i), true
	}
	return v.finding(ruleStatus, fmt.Sprintf("%s was refused with %d, the first answer had %d", v.name(i), status, first.Response.Status),
		expected, answerText(x), ref, i), true
}

// isConflict reports whether a status says that somebody else is at it.
func (v *view) isConflict(status int) bool {
	return status == 409 || slices.Contains(v.in.Facts.Statuses.InProgress, status)
}

// distinct checks that success answers to different keys name different creations.
func (v *view) distinct(e *scenarios.Expectation) outcome {
	var out outcome
	var with []int
	for _, i := range v.of(trace.ClassSuccess, v.labelled(e.Distinct)) {
		if v.ids[i] != nil && v.x(i).Key != "" {
			with = append(with, i)
		}
	}
	for k, i := range with {
		for _, j := range with[:k] {
			if v.x(i).Key == v.x(j).Key {
				continue
			}
			out.judged = true
			if !v.ids[j].same(v.ids[i]) {
				continue
			}
			out.findings = merge(out.findings, []trace.Finding{v.finding(e.Rule,
				fmt.Sprintf("%s, with another key, was answered with the creation of %s", v.name(i), v.name(j)),
				"another creation than "+v.naming(j), v.naming(i), j, i)})
		}
	}
	return out
}

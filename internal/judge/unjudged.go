package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// unjudged says which expectation no round could judge. What never happened is no proof by itself, and
// distinct answers say nothing that counted effects do not.
func (h *hearing) unjudged() *trace.Reason {
	counted := slices.ContainsFunc(h.in.Scenario.Expect, func(e scenarios.Expectation) bool { return e.Created != nil })
	proved := false
	for i := range h.in.Scenario.Expect {
		e := &h.in.Scenario.Expect[i]
		proved = proved || h.judged[i] && e.Never == "" || e.Created != nil && h.needless()
		if h.judged[i] || e.Never != "" || e.Distinct != nil && counted || h.in.waived(e) || e.Created != nil && h.needless() {
			continue
		}
		return h.cannotTell(e)
	}
	switch waived := slices.ContainsFunc(h.in.Scenario.Expect, func(e scenarios.Expectation) bool { return h.in.waived(&e) }); {
	case proved:
		return nil
	case waived:
		return &trace.Reason{Code: trace.NotApplicable, Detail: "what this case would find fault with is what the convention documents"}
	}
	return &trace.Reason{Code: trace.NoEvidence, Detail: "nothing that this case expects could be seen"}
}

// needless reports whether effects need not be judged: success of the control is all that can be asked.
func (h *hearing) needless() bool { return h.in.onControl() && h.in.methodAlone() }

func (h *hearing) cannotTell(e *scenarios.Expectation) *trace.Reason {
	switch {
	case e.Created != nil:
		return &trace.Reason{Code: trace.NoEvidence,
			Detail: "how many effects there were cannot be told: no counter, and the answers do not name enough of what was created",
			Enable: `counters: {NAME: {http: "GET /PATH?reference={{marker}}", value: $.count}}`}
	case e.Unchanged != nil:
		return &trace.Reason{Code: trace.NoEvidence, Detail: formOf(e) + " could not be checked: neither a counter nor a state was read",
			Enable: `states: {NAME: {http: GET /PATH}}, and states: [NAME] in the endpoint`}
	case e.Outlives != "":
		return unstated()
	case e.Consistent != nil:
		return &trace.Reason{Code: trace.NoOverlap, Detail: "in no round did two copies come while the first request was under way, so what they are told cannot be compared: " +
			h.answers(labelsOf(e))}
	}
	return &trace.Reason{Code: trace.NoEvidence, Detail: formOf(e) + " could not be checked with these answers: " + h.answers(labelsOf(e))}
}

// answers shows what the first round got under some labels.
func (h *hearing) answers(labels []string) string {
	v := h.views[0]
	var out []string
	for _, i := range v.finals(labels) {
		out = append(out, v.name(i)+": "+answerText(v.x(i)))
	}
	return strings.Join(out, "; ")
}

// labelsOf are the labels of sends that an expectation is about.
func labelsOf(e *scenarios.Expectation) []string {
	return slices.Concat(e.Same, e.Distinct, e.Refused, e.Accepted, e.Failed, e.Hidden, e.OneOf, e.Alike, e.Answered, e.Consistent)
}

// formOf is an expectation as a scenario writes it.
func formOf(e *scenarios.Expectation) string {
	name := "failed"
	switch {
	case e.Same != nil:
		name = "same"
	case e.Distinct != nil:
		name = "distinct"
	case e.Refused != nil:
		name = "refused"
	case e.Accepted != nil:
		name = "accepted"
	case e.Hidden != nil:
		name = "hidden"
	case e.OneOf != nil:
		name = "one_of"
	case e.Alike != nil:
		name = "alike"
	case e.Answered != nil:
		name = "answered"
	case e.Consistent != nil:
		name = "consistent"
	case e.Unchanged != nil:
		return "`unchanged`"
	case e.Outlives != "":
		return "`outlives: " + e.Outlives + "`"
	}
	return fmt.Sprintf("`%s: %v`", name, labelsOf(e))
}

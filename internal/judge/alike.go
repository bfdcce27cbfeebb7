package judge

import (
	"fmt"

	"retrysafe/internal/trace"
)

// alike checks that sends end alike, all with success or all with a refusal of whatever status: of two different requests
// one cannot be refused because of the other. Errors and answers from elsewhere leave it open.
func (v *view) alike(rule string, labels []string) outcome {
	var out outcome
	first := -1
	for _, i := range v.finals(labels) {
		switch v.class[i] {
		case trace.ClassSuccess, trace.ClassRefused:
		default:
			return outcome{}
		}
		if v.class[i] == trace.ClassRefused && v.credentialsRefused(i) {
			out = outcome{}
			out.gap(v.turnedAway(i))
			return out
		}
		if first < 0 {
			first = i
			continue
		}
		out.judged = true
		if v.class[i] == v.class[first] {
			continue
		}
		out.findings = merge(out.findings, []trace.Finding{v.finding(rule,
			fmt.Sprintf("%s: %s, %s: %s, though they are different requests of one kind", v.name(first), classText(v.class[first]), v.name(i), classText(v.class[i])),
			"both succeed, or both are refused", answerText(v.x(i)), first, i)})
	}
	return out
}

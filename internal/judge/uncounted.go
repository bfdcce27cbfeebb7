package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// createdByAnswers judges effects where no counter can be read: by how many different creations the success
// answers name. Too many are certain; enough are only known when every request was answered and none failed.
func (v *view) createdByAnswers(e *scenarios.Expectation, w window) outcome {
	out := outcome{uncounted: true}
	successes := v.of(trace.ClassSuccess, w.members)
	if w.n == 0 && e.Created.Since == "" {
		out.judged = v.nothingHidden(w)
		if len(successes) > 0 {
			out.judged, out.second = true, true
			out.findings = append(out.findings, v.byAnswers(e.Rule, v.subject(w)+" was answered with success", "no effect", successes))
		}
		return out
	}
	if e.Created.PerKey && len(successes) == 0 && len(v.of(trace.ClassRefused, w.members)) == len(w.members) {
		out.judged = v.nothingHidden(w) // refused, one and all
		return out
	}
	if !slices.ContainsFunc(v.learned.CreationFields, isIdentity) && len(v.learned.ResultFields) == 0 {
		return out // what differs may differ with every answer
	}
	known := creations(nil, v.identities(w.earlier))
	ids := v.identities(successes)
	named := creations(known, ids)
	if len(ids) < len(successes) {
		ids = nil // an answer that names nothing may stand for anything
	}
	switch enough := len(ids) >= 2 || len(ids) == 1 && (len(known) > 0 || v.in.onControl()); {
	case len(named) > w.n && e.Rule != "":
		out.judged, out.second = true, true
		out.findings = append(out.findings, v.byAnswers(e.Rule,
			fmt.Sprintf("%s are answered with %s, expected %d", v.subject(w), plural(len(named), "different creation"), w.n),
			plural(w.n, "creation"), successes))
	case e.Created.Since != "" && len(named) == 0 && w.n > 0 && len(ids) > 0:
		rule := e.Created.Below
		if rule == "" {
			rule = ruleNothing
		}
		out.judged = true
		out.findings = append(out.findings, v.byAnswers(rule, "success is answered and names only what was created before",
			plural(w.n, "new creation"), successes))
	default:
		out.judged = enough && v.nothingHidden(w)
	}
	return out
}

// nothingHidden reports whether no request of a window can have had an effect that no answer tells of.
func (v *view) nothingHidden(w window) bool {
	for _, i := range w.members {
		switch v.class[i] {
		case trace.ClassNone, trace.ClassFailed, trace.ClassIntermediary:
			return false
		}
	}
	return len(w.members) > 0
}

// identities are the names in some answers, or, where the work behind one is done, those in what it came to.
func (v *view) identities(among []int) []identity {
	var out []identity
	for _, i := range among {
		id := make(identity, len(v.learned.CreationFields)+len(v.learned.ResultFields))
		if v.results[i] != nil {
			copy(id[len(v.learned.CreationFields):], v.results[i])
		} else {
			copy(id, v.ids[i].onlyNames(v.learned.CreationFields))
		}
		if id.size() > 0 {
			out = append(out, id)
		}
	}
	return out
}

func (v *view) byAnswers(rule, message, expected string, successes []int) trace.Finding {
	var named []string
	for _, i := range successes {
		named = append(named, v.name(i)+": "+v.naming(i))
	}
	return v.finding(rule, message+"; no counter backs this", expected, strings.Join(named, "\n"), successes...)
}

// naming shows the creation fields of an answer.
func (v *view) naming(i int) string {
	var parts []string
	var as written
	if v.ids[i] != nil {
		as = writtenIn(v.x(i).Response)
	}
	for k, f := range v.learned.CreationFields {
		if v.ids[i] != nil && v.ids[i][k] != "" {
			parts = append(parts, f+" = "+shorten(cmp.Or(as.fields[f], v.ids[i][k][1:]), 60))
		}
	}
	for k, f := range v.learned.ResultFields {
		if v.results[i] != nil && v.results[i][k] != "" {
			parts = append(parts, "its work made "+f+" = "+shorten(v.results[i][k][1:], 60))
		}
	}
	if len(parts) == 0 {
		return answerText(v.x(i))
	}
	return strings.Join(parts, ", ")
}

package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// The rules about what an endpoint sends on.
const (
	ruleDownstream     = "downstream-key-not-stable"
	ruleDownstreamBody = "downstream-body-not-stable"
)

// shownCalls is how many calls a finding names.
const shownCalls = 6

// arrivals are what a sink got in a window for this endpoint, by the scopes that it was counted for.
func (v *view) arrivals(w window, sink string) map[string][]trace.Arrival {
	out := map[string][]trace.Arrival{}
	for _, a := range v.round.Arrivals {
		switch {
		case a.Sink != sink || !slices.ContainsFunc(a.Scopes, func(s string) bool { return !ofOther(s) }):
		case w.start != nil && a.At <= w.start.At:
		case w.until && w.end != nil && a.At > w.end.At:
		default:
			of := strings.Join(a.Scopes, " ")
			out[of] = append(out[of], a)
		}
	}
	return out
}

// arrivedAt are all arrivals at the sinks among some counters.
func (v *view) arrivedAt(w window, cs []change) []trace.Arrival {
	var out []trace.Arrival
	for _, c := range cs {
		if c.fact.Sink == nil {
			continue
		}
		for _, as := range v.arrivals(w, c.fact.Name) {
			out = append(out, as...)
		}
	}
	slices.SortFunc(out, func(a, b trace.Arrival) int { return a.ID - b.ID })
	return out
}

// idsOf are the ids of arrivals.
func idsOf(as []trace.Arrival) []int {
	var ids []int
	for _, a := range as {
		ids = append(ids, a.ID)
	}
	return ids
}

// keysText shows the keys of some calls and what became of them, in their order.
func keysText(calls []trace.Arrival) string {
	var parts []string
	for _, a := range calls[:min(len(calls), shownCalls)] {
		key := "no key"
		if a.Call.Key != "" {
			key = shorten(a.Call.Key, excerptLimit)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", key, a.Call.Outcome()))
	}
	if more := len(calls) - shownCalls; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "\nthen ")
}

// downstream finds calls of a service behind the endpoint that are not recognisable as retries of each other. explained
// are the counters whose surplus that explains. Where others rose too often as well, the endpoint itself did the work
// again, and what it sent on follows from that.
func (v *view) downstream(e *scenarios.Expectation, w window, cs []change) (found []trace.Finding, explained []string) {
	if w.n < 1 || e.Rule == "" && !v.in.onControl() || v.workedAgain(w, cs) {
		return nil, nil
	}
	for _, c := range cs {
		if c.fact.Sink == nil || c.fact.Sink.Key == "" {
			continue
		}
		if f, ok := v.freshKey(e, w, c, cs); ok {
			found = merge(found, []trace.Finding{f})
			explained = append(explained, c.fact.Name)
		} else if f, ok := v.otherBodySent(w, c); ok {
			found = merge(found, []trace.Finding{f})
		}
	}
	return found, explained
}

// workedAgain reports whether something beside the calls of services happened too often.
func (v *view) workedAgain(w window, cs []change) bool {
	return slices.ContainsFunc(cs, func(c change) bool { return (c.fact.Sink == nil || c.fact.Sink.Key == "") && c.above(w.n) })
}

// freshKey finds more operations at a service than the effects stand for. A surplus of calls that were all served is
// only told from work that was done twice where another counter shows that it was not; calls that carry no key at all
// and were all served say nothing about keys.
func (v *view) freshKey(e *scenarios.Expectation, w window, c change, cs []change) (trace.Finding, bool) {
	most := int64(w.n) * c.fact.Rise
	var calls []trace.Arrival
	n, keyed := int64(0), false
	for _, as := range v.arrivals(w, c.fact.Name) {
		n += trace.Operations(as)
		calls = append(calls, as...)
	}
	slices.SortFunc(calls, func(a, b trace.Arrival) int { return a.ID - b.ID })
	for _, a := range calls {
		keyed = keyed || a.Call != nil && a.Call.Key != ""
	}
	others := slices.ContainsFunc(cs, func(o change) bool { return o.fact.Sink == nil || o.fact.Sink.Key == "" })
	switch {
	case n <= most:
		return trace.Finding{}, false
	case c.above(w.n) && (!keyed || !others):
		return trace.Finding{}, false
	case !others && v.createdByAnswers(e, w).second:
		return trace.Finding{}, false
	}
	what := fmt.Sprintf("with %s, expected %s", plural(n, "different key"), plural(most, "key"))
	switch without := slices.ContainsFunc(calls, func(a trace.Arrival) bool { return a.Call != nil && a.Call.Key == "" }); {
	case !keyed:
		what = "none of them with a key in " + c.fact.Sink.Key
	case without:
		what = "not all of them with a key in " + c.fact.Sink.Key
	}
	f := v.finding(ruleDownstream, fmt.Sprintf("for %s, %s got %s, %s", v.subject(w), c.fact.Name, plural(len(calls), "call"), what),
		fmt.Sprintf("every attempt calls %s with the same %s", c.fact.Name, c.fact.Sink.Key), keysText(calls), v.witnesses(w)...)
	f.Arrivals = idsOf(calls)
	f.Counts = countChanges(w.n, cs)
	return f, true
}

// otherBodySent finds two calls of one operation with different bodies, where the endpoint itself got the same request
// each time.
func (v *view) otherBodySent(w window, c change) (trace.Finding, bool) {
	for of, as := range v.arrivals(w, c.fact.Name) {
		first := map[string]*trace.Arrival{}
		for i := range as {
			a := &as[i]
			if a.Call == nil || a.Call.Operation() == "" {
				continue
			}
			op := a.Call.Operation()
			if first[op] == nil {
				first[op] = a
				continue
			}
			places, differs := callsDiffer(first[op].Call, a.Call, c.fact.Sink.IgnoreJSON)
			if !differs || !v.sameRequests(w, strings.Fields(of)) {
				continue
			}
			f := v.finding(ruleDownstreamBody,
				fmt.Sprintf("for %s, %s got the same key with another body%s", v.subject(w), c.fact.Name, places),
				"a retry of a call repeats its body: "+shorten(string(first[op].Call.Request.Body.Bytes()), excerptLimit),
				shorten(string(a.Call.Request.Body.Bytes()), excerptLimit), v.witnesses(w)...)
			f.Arrivals = []int{first[op].ID, a.ID}
			return f, true
		}
	}
	return trace.Finding{}, false
}

// callsDiffer compares the bodies of two calls, as JSON where they are, and says where they differ.
func callsDiffer(a, b *trace.Call, ignore []string) (where string, differ bool) {
	one, two := a.Request.Body.Bytes(), b.Request.Body.Bytes()
	if string(one) == string(two) {
		return "", false
	}
	x, y := parseJSON(one), parseJSON(two)
	if x == nil || y == nil {
		return "", true
	}
	skip := map[string]bool{}
	selected(one, ignore, skip)
	selected(two, ignore, skip)
	places := diff(x, y, func(path, _ string) bool { return skip[path] })
	if len(places) == 0 {
		return "", false
	}
	return " at " + pathsOf(places), true
}

// sameRequests reports whether everything that was sent under some scopes had the same body.
func (v *view) sameRequests(w window, scopes []string) bool {
	var body []byte
	first := true
	for _, i := range append(w.earlier[:len(w.earlier):len(w.earlier)], w.members...) {
		x := v.x(i)
		if !slices.Contains(scopes, x.Scope) {
			continue
		}
		if !first && string(x.Request.Body.Bytes()) != string(body) {
			return false
		}
		body, first = x.Request.Body.Bytes(), false
	}
	return true
}

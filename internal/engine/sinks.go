package engine

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// received asks a sink what it got for the scopes of a question.
func (r *run) received(a ask) (trace.Value, []trace.Arrival) {
	s := a.counter.Sink
	text := s.Match.Render(a.values)
	v := trace.Value{Counter: s.Name, Source: fmt.Sprintf("sink %s://%s, what holds %s", s.Kind(), s.Address(), text)}
	log := r.Sinks.Log(s.Name)
	if log == nil {
		v.Error = "the sink does not listen"
		return v, nil
	}
	as, err := log.Read(text)
	if err != nil {
		v.Error = err.Error()
	}
	r.Redactor.Learn(as)
	v.N, v.Raw = trace.Effects(as), rawArrivals(as)
	for i := range as {
		as[i].Scopes = a.scopes
	}
	return v, as
}

// shownArrivals is how many arrivals the text of a count names.
const shownArrivals = 3

// rawArrivals shows what arrived, in one line.
func rawArrivals(as []trace.Arrival) string {
	if len(as) == 0 {
		return "nothing arrived"
	}
	var parts []string
	for i := range as[:min(len(as), shownArrivals)] {
		parts = append(parts, as[i].String())
	}
	if more := len(as) - shownArrivals; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// arrivals puts down what the sinks got so far, in place of what they had got at the look before.
func (rd *round) arrivals(found [][]trace.Arrival) {
	all := slices.Concat(found...)
	for i := range all {
		rd.e.Redactor.Arrival(&all[i])
	}
	slices.SortFunc(all, func(a, b trace.Arrival) int { return a.ID - b.ID })
	rd.t.Arrivals = all
}

// failing has the sinks fail the call that a request leads to, where the request is the one to fail and the plan says so.
// What was not called is served again once the function that it returns is called.
func (rd *round) failing(s *scenarios.Send, sc *scope) (undo func()) {
	fail := rd.e.plan.Fail
	if s.Body != scenarios.BodyFail || s.Other || fail == nil {
		return func() {}
	}
	var undoing []func()
	for _, f := range fail.Sinks {
		match := rd.e.Plan.Counters[f.Sink].Sink.Match
		if log := rd.e.Sinks.Log(f.Sink); log != nil {
			undoing = append(undoing, log.Fail(match.Render(values{scope: sc, key: sc.Key}), f.Failure))
		}
	}
	return func() {
		for _, u := range undoing {
			u()
		}
	}
}

package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
)

// operation tells apart what has an effect of its own: a key of a caller, or a letter whose requests carry none.
type operation struct{ scope, key string }

// operations are the operations of the endpoint itself that were sent among some exchanges. Requests that belong to no
// key letter are none.
func (v *view) operations(among []int) map[operation]bool {
	out := map[operation]bool{}
	for _, i := range among {
		if x := v.x(i); x.Started != 0 && !x.OtherEndpoint && !keyless(x) {
			out[operation{x.Scope, x.Key}] = true
		}
	}
	return out
}

// elsewhere reports a counter that rose by too much and cannot tell the endpoint's own effects from those of the other
// endpoint, which the script used as well.
func (v *view) elsewhere(w window, cs []change) *trace.Reason {
	if !slices.ContainsFunc(v.round.Exchanges, func(x trace.Exchange) bool { return x.OtherEndpoint && x.Started != 0 }) {
		return nil
	}
	for _, c := range cs {
		if c.shared && c.above(w.n) {
			return &trace.Reason{Code: trace.CounterNoise,
				Detail: fmt.Sprintf("%s, but counter %s counts the requests to the other endpoint as well", risesText(w.n, []change{c}), c.fact.Name),
				Enable: "counters: ask for {{marker}}, which differs between the two"}
		}
	}
	return nil
}

// unseen is a success answer to another caller than the control's whose effect no counter shows, though nothing says that
// it is a copy of somebody else's; -1 when there is none.
func (v *view) unseen(successes []int) int {
	for _, i := range successes {
		copied := slices.ContainsFunc(successes, func(j int) bool { return v.x(j).Scope != v.x(i).Scope && v.sameCreation(j, i) })
		if v.foreign(i) && !copied && !v.rose(v.x(i).Scope, 0) {
			return i
		}
	}
	return -1
}

// idleSuccess is about a request without credentials that was answered with success and had no effect.
func (v *view) idleSuccess(i int, w window, below []change) *trace.Reason {
	return &trace.Reason{Code: trace.Assumption,
		Detail: fmt.Sprintf("%s had no credentials and was answered with success, yet nothing was done for it (%s): a refusal in the clothes of a success, "+
			"or success for nothing: %s", v.name(i), risesText(w.least, below), answerText(v.x(i))),
		Enable: "answers: {refused: {json: $.error}}, or where else that answer says that it was refused"}
}

// foreign reports whether an exchange is of another caller than the control.
func (v *view) foreign(i int) bool {
	if v.in.Control == nil || len(v.in.Control.Rounds) == 0 {
		return false
	}
	x := final(&v.in.Control.Rounds[0])
	return x != nil && x.Caller != v.x(i).Caller
}

// riseOf is by how much one effect raises a counter.
func (v *view) riseOf(counter string) int64 {
	i := slices.IndexFunc(v.in.Facts.Counters, func(c trace.CounterFact) bool { return c.Name == counter })
	if i < 0 {
		return 1
	}
	return v.in.Facts.Counters[i].Rise
}

// rose reports whether a counter shows more than so many effects of one scope alone.
func (v *view) rose(scope string, effects int) bool {
	before, after := reading(v.round, trace.ReadingBefore), reading(v.round, trace.ReadingAfter)
	if before == nil || after == nil {
		return false
	}
	return slices.ContainsFunc(after.Values, func(n trace.Value) bool {
		was, ok := valueFor(before, n)
		return ok && slices.Equal(n.Scopes, []string{scope}) && n.Error == "" && was.Error == "" && n.N > was.N+int64(effects)*v.riseOf(n.Counter)
	})
}

package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// cutOffRounds is in how many rounds, with keys and connections of their own, a request must be cut off before it is told
// from an accident: a network that loses one answer in twenty does that to one request in eight thousand.
const cutOffRounds = 3

// mostCutOff bounds the rounds that are sent because in each of them something was cut off, but not the same request often enough: a copy
// that overtakes the first one on its way is treated as the first.
const mostCutOff = 3 * cutOffRounds

// LeastRounds is how many rounds the record of a case asks for, whatever its scenario says: more than one where a request
// was cut off, to tell what the endpoint does with such requests from an accident, and one more, as long as there are fewer than
// comparedRounds, where the copies met the first request in none; else 0.
func LeastRounds(in Input) int {
	counted, clean, often := 0, 0, map[place]int{}
	for i := range in.Case.Trace {
		if in.Case.Trace[i].Void != "" {
			continue
		}
		counted++
		v := &view{in: &in, round: &in.Case.Trace[i]} // what answers say plays no part
		cut := v.cutAmong(v.finals(nil))
		if len(cut) == 0 {
			clean++
		}
		for _, i := range cut {
			often[sentPlace(v.x(i))]++
		}
	}
	most := 0
	for _, n := range often {
		most = max(most, n)
	}
	switch {
	case most > 0 && clean == 0 && most < cutOffRounds:
		return min(counted+cutOffRounds-most, mostCutOff)
	case most > 0:
		return cutOffRounds
	case slices.ContainsFunc(in.Scenario.Expect, func(e scenarios.Expectation) bool { return uncompared(&in, &e) }):
		return min(counted+1, comparedRounds)
	}
	return 0
}

// cutAmong are those of some exchanges that were cut off.
func (v *view) cutAmong(among []int) []int {
	return slices.DeleteFunc(slices.Clone(among), func(i int) bool { return !v.cutOff(i) })
}

// cutOff reports whether the other side ended an exchange before its answer was complete, neither because that took too
// long nor because of anything that happened here.
func (v *view) cutOff(i int) bool {
	x := v.x(i)
	switch {
	case x.Response != nil, x.Wire == 0, x.Broke == trace.PhaseDial, x.Broke == trace.PhaseTLS, x.Broke == trace.PhaseCut:
		return false
	}
	return !timedOut(x.Error) && !strings.HasPrefix(x.Error, "stopped: ") && !v.killed(i)
}

// place is where in a script an exchange belongs: the same in every round.
type place struct {
	step, copy int
	label      string
}

func sentPlace(x *trace.Exchange) place { return place{x.Step, x.Copy, x.Label} }

// cutOffs finds the requests that are cut off again and again while others are answered. They break the rules that stand for
// failures of the server: to a client no answer is one, and it retries. Copies that are released together are left out, as a
// server may well turn some of a crowd away like that.
func (h *hearing) cutOffs() []trace.Finding {
	var out []trace.Finding
	for i := range h.in.Scenario.Expect {
		e := &h.in.Scenario.Expect[i]
		if e.Never != trace.ClassFailed || len(h.views) == 0 {
			continue
		}
		for _, k := range h.views[0].finals(e.Of) {
			at := sentPlace(h.views[0].x(k))
			cut := h.alwaysCutOff(at)
			if cut == nil {
				continue
			}
			h.judged[i] = true
			f := cut[0].cutOffFinding(e.Rule, at, len(cut), len(h.views))
			f.Seen = len(cut)
			out = merge(out, []trace.Finding{f})
			for _, v := range cut {
				v.cut = append(v.cut, at)
			}
		}
	}
	return out
}

// alwaysCutOff are the rounds in which the request at a place was cut off, enough of them: all, or in the others it was another request of
// its operation, which came to the server in its place. Nil where it was not, or that may be an accident.
func (h *hearing) alwaysCutOff(at place) []*view {
	var cut []*view
	for _, v := range h.views {
		j := v.at(at)
		if j < 0 {
			return nil
		}
		switch instead := v.cutAmong(v.finals(nil)); {
		case v.cutOff(j) && !v.crowded(j):
			cut = append(cut, v)
		case !slices.ContainsFunc(instead, func(i int) bool { return sameOperation(v.x(i), v.x(j)) && !v.crowded(i) }):
			return nil
		}
	}
	if len(cut) < cutOffRounds || !h.aliveAfter(cut[0].x(cut[0].at(at))) {
		return nil
	}
	return cut
}

// at is the last attempt at a place of the script; -1 when there is none.
func (v *view) at(p place) int {
	for _, i := range v.finals(nil) {
		if sentPlace(v.x(i)) == p {
			return i
		}
	}
	return -1
}

// crowded reports whether an exchange was released at the same time as others.
func (v *view) crowded(i int) bool {
	s := v.send(i)
	return s == nil || s.Together > 1 || s.Every > 0
}

// aliveAfter reports whether the server that cut an exchange off answered anything later, before it did so again in the
// next rounds: then it was there.
func (h *hearing) aliveAfter(cut *trace.Exchange) bool {
	host := hostOf(cut.Request.URL)
	answered := func(x trace.Exchange) bool {
		return x.Response != nil && x.Done > cut.Done && hostOf(x.Request.URL) == host
	}
	for _, v := range h.views {
		if slices.ContainsFunc(v.round.Exchanges, answered) || slices.ContainsFunc(v.round.Setup, answered) {
			return true
		}
		for _, r := range v.round.Readings {
			counted := func(n trace.Value) bool {
				_, url, _ := strings.Cut(n.Source, " ")
				return n.Error == "" && hostOf(url) == host
			}
			if r.At > cut.Done && slices.ContainsFunc(r.Values, counted) {
				return true
			}
		}
	}
	return false
}

// hostOf is the scheme and host of a URL; empty for what is none.
func hostOf(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

func (v *view) cutOffFinding(rule string, at place, cut, rounds int) trace.Finding {
	i, when := v.at(at), "each of "+plural(rounds, "round")
	if cut < rounds {
		when = fmt.Sprintf("%d of %s, and in the others another copy in its place", cut, plural(rounds, "round"))
	}
	evidence := []int{i}
	if ref := v.reference(v.labelled(nil)); ref >= 0 {
		evidence = []int{ref, i}
	}
	return v.finding(rule, fmt.Sprintf("%s was cut off without a complete answer in %s, while the server answered other requests", v.name(i), when),
		"a complete answer", answerText(v.x(i)), evidence...)
}

// cutOffReason says that a request was cut off, and not so often that it would be more than an accident.
func cutOffReason(name string, x *trace.Exchange) trace.Reason {
	return trace.Reason{Code: trace.CutOff,
		Detail: fmt.Sprintf("%s was cut off without a complete answer, though the control was answered: %s %s (%s): %s",
			name, x.Request.Method, x.Request.URL, x.Broke, x.Error)}
}

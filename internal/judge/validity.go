package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// lifetimeShare is how much of a key's lifetime a round may take: DESIGN leaves a tenth for clocks and timers
// that differ between the endpoint and this side.
const lifetimeShare = 0.9

// passOver says why a round proves nothing either way; nil when it counts.
func (v *view) passOver() *trace.Reason {
	for _, why := range []*trace.Reason{v.hookFailed(), v.tooSlow(), v.noOverlap(), v.notCut()} {
		if why != nil {
			return why
		}
	}
	return nil
}

func (v *view) hookFailed() *trace.Reason {
	for _, p := range v.round.Pauses {
		if p.Error != "" {
			return &trace.Reason{Code: trace.SetupFailed, Detail: p.What + " failed: " + shorten(p.Error, excerptLimit)}
		}
	}
	return nil
}

// tooSlow reports a round in which a key may have expired on its own.
func (v *view) tooSlow() *trace.Reason {
	life := v.in.Facts.Lifetime
	if life == 0 || len(v.round.Exchanges) == 0 {
		return nil
	}
	among, waits := v.labelled(nil), v.waitsForExpiry()
	if waits {
		among = v.beforeExpiry()
	}
	first, last := map[string]trace.Nanos{}, map[string]trace.Nanos{}
	for _, i := range among {
		x := v.x(i)
		if x.Key == "" || x.Started == 0 {
			continue
		}
		if first[x.Key] == 0 || x.Started < first[x.Key] {
			first[x.Key] = x.Started
		}
		last[x.Key] = max(last[x.Key], x.Done)
	}
	for key := range first {
		if took := last[key] - first[key]; float64(took) > lifetimeShare*float64(life) {
			return &trace.Reason{Code: trace.LifetimeExceeded,
				Detail: fmt.Sprintf("the requests of one key took %.2f s, more than 0.9 of its lifetime of %.2f s, so it may have expired meanwhile",
					took.Duration().Seconds(), life.Duration().Seconds()),
				Enable: "key_lifetime: longer, on an instance configured so"}
		}
	}
	return nil
}

// overtaken reports a round in which a copy was ahead of a request whose success the scenario relies on: that request was told
// "in progress", and a copy that was sent before that was the one that succeeded.
func (v *view) overtaken() *trace.Reason {
	for _, e := range v.in.Scenario.Assume {
		for _, i := range v.finals(nil) {
			if !slices.Contains(e.Accepted, v.x(i).Label) || v.class[i] != trace.ClassInProgress {
				continue
			}
			for _, j := range v.of(trace.ClassSuccess, v.labelled(nil)) {
				if sameKey(v.x(j), v.x(i)) && v.x(j).Started < answeredAt(v.x(i)) {
					return &trace.Reason{Code: trace.Assumption, Detail: fmt.Sprintf("%s came to the endpoint before %s, which was told %s", v.name(j), v.name(i), answerText(v.x(i)))}
				}
			}
		}
	}
	return nil
}

func (v *view) waitsForExpiry() bool {
	for _, s := range v.in.Scenario.Steps {
		if s.Wait != nil && s.Wait.Expiry > 0 {
			return true
		}
	}
	return false
}

// beforeExpiry are the exchanges that must lie within the lifetime: those of the created expectations
// with an `until`.
func (v *view) beforeExpiry() []int {
	var out []int
	for i := range v.in.Scenario.Expect {
		if c := v.in.Scenario.Expect[i].Created; c != nil && c.Until != "" {
			if w, ok := v.window(c); ok {
				out = append(out, w.members...)
			}
		}
	}
	return out
}

// noOverlap reports a round that lacks what had to be under way at the same time, where that is the point: two copies, or
// a request and the end of the process.
func (v *view) noOverlap() *trace.Reason {
	switch {
	case !v.in.Scenario.Overlap:
		return nil
	case v.in.Scenario.EndsUnderWay():
		return v.missed()
	}
	for i := range v.round.Exchanges {
		for j := range i {
			a, b := v.x(i), v.x(j)
			if sameOperation(a, b) && a.Sent != 0 && b.Sent != 0 && a.Sent < v.overAt(b) && b.Sent < v.overAt(a) {
				return nil
			}
		}
	}
	return &trace.Reason{Code: trace.NoOverlap, Detail: "no two copies were under way at the same time: each was answered before the next was sent"}
}

// notCut reports a round in which an answer came before the client could leave.
func (v *view) notCut() *trace.Reason {
	for i := range v.round.Exchanges {
		if x := v.x(i); x.Cut != nil && x.Response != nil {
			return &trace.Reason{Code: trace.NoEvidence, Detail: v.name(i) + " was answered before the client could leave, so nothing was cut: " + answerText(x)}
		}
	}
	return nil
}

// open says which sends ended without an answer of the endpoint itself. Copies of a burst that were turned away
// are no copies, and who was under way when the script ended the process is owed no answer.
func (v *view) open() []trace.Reason {
	var out []trace.Reason
	for _, i := range v.finals(nil) {
		x := v.x(i)
		switch {
		case x.Response == nil && x.Broke == trace.PhaseCut, x.Response == nil && (v.hung(i) || v.killed(i)), v.lockedOut(i):
		case v.cutOff(i) && slices.Contains(v.cut, sentPlace(x)):
		case v.cutOff(i):
			out = append(out, cutOffReason(v.name(i), x))
		case x.Response == nil:
			out = append(out, *unanswered(x))
		case v.class[i] == trace.ClassIntermediary && x.Response.Status == 503 && v.together(i):
		case v.class[i] == trace.ClassNone || v.class[i] == trace.ClassIntermediary:
			out = append(out, *intermediary(x))
		case v.class[i] == trace.ClassBusy && !v.together(i):
			out = append(out, *stillBusy(x))
		}
	}
	return out
}

// assumptions says what the scenario relies on and does not hold in this round; nil when all does.
func (v *view) assumptions() []trace.Reason {
	var out []trace.Reason
	for i := range v.in.Scenario.Assume {
		e := &v.in.Scenario.Assume[i]
		got := v.check(e, false)
		out = append(out, got.gaps...)
		for _, f := range got.findings {
			r := trace.Reason{Code: trace.Assumption, Detail: "this case relies on something that does not hold: " + f.Message + ": " + shorten(f.Actual, excerptLimit)}
			if v.freshRefused(e) {
				r.Enable = "fresh_key: returns-existing, if the body itself identifies the operation"
			}
			out = append(out, r)
		}
	}
	return out
}

// freshRefused reports whether a send with a fresh key was refused.
func (v *view) freshRefused(e *scenarios.Expectation) bool {
	for _, i := range v.finals(e.Accepted) {
		if s := v.send(i); s != nil && s.Key == scenarios.KeyFresh && v.class[i] == trace.ClassRefused {
			return true
		}
	}
	return false
}

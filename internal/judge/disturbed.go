package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
)

// brokenOnPurpose reports whether a request was sent while the script had a dependency of the endpoint fail: any 5xx is
// the endpoint's own answer then, and no sign of a busy server or of something in front of it.
func brokenOnPurpose(round *trace.Round, x *trace.Exchange) bool {
	broken := false
	for _, p := range round.Pauses {
		if p.Started >= x.Started {
			break
		}
		switch p.What {
		case "hook break":
			broken = p.Error == ""
		case "hook heal":
			broken = false
		}
	}
	return broken
}

// killed reports whether the script ended the process while a request was under way: that it got no answer is the point.
func (v *view) killed(i int) bool {
	x := v.x(i)
	return slices.ContainsFunc(v.round.Pauses, func(p trace.Pause) bool { return endsProcess(&p) && x.Started < p.Ended && x.Done > p.Started })
}

func endsProcess(p *trace.Pause) bool { return p.What == hookCrash || p.What == hookRestart }

// What the pauses of the hooks that end the process are called.
const (
	hookCrash   = "hook crash"
	hookRestart = "hook restart"
)

// missed reports a round in which a hook that ends the process, while the script has a request open, met none at work; nil
// when each met one.
func (v *view) missed() *trace.Reason {
	for k := range v.round.Pauses {
		p := &v.round.Pauses[k]
		if !endsProcess(p) || !v.in.Scenario.OpenAt(p.Step) {
			continue
		}
		if !slices.ContainsFunc(v.labelled(nil), func(i int) bool { return v.met(p, i) }) {
			return v.metNothing(p)
		}
	}
	return nil
}

// met reports whether a request was at work when a hook ended the process. That it was open when the hook began is not enough
// for a crash: the process may have answered it and died then. An orderly end may wait for the answer. Where work goes on behind
// the answer, the hook must have begun within the time that the work takes.
func (v *view) met(p *trace.Pause, i int) bool {
	x := v.x(i)
	if x.Sent == 0 || x.Sent > p.Started {
		return false
	}
	switch v.class[i] {
	case trace.ClassNone, trace.ClassIntermediary, trace.ClassFailed:
		return x.Done > p.Started
	case trace.ClassSuccess:
		if hasWork(v.in.Facts, x) {
			return p.Started < answeredAt(x)+v.learned.WorkTime && v.overAt(x) > p.Ended
		}
		return p.What == hookRestart && answeredAt(x) > p.Started
	}
	return false
}

// metNothing says when the last of the requests that the hook could have met was answered.
func (v *view) metNothing(p *trace.Pause) *trace.Reason {
	detail := p.What + " met no request at work, so nothing was interrupted"
	for _, i := range slices.Backward(v.labelled(nil)) {
		x := v.x(i)
		if x.Response == nil || x.Sent == 0 || x.Sent > p.Started {
			continue
		}
		took := func(d trace.Nanos) string { return fmt.Sprintf("%.1f ms", d.Duration().Seconds()*1e3) }
		when := took(p.Started-answeredAt(x)) + " before the hook began"
		if after := answeredAt(x) - p.Started; after > 0 {
			when = took(after) + " after the hook began, when the process was still there"
		}
		detail += fmt.Sprintf(": %s was answered with %d %s after it was sent, %s", v.name(i), x.Response.Status, took(answeredAt(x)-x.Sent), when)
		break
	}
	return &trace.Reason{Code: trace.NoOverlap, Detail: detail + "; let the hook end the process at once (kill -9), or the endpoint work longer"}
}

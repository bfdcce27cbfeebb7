package judge

import (
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
	return slices.ContainsFunc(v.round.Pauses, func(p trace.Pause) bool {
		return (p.What == "hook crash" || p.What == "hook restart") && x.Started < p.Ended && x.Done > p.Started
	})
}

package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// longRun is how long a run takes of which everybody is told where the time went.
const longRun = 10 * time.Second

// slowest is how many cases the report names when it says where the time went.
const slowest = 3

// whereTimeWent names what took longest, and what scripts and hooks waited in all. Cases overlap, so the sums can exceed
// the time of the run. Empty for a run in which no case took time.
func whereTimeWent(run *trace.Run) string {
	var cases []taken
	var waits, hooks time.Duration
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for j := range ep.Cases {
			c := &ep.Cases[j]
			if c.Ended == 0 || c.OnControl {
				continue
			}
			cases = append(cases, taken{ep.Name + " " + c.Scenario, (c.Ended - c.Started).Duration()})
			for _, r := range c.Trace {
				w, h := paused(r.Pauses)
				waits, hooks = waits+w, hooks+h
			}
		}
	}
	if len(cases) == 0 {
		return ""
	}
	text := "longest: " + longest(cases)
	if endpoints := slowestEndpoints(run); endpoints != "" {
		text = "longest endpoints: " + endpoints + "; longest cases: " + longest(cases)
	}
	if waits > 0 {
		text += "; scripts waited " + span(waits) + " in all, side by side"
	}
	if hooks > 0 {
		text += ", hooks took " + span(hooks)
	}
	return text
}

// taken is something that took time.
type taken struct {
	name string
	took time.Duration
}

// longest names what took longest.
func longest(all []taken) string {
	slices.SortStableFunc(all, func(a, b taken) int { return int(b.took - a.took) })
	var names []string
	for _, t := range all[:min(slowest, len(all))] {
		names = append(names, fmt.Sprintf("%s %s", oneLine(t.name), span(t.took)))
	}
	return strings.Join(names, ", ")
}

// paused are the sums of the waits and of the hooks.
func paused(pauses []trace.Pause) (waits, hooks time.Duration) {
	for _, p := range pauses {
		switch took := (p.Ended - p.Started).Duration(); {
		case strings.HasPrefix(p.What, "wait"):
			waits += took
		case strings.HasPrefix(p.What, "hook"):
			hooks += took
		}
	}
	return waits, hooks
}

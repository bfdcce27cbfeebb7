package judge

import (
	"fmt"
	"time"

	"retrysafe/internal/trace"
)

// leastHandling is the shortest time that an endpoint must take for copies to be sent, or the process to be ended, while a
// first request runs: several times what timers and processors need to get a request on its way (up to 1.2 ms in an idle
// process). Below it the copies would meet the first one in one run and miss it in the next; above it a round in which they
// missed it is repeated.
const leastHandling = trace.Nanos(5 * time.Millisecond)

// Unsuited says why a script can prove nothing on an endpoint, by what was measured there: it answers too quickly for what
// the script does while a request runs. Nil when it can. The shortest time counts, since a machine that is busy makes
// requests longer and never shorter; without Input.Case that of the control, else that of the case too.
func Unsuited(in Input) *trace.Reason {
	if !in.Scenario.Overlap || !in.Scenario.WaitsWithin() || in.Control == nil {
		return nil
	}
	took := shortest(in.Control.Rounds, shortest(in.Control.Variants, 0))
	if in.Case != nil {
		took = shortest(in.Case.Trace, took)
	}
	if work := in.Control.Learned.WorkTime; work > 0 {
		took = work // the first one runs until its work is done, however soon it is answered
	}
	if took == 0 || took >= leastHandling {
		return nil
	}
	untimed := "no copy can be timed to arrive while it runs, so copies at the same instant have to do"
	if in.Scenario.EndsUnderWay() {
		untimed = "the end of the process cannot be timed to meet it at work, so nothing would be interrupted"
	}
	return &trace.Reason{Code: trace.NotApplicable, Detail: fmt.Sprintf("a first request was answered in %.1f ms: below %.0f ms %s",
		took.Duration().Seconds()*1e3, leastHandling.Duration().Seconds()*1e3, untimed)}
}

// shortest is the shorter of least, unless that is 0, and of the times that the first request of each round took from its
// first byte to the answer: that its last one was sent may be noticed late on a busy machine. What came behind it may have been
// a replay.
func shortest(rounds []trace.Round, least trace.Nanos) trace.Nanos {
	for i := range rounds {
		if len(rounds[i].Exchanges) == 0 {
			continue
		}
		x := &rounds[i].Exchanges[0]
		if x.Class != trace.ClassSuccess || x.FirstByte <= x.Started {
			continue
		}
		if took := x.FirstByte - x.Started; least == 0 || took < least {
			least = took
		}
	}
	return least
}

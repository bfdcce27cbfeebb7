package engine

import (
	"slices"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Effort is how hard a run looks: how often adaptive scenarios are repeated and with how many copies, which
// scenarios are left out, and how many requests one endpoint may get. The zero value is not valid; see Efforts.
type Effort struct {
	Name string
	// About is one line for people.
	About string
	// Stages are the rounds of adaptive scenarios, in order.
	Stages []Stage
	// Quick leaves out scenarios that wait for a key to expire.
	Quick bool
	// Late is the least time between the last request and the last look at the counters.
	Late time.Duration
	// Budget is the most requests to one endpoint and its set-up when the user does not say: about half as many again
	// as the whole catalogue sends to the endpoint of the shop that needs a set-up (372, 524 and 1,192).
	Budget int
}

// Stage is a number of rounds in which the script's `together` is multiplied by Factor: few copies first,
// because most races need only two, then many, because some need the luck of the second.
type Stage struct {
	Rounds, Factor int
}

// Efforts are the levels, least first. Twelve rounds of five copies find an I/O window of 20 us with a probability of
// at least .999 on loopback; twenty copies find short CPU windows, and windows behind a network that jitters,
// where five seldom do.
func Efforts() []Effort {
	return []Effort{
		{Name: "smoke", About: "for a pull request: 4 rounds, no waiting for expiry", Stages: []Stage{{4, 1}}, Quick: true, Late: 500 * time.Millisecond, Budget: 600},
		{Name: "standard", About: "for every night: 12 rounds, then 4 with four times the copies", Stages: []Stage{{12, 1}, {4, 4}}, Late: 2 * time.Second, Budget: 900},
		{Name: "deep", About: "for an audit: 20 rounds, 20 with four times the copies, 5 with ten times", Stages: []Stage{{20, 1}, {20, 4}, {5, 10}}, Late: 5 * time.Second, Budget: 2000},
	}
}

// FindEffort gives a level by name.
func FindEffort(name string) (Effort, bool) {
	i := slices.IndexFunc(Efforts(), func(e Effort) bool { return e.Name == name })
	if i < 0 {
		return Effort{}, false
	}
	return Efforts()[i], true
}

// rounds is how often a script runs when nothing is violated.
func (e Effort) rounds(s *scenarios.Scenario) int {
	if !s.Adaptive {
		return s.Rounds
	}
	n := 0
	for _, st := range e.Stages {
		n += st.Rounds
	}
	return n
}

// script is the scenario as it runs in a round, counted from 1: adaptive ones with the copies of its stage.
func (e Effort) script(s *scenarios.Scenario, round int) *scenarios.Scenario {
	factor := e.factor(round)
	if !s.Adaptive || factor == 1 {
		return s
	}
	more := *s
	more.Steps = slices.Clone(s.Steps)
	for i := range more.Steps {
		if send := more.Steps[i].Send; send != nil && send.Together > 1 {
			copied := *send
			copied.Together *= factor
			more.Steps[i].Send = &copied
		}
	}
	return &more
}

func (e Effort) factor(round int) int {
	for _, st := range e.Stages {
		if round <= st.Rounds {
			return st.Factor
		}
		round -= st.Rounds
	}
	return e.Stages[len(e.Stages)-1].Factor
}

// leavesOut says that a scenario is not for this level; nil when it is.
func (e Effort) leavesOut(s *scenarios.Scenario) *trace.Reason {
	waits := slices.ContainsFunc(s.Steps, func(st scenarios.Step) bool { return st.Wait != nil && st.Wait.Expiry > 0 })
	if !e.Quick || !waits {
		return nil
	}
	return &trace.Reason{Code: trace.LeftOut, Detail: "effort " + e.Name + " leaves out what waits for a key to expire", Enable: "--effort standard"}
}

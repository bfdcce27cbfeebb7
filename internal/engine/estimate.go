package engine

import (
	"time"

	"retrysafe/internal/plan"
	"retrysafe/scenarios"
)

// Estimate is the worst case of what a run does to one endpoint, when nothing has to be sent again because
// the endpoint was busy or in progress.
type Estimate struct {
	Endpoint string
	// Requests is how many requests are sent, set-up included.
	Requests int
	// Creations is how many effects the endpoint has when it deduplicates nothing.
	Creations int
	// Waits is how long scenarios wait by their script.
	Waits time.Duration
	// Scenarios are the ones that would run.
	Scenarios []string
}

// EstimateRun gives the worst case for each endpoint. Nothing is sent.
func EstimateRun(p *plan.Plan, endpoints []plan.Endpoint, control *scenarios.Scenario, list []*scenarios.Scenario, effort Effort) []Estimate {
	out := make([]Estimate, len(endpoints))
	for i := range endpoints {
		ep, e := &endpoints[i], &out[i]
		e.Endpoint = ep.Name
		otherBody := false
		for _, s := range list {
			if Unmet(p, ep, s, effort) != nil {
				continue
			}
			e.Scenarios = append(e.Scenarios, s.ID)
			otherBody = otherBody || s.UsesBody(scenarios.BodyOther)
			if !s.Control {
				e.add(p, ep, s, effort)
			}
		}
		if len(e.Scenarios) > 0 {
			e.add(p, ep, control, effort)
		}
		if otherBody {
			e.addRounds(ep, control, 1)
		}
	}
	return out
}

func (e *Estimate) add(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario, effort Effort) {
	for round := range effort.rounds(s) {
		e.addRounds(ep, effort.script(s, round+1), 1)
	}
	for _, st := range s.Steps {
		if st.Wait == nil {
			continue
		}
		e.Waits += st.Wait.For
		if !hasHook(p, "expire") {
			e.Waits += time.Duration(st.Wait.Expiry * float64(ep.KeyLifetime))
		}
	}
}

func (e *Estimate) addRounds(ep *plan.Endpoint, s *scenarios.Scenario, rounds int) {
	e.Requests += rounds * (s.Requests() + len(ep.Setup)*max(1, len(s.Letters())))
	e.Creations += rounds * s.Requests()
}

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
func EstimateRun(p *plan.Plan, endpoints []plan.Endpoint, control *scenarios.Scenario, list []*scenarios.Scenario, effort Effort, disruptive bool) []Estimate {
	out := make([]Estimate, len(endpoints))
	for i := range endpoints {
		ep, e := &endpoints[i], &out[i]
		e.Endpoint = ep.Name
		bodies := map[string]bool{}
		for _, s := range list {
			if Unmet(p, ep, s, effort, disruptive) != nil {
				continue
			}
			e.Scenarios = append(e.Scenarios, s.ID)
			for _, body := range triedBodies() {
				bodies[body] = bodies[body] || s.UsesBody(body)
			}
			for _, body := range scenarios.NestedBodies(len(ep.Nested)) {
				bodies[body] = bodies[body] || s.UsesBody(scenarios.BodyNested)
			}
			if !s.Control {
				e.add(p, ep, s, effort)
			}
		}
		if len(e.Scenarios) > 0 {
			e.add(p, ep, control, effort)
		}
		for _, used := range bodies {
			if used {
				e.addRounds(p, ep, control, 1)
			}
		}
	}
	return out
}

func (e *Estimate) add(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario, effort Effort) {
	for round := range effort.rounds(s) {
		e.addRounds(p, ep, effort.script(s, round+1), 1)
	}
	for _, st := range s.Steps {
		if st.Wait == nil {
			continue
		}
		e.Waits += st.Wait.For
		if expiry := time.Duration(st.Wait.Expiry * float64(ep.KeyLifetime)); expiry <= p.Limits.Wait {
			e.Waits += expiry
		}
	}
}

func (e *Estimate) addRounds(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario, rounds int) {
	e.Requests += rounds * requests(p, ep, s)
	e.Creations += rounds * sends(ep, s)
}

// sends is how many requests a round of the script sends to endpoints when nothing has to be repeated.
func sends(ep *plan.Endpoint, s *scenarios.Scenario) int {
	n := s.Requests()
	for _, send := range s.Sends() {
		if send.Body == scenarios.BodyNested {
			n += len(ep.Nested) - 1
		}
	}
	return n
}

// requests is how many requests a round of the script sends when nothing has to be repeated, set-up included.
func requests(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario) int {
	n, own := sends(ep, s), 0
	for _, use := range s.Scopes() {
		if !use.Other {
			own++
			continue
		}
		for i := range p.Endpoints {
			if p.Endpoints[i].Name == ep.OtherEndpoint {
				n += len(p.Endpoints[i].Setup)
			}
		}
	}
	return n + len(ep.Setup)*max(1, own)
}

package draft

import "slices"

// Select makes these the endpoints of the draft, and drops counters and states that none of them needs.
func (d *Draft) Select(endpoints []Endpoint) {
	d.Endpoints = endpoints
	d.Counters = slices.DeleteFunc(slices.Clone(d.Counters), func(c Counter) bool {
		return !slices.ContainsFunc(endpoints, func(e Endpoint) bool { return slices.Contains(e.Counters, c.Name) })
	})
	d.States = slices.DeleteFunc(slices.Clone(d.States), func(s State) bool {
		return !slices.ContainsFunc(endpoints, func(e Endpoint) bool { return slices.Contains(e.States, s.Name) })
	})
}

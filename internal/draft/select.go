package draft

import "slices"

// Select makes these the endpoints of the draft, and drops counters that none of them needs.
func (d *Draft) Select(endpoints []Endpoint) {
	d.Endpoints = endpoints
	d.Counters = slices.DeleteFunc(slices.Clone(d.Counters), func(c Counter) bool {
		return !slices.ContainsFunc(endpoints, func(e Endpoint) bool { return slices.Contains(e.Counters, c.Name) })
	})
}

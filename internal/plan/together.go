package plan

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Together makes plans those of one run, in their order: they get numbers, and names that several have are qualified by the path of the
// plan, such as "shop.yaml: create order". A single plan stays as it is.
func Together(plans []*Plan) {
	if len(plans) < 2 {
		return
	}
	times := map[string]int{}
	for _, p := range plans {
		for i := range p.Endpoints {
			times[p.Endpoints[i].Name]++
		}
	}
	before := 0
	for n, p := range plans {
		p.Number, p.Before = n+1, before
		before += len(p.Endpoints)
		qualified := func(name string) string {
			if times[name] < 2 {
				return name
			}
			return fmt.Sprintf("%s: %s", filepath.ToSlash(filepath.Clean(p.File)), name)
		}
		for i := range p.Endpoints {
			e := &p.Endpoints[i]
			if name := qualified(e.Name); name != e.Name {
				e.Name, e.Named = name, e.Name
			}
			if e.OtherEndpoint != "" {
				e.OtherEndpoint = qualified(e.OtherEndpoint)
			}
		}
	}
}

// Shard is the i-th of n parts of some endpoints of plans, counted from 1, in their order, plan by plan. Every endpoint is in one part;
// which one follows from the plans and the endpoints alone. Endpoints whose counts or states would disturb each other stay together. An
// error says that there are not enough of those that do not for every part to get one.
func Shard(plans []*Plan, endpoints [][]Endpoint, i, n int) ([][]Endpoint, error) {
	var all []placed
	for k, list := range endpoints {
		for e := range list {
			all = append(all, placed{plans[k], k, &list[e]})
		}
	}
	groups := together(all)
	if len(groups) < n {
		return nil, fmt.Errorf("expected at most %d, found %d: so many groups of endpoints can be tested apart, and a shard with none would prove nothing", len(groups), n)
	}
	sizes, mine := make([]int, n), []int{}
	for _, group := range groups {
		least := slices.Index(sizes, slices.Min(sizes))
		sizes[least] += len(group)
		if least == i-1 {
			mine = append(mine, group...)
		}
	}
	slices.Sort(mine)
	out := make([][]Endpoint, len(endpoints))
	for _, at := range mine {
		out[all[at].at] = append(out[all[at].at], *all[at].endpoint)
	}
	return out, nil
}

// placed is an endpoint with its plan, and that plan's place.
type placed struct {
	plan     *Plan
	at       int
	endpoint *Endpoint
}

// disturb reports whether what one endpoint does may move what is read for the other. Of two plans that is so on one target where both
// count without a marker: that two counters of two plans are not the same one is not known.
func disturb(a, b placed) bool {
	if a.plan == b.plan {
		return a.plan.disturb(a.endpoint, b.endpoint)
	}
	return a.plan.Target == b.plan.Target && a.plan.unmarked(a.endpoint) && b.plan.unmarked(b.endpoint)
}

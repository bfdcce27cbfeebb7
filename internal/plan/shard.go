package plan

import "slices"

// Shard is the function Shard for one plan.
func (p *Plan) Shard(endpoints []Endpoint, i, n int) ([]Endpoint, error) {
	mine, err := Shard([]*Plan{p}, [][]Endpoint{endpoints}, i, n)
	if err != nil {
		return nil, err
	}
	return mine[0], nil
}

// together groups endpoints, by their indices, that would disturb each other if they were tested at the same time from two
// places, in the order of the first of each.
func together(endpoints []placed) [][]int {
	group := make([]int, len(endpoints)) // the index of the first endpoint of the group
	for i := range endpoints {
		group[i] = i
		for k := range i {
			if group[k] != group[i] && disturb(endpoints[i], endpoints[k]) {
				join(group, group[k], group[i])
			}
		}
	}
	var out [][]int
	at := map[int]int{}
	for i, first := range group {
		if _, known := at[first]; !known {
			at[first] = len(out)
			out = append(out, nil)
		}
		out[at[first]] = append(out[at[first]], i)
	}
	return out
}

// join makes two groups one.
func join(group []int, a, b int) {
	for i := range group {
		if group[i] == a || group[i] == b {
			group[i] = min(a, b)
		}
	}
}

// disturb reports whether what one endpoint does may move what is read for the other: a counter without a marker that both have, or that
// one has whose requests go to the other too, or a state that both have.
func (p *Plan) disturb(a, b *Endpoint) bool {
	for _, rise := range a.Counters {
		shared := slices.ContainsFunc(b.Counters, func(r CounterRise) bool { return r.Name == rise.Name })
		if shared && !p.Counters[rise.Name].Marked {
			return true
		}
	}
	linked := a.OtherEndpoint == b.Name || b.OtherEndpoint == a.Name
	if linked && (p.unmarked(a) || p.unmarked(b)) {
		return true
	}
	return slices.ContainsFunc(a.States, func(name string) bool {
		return slices.Contains(b.States, name) && !p.States[name].marked()
	})
}

// unmarked reports whether an endpoint has a counter without a marker.
func (p *Plan) unmarked(e *Endpoint) bool {
	return slices.ContainsFunc(e.Counters, func(r CounterRise) bool { return !p.Counters[r.Name].Marked })
}

// marked reports whether the state is another one for each marker, key or capture.
func (s State) marked() bool { return slices.ContainsFunc(s.templates(), Template.marked) }

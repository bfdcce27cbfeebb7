package judge

import "slices"

// cover finds the smallest choice of sets that together hold everything that any of them holds.
type cover struct {
	sets []set
	best []int
}

// set holds items, by number, under a rank: the lower, the better.
type set struct {
	rank  int
	items []int
}

// add offers a set; an empty one is no use. Ranks must rise.
func (c *cover) add(rank int, items []int) {
	if len(items) > 0 {
		c.sets = append(c.sets, set{rank, items})
	}
}

// fewest is the choice, as sorted ranks: the fewest sets, and of choices as small the one with the lowest ranks, compared from
// the first on. Items are numbered from 0 up to n; those in no set are left out.
func (c *cover) fewest(n int) []int {
	open := make([]bool, n)
	for _, s := range c.sets {
		for _, i := range s.items {
			open[i] = true
		}
	}
	c.best = nil
	c.choose(nil, open)
	return c.best
}

// choose tries every set for the open item that the fewest sets hold, so that what has no alternative is chosen first.
func (c *cover) choose(chosen []int, open []bool) {
	holders := c.hardest(open)
	if len(holders) == 0 {
		sorted := slices.Sorted(slices.Values(chosen))
		if c.best == nil || len(sorted) < len(c.best) || len(sorted) == len(c.best) && slices.Compare(sorted, c.best) < 0 {
			c.best = sorted
		}
		return
	}
	if c.best != nil && len(chosen) >= len(c.best) {
		return
	}
	for _, s := range holders {
		rest := slices.Clone(open)
		for _, i := range s.items {
			rest[i] = false
		}
		c.choose(append(slices.Clone(chosen), s.rank), rest)
	}
}

// hardest are the sets that hold the open item with the fewest of them; none when nothing is open.
func (c *cover) hardest(open []bool) []set {
	var least []set
	for i := range open {
		if !open[i] {
			continue
		}
		var holders []set
		for _, s := range c.sets {
			if slices.Contains(s.items, i) {
				holders = append(holders, s)
			}
		}
		if least == nil || len(holders) < len(least) {
			least = holders
		}
	}
	return least
}

package judge

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCover(t *testing.T) {
	for _, tt := range []struct {
		reason string
		sets   [][]int
		want   []int
	}{
		{"nothing to explain", nil, nil},
		{"an empty set is no use", [][]int{{}, {0}}, []int{1}},
		{"one that holds all", [][]int{{0}, {1}, {0, 1}}, []int{2}},
		{"as few, so the first", [][]int{{0, 1}, {0, 1}}, []int{0}},
		{"two that need each other", [][]int{{0}, {1}}, []int{0, 1}},
		{"the greedy choice of the largest takes three", [][]int{{0, 1, 2, 3}, {0, 1, 4}, {2, 3, 5}}, []int{1, 2}},
		{"of two pairs the one that begins lower", [][]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}}, []int{0, 1}},
	} {
		var c cover
		for rank, items := range tt.sets {
			c.add(rank, items)
		}
		if got := c.fewest(6); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.reason, got, tt.want)
		}
	}
}

// TestCoverIsTheFewest compares with trying every choice.
func TestCoverIsTheFewest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		const items, sets = 6, 8
		var masks [sets]int
		var c cover
		all := 0
		for rank := range masks {
			var held []int
			for i := range items {
				if r.IntN(3) == 0 {
					held = append(held, i)
					masks[rank] |= 1 << i
				}
			}
			all |= masks[rank]
			c.add(rank, held)
		}
		var want []int
		for choice := range 1 << sets {
			var ranks []int
			held := 0
			for rank := range masks {
				if choice&(1<<rank) != 0 {
					ranks, held = append(ranks, rank), held|masks[rank]
				}
			}
			if held == all && (choice == 0 || want == nil || len(ranks) < len(want) ||
				len(ranks) == len(want) && slices.Compare(ranks, want) < 0) {
				want = ranks
			}
			if all == 0 {
				break
			}
		}
		if got := c.fewest(items); !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", masks, got, want)
		}
	}
}

package trace

import "testing"

func TestAnswerDeviation(t *testing.T) {
	for _, c := range []struct {
		at     []Nanos
		want   Nanos
		reason string
	}{
		{nil, 0, "nothing"},
		{[]Nanos{5, 9}, 0, "two are too few"},
		{[]Nanos{100, 0, 104, 102}, 2, "one without an answer"},
		{[]Nanos{100, 101, 102, 103, 20000}, 1, "the one that did the work does not count"},
		{[]Nanos{100, 2000, 4000, 6000, 8000}, 2000, "a network jitters"},
	} {
		var xs []Exchange
		for _, at := range c.at {
			xs = append(xs, Exchange{FirstByte: at})
		}
		if got := AnswerDeviation(xs); got != c.want {
			t.Errorf("%s: got %d, want %d", c.reason, got, c.want)
		}
	}
}

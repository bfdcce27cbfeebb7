package engine

import (
	"context"

	"retrysafe/scenarios"
)

// pay waits until n requests may be sent to the host of a URL, so that they need not wait when their moment has come.
func (rd *round) pay(ctx context.Context, to string, n int) {
	if rd.paid < n {
		rd.e.Client.Pace(ctx, to, n-rd.paid)
		rd.paid = n
	}
}

// takePaid reports whether the next request was waited for already.
func (rd *round) takePaid() bool {
	if rd.paid == 0 {
		return false
	}
	rd.paid--
	return true
}

// beforeJoin is how many requests the script sends while the open one of that label and step is under way.
func (rd *round) beforeJoin(step int, label string) int {
	n := 0
	for i := step + 1; i < len(rd.s.Steps) && rd.s.Steps[i].Join != label; i++ {
		n += sent(&rd.s.Steps[i])
	}
	return n
}

// sent is how many requests a step sends when none has to be repeated.
func sent(st *scenarios.Step) int {
	if st.Send == nil {
		return len(st.Volley)
	}
	return max(1, st.Send.Times, st.Send.Together)
}

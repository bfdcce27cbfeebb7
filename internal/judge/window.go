package judge

import (
	"math"
	"math/rand/v2"
	"slices"

	"retrysafe/internal/trace"
)

const (
	// certainty is the probability with which a stated window would have been seen.
	certainty = 0.99
	// dispatch is the mean time in us that a server on two cores takes from the first of five simultaneous
	// arrivals to its second handler: with it the model finds windows of 188, 261 and 693 us in .76, .87 and .99 of the
	// rounds, where .76 to .93, .97 to .99 and 1 were measured over loopback. It says rather too little.
	dispatch = 130.0
	// dispatchCopies is the number of copies that dispatch was measured with; more copies shorten the time with
	// the square root of their number, as measured with 20 of them.
	dispatchCopies = 5
	// delayRange is the range of one way's delay as a multiple of the mean deviation of the round trip: of two
	// delays, each equally likely between 0 and L, the sum deviates by L/3 from its median.
	delayRange = 3.0
	// draws is how often the arrival of each burst is drawn; the share of draws is exact to about .03.
	draws = 400
	// windowMost is the widest window that is ever stated: beyond it the copies did not overlap in any useful sense.
	windowMost = 10e6
)

// DetectableWindow gives the race window, in us, that bursts together would have shown with a probability of 99 %:
// the time between a check and the insert behind it, during which the server goes on with other requests. A race shows when a second
// copy checks within the window of the first one's check, so the first gap between arrivals decides. What
// arrives when is drawn from the measured release, the jitter of the connections (copies on one connection
// share it) and the time that a server needs to start handlers. 0 without a burst of two copies or more.
func DetectableWindow(bursts []trace.Burst) float64 {
	var gaps [][]float64
	for i := range bursts {
		if len(bursts[i].Release) > 1 {
			gaps = append(gaps, firstGaps(&bursts[i], uint64(i)))
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	low, high := 0.0, windowMost
	for high-low > 0.5 {
		if mid := (low + high) / 2; missed(gaps, mid) <= 1-certainty {
			high = mid
		} else {
			low = mid
		}
	}
	return roundUp(high)
}

// DetectionRate is the mean probability with which one of the bursts shows a race window of that many us: what
// DetectableWindow counts with, to be held against what a server with a known window really shows.
func DetectionRate(bursts []trace.Burst, windowUS float64) float64 {
	sum, n := 0.0, 0
	for i := range bursts {
		if len(bursts[i].Release) > 1 {
			sum += 1 - missed([][]float64{firstGaps(&bursts[i], uint64(i))}, windowUS)
			n++
		}
	}
	return sum / max(1, float64(n))
}

// missed is the probability that none of the bursts shows a window.
func missed(gaps [][]float64, window float64) float64 {
	p := 1.0
	for _, g := range gaps {
		n, _ := slices.BinarySearch(g, window)
		p *= 1 - float64(n)/float64(len(g))
	}
	return p
}

// firstGaps draws the times between the first and the second check at the server, sorted, in us.
func firstGaps(b *trace.Burst, seed uint64) []float64 {
	rnd := rand.New(rand.NewPCG(seed, 0)) // the same record is always judged the same
	alone := float64(b.Connections) / float64(len(b.Release))
	delay := delayRange * b.Jitter.Micros()
	server := dispatch * math.Sqrt(float64(dispatchCopies-1)/float64(len(b.Release)-1))
	out := make([]float64, draws)
	at := make([]float64, len(b.Release))
	for d := range out {
		shared := delay * rnd.Float64()
		for i, r := range b.Release {
			at[i] = (r - b.Release[0]).Micros() + shared
			if rnd.Float64() < alone {
				at[i] += delay*rnd.Float64() - shared
			}
		}
		slices.Sort(at)
		out[d] = at[1] - at[0] + server*rnd.ExpFloat64()
	}
	slices.Sort(out)
	return out
}

// roundUp gives two digits, so that nobody reads more into the number.
func roundUp(us float64) float64 {
	if us <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(us))-1)
	return math.Ceil(us/unit-1e-9) * unit
}

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
	// dispatch is the mean time in us that a server on two cores takes from the first of several simultaneous
	// arrivals to its second handler, however many there are; one that waits for the second copy starts it at once. With
	// it the model finds windows of 64, 158 and 557 us in .46, .93 and 1 of the rounds over HTTP/1.1, where .60, 1 and 1
	// were measured over loopback, and in .69, .94 and 1 over HTTP/2, where .98, 1 and 1 were measured (go run
	// ./internal/bench). It says rather too little.
	dispatch = 55.0
	// delayRange is the range of one way's delay as a multiple of the mean deviation of the round trip: of two
	// delays, each equally likely between 0 and L, the sum deviates by L/3 from its median.
	delayRange = 3.0
	// near is the median round trip in us below which a server is on this machine or beside it: what its connections
	// take longer or shorter to be made is then the work of processors, not of a network, and says nothing about
	// the release. Over loopback 0.4 to 2 ms were measured for five to twenty TLS connections at once.
	near = 2000.0
	// answersApart is the median deviation in us of the answers to simultaneous copies from which on a network must be
	// in between: over loopback 20 to 300 us were measured. A server that works its copies off one after the other looks the
	// same, and then too little is said.
	answersApart = 500.0
	// answerRange is the range of one way's delay as a multiple of that deviation: of one delay, each equally likely
	// between 0 and L, it is L/4, of two L/3.4. More is taken, to claim less: with it, 0.5 to 1.05 times what was measured
	// through a network of 0 to 5 ms is predicted over HTTP/1.1, with 5 up to 1.13 times.
	answerRange = 5.5
	// draws is how often the arrival of each burst is drawn; the share of draws is exact to about .03.
	draws = 400
	// windowLeast is the narrowest window in us that is ever stated: about as much lies between two handler starts on two
	// cores whatever the client does, so narrower ones were never measured.
	windowLeast = 20.0
	// windowMost is the widest window that is ever stated: beyond it the copies did not overlap in any useful sense.
	windowMost = 10e6
)

// DetectableWindow gives the race window, in us, that bursts together would have shown with a probability of 99 %:
// the time between a check and the insert behind it, during which the server goes on with other requests. A race shows when a second
// copy checks within the window of the first one's check, so the first gap between arrivals decides. What
// arrives when is drawn from the measured release, the jitter of the connections (copies on one connection
// share it) and the time that a server needs to start handlers. 0 without a burst of two copies or more.
func DetectableWindow(bursts []trace.Burst) float64 {
	gaps := allGaps(bursts)
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
	return roundUp(max(high, windowLeast))
}

// DetectionRate is the mean probability with which one of the bursts shows a race window of that many us: what
// DetectableWindow counts with, to be held against what a server with a known window really shows.
func DetectionRate(bursts []trace.Burst, windowUS float64) float64 {
	gaps := allGaps(bursts)
	sum := 0.0
	for i := range gaps {
		sum += 1 - missed(gaps[i:i+1], windowUS)
	}
	return sum / max(1, float64(len(gaps)))
}

// allGaps draws the first gaps of every burst of two copies or more.
func allGaps(bursts []trace.Burst) [][]float64 {
	nearest := math.Inf(1)
	for i := range bursts {
		if rtt := bursts[i].RTT.Micros(); rtt > 0 {
			nearest = min(nearest, rtt)
		}
	}
	apart := answerRange * medianDeviation(bursts)
	if apart < answerRange*answersApart {
		apart = 0
	}
	var gaps [][]float64
	for i := range bursts {
		if len(bursts[i].Release) < 2 {
			continue
		}
		delay := apart
		if nearest >= near {
			delay = max(delay, delayRange*bursts[i].Jitter.Micros())
		}
		gaps = append(gaps, firstGaps(&bursts[i], delay, uint64(i)))
	}
	return gaps
}

// medianDeviation is the median over the bursts of how far apart their answers began, in us.
func medianDeviation(bursts []trace.Burst) float64 {
	var all []float64
	for i := range bursts {
		if d := bursts[i].AnswerDeviation; d > 0 {
			all = append(all, d.Micros())
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
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

// firstGaps draws the times between the first and the second check at the server, sorted, in us; delay is the range of
// one way's delay in us.
func firstGaps(b *trace.Burst, delay float64, seed uint64) []float64 {
	rnd := rand.New(rand.NewPCG(seed, 0)) // the same record is always judged the same
	alone := float64(b.Connections-1) / float64(len(b.Release)-1)
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
		out[d] = max(at[1]-at[0], dispatch*rnd.ExpFloat64()) // a server that waits for the second copy starts it at once
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

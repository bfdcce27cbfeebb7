package main

import (
	"math"
	"slices"
)

// quantile gives the value below which the share q of the values lies, 0 for none. It sorts them.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// rate is how often something was found.
type rate struct{ found, of int }

// share is 0 when there was nothing to find.
func (r rate) share() float64 { return float64(r.found) / float64(max(1, r.of)) }

// z95 is the normal quantile of a two-sided interval of 95 %.
const z95 = 1.959964

// interval is the Wilson score interval of 95 %, 0 to 1 when nothing was tried.
func (r rate) interval() (low, high float64) {
	if r.of == 0 {
		return 0, 1
	}
	n, p := float64(r.of), r.share()
	middle := p + z95*z95/(2*n)
	half := z95 * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	scale := 1 + z95*z95/n
	return max(0, (middle-half)/scale), min(1, (middle+half)/scale)
}

// below reports whether the interval lies wholly under that of other.
func (r rate) below(other rate) bool {
	_, high := r.interval()
	low, _ := other.interval()
	return high < low
}

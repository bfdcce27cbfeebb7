package trace

import "slices"

// Brief is the endpoint without what only the results document shows: what was concluded, what the control taught, what
// scripts waited for, and with evidence the exchanges and arrivals that findings name. Without it findings have no curl lines, and passes no power.
// The slices that are kept are shared.
func (ep *Endpoint) Brief(evidence bool) Endpoint {
	out := *ep
	out.Cases = slices.Clone(ep.Cases)
	named, arrived := map[int]bool{}, map[int]bool{}
	for i := range out.Cases {
		c := &out.Cases[i]
		if !evidence {
			c.Findings, c.Power = withoutCurl(c.Findings), ""
		}
		for _, f := range c.Findings {
			for _, id := range f.Exchanges {
				named[id] = evidence
			}
			for _, id := range f.Arrivals {
				arrived[id] = evidence
			}
		}
		c.Trace = brief(c.Trace, named, arrived)
	}
	if ep.Control != nil {
		out.Control = &Control{Learned: ep.Control.Learned, Rounds: brief(ep.Control.Rounds, named, arrived), Variants: brief(ep.Control.Variants, named, arrived)}
		if x := ep.Control.Located; x != nil && named[x.ID] {
			out.Control.Located = x
		}
	}
	return out
}

// brief are the rounds that hold a named exchange or arrival or a pause, without the rest; with a named exchange also how copies were
// released and what was counted.
func brief(rounds []Round, named, arrived map[int]bool) []Round {
	var out []Round
	for i := range rounds {
		r := Round{N: rounds[i].N, Variant: rounds[i].Variant, Pauses: rounds[i].Pauses, Void: rounds[i].Void,
			Setup: only(rounds[i].Setup, named), Exchanges: only(rounds[i].Exchanges, named)}
		for _, a := range rounds[i].Arrivals {
			if arrived[a.ID] {
				r.Arrivals = append(r.Arrivals, a)
			}
		}
		if len(r.Setup)+len(r.Exchanges) > 0 {
			r.Bursts, r.Readings = rounds[i].Bursts, rounds[i].Readings
		}
		if len(r.Setup)+len(r.Exchanges)+len(r.Arrivals)+len(r.Pauses) > 0 {
			out = append(out, r)
		}
	}
	return slices.Clip(out)
}

func only(exchanges []Exchange, named map[int]bool) []Exchange {
	var out []Exchange
	for i := range exchanges {
		if named[exchanges[i].ID] {
			out = append(out, exchanges[i])
		}
	}
	return slices.Clip(out)
}

func withoutCurl(findings []Finding) []Finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].Curl = nil
	}
	return out
}

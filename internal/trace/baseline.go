package trace

import "slices"

// Accepted says why a violation is accepted for now.
type Accepted struct {
	Reason string `json:"reason"`
	// Owner is who answers for it; empty when not stated.
	Owner string `json:"owner,omitempty"`
	// Expires is the last day on which it is accepted, such as "2026-12-31"; empty for no end.
	Expires string `json:"expires,omitempty"`
}

// Baseline says what became of the entries of a file of accepted violations.
type Baseline struct {
	// File is its path as given by the user.
	File string `json:"file"`
	// Strict is true when entries whose violation is not there any more fail the run.
	Strict  bool            `json:"strict,omitempty"`
	Entries []BaselineEntry `json:"entries"`
}

// In are the entries in a state.
func (b *Baseline) In(state BaselineState) []BaselineEntry {
	if b == nil {
		return nil
	}
	var out []BaselineEntry
	for _, e := range b.Entries {
		if e.State == state {
			out = append(out, e)
		}
	}
	return out
}

// BaselineEntry is a violation that a baseline accepts.
type BaselineEntry struct {
	Endpoint string `json:"endpoint"`
	Scenario string `json:"scenario"`
	Rule     string `json:"rule"`
	Accepted
	// State is what the run shows of it.
	State BaselineState `json:"state"`
}

// BaselineState is what a run shows of an accepted violation.
type BaselineState string

// The states.
const (
	// BaselineAccepted: it is there, and accepted.
	BaselineAccepted BaselineState = "accepted"
	// BaselineExpired: it is there, and its last day is over, so it fails.
	BaselineExpired BaselineState = "expired"
	// BaselineFixed: the case was judged, and it is not there.
	BaselineFixed BaselineState = "fixed"
	// BaselineUnjudged: the run has no such case, or could not judge it.
	BaselineUnjudged BaselineState = "unjudged"
)

// Accepted reports whether the case would fail if nobody accepted its violations.
func (c *Case) Accepted() bool {
	return c.Verdict == Warn && slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Accepted != nil })
}

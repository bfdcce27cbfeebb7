// Package judge concludes from the record of a run what it proves: it reads answers, learns from the
// control, finds broken rules and gives verdicts.
//
// It is pure: everything it says follows from its arguments, it sends nothing, reads no clock and keeps no
// state, so a recorded run can be judged again. The flow: Learn reads the control, Classify reads single
// answers in its light, Case checks every expectation of a scenario in every round and weighs what it found
// against what could not be judged, EndpointVerdict and Summarize sum up. Where the evidence allows two
// readings the judge takes the one that accuses nobody and says "inconclusive".
package judge

import (
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Catalogue holds the rules by id. Only their severity is used here. A rule that is missing
// counts as major.
type Catalogue map[string]scenarios.Rule

// Input is everything about one case.
type Input struct {
	// Scenario is the script and what it expects. Must not be nil.
	Scenario *scenarios.Scenario
	// Facts are what plan and dialect say about the endpoint.
	Facts trace.Facts
	// Control is the uncontested first requests; nil when they were never sent.
	Control *trace.Control
	// Case is the record to judge. With Case.OnControl or Scenario.OnControl the control's rounds are judged, else Case.Trace.
	// Its Result is not read. Must not be nil.
	Case *trace.Case
	// Rules is the rule catalogue.
	Rules Catalogue
	// FailOn is the least severity that makes a case fail where the facts of the endpoint do not say; empty means major.
	FailOn trace.Severity
	// Accepted are the rules whose violations are accepted in this case: they fail nothing, and are shown as warnings.
	Accepted map[string]trace.Accepted
	// Allow are the codes that --allow-inconclusive names: such cases become skips. The codes unreachable
	// and auth are never allowed, whatever it says.
	Allow map[trace.Code]bool
}

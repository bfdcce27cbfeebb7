// Package advice says which lines a plan should have, because of what a try showed of an endpoint, and which only its author can decide on.
//
// It sends nothing: Scripts are what a try sends beside the control, judge.Lesson reads the record, Assume names what to take as said so
// that a second try learns more, and Lines gives the lines, each checked by decoding the plan with it.
package advice

import (
	"embed"
	"fmt"
	"slices"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

//go:embed again.yaml again-method.yaml again-delete.yaml keyless.yaml
var scripts embed.FS

// Scripts are what a try sends beside the control: the same request again, by one script for each sort of endpoint, and one without its key.
// An error is a mistake in an embedded file.
func Scripts() (again []*scenarios.Scenario, keyless *scenarios.Scenario, err error) {
	read := func(file string) *scenarios.Scenario {
		text, failed := scripts.ReadFile(file)
		if failed == nil && err == nil {
			var s *scenarios.Scenario
			if s, failed = scenarios.Parse(file, text); failed == nil {
				return s
			}
		}
		if failed != nil {
			err = fmt.Errorf("script of a try: %w", failed)
		}
		return nil
	}
	return []*scenarios.Scenario{read("again.yaml"), read("again-delete.yaml"), read("again-method.yaml")}, read("keyless.yaml"), err
}

// Again is the script among those of Scripts that sends a request of the endpoint again: the first that applies to it; nil for none.
func Again(again []*scenarios.Scenario, ep *plan.Endpoint) *scenarios.Scenario {
	for _, s := range again {
		if slices.Contains(s.Kinds, ep.Kind) && (len(s.Methods) == 0 || slices.Contains(s.Methods, ep.Request.Method)) {
			return s
		}
	}
	return nil
}

// Input is what advice is derived from. All must be set but Assumed.
type Input struct {
	// Files are the plan's own file and those that it includes.
	Files []File
	// Plan is what it says, Assumed included; Endpoint is one of its endpoints.
	Plan     *plan.Plan
	Endpoint *plan.Endpoint
	// Lesson is what a try of that plan taught.
	Lesson *trace.Lesson
	// Assumed were taken as said in that try; nil for nothing.
	Assumed []Assumption
	// Scenarios are all that a run would send.
	Scenarios []*scenarios.Scenario
	// Parse decodes changed files, with a value for every variable.
	Parse func(files []File) (*plan.Plan, error)
}

// The kinds of assumptions.
const (
	// RedirectSucceeds: the redirect that answers is a success.
	RedirectSucceeds = "redirect"
	// WorkFollows: the Location of the answer tells when the work is done.
	WorkFollows = "work"
	// RisesBy: one request rightly raises the counters by what was seen.
	RisesBy = "rise"
)

// Assumption is what a plan does not say and a try takes as said.
type Assumption struct {
	Kind string
	// Edits are the fields that say it.
	Edits []Edit
	// Line is the one of them that the plan should have; empty where the try has to show it first.
	Line string
}

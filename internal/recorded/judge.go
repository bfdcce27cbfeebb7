// Package recorded is about the records of runs that are over: they are judged again by other terms, and put together. It sends
// nothing; everything follows from the records.
package recorded

import (
	"fmt"
	"reflect"
	"time"

	"retrysafe/internal/baseline"
	"retrysafe/internal/dialect"
	"retrysafe/internal/judge"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Terms are what a record is judged by. The zero value are the terms of the record itself.
type Terms struct {
	// FailOn is the least severity that makes a case fail, whatever its endpoint says; empty for the record's.
	FailOn trace.Severity
	// Dialect is the name of the convention that answers are measured against; empty for the record's.
	Dialect string
	// Allow are the codes of inconclusive cases that become skips; nil for the record's.
	Allow []trace.Code
	// Baseline is what is accepted; nil for what the record says. Now is the day that its entries may expire before. Strict fails
	// the run for entries whose violation is not there any more.
	Baseline *baseline.Baseline
	Now      time.Time
	Strict   bool
	// Diagnoses is the catalogue of causes.
	Diagnoses []scenarios.Diagnosis
}

// Judge judges a run again, with the scenarios and severities of its record. What another dialect needs and the record does not
// hold makes cases inconclusive, or is said in Info.Notes. The error says what of the record cannot be judged by this version.
func Judge(run *trace.Run, t Terms) error {
	list, err := scenarios.Texts(run.Info.Scenarios)
	if err != nil {
		return fmt.Errorf("a scenario of the record is none for this version, use the one that wrote it (%s): %w", run.Info.Tool.Version, err)
	}
	j := judgement{run: run, scenarios: map[string]*scenarios.Scenario{}, rules: judge.Catalogue{}, allow: map[trace.Code]bool{}, terms: t}
	for _, s := range list {
		j.scenarios[s.ID] = s
	}
	for id, severity := range run.Info.Rules {
		j.rules[id] = scenarios.Rule{ID: id, Severity: severity}
	}
	if t.FailOn != "" {
		run.Info.FailOn = t.FailOn
		for i := range run.Endpoints {
			run.Endpoints[i].Facts.FailOn = ""
		}
	}
	if t.Allow != nil {
		run.Info.Allow = t.Allow
	}
	for _, code := range run.Info.Allow {
		j.allow[code] = true
	}
	if t.Dialect != "" && t.Dialect != run.Info.Dialect {
		if j.change, err = newChange(run.Info.Dialect, t.Dialect); err != nil {
			return err
		}
		run.Info.Dialect = t.Dialect
	}
	for i := range run.Endpoints {
		if err := j.endpoint(&run.Endpoints[i]); err != nil {
			return err
		}
	}
	if j.change != nil {
		run.Info.Notes = append(run.Info.Notes, j.change.notes...)
	}
	if t.Baseline != nil {
		t.Baseline.Settle(run, t.Strict)
	}
	Sum(run, t.Diagnoses)
	return nil
}

// judgement judges one run again.
type judgement struct {
	run       *trace.Run
	scenarios map[string]*scenarios.Scenario
	rules     judge.Catalogue
	allow     map[trace.Code]bool
	terms     Terms
	// change is the change of the dialect; nil when it stays.
	change *change
}

func (j *judgement) endpoint(ep *trace.Endpoint) error {
	before := ep.Facts
	if j.change != nil {
		j.change.facts(ep)
	}
	learn(ep, before)
	for i := range ep.Cases {
		c := &ep.Cases[i]
		s := j.scenarios[c.Scenario]
		if s == nil {
			return fmt.Errorf("the record has a case of scenario %q and not its text: it cannot be judged again", c.Scenario)
		}
		if j.change != nil {
			j.change.stop(ep, before, s, c)
		}
		c.Result = judge.Case(judge.Input{Scenario: s, Facts: ep.Facts, Control: ep.Control, Case: c,
			Rules: j.rules, FailOn: j.run.Info.FailOn, Allow: j.allow, Accepted: j.accepted(ep, c)})
	}
	return nil
}

// accepted are the rules whose violations are accepted in a case.
func (j *judgement) accepted(ep *trace.Endpoint, c *trace.Case) map[string]trace.Accepted {
	if j.terms.Baseline != nil {
		return j.terms.Baseline.Accepted(ep.Name, c.Scenario, j.terms.Now)
	}
	out := map[string]trace.Accepted{}
	for _, f := range c.Findings {
		if f.Accepted != nil {
			out[f.Rule] = *f.Accepted
		}
	}
	return out
}

// learn has the control judged again. What kept the tool from sending it stays what it was.
func learn(ep *trace.Endpoint, before trace.Facts) {
	if ep.Control != nil && reflect.DeepEqual(judge.Learn(before, ep.Control), ep.Control.Learned) {
		ep.Control.Learned = judge.Learn(ep.Facts, ep.Control)
	}
}

// Sum gives the verdicts of the endpoints and of the run, and the likely causes, from the verdicts of the cases. The number of
// requests stays what it was.
func Sum(run *trace.Run, diagnoses []scenarios.Diagnosis) {
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		ep.Verdict = judge.EndpointVerdict(ep.Cases)
		ep.Diagnoses = judge.Diagnose(diagnoses, ep.Cases)
	}
	run.Summary = judge.Total(run, run.Summary.Requests)
}

// dialectOf finds a dialect.
func dialectOf(name string) (dialect.Dialect, error) {
	d, ok := dialect.Find(name)
	if !ok {
		return d, fmt.Errorf("expected a dialect that this version knows, found %q", name)
	}
	return d, nil
}

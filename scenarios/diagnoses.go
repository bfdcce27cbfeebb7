package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

const diagnosesFile = "diagnoses.yaml"

// Diagnosis is an entry of the catalogue of diagnoses: a cause in an endpoint that findings point at.
type Diagnosis struct {
	// ID is unique among the diagnoses and never the id of a rule, such as "checked-before-claimed".
	ID string
	// Title is one line: what is likely wrong.
	Title string
	// Why says how the pattern of findings shows it.
	Why string
	// Fix says what to change in the endpoint.
	Fix string
	// Example is the fix as a few lines of SQL or pseudo-code.
	Example string
	// When must hold for the diagnosis to be considered; the zero value always holds.
	When Pattern
	// Explains are the findings that it accounts for, at least one.
	Explains []trace.Symptom
}

// Pattern is a condition over the findings and verdicts of one endpoint. All its parts must hold; an empty part does.
// A symptom without a scenario stands for its rule in any scenario.
type Pattern struct {
	// All, Any and None are findings of which each one, one or more, and not one must be there.
	All, Any, None []trace.Symptom
	// Mostly are findings of which each one must be there in half of the rounds of a case or more: what a busy machine makes of other
	// causes shows now and then.
	Mostly []trace.Symptom
	// Passed are the ids of scenarios whose cases must have the verdict pass; each entry lists alternatives.
	Passed [][]string
}

// Diagnoses is the catalogue of diagnoses in the order of its file, the specific before the general. An error is a mistake in
// an embedded file.
func Diagnoses() ([]Diagnosis, error) {
	text, err := files.ReadFile(diagnosesFile)
	if err != nil {
		return nil, fmt.Errorf("read the diagnoses: %w", err)
	}
	list, err := Builtin()
	if err != nil {
		return nil, err
	}
	s, err := newSet(list)
	if err != nil {
		return nil, err
	}
	return s.diagnoses(diagnosesFile, text)
}

// diagnoses decodes a catalogue whose rules and scenarios must be those of the set.
func (s *set) diagnoses(file string, text []byte) ([]Diagnosis, error) {
	doc := strict.Parse(file, text, nil)
	var all []Diagnosis
	for _, e := range doc.Root().Entries() {
		all = append(all, s.diagnosis(e))
	}
	if len(all) == 0 {
		doc.Root().Errorf("expected diagnoses, found none")
	}
	return all, doc.Err()
}

func (s *set) diagnosis(e strict.Entry) Diagnosis {
	switch {
	case !isID(e.Key.Value):
		e.Errorf("expected an id of small letters, digits and -, found %s", e.Key.Show())
	case slices.Contains(s.rules, e.Key.Value):
		e.Errorf("%s is a rule: choose another id, `explain` knows both", e.Key.Show())
	}
	o := e.Value.Object("title", "why", "fix", "example", "when", "explains")
	d := Diagnosis{
		ID:      e.Key.Value,
		Title:   required(o, "title"),
		Why:     required(o, "why"),
		Fix:     required(o, "fix"),
		Example: required(o, "example"),
		When:    s.pattern(o.Get("when")),
	}
	explains := o.Require("explains")
	d.Explains = s.symptoms(explains)
	if explains.Kind() == strict.List && len(explains.List()) == 0 {
		explains.Errorf("expected at least one RULE or SCENARIO:RULE, found an empty list")
	}
	return d
}

func (s *set) pattern(v strict.Value) Pattern {
	o := v.Object("all", "any", "none", "mostly", "passed")
	p := Pattern{
		All: s.symptoms(o.Get("all")), Any: s.symptoms(o.Get("any")), None: s.symptoms(o.Get("none")), Mostly: s.symptoms(o.Get("mostly")),
	}
	for _, item := range o.Get("passed").List() {
		p.Passed = append(p.Passed, s.alternatives(item))
	}
	return p
}

// alternatives reads the id of a scenario, or a list of them.
func (s *set) alternatives(v strict.Value) []string {
	var texts []strict.Text
	if v.Kind() != strict.List {
		texts = append(texts, v.Text())
	} else if texts = v.Texts(); len(texts) == 0 {
		v.Errorf("expected the id of a scenario, found an empty list")
	}
	var ids []string
	for _, t := range texts {
		s.knownScenario(t)
		ids = append(ids, t.Value)
	}
	return ids
}

// symptoms reads a list of RULE or SCENARIO:RULE.
func (s *set) symptoms(v strict.Value) []trace.Symptom {
	var out []trace.Symptom
	for _, t := range v.Texts() {
		rule := t
		var found trace.Symptom
		if i := strings.IndexByte(t.Value, ':'); i >= 0 {
			s.knownScenario(t.Slice(0, i))
			found.Scenario, rule = t.Value[:i], t.Slice(i+1, len(t.Value))
		}
		if found.Rule = rule.Value; !slices.Contains(s.rules, rule.Value) {
			rule.Errorf(0, len(rule.Value), "unknown rule %s%s", rule.Show(), strict.DidYouMean(rule.Value, s.rules))
		}
		out = append(out, found)
	}
	return out
}

func (s *set) knownScenario(t strict.Text) {
	var ids []string
	for _, known := range s.scenarios {
		ids = append(ids, known.ID)
	}
	if !slices.Contains(ids, t.Value) {
		t.Errorf(0, len(t.Value), "unknown scenario %s%s", t.Show(), strict.DidYouMean(t.Value, ids))
	}
}

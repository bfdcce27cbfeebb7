// Package scenarios holds the scripts that are run against endpoints, the rules that they can find broken, the
// diagnoses that broken rules point at, and the reasons for which a case is not judged.
//
// The scripts are the *.yaml files of this folder, written in the language that users have too; rules.yaml is
// the catalogue of rules, diagnoses.yaml that of diagnoses, reasons.yaml that of reason codes. Builtin, Load and Parse decode scripts strictly: a label, a reading, a key letter or
// a rule that matches nothing is a mistake with its place in the file. Adding a scenario is adding a file.
package scenarios

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

//go:embed *.yaml
var files embed.FS

//go:embed LANGUAGE.md
var language string

// Language is the page about the language of scenarios, in Markdown.
func Language() string { return language }

const rulesFile = "rules.yaml"

// order is the order in which built-in scenarios run and are listed: the control first, then what most
// endpoints get wrong, from cheap to dear; last what takes long, and what disturbs others. Files that are not named here
// come after, by name.
func order() []string {
	return []string{
		"first-request", "retry-window",
		// the same request again
		"same-key-again", "same-key-concurrent", "in-progress-copy", "retry-with-noise",
		// another body, query or endpoint
		"same-key-different-body", "other-nested-value", "other-body-at-once", "reordered-body", "other-query", "other-endpoint",
		// other callers
		"other-caller", "other-caller-same-body", "anonymous-caller", "anonymous-caller-same-body", "renewed-token",
		// the key itself
		"fresh-key-per-retry", "missing-key", "keyless-twice", "empty-key", "blank-key", "common-prefix", "key-case",
		"key-lines", "long-key", "odd-key", "non-ascii-key", "double-click",
		// lost answers and failures
		"client-timeout", "client-resets", "client-leaves-headers", "client-leaves-half-body", "client-leaves-answer",
		"invalid-then-corrected", "server-error-then-retry",
		// methods and webhooks
		"repeated-request", "repeated-delete",
		"webhook-redelivery", "webhook-redelivery-at-once", "webhook-redelivery-after-failure", "webhook-two-events",
		// instances
		"replicas-in-sequence", "replicas-at-once",
		// what takes long, or freezes, breaks and floods
		"delayed-expiry", "expiry-slides", "replayed-days-later", "executed-after-days", "slow-alone", "held-in-progress", "retry-storm", "many-keys-between",
		"dependency-down-then-retry", "restart-between", "crash-in-flight",
	}
}

// Builtin are the built-in scenarios in the order in which they run. An error is a mistake in an embedded file.
func Builtin() ([]*Scenario, error) {
	names, err := builtinNames()
	if err != nil {
		return nil, err
	}
	s, err := newSet(nil)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name + ".yaml")
		if err != nil {
			return nil, fmt.Errorf("read scenario %s: %w", name, err)
		}
		s.add(name+".yaml", text)
	}
	return s.result()
}

func builtinNames() ([]string, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("read scenarios: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !slices.Contains([]string{rulesFile, diagnosesFile, reasonsFile}, e.Name()) {
			names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
		}
	}
	rank := func(name string) int {
		if i := slices.Index(order(), name); i >= 0 {
			return i
		}
		return len(order())
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names, nil
}

// Load is Builtin followed by the scenarios of files, in the order given. Ids must be unique, and the control
// stays the built-in one. Mistakes of all files are returned at once, as strict.Errors.
func Load(paths ...string) ([]*Scenario, error) {
	builtin, err := Builtin()
	if err != nil {
		return nil, err
	}
	s, err := newSet(builtin)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read the scenario: %w", err)
		}
		s.add(path, text)
	}
	return s.result()
}

// Parse reads one scenario. Mistakes are returned all at once, as strict.Errors.
func Parse(file string, text []byte) (*Scenario, error) {
	s, err := newSet(nil)
	if err != nil {
		return nil, err
	}
	s.add(file, text)
	parsed, err := s.result()
	if err != nil {
		return nil, err
	}
	return parsed[0], nil
}

// Texts reads the scenarios of a recorded run by their ids, in the order of the ids. Mistakes of all are returned at once, as
// strict.Errors.
func Texts(texts map[string]string) ([]*Scenario, error) {
	s, err := newSet(nil)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		s.add(id+".yaml", []byte(texts[id]))
	}
	return s.result()
}

// set collects scenarios, which must not collide, and the mistakes of all files.
type set struct {
	rules     []string
	scenarios []*Scenario
	errs      strict.Errors
}

func newSet(scenarios []*Scenario) (*set, error) {
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	s := &set{scenarios: scenarios}
	for _, r := range rules {
		s.rules = append(s.rules, r.ID)
	}
	return s, nil
}

func (s *set) add(file string, text []byte) {
	d := decoder{doc: strict.Parse(file, text, nil), rules: s.rules, others: s.scenarios}
	parsed := d.scenario(d.doc.Root())
	if mistakes := d.doc.Errors(); len(mistakes) > 0 {
		s.errs = append(s.errs, mistakes...)
		return
	}
	parsed.File, parsed.Text, parsed.Warnings = file, string(text), d.doc.Warnings()
	s.scenarios = append(s.scenarios, parsed)
}

func (s *set) result() ([]*Scenario, error) {
	if err := s.errs.Err(); err != nil {
		return nil, err
	}
	return s.scenarios, nil
}

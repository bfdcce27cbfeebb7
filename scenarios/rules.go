package scenarios

import (
	"fmt"
	"regexp"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// Rules is the rule catalogue in the order of its file. An error is a mistake in the embedded file.
func Rules() ([]Rule, error) {
	text, err := files.ReadFile(rulesFile)
	if err != nil {
		return nil, fmt.Errorf("read the rule catalogue: %w", err)
	}
	return parseRules(rulesFile, text)
}

var behaviour = regexp.MustCompile(`^B[1-9][0-9]?$`)

func parseRules(file string, text []byte) ([]Rule, error) {
	doc := strict.Parse(file, text, nil)
	var rules []Rule
	for _, e := range doc.Root().Entries() {
		rules = append(rules, decodeRule(e))
	}
	if len(rules) == 0 {
		doc.Root().Errorf("expected rules, found none")
	}
	return rules, doc.Err()
}

func decodeRule(e strict.Entry) Rule {
	if !isID(e.Key.Value) {
		e.Key.Errorf(0, len([]rune(e.Key.Value)), "expected an id of small letters, digits and -, found %s", e.Key.Show())
	}
	o := e.Value.Object("severity", "title", "why", "fix", "source", "behaviours")
	r := Rule{
		ID:       e.Key.Value,
		Severity: trace.Severity(o.Require("severity").Enum(string(trace.Critical), string(trace.Major), string(trace.Minor))),
		Title:    required(o, "title"),
		Why:      required(o, "why"),
		Fix:      required(o, "fix"),
		Source:   required(o, "source"),
	}
	for _, t := range o.Get("behaviours").Texts() {
		if !behaviour.MatchString(t.Value) {
			t.Errorf(0, len([]rune(t.Value)), "expected a behaviour such as B2, found %s", t.Show())
		}
		r.Behaviours = append(r.Behaviours, t.Value)
	}
	return r
}

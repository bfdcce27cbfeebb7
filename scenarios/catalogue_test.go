package scenarios

import (
	"slices"
	"strings"
	"testing"
)

// byJudge are the rules that no script names: expectations choose them by what was seen.
func byJudge() []string {
	return []string{
		"silent-duplicate", "side-effect-repeated", "status-not-replayed", "headers-not-replayed", "body-not-replayed",
		"replay-not-byte-identical", "wrong-refusal-status",
		"accepted-never-done",                                                            // wherever the plan says how work is awaited
		"downstream-key-not-stable", "downstream-body-not-stable", "retry-after-ignored", // need a view of the endpoint's own calls
	}
}

func TestEveryRuleHasAScenario(t *testing.T) {
	list, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, s := range list {
		for _, e := range s.Expect {
			named[e.Rule] = true
			if e.Created != nil {
				named[e.Created.Below] = true
			}
		}
	}
	for _, id := range ruleIDs(t) {
		if named[id] == slices.Contains(byJudge(), id) {
			t.Errorf("rule %s: named by a script: %v", id, named[id])
		}
	}
}

// TestBuiltinNeeds holds the scripts to naming what they use, so that their text says it.
func TestBuiltinNeeds(t *testing.T) {
	list, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		for _, need := range s.Needs {
			if !strings.Contains(s.Text, need[0]) || !strings.Contains(s.Text, "needs:") {
				t.Errorf("scenario %s needs %v and does not say so", s.ID, need)
			}
		}
		if s.Disruptive && !strings.Contains(s.Text, "disruptive: true") {
			t.Errorf("scenario %s is disruptive and does not say so", s.ID)
		}
	}
}

package cmd

import (
	"os"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/judge"
	"retrysafe/scenarios"
)

// proof is a script that shows a scenario catching a fault, by the rule that it is reported with.
type proof struct{ script, rule string }

// shownBy are the scenarios that need two runs, which the matrix does not have.
func shownBy() map[string]proof {
	return map[string]proof{
		"replayed-days-later": {"testdata/script/ledger.txtar", "expired-early"},
		"executed-after-days": {"testdata/script/ledger.txtar", "never-expires"},
	}
}

// TestFindsWhatTheMatrixFound holds what --rule selects by to what scenarios really find on the shop with its faults, every scenario
// to a fault that it catches, and every rule to a scenario that can find it.
func TestFindsWhatTheMatrixFound(t *testing.T) {
	list, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	finds, any := map[string][]string{}, map[string]bool{}
	for _, s := range list {
		finds[s.ID] = judge.Finds(s)
		for _, rule := range finds[s.ID] {
			any[rule] = true
		}
	}
	text, err := os.ReadFile("testdata/matrix.txt")
	if err != nil {
		t.Fatal(err)
	}
	checked, pinned := 0, map[string]bool{}
	for line := range strings.SplitSeq(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] == "#" || fields[2] == "=" {
			continue
		}
		for _, rule := range fields[3:] {
			checked++
			pinned[fields[2]] = pinned[fields[2]] || !strings.HasPrefix(rule, "(")
			if rule = strings.Trim(rule, "(),"); !slices.Contains(finds[fields[2]], rule) {
				t.Errorf("%s found %s, which it is not known to find", fields[2], rule)
			}
		}
	}
	for _, s := range list {
		if by, elsewhere := shownBy()[s.ID]; pinned[s.ID] == elsewhere {
			t.Errorf("%s must catch a fault, either in the matrix or in a script that is named here: pinned %v, %q", s.ID, pinned[s.ID], by.script)
		}
	}
	for id, by := range shownBy() {
		script, err := os.ReadFile(by.script)
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(script), " "+by.rule+" in "+id+"'\n") {
			t.Errorf("%s does not want %s in %s", by.script, by.rule, id)
		}
	}
	rules, err := scenarios.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if !any[r.ID] && r.ID != "retry-after-ignored" { // that one is about clients

			t.Errorf("no scenario can find %s", r.ID)
		}
	}
	if checked < 500 {
		t.Errorf("only %d findings in the matrix", checked)
	}
}

package cmd

import (
	"os"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/judge"
	"retrysafe/scenarios"
)

// TestFindsWhatTheMatrixFound holds what --rule selects by to what scenarios really find on the shop with its faults, and every rule to
// a scenario that can find it.
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
	checked := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[0] == "#" || fields[2] == "=" {
			continue
		}
		for _, rule := range fields[3:] {
			checked++
			if rule = strings.Trim(rule, "(),"); !slices.Contains(finds[fields[2]], rule) {
				t.Errorf("%s found %s, which it is not known to find", fields[2], rule)
			}
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

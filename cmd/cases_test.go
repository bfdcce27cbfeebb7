package cmd

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestReportedFaultsAreCaught holds the table of faults that people reported to the matrix: each is caught by the scenario and
// the rule that the table names.
func TestReportedFaultsAreCaught(t *testing.T) {
	text, err := os.ReadFile("../fixtures/CASES.md")
	if err != nil {
		t.Fatal(err)
	}
	pinned, rows := readMatrix(t), 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || !strings.Contains(cells[3], "`") {
			continue
		}
		rows++
		name := func(i int) string { return strings.Trim(cells[i], " `") }
		fault, scenario, rule := name(3), name(4), name(5)
		caught := false
		for key, rules := range pinned {
			f := strings.Fields(key)
			caught = caught || f[0] == fault && f[2] == scenario && slices.Contains(rules, rule)
		}
		if !caught {
			t.Errorf("%s is not pinned as caught by %s with %s", fault, scenario, rule)
		}
	}
	if rows < 40 {
		t.Errorf("found %d rows of the table", rows)
	}
}

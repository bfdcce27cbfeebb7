package scenarios

import (
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// TestReasons holds the catalogue to the closed list of codes, and keeps `explain` unambiguous.
func TestReasons(t *testing.T) {
	list, err := Reasons()
	if err != nil {
		t.Fatal(err)
	}
	var codes []trace.Code
	for _, r := range list {
		codes = append(codes, r.Code)
		if strings.Contains(r.Title+r.Means+r.Fix, "\n") || !strings.HasSuffix(r.Means, ".") || strings.HasSuffix(r.Fix, ".") {
			t.Errorf("%s: expected lines, a meaning of whole sentences and a fix without a period", r.Code)
		}
	}
	if want := slices.Concat(trace.InconclusiveCodes(), trace.SkipCodes()); !slices.Equal(codes, want) {
		t.Errorf("%s has %v, the closed lists are %v", reasonsFile, codes, want)
	}
	taken := ruleIDs(t)
	diagnoses, err := Diagnoses()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diagnoses {
		taken = append(taken, d.ID)
	}
	for _, c := range codes {
		if slices.Contains(taken, string(c)) {
			t.Errorf("%s is a rule or a diagnosis as well: `explain` knows both", c)
		}
	}
}

package cmd

import (
	"bytes"
	"os"
	"testing"

	"retrysafe/internal/dialect"
	"retrysafe/report"
)

// TestReference holds the reference page to the data that it is made from.
func TestReference(t *testing.T) {
	const page = "../scenarios/REFERENCE.md"
	k, err := loadKnowledge()
	if err != nil {
		t.Fatal(err)
	}
	c := report.Catalogue{Scenarios: k.scenarios, Rules: k.rules, Diagnoses: k.diagnoses, Reasons: k.reasons}
	for _, d := range dialect.All() {
		c.Dialects = append(c.Dialects, dialectText(d))
	}
	var made bytes.Buffer
	if err := report.Reference(&made, c); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, made.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(found, made.Bytes()) {
		t.Errorf("%s is out of date: go test ./cmd -run TestReference -update", page)
	}
}

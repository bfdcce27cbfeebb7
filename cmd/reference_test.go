package cmd

import (
	"bytes"
	"os"
	"testing"

	"retrysafe/internal/dialect"
	"retrysafe/report"
	"retrysafe/scenarios"
)

// TestReference holds the reference page to the data that it is made from.
func TestReference(t *testing.T) {
	const page = "../scenarios/REFERENCE.md"
	list, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	rules, diagnoses, err := explanations()
	if err != nil {
		t.Fatal(err)
	}
	c := report.Catalogue{Scenarios: list, Rules: rules, Diagnoses: diagnoses}
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

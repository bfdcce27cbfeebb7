package scenarios

import (
	"fmt"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

const reasonsFile = "reasons.yaml"

// Reason is an entry of the catalogue of reason codes: why a case was not judged, or not run.
type Reason struct {
	// Code is one of trace.InconclusiveCodes or trace.SkipCodes.
	Code trace.Code
	// Title is one line: what happened.
	Title string
	// Means says what follows from it, and what does not.
	Means string
	// Fix is what to try, in one line without a final period.
	Fix string
}

// Reasons is the catalogue of reason codes in the order of its file: those of inconclusive cases, then those of skipped ones.
// An error is a mistake in the embedded file.
func Reasons() ([]Reason, error) {
	text, err := files.ReadFile(reasonsFile)
	if err != nil {
		return nil, fmt.Errorf("read the reason codes: %w", err)
	}
	doc := strict.Parse(reasonsFile, text, nil)
	var all []Reason
	for _, e := range doc.Root().Entries() {
		o := e.Value.Object("title", "means", "fix")
		all = append(all, Reason{Code: trace.Code(e.Key.Value), Title: required(o, "title"), Means: required(o, "means"), Fix: required(o, "fix")})
	}
	return all, doc.Err()
}

// Package report shows what a run found: as text for a terminal, and as the JSON results document.
//
// It reads a judged trace.Run and the catalogue of rules, and decides nothing: verdicts, findings and the
// exit code are those of the record, so that every format tells the same story. Terminal builds the whole
// text in memory and writes it once; JSONWriter keeps a crash-safe record while the run goes on and
// replaces it by the document at the end.
//
// Whatever came from a server or a plan is untrusted: control characters, escape sequences and invisible
// characters are shown escaped, long values are shortened.
package report

import (
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Options say how text looks. The zero value is plain text, 100 columns wide, without explanations of rules.
type Options struct {
	// Color adds colours and weights. Nothing is told by colour alone.
	Color bool
	// Width is the number of columns to use: 0 means DefaultWidth, less than MinWidth means MinWidth, more
	// than MaxWidth means MaxWidth.
	Width int
	// Rules is the catalogue that titles, reasons and fixes are taken from. A finding whose rule is not in it
	// is shown with what the finding itself says.
	Rules []scenarios.Rule
	// Reasons is the catalogue that says what to try where a case could not be judged and its record does not say it.
	Reasons []scenarios.Reason
	// Fields are those of a plan, so that a line that would enable something can be shown where it belongs. The zero value
	// leaves that open.
	Fields PlanFields
	// Verbose adds what the control taught and what each single pass would have caught.
	Verbose bool
}

// PlanFields are the names of the fields that a plan has at its top level, and in an endpoint.
type PlanFields struct {
	Plan, Endpoint []string
}

// The widths of text, in columns.
const (
	// DefaultWidth is used where no terminal tells its size (a pipe, a CI log).
	DefaultWidth = 100
	// MinWidth is the narrowest text that stays readable: a terminal beside an editor on a small screen.
	MinWidth = 40
	// MaxWidth keeps paragraphs readable on wide screens.
	MaxWidth = 120
)

// symbol is the mark of a verdict; together with the word it tells the verdict without colour.
func symbol(v trace.Verdict) string {
	switch v {
	case trace.Pass:
		return "✓"
	case trace.Fail:
		return "✗"
	case trace.Error:
		return "E"
	case trace.Warn:
		return "!"
	case trace.Inconclusive:
		return "?"
	}
	return "-"
}

// word is the name of a verdict; those that fail a run are in capitals.
func word(v trace.Verdict) string {
	switch v {
	case trace.Fail:
		return "FAIL"
	case trace.Error:
		return "ERROR"
	}
	return string(v)
}

// badge is symbol and word, to stand before a name.
func badge(v trace.Verdict) string { return symbol(v) + " " + word(v) + "  " }

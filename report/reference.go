package report

import (
	"fmt"
	"io"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Catalogue is all that the reference page is made from.
type Catalogue struct {
	Scenarios []*scenarios.Scenario
	Rules     []scenarios.Rule
	Diagnoses []scenarios.Diagnosis
	Reasons   []scenarios.Reason
	Dialects  []DialectText
}

// DialectText is a dialect as lines for people.
type DialectText struct {
	Name, About string
	// Lines say what it documents, one thing each.
	Lines []string
}

// Reference writes the reference page in Markdown: every scenario, rule, diagnosis, reason code and dialect. The error is that of the
// writer.
func Reference(w io.Writer, c Catalogue) error {
	var b strings.Builder
	b.WriteString("# Reference\n\nMade from the data by `go test ./cmd -run TestReference -update`; a test holds it to that. " +
		"`retrysafe scenarios ID`, `retrysafe explain RULE` and `retrysafe scenarios --dialect NAME` show the same in a terminal.\n")
	b.WriteString("\n## Scenarios\n\nIn the order in which they are listed. Disruptive ones run with `--allow-disruptive` only.\n\n" +
		"| scenario | what it does | kind | needs | |\n|---|---|---|---|---|\n")
	for _, s := range c.Scenarios {
		note := ""
		if s.Disruptive {
			note = "disruptive"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.ID, s.Title, orElse(strings.Join(s.Kinds, ", "), "all"), orElse(needs(s), "nothing"), note)
	}
	b.WriteString("\n## Rules\n")
	for _, r := range c.Rules {
		fmt.Fprintf(&b, "\n### %s\n\n%s. **%s**\n\n%s\n\n*Fix:* %s\n\n*Source:* %s\n", r.ID, r.Severity, r.Title, flat(r.Why), flat(r.Fix), flat(r.Source))
	}
	b.WriteString("\n## Diagnoses\n\nThe likely cause behind the findings of one endpoint. An endpoint gets the fewest that explain all it was found to break.\n")
	for _, d := range c.Diagnoses {
		fmt.Fprintf(&b, "\n### %s\n\n**%s**\n\n%s\n\n*Fix:* %s\n\n```\n%s\n```\n", d.ID, d.Title, flat(d.Why), flat(d.Fix), strings.TrimRight(d.Example, "\n"))
	}
	b.WriteString("\n## Reason codes\n\nWhy a case is inconclusive, or skipped. `--allow-inconclusive CODE` turns those that it may name into skips.\n\n" +
		"| code | verdict | may be allowed | what happened | what to try |\n|---|---|---|---|---|\n")
	for _, r := range c.Reasons {
		allowed := ""
		if r.Code.Allowable() {
			allowed = "yes"
		} else if verdictOf(r.Code) == trace.Inconclusive {
			allowed = "never"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s. %s | %s |\n", r.Code, verdictOf(r.Code), allowed, r.Title, flat(r.Means), flat(r.Fix))
	}
	b.WriteString("\n## Dialects\n\nPublished conventions. What one does not document is not asserted under it.\n")
	for _, d := range c.Dialects {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", d.Name, flat(d.About))
		for _, line := range d.Lines {
			fmt.Fprintf(&b, "- %s\n", flat(line))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Dialect writes what a dialect documents. The error is that of the writer.
func Dialect(w io.Writer, d DialectText, o Options) error {
	p := newPrinter(o)
	p.para(0, p.bold, d.Name)
	p.para(0, p.plain, flat(d.About))
	p.blank()
	for _, line := range d.Lines {
		p.hang(0, 2, p.plain, "- ", p.plain, flat(line))
	}
	return p.flush(w)
}

// flat is a text in one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

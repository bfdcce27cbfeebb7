package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// APICoverageV1 names the shape of APICoverage as JSON.
const APICoverageV1 = "retrysafe/coverage/v1"

// APICoverage says which operations of an API that change something have an endpoint in a plan.
type APICoverage struct {
	// Schema is APICoverageV1.
	Schema string `json:"schema"`
	// API is the file of the description, Plans are those of the plans.
	API   string   `json:"api"`
	Plans []string `json:"plans"`
	// Operations is how many there are that change something, those that are left out not counted; Covered is how many of them have
	// an endpoint.
	Operations int `json:"operations"`
	Covered    int `json:"covered"`
	// Percent is the share of the covered ones, rounded down to a tenth; 100 where there are none.
	Percent float64 `json:"percent"`
	// Min is the least percentage that passes.
	Min int `json:"min"`
	// Missing are operations without an endpoint, in the order of the description.
	Missing []APIOperation `json:"missing"`
	// Unknown are endpoints whose request the API does not have, in the order of the plans.
	Unknown []APIEndpoint `json:"unknown"`
	// Excluded is how many operations were left out on purpose.
	Excluded int `json:"excluded"`
}

// APIOperation is an operation of an API.
type APIOperation struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// ID is the operationId; empty where there is none.
	ID string `json:"operation_id"`
	// Place is file:line.
	Place string `json:"place"`
}

// APIEndpoint is an endpoint of a plan.
type APIEndpoint struct {
	Name    string `json:"name"`
	Request string `json:"request"`
	// Place is file:line.
	Place string `json:"place"`
}

// Enough is true when the covered share is at least Min, not rounded.
func (c *APICoverage) Enough() bool { return c.Covered*100 >= c.Min*c.Operations }

// headline is the share in words.
func (c *APICoverage) headline() string {
	s := fmt.Sprintf("%d of %s that change something have an endpoint, %g %%", c.Covered, plural(c.Operations, "operation"), c.Percent)
	if c.Operations == 0 {
		s = "there is no operation that changes something"
	}
	if c.Excluded > 0 {
		s += fmt.Sprintf(" (%d left out)", c.Excluded)
	}
	if !c.Enough() {
		s += fmt.Sprintf("; at least %d %% is asked for", c.Min)
	}
	return s
}

// APICoverageText writes what is missing as a table, for a terminal.
func APICoverageText(w io.Writer, c *APICoverage, o Options) error {
	p := newPrinter(o)
	missing, unknown := c.rows()
	for _, t := range []struct {
		header []string
		rows   [][]string
	}{{missingHeader, missing}, {unknownHeader, unknown}} {
		if err := p.apiTable(t.header, t.rows); err != nil {
			return err
		}
	}
	p.para(0, p.bold, sentence(c.headline()))
	return p.flush(w)
}

var (
	missingHeader = []string{"without an endpoint", "operationId", "described at"}
	unknownHeader = []string{"not in the API", "endpoint", "in the plan at"}
)

// rows are what is missing and what is unknown, below the headers above.
func (c *APICoverage) rows() (missing, unknown [][]string) {
	for _, m := range c.Missing {
		missing = append(missing, []string{oneLine(m.Method + " " + m.Path), oneLine(m.ID), oneLine(m.Place)})
	}
	for _, u := range c.Unknown {
		unknown = append(unknown, []string{oneLine(u.Request), oneLine(u.Name), oneLine(u.Place)})
	}
	return missing, unknown
}

// apiTable writes rows in columns where they fit, else below each other.
func (p *printer) apiTable(header []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	defer p.blank()
	widths, bold := make([]int, len(header)), make([]string, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], twwidth.Width(cell)+2)
		}
	}
	for i, h := range header {
		bold[i] = p.bold.Sprint(h)
	}
	if widths[0]+widths[1]+widths[2] <= p.width {
		return p.table(0, bold, rows)
	}
	p.raw(0, bold[0])
	for _, row := range rows {
		p.para(2, p.plain, row[0])
		p.para(6, p.dim, strings.TrimPrefix(row[1]+", "+row[2], ", "))
	}
	return nil
}

// APICoverageMarkdown writes it in GitHub's Markdown.
func APICoverageMarkdown(w io.Writer, c *APICoverage) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## retrysafe: coverage of %s\n\n%s\n", mdText(c.API), mdText(sentence(c.headline())))
	missing, unknown := c.rows()
	mdTable(&b, missingHeader, missing)
	mdTable(&b, unknownHeader, unknown)
	_, err := io.WriteString(w, b.String())
	return err
}

func mdTable(b *strings.Builder, header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s |\n|---|---|---|\n", strings.Join(header, " | "))
	for _, row := range rows {
		fmt.Fprintf(b, "| %s | %s | %s |\n", mdText(row[0]), mdText(row[1]), mdText(row[2]))
	}
}

// APICoverageJSON writes it as a JSON document.
func APICoverageJSON(w io.Writer, c *APICoverage) error { return writeJSON(w, c) }

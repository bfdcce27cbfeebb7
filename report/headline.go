package report

import (
	"fmt"
	"strings"

	"github.com/fatih/color"

	"retrysafe/internal/trace"
)

// coverage counts behaviours. A behaviour is one scenario on one endpoint; scenarios for another kind of
// endpoint are none.
type coverage struct {
	proved, warned, violated, untested, failed int
	// accepted are those violated behaviours that fail nothing.
	accepted int
	// notApplicable is how many cases are no behaviours; uncounted how many verdicts no counter backed.
	notApplicable, uncounted int
	// enable are the distinct lines of plan that would make untested behaviours testable.
	enable []enabling
}

// enabling is a piece of plan, or a flag, and how many cases it would enable.
type enabling struct {
	text  string
	cases int
}

func coverageOf(run *trace.Run) coverage {
	var c coverage
	for i := range run.Endpoints {
		for j := range run.Endpoints[i].Cases {
			c.add(&run.Endpoints[i].Cases[j])
		}
	}
	if unreached(run) != "" {
		c.enable = nil // no line of plan helps before the target is there
	}
	return c
}

// total is how many behaviours there are.
func (c *coverage) total() int { return c.proved + c.violated + c.untested + c.failed }

func (c *coverage) add(k *trace.Case) {
	if k.NotApplicable() {
		c.notApplicable++
		return
	}
	verdict, judged := k.Verdict, true
	if k.Accepted() {
		verdict = trace.Fail
		c.accepted++
	}
	switch verdict {
	case trace.Pass:
		c.proved++
	case trace.Warn:
		c.proved++
		c.warned++
	case trace.Fail:
		c.violated++
	case trace.Error:
		c.failed++
		judged = false
	default:
		c.untested++
		judged = false
		c.enables(k.Enable)
	}
	if judged && k.Uncounted {
		c.uncounted++
	}
}

func (c *coverage) enables(text string) {
	if text = strings.TrimRight(text, " \n"); text == "" {
		return
	}
	for i := range c.enable {
		if c.enable[i].text == text {
			c.enable[i].cases++
			return
		}
	}
	c.enable = append(c.enable, enabling{text, 1})
}

// incomplete reports whether something that could have been tested was not.
func (c *coverage) incomplete() bool { return c.untested+c.failed > 0 || c.total() == 0 }

// headline is the first line: the verdict, and how much it covers.
func (p *printer) headline(run *trace.Run, c coverage) {
	verdict, style := headWord(run.Summary.Verdict, &c, p.palette)
	p.hang(0, 2, style, verdict+"  ", style, c.String())
}

func headWord(v trace.Verdict, c *coverage, pal palette) (string, *color.Color) {
	name := strings.ToUpper(string(v))
	switch {
	case c.proved+c.violated == 0 && v != trace.Error:
		return "NOTHING TESTED", pal.warn
	case c.incomplete() && (v == trace.Pass || v == trace.Warn || v == trace.Skip):
		return name + " (INCOMPLETE)", pal.warn
	}
	return name, pal.of(v)
}

// String is such as "9 of 16 behaviours proved (1 with warnings), 2 violated, 5 not tested; these 3
// lines of plan would enable 4".
func (c coverage) String() string {
	text := c.counts()
	if n := c.enabled(); n > 0 {
		text += fmt.Sprintf("; %s would enable %d", c.means(), n)
	}
	return text
}

// counts is String without what would enable more.
func (c coverage) counts() string { return c.parts(plural(c.total(), "behaviour")) }

// short is counts where it is plain that behaviours are counted.
func (c coverage) short() string { return c.parts(fmt.Sprint(c.total())) }

func (c coverage) parts(total string) string {
	parts := []string{fmt.Sprintf("%d of %s proved", c.proved, total)}
	if c.warned > 0 {
		parts[0] += fmt.Sprintf(" (%d with warnings)", c.warned)
	}
	for _, part := range []struct {
		n    int
		text string
	}{{c.violated, "violated" + ofThem(c.accepted)}, {c.untested, "not tested"}, {c.failed, "lost to a tool error"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.text))
		}
	}
	return strings.Join(parts, ", ")
}

// ofThem says how many of the violated behaviours are accepted.
func ofThem(accepted int) string {
	if accepted == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d accepted)", accepted)
}

// enabled is how many cases the lines of plan would enable.
func (c *coverage) enabled() int {
	n := 0
	for _, e := range c.enable {
		n += e.cases
	}
	return n
}

// means is what would enable them: "these 3 lines of plan", "this flag", or both.
func (c *coverage) means() string {
	lines, flags := 0, 0
	for _, e := range c.enable {
		if e.flag() {
			flags++
		} else {
			lines += strings.Count(e.text, "\n") + 1
		}
	}
	var parts []string
	if lines > 0 {
		parts = append(parts, these(lines, "line")+" of plan")
	}
	if flags > 0 {
		parts = append(parts, these(flags, "flag"))
	}
	return strings.Join(parts, " and ")
}

// flag reports whether the text is an option of the command line. No line of YAML begins like one.
func (e enabling) flag() bool { return strings.HasPrefix(e.text, "--") }

func these(n int, noun string) string {
	if n == 1 {
		return "this " + noun
	}
	return "these " + plural(n, noun)
}

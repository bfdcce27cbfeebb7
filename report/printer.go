package report

import (
	"bytes"
	"io"
	"strings"

	"github.com/fatih/color"
	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// narrowBelow is the width from which on lines have columns; below it they are broken into lists. A case
// line needs 14 columns for the verdict, 24 for the id and 30 for title, rounds and time.
const narrowBelow = 72

// labelColumns is the width of the longest label, "diagnosis", and two spaces.
const labelColumns = 11

// printer collects the text of one report.
type printer struct {
	palette
	out     bytes.Buffer
	width   int
	verbose bool
	rules   map[string]scenarios.Rule
	reasons map[trace.Code]scenarios.Reason
	fields  PlanFields
	// planWords is what the plan is called: "a plan" where there was none.
	planWords string
	// explained holds the rules whose reason and fix were shown already.
	explained map[string]bool
	// drawn holds the rounds whose timeline was shown already.
	drawn map[string]bool
	// told holds the endpoint at which a diagnosis was told in full, by the diagnosis' id.
	told map[string]string
}

func newPrinter(o Options) *printer {
	p := &printer{
		palette:   newPalette(o.Color),
		width:     DefaultWidth,
		verbose:   o.Verbose,
		fields:    o.Fields,
		planWords: "the plan",
		rules:     make(map[string]scenarios.Rule, len(o.Rules)),
		reasons:   make(map[trace.Code]scenarios.Reason, len(o.Reasons)),
		explained: map[string]bool{},
		drawn:     map[string]bool{},
		told:      map[string]string{},
	}
	if o.Width != 0 {
		p.width = min(max(o.Width, MinWidth), MaxWidth)
	}
	for _, r := range o.Rules {
		p.rules[r.ID] = r
	}
	for _, r := range o.Reasons {
		p.reasons[r.Code] = r
	}
	return p
}

// about calls the plan of a run what it is.
func (p *printer) about(run *trace.Run) *printer {
	if run.Info.Plan.Path == "" {
		p.planWords = "a plan"
	}
	return p
}

// flush writes everything at once.
func (p *printer) flush(w io.Writer) error {
	_, err := w.Write(p.out.Bytes())
	return err
}

func (p *printer) narrow() bool { return p.width < narrowBelow }

// raw writes a finished line: clean, styled and not too wide.
func (p *printer) raw(indent int, line string) {
	if line = strings.TrimRight(line, " "); line != "" {
		p.out.WriteString(strings.Repeat(" ", indent))
	}
	p.out.WriteString(line + "\n")
}

// paint styles text; nothing stays nothing.
func paint(style *color.Color, s string) string {
	if s == "" {
		return ""
	}
	return style.Sprint(s)
}

// blank separates parts of the report; never two in a row, and none at the top.
func (p *printer) blank() {
	if n := p.out.Len(); n > 0 && !bytes.HasSuffix(p.out.Bytes(), []byte("\n\n")) {
		p.out.WriteByte('\n')
	}
}

// para writes wrapped text. Each line is styled by itself, so that no style runs into the margin. Empty
// text writes nothing.
func (p *printer) para(indent int, style *color.Color, text string) {
	if text == "" {
		return
	}
	for _, line := range wrap(clean(text), p.width-indent) {
		p.raw(indent, paint(style, line))
	}
}

// hang writes wrapped text behind a clean head with a style of its own, which ends with the space between
// them; further lines are indented by hang.
func (p *printer) hang(indent, hang int, headStyle *color.Color, head string, style *color.Color, text string) {
	room := p.width - indent - hang
	lines := wrapBehind(clean(text), p.width-indent-twwidth.Width(head), room)
	p.raw(indent, paint(headStyle, head)+paint(style, lines[0]))
	for _, line := range lines[1:] {
		p.raw(indent+hang, paint(style, line))
	}
}

// field writes a label and wrapped text beside it, or behind it on a narrow screen. Empty text writes nothing.
func (p *printer) field(indent int, label, text string) {
	p.styled(indent, label, p.plain, text)
}

func (p *printer) styled(indent int, label string, style *color.Color, text string) {
	if text == "" {
		return
	}
	if p.narrow() {
		p.hang(indent, 2, p.label, label+": ", style, text)
		return
	}
	for i, line := range wrap(clean(text), p.width-indent-labelColumns) {
		head := strings.Repeat(" ", labelColumns)
		if i == 0 {
			head = p.label.Sprint(label) + pad("", labelColumns-len(label))
		}
		p.raw(indent, head+paint(style, line))
	}
}

package report

import (
	"fmt"
	"io"
	"strings"

	"retrysafe/internal/trace"
)

// TAP writes the run in the Test Anything Protocol, version 14, one test for each scenario of each endpoint. What could not be judged is
// not ok; a skip says why; warnings are ok with a comment.
func TAP(w io.Writer, run *trace.Run, o Options) error {
	var b strings.Builder
	n := 0
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		for _, c := range tested(ep) {
			n++
			name := fmt.Sprintf("%d - %s: %s", n, tapText(heading(ep)), tapText(c.Scenario))
			switch c.Verdict {
			case trace.Pass:
				fmt.Fprintf(&b, "ok %s\n", name)
			case trace.Warn:
				fmt.Fprintf(&b, "ok %s\n", name)
				tapBlock(&b, "warning", accounts(ep, c, o.Rules))
			case trace.Skip:
				fmt.Fprintf(&b, "ok %s # SKIP %s\n", name, tapText(whyNot(c)))
			case trace.Fail:
				fmt.Fprintf(&b, "not ok %s\n", name)
				tapBlock(&b, "violation", orElse(accounts(ep, c, o.Rules), whyNot(c)+"\n"+howTo(c)))
			default:
				fmt.Fprintf(&b, "not ok %s\n", name)
				tapBlock(&b, "not judged", whyNot(c)+"\n"+howTo(c))
			}
		}
	}
	_, err := fmt.Fprintf(w, "TAP version 14\n1..%d\n%s", n, b.String())
	return err
}

// tapText escapes what would begin a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(oneLine(s))
}

// tapBlock writes a YAML block with one text in it.
func tapBlock(b *strings.Builder, kind, text string) {
	fmt.Fprintf(b, "  ---\n  kind: %s\n  text: |\n", kind)
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if strings.TrimSpace(l) == "" {
			b.WriteString("\n")
			continue
		}
		fmt.Fprintf(b, "    %s\n", l)
	}
	b.WriteString("  ...\n")
}

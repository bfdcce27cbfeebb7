package report

import (
	"fmt"
	"strings"

	"retrysafe/internal/trace"
)

// baseline says what became of the entries of a baseline that do not stand beside their findings.
func (p *printer) baseline(b *trace.Baseline) {
	if b == nil || len(b.In(trace.BaselineFixed))+len(b.In(trace.BaselineExpired)) == 0 {
		return
	}
	p.blank()
	p.raw(0, p.bold.Sprint("Baseline"))
	for _, e := range b.In(trace.BaselineExpired) {
		p.hang(2, 4, p.bad, "✗ expired  ", p.plain, entry(e)+": "+accepted(e.Accepted))
	}
	style := p.warn
	if b.Strict {
		style = p.bad
	}
	for _, e := range b.In(trace.BaselineFixed) {
		p.hang(2, 4, style, "✓ fixed  ", p.plain, entry(e)+": take the entry out")
	}
}

func entry(e trace.BaselineEntry) string {
	return fmt.Sprintf("%s in %s on %s", oneLine(e.Rule), oneLine(e.Scenario), oneLine(e.Endpoint))
}

// baselineNote is such as "known.yaml: 3 accepted, 1 fixed, 2 not judged"; empty without a baseline.
func baselineNote(b *trace.Baseline) string {
	if b == nil {
		return ""
	}
	var parts []string
	for _, s := range []struct {
		state trace.BaselineState
		word  string
	}{
		{trace.BaselineAccepted, "accepted"}, {trace.BaselineExpired, "expired"}, {trace.BaselineFixed, "fixed"}, {trace.BaselineUnjudged, "not judged in this run"},
	} {
		if n := len(b.In(s.state)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.word))
		}
	}
	return b.File + ": " + orElse(strings.Join(parts, ", "), "no entries")
}

// mdBaseline is the same in Markdown.
func mdBaseline(b *trace.Baseline) string {
	if b == nil {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\nBaseline %s.\n", mdText(baselineNote(b)))
	for _, e := range b.In(trace.BaselineExpired) {
		fmt.Fprintf(&out, "- ✗ expired: %s: %s\n", mdText(entry(e)), mdText(accepted(e.Accepted)))
	}
	for _, e := range b.In(trace.BaselineFixed) {
		fmt.Fprintf(&out, "- ✓ fixed: %s\n", mdText(entry(e)))
	}
	return out.String()
}

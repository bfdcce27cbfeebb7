package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// mostMarkdown is how long the text may get: GitHub takes step summaries of up to 1 MiB and drops longer ones whole.
const mostMarkdown = 900 << 10

// Markdown writes a summary in GitHub's Markdown: the verdict and what it covers, endpoint by endpoint the diagnoses and each
// finding to unfold, and what was not tested. It ends early rather than become longer than GitHub takes.
func Markdown(w io.Writer, run *trace.Run, o Options) error {
	c := coverageOf(run)
	name, _ := headWord(run.Summary.Verdict, &c, palette{})
	var b strings.Builder
	fmt.Fprintf(&b, "## retrysafe: %s\n\n%s\n\n", name, mdText(c.String()))
	fmt.Fprintf(&b, "Target %s, plan %s, dialect %s, %s in %s, run `%s`.\n\n", mdCode(run.Info.Target), mdCode(planName(run.Info.Plan)),
		mdCode(run.Info.Dialect), plural(run.Summary.Requests, "request"), span(time.Duration(run.Info.ElapsedMS)*time.Millisecond), run.Info.ID)
	if text := labels(&run.Info); text != "" {
		fmt.Fprintf(&b, "Labels: %s.\n\n", mdText(text))
	}
	for _, note := range notes(&run.Info) {
		fmt.Fprintf(&b, "**Note:** %s\n\n", mdText(sentence(note)))
	}
	b.WriteString("| endpoint | verdict | proved | violated | could not be judged | skipped |\n|---|---|---:|---:|---:|---:|\n")
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		n := map[trace.Verdict]int{}
		for _, c := range tested(ep) {
			if c.Accepted() {
				n[trace.Fail]++
			} else {
				n[c.Verdict]++
			}
		}
		fmt.Fprintf(&b, "| %s | %s %s | %d | %d | %d | %d |\n", mdText(heading(ep)), symbol(ep.Verdict), word(ep.Verdict),
			n[trace.Pass]+n[trace.Warn], n[trace.Fail], n[trace.Inconclusive]+n[trace.Error], n[trace.Skip])
	}
	b.WriteString(mdBaseline(run.Info.Baseline))
	left := 0
	for i := range run.Endpoints {
		part := mdEndpoint(run, &run.Endpoints[i], o.Rules)
		if b.Len()+len(part) > mostMarkdown {
			left++
			continue
		}
		b.WriteString(part)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\nThe findings of %s are left out here: see another report of the run.\n", plural(left, "endpoint"))
	}
	if len(c.enable) > 0 {
		b.WriteString("\n<details><summary>To test more</summary>\n\n")
		advice := newPrinter(o).about(run)
		for _, g := range gapsOf(run) {
			switch {
			case g.enable == "":
			case advice.levelOf(g.enable) == levelFlag:
				fmt.Fprintf(&b, "For %s, with the flag:\n\n%s\n", mdText(g.cases.among(len(run.Endpoints))), mdBlock("sh", g.enable))
			default:
				fmt.Fprintf(&b, "For %s, %s:\n\n%s\n", mdText(g.cases.among(len(run.Endpoints))), mdText(advice.whereTo(&g)), mdBlock("yaml", g.enable))
			}
		}
		b.WriteString("</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mdEndpoint is what was found at an endpoint, what the plan requires and was not tested, and what could not be judged; empty when
// there is none of these.
func mdEndpoint(run *trace.Run, ep *trace.Endpoint, rules []scenarios.Rule) string {
	var b strings.Builder
	for i := range ep.Diagnoses {
		d := &ep.Diagnoses[i]
		fmt.Fprintf(&b, "**%s.** %s\n\n*Fix:* %s\n\n%s\n", mdText(strings.TrimSuffix(d.Title, ".")), mdText(d.Why), mdText(d.Fix), mdBlock("sql", d.Example))
	}
	for _, found := range findingsOf(ep) {
		mark := symbol(trace.Fail)
		if !fails(run, ep, found.f) {
			mark = symbol(trace.Warn)
		}
		fmt.Fprintf(&b, "<details><summary>%s %s %s in %s</summary>\n\n%s\n</details>\n\n", mark, found.f.Severity, found.f.Rule, found.c.Scenario,
			mdBlock("text", account(ep, found.c, found.f, rules)))
	}
	for _, c := range tested(ep) {
		switch {
		case required(c):
			fmt.Fprintf(&b, "- %s %s was not tested: %s\n", symbol(trace.Fail), c.Scenario, mdText(whyNot(c)))
		case c.Verdict == trace.Inconclusive || c.Verdict == trace.Error:
			fmt.Fprintf(&b, "- ? %s could not be judged: %s\n", c.Scenario, mdText(whyNot(c)))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("\n### %s %s\n\n%s", symbol(ep.Verdict), mdText(heading(ep)), b.String())
}

// mdText keeps text that came from a plan or a server from being read as Markdown or HTML.
func mdText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "@", "&#64;").Replace(oneLine(s))
}

func mdCode(s string) string { return "`" + strings.ReplaceAll(oneLine(s), "`", "'") + "`" }

// mdBlock is text as it is, in a fence that is longer than any in it.
func mdBlock(language, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(clean(s), "\n"), fence)
}

package report

import (
	"fmt"
	"io"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// mostAnnotations is how many annotations of one kind GitHub keeps of a step; the last one says how many more there are.
const mostAnnotations = 10

// GitHub writes workflow commands that become annotations at the endpoint's line of the plan: an error for a violation and for
// what the plan requires and was not tested, a warning for what is minor or could not be judged, the worst first. They work on standard output of a step.
func GitHub(w io.Writer, run *trace.Run, o Options) error {
	var errors, warnings []string
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		at := ""
		if file := fileOf(run, ep); file != "" {
			at = fmt.Sprintf("file=%s,line=%d,", escapeProperty(file), line(ep))
		}
		for _, found := range findingsOf(ep) {
			title := fmt.Sprintf("%s in %s", found.f.Rule, found.c.Scenario)
			text := fmt.Sprintf("%s: %s", heading(ep), clean(found.f.Message))
			if fix := fixOf(found, o.Rules); fix != "" {
				text += "\nFix: " + fix
			}
			if ep.Owner != "" {
				text += "\nOwner: " + oneLine(ep.Owner)
			}
			if fails(run, ep, found.f) {
				errors = append(errors, command("error", at, title, text))
			} else {
				warnings = append(warnings, command("warning", at, title, text))
			}
		}
		for _, c := range tested(ep) {
			switch {
			case required(c):
				errors = append(errors, command("error", at, c.Scenario+" was not tested", heading(ep)+": "+whyNot(c)))
			case c.Verdict == trace.Inconclusive || c.Verdict == trace.Error:
				warnings = append(warnings, command("warning", at, c.Scenario+" could not be judged", heading(ep)+": "+whyNot(c)))
			}
		}
	}
	var b strings.Builder
	for _, list := range [][]string{errors, warnings} {
		if n := len(list); n > mostAnnotations {
			kind, _, _ := strings.Cut(strings.TrimPrefix(list[0], "::"), " ")
			list = append(list[:mostAnnotations-1], command(kind, "", "retrysafe", fmt.Sprintf("and %d more: see the report of the run", n-mostAnnotations+1)))
		}
		for _, l := range list {
			b.WriteString(l + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fixOf is what the diagnosis of a finding, or else its rule, says to change.
func fixOf(f found, rules []scenarios.Rule) string {
	if f.d != nil {
		return clean(f.d.Fix)
	}
	return ruleOf(rules, f.f.Rule).Fix
}

func command(kind, at, title, text string) string {
	return fmt.Sprintf("::%s %stitle=%s::%s", kind, at, escapeProperty(title), escapeMessage(text))
}

// escapeMessage and escapeProperty keep text from ending the command, or from being read as another one.
func escapeMessage(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// unreached is what kept a run from reaching any of its endpoints, such as "dial tcp 127.0.0.1:8080: connect: connection refused"; empty
// where one was reached, or something else was in the way.
func unreached(run *trace.Run) string {
	var causes []string
	for i := range run.Endpoints {
		cause := unreachedBy(&run.Endpoints[i])
		if cause == "" {
			return ""
		}
		if !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
	}
	return strings.Join(causes, "; ")
}

func unreachedBy(ep *trace.Endpoint) string {
	cause := ""
	for i := range ep.Cases {
		switch c := &ep.Cases[i]; {
		case c.Verdict == trace.Inconclusive && c.Reason == trace.Unreachable && cause == "":
			cause = connection(c.Detail)
		case c.Verdict != trace.Inconclusive && c.Verdict != trace.Skip:
			return ""
		}
	}
	return cause
}

// connection is why there was no connection, without the request that it was for: the same for all of a target. It is empty where there
// was one, and only the answer is missing.
func connection(detail string) string {
	request, ok := strings.CutPrefix(detail, "no connection for ")
	if !ok {
		return ""
	}
	_, cause, _ := strings.Cut(request, ": ")
	return cause
}

// notReached tells that nothing was reached, why, and what to try, in place of what was tested and what would test more.
func (p *printer) notReached(run *trace.Run, c coverage, cause string) {
	name, style := headWord(run.Summary.Verdict, &c, p.palette)
	p.hang(0, 2, style, name+"  ", style, fmt.Sprintf("no connection to %s: %s", orElse(run.Info.Target, "the target"), limit(cause, longValue)))
	p.blank()
	p.field(2, "try", p.hint(trace.Unreachable, cause))
	p.field(2, "more", "retrysafe explain "+string(trace.Unreachable))
}

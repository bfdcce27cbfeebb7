package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// Client writes what `retrysafe sink` saw of a client, for people: the headline, how the sink behaved, and for every
// operation its calls and what was found. The error is that of the writer.
func Client(w io.Writer, run *trace.ClientRun, o Options) error {
	p := newPrinter(o)
	info, sum := &run.Info, &run.Summary
	p.hang(0, 2, p.of(sum.Verdict), badge(sum.Verdict)+"  ", p.bold, clientHeadline(run))
	p.blank()
	p.field(2, "listened", fmt.Sprintf("on %s for %s, until %s", info.URL, span(time.Duration(info.ElapsedMS)*time.Millisecond), info.Ended))
	p.field(2, "failed", fmt.Sprintf("the first %s of each operation %s", callsWord(info.Times), howFailed(info.First)))
	p.field(2, "tool", info.Tool.Name+" "+info.Tool.Version)
	if passed := passedOver(run); passed > 0 {
		p.field(2, "note", fmt.Sprintf("%s of methods that are idempotent by themselves, not judged", plural(passed, "call")))
	}
	for i := range run.Operations {
		p.operation(run, &run.Operations[i])
	}
	p.blank()
	if sum.Detail != "" {
		p.field(0, "why", sum.Detail)
		p.field(0, "change", sum.Enable)
	}
	p.para(0, p.dim, clientEnding(run))
	return p.flush(w)
}

func clientHeadline(run *trace.ClientRun) string {
	text := fmt.Sprintf("%s in %s", plural(len(run.Operations), "operation"), plural(len(run.Calls), "call"))
	switch run.Summary.Verdict {
	case trace.Pass:
		return text + ": retries are recognisable as such"
	case trace.Warn:
		return text + ": retries are recognisable as such, with a remark"
	case trace.Fail:
		return text + ": a retry cannot be told from a new operation, or is another request"
	}
	return text + ": not enough to judge"
}

func callsWord(times int) string {
	if times == 1 {
		return "call"
	}
	return fmt.Sprintf("%d calls", times)
}

func howFailed(first string) string {
	switch first {
	case trace.FailedDrop:
		return "was dropped: read, and the connection closed without an answer"
	case trace.FailedTimeout:
		return "got no answer for as long as the client waited"
	}
	return "was answered " + first
}

// passedOver is how many calls belong to no operation.
func passedOver(run *trace.ClientRun) int {
	n := len(run.Calls)
	for _, op := range run.Operations {
		n -= len(op.Calls)
	}
	return n
}

// operation writes the calls of one operation and what was found.
func (p *printer) operation(run *trace.ClientRun, op *trace.Operation) {
	p.blank()
	p.hang(0, 2, p.of(op.Verdict), symbol(op.Verdict)+" "+word(op.Verdict)+"  ", p.bold, op.Request)
	var origin trace.Nanos
	shown := 0
	for _, a := range run.Calls {
		if !slices.Contains(op.Calls, a.ID) {
			continue
		}
		if origin == 0 {
			origin = a.At
		}
		if shown++; shown > manyExchanges {
			continue
		}
		key := "no key"
		if a.Call.Key != "" {
			key = "key " + shorten(oneLine(a.Call.Key), 60)
		}
		p.hang(4, 4, p.plain, "", p.plain, fmt.Sprintf("@%d after %s ms: %s, %s", a.ID, millis(a.At-origin), key, a.Call.Outcome()))
	}
	if shown > manyExchanges {
		p.para(4, p.dim, fmt.Sprintf("and %d more in the JSON document", shown-manyExchanges))
	}
	p.field(2, "power", op.Power)
	if op.Reason != "" {
		p.field(2, "why", op.Detail)
		p.field(2, "change", op.Enable)
	}
	for i := range op.Findings {
		p.clientFinding(run, &op.Findings[i])
	}
}

func (p *printer) clientFinding(run *trace.ClientRun, f *trace.Finding) {
	mark, style := symbol(trace.Fail), p.bad
	if !f.Severity.AtLeast(run.Info.FailOn) {
		mark, style = symbol(trace.Warn), p.warn
	}
	rule, known := p.rules[f.Rule]
	p.blank()
	p.hang(2, 4, style, mark+" "+oneLine(string(f.Severity))+"  ", p.bold, f.Rule)
	if known {
		p.para(4, p.bold, rule.Title)
	}
	p.para(4, p.plain, limit(f.Message, longValue))
	p.blank()
	p.field(4, "expected", limit(f.Expected, longValue))
	p.field(4, "actual", limit(f.Actual, longValue))
	var ids []string
	for _, id := range f.Arrivals {
		ids = append(ids, fmt.Sprintf("@%d", id))
	}
	p.field(4, "calls", strings.Join(ids, ", "))
	if known {
		p.advice(rule.ID, rule.Why, rule.Fix)
	}
}

func clientEnding(run *trace.ClientRun) string {
	switch run.Summary.ExitCode {
	case 0:
		return "exit 0: nothing failed"
	case 1:
		return fmt.Sprintf("exit 1: violations of severity %s or above were found", run.Info.FailOn)
	case 130:
		return "exit 130: interrupted; this is what was seen until then"
	}
	return "exit 3: nothing failed, but something could not be judged"
}

// ClientJSON writes the document of a ClientRun. The error is that of the writer.
func ClientJSON(w io.Writer, run *trace.ClientRun) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(run)
}

package judge

import (
	"fmt"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// ruleRetryAfter is broken by a retry that comes sooner than it was asked to.
const ruleRetryAfter = "retry-after-ignored"

// early is by how much a retry may come before the time that Retry-After names: clocks and timers are not exact.
const early = 50 * time.Millisecond

// Client judges what a client under test did towards a sink: every operation by itself, then all together. Info and Calls
// of the run must be set; Operations and Summary are filled in. Where calls with different keys may be different
// operations it accuses nobody.
func Client(run *trace.ClientRun, rules Catalogue) {
	ops := Operations{Header: run.Info.OperationHeader}
	var groups []*clientOperation
	for i := range run.Calls {
		a := &run.Calls[i]
		if !NeedsKey(a.Call) {
			continue
		}
		n := ops.Add(a.Call)
		if n == len(groups) {
			groups = append(groups, &clientOperation{run: run, in: &Input{Rules: rules, FailOn: run.Info.FailOn}})
		}
		groups[n].calls = append(groups[n].calls, a)
	}
	run.Operations = []trace.Operation{}
	for _, g := range groups {
		g.alike = run.Info.Announced > len(groups)
		run.Operations = append(run.Operations, g.judge())
	}
	run.Summary = concludeClient(run)
}

// clientOperation is an operation being judged.
type clientOperation struct {
	run   *trace.ClientRun
	in    *Input
	calls []*trace.Arrival
	// alike is true when fewer different operations came than were announced, so that some may look the same.
	alike bool
	found []trace.Finding
}

func (o *clientOperation) judge() trace.Operation {
	first := o.calls[0].Call
	out := trace.Operation{Request: first.Request.Method + " " + first.Path()}
	for _, a := range o.calls {
		out.Calls = append(out.Calls, a.ID)
	}
	var why *trace.Reason
	if len(o.calls) == 1 {
		why = &trace.Reason{Code: trace.NoEvidence, Detail: "the client did not call again after its first call was " + first.Outcome(),
			Enable: "a client that retries that; or --for, longer, where the sink ended before the client did"}
	} else {
		why = o.keys()
		o.bodies()
		o.waits()
	}
	out.Rounds = 1
	out.Findings = worstFirst(o.found)
	out.Result = conclude(&Input{Rules: o.in.Rules, FailOn: o.in.FailOn, Case: &trace.Case{}}, out.Result, why)
	if out.Verdict == trace.Pass || out.Verdict == trace.Warn {
		out.Power = o.power()
	}
	return out
}

// keys checks that calls that failed were sent again with the same key.
func (o *clientOperation) keys() *trace.Reason {
	header := o.run.Info.Key
	var stray, next *trace.Arrival
	for i, a := range o.calls[:len(o.calls)-1] {
		if a.Call.Failed != "" && !comesAgain(a, o.calls[i+1:]) {
			stray, next = a, o.calls[i+1]
			break
		}
	}
	switch {
	case stray == nil:
		return nil
	case o.alike:
		return &trace.Reason{Code: trace.NoEvidence,
			Detail: fmt.Sprintf("%d operations were announced and some look the same, so calls without a common key may be different operations", o.run.Info.Announced),
			Enable: "--operation-header NAME, with a value for each operation; or operations that differ in their content"}
	}
	message := fmt.Sprintf("the call that failed carried %s, the next one %s", keyText(stray), keyText(next))
	if stray.Call.Key == "" && next.Call.Key == "" {
		message = fmt.Sprintf("the call that failed was sent again, and carries no key in %s: whoever got it cannot tell the retry from a second order", header)
	}
	o.add(ruleDownstream, message, "every attempt of an operation carries the same "+header, keysText(values(o.calls)), o.calls...)
	return nil
}

func keyText(a *trace.Arrival) string {
	if a.Call.Key == "" {
		return "no key"
	}
	return "the key " + shorten(a.Call.Key, 60)
}

// comesAgain reports whether a call with the same key follows.
func comesAgain(a *trace.Arrival, later []*trace.Arrival) bool {
	return a.Call.Key != "" && retryOf(a, later).Call.Key == a.Call.Key
}

// retryOf is the next call with the same key; the next one at all when there is none. There must be one.
func retryOf(a *trace.Arrival, later []*trace.Arrival) *trace.Arrival {
	for _, b := range later {
		if b.Call.Key == a.Call.Key {
			return b
		}
	}
	return later[0]
}

// bodies checks that calls with the same key have the same body.
func (o *clientOperation) bodies() {
	first := map[string]*trace.Arrival{}
	for _, a := range o.calls {
		ref := first[a.Call.Key]
		switch {
		case a.Call.Key == "":
		case ref == nil:
			first[a.Call.Key] = a
		default:
			if places, differ := callsDiffer(ref.Call, a.Call, o.run.Info.IgnoreJSON); differ {
				o.add(ruleDownstreamBody, "the retry carries the key of the first attempt and another body"+places,
					shorten(string(ref.Call.Request.Body.Bytes()), excerptLimit), shorten(string(a.Call.Request.Body.Bytes()), excerptLimit), ref, a)
				return
			}
		}
	}
}

// waits checks that a retry came no sooner than it was asked to.
func (o *clientOperation) waits() {
	for i, a := range o.calls[:len(o.calls)-1] {
		next := retryOf(a, o.calls[i+1:])
		asked, waited := a.Call.RetryAfter.Duration(), (next.At - a.At).Duration()
		if asked == 0 || waited >= asked-early {
			continue
		}
		o.add(ruleRetryAfter, fmt.Sprintf("the retry came %s after an answer with Retry-After: %.0f", milliseconds(waited), asked.Seconds()),
			fmt.Sprintf("no retry within %s", asked), fmt.Sprintf("a retry after %s", milliseconds(waited)), a, next)
		return
	}
}

func (o *clientOperation) add(rule, message, expected, actual string, calls ...*trace.Arrival) {
	o.found = append(o.found, trace.Finding{Rule: rule, Severity: o.in.severity(rule), Message: message, Expected: expected, Actual: actual,
		Exchanges: []int{}, Arrivals: idsOf(values(calls)), Round: 1, Seen: 1})
}

func values(as []*trace.Arrival) []trace.Arrival {
	out := make([]trace.Arrival, len(as))
	for i, a := range as {
		out[i] = *a
	}
	return out
}

// power says what a pass saw.
func (o *clientOperation) power() string {
	rules := []string{ruleDownstream, ruleDownstreamBody}
	var waited []string
	for i, a := range o.calls[1:] {
		waited = append(waited, milliseconds((a.At - o.calls[i].At).Duration()))
		if o.calls[i].Call.RetryAfter > 0 && len(rules) == 2 {
			rules = append(rules, ruleRetryAfter)
		}
	}
	return fmt.Sprintf("would have caught %s; %s, the first one %s, sent again after %s", strings.Join(rules, ", "),
		plural(len(o.calls), "call"), o.calls[0].Call.Outcome(), strings.Join(waited, ", then "))
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.0f ms", d.Seconds()*1e3) }

// concludeClient weighs the operations: a failure wins, then whatever could not be judged.
func concludeClient(run *trace.ClientRun) trace.Conclusion {
	out := trace.Conclusion{Verdict: trace.Pass}
	for _, op := range run.Operations {
		if worst(op.Verdict) > worst(out.Verdict) {
			out.Verdict = op.Verdict
		}
	}
	info := &run.Info
	switch {
	case out.Verdict == trace.Fail:
	case info.Lost != "":
		out.Verdict, out.Detail = trace.Inconclusive, info.Lost
	case len(run.Operations) == 0 && len(run.Calls) > 0:
		out.Verdict, out.Detail = trace.Inconclusive, "only calls arrived whose methods are idempotent by themselves"
	case len(run.Operations) == 0:
		out.Verdict, out.Detail, out.Enable = trace.Inconclusive, "no call arrived", "a client that calls "+info.URL+"; or --for, longer, where the sink ended before the client did"
	case len(run.Operations) < info.Announced && out.Verdict != trace.Inconclusive:
		out.Verdict = trace.Inconclusive
		out.Detail = fmt.Sprintf("%s of the %d that were announced", plural(len(run.Operations), "operation"), info.Announced)
		out.Enable = fmt.Sprintf("--operations %d, if there are no more", len(run.Operations))
	}
	switch {
	case info.Interrupted:
		out.ExitCode = exitInterrupted
	case out.Verdict == trace.Fail:
		out.ExitCode = exitViolations
	case out.Verdict == trace.Inconclusive:
		out.ExitCode = exitUnjudged
	}
	return out
}

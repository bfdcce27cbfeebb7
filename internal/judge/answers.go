package judge

import (
	"fmt"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// ruleReplayed is the one rule about refusals that an executed request does not break.
const ruleReplayed = "different-body-replayed"

// refused checks that sends end with a refusal, of the right status where one is documented.
func (v *view) refused(e *scenarios.Expectation) outcome {
	var out outcome
	for _, i := range v.finals(e.Refused) {
		x := v.x(i)
		switch v.class[i] {
		case trace.ClassRefused:
			if x.Response.Status == 401 {
				out.gap(v.turnedAway(i))
				continue
			}
			out.judged = true
			out.findings = merge(out.findings, v.wrongRefusal(i, v.rightStatuses(e.As)))
		case trace.ClassSuccess:
			f, bad := v.notRefused(e, i)
			if at := seemsRefused(x.Response); bad && at != "" && !v.executed(i) && !v.effects.exceeded {
				out.gap(&trace.Reason{Code: trace.Assumption, Enable: fmt.Sprintf("answers: {refused: {json: %q}}", at),
					Detail: v.name(i) + " was answered with status " + fmt.Sprint(x.Response.Status) + ", and seems to say at " + at + " that it was refused: " + answerText(x)})
				continue
			}
			out.judged = true
			if bad {
				out.findings = merge(out.findings, []trace.Finding{f})
			}
		case trace.ClassFailed:
			out.gap(&trace.Reason{Code: trace.Assumption, Detail: v.name(i) + " should be refused, but was neither refused nor accepted: " + answerText(x)})
		}
	}
	return out
}

// wrongRefusal judges the status of a refusal. An error in an answer with status 2xx has none.
func (v *view) wrongRefusal(i int, right []int) []trace.Finding {
	status := v.x(i).Response.Status
	if len(right) == 0 || slices.Contains(right, status) || saysSuccess(v.in.Facts, v.learned, v.x(i)) {
		return nil
	}
	return []trace.Finding{v.finding(ruleRefusal, fmt.Sprintf("%s was refused with %d, expected one of %v", v.name(i), status, right),
		"status "+either(right), answerText(v.x(i)), i)}
}

func (v *view) rightStatuses(as string) []int {
	switch as {
	case "mismatch":
		return v.in.Facts.Statuses.Mismatch
	case "missing_key":
		return v.in.Facts.Statuses.MissingKey
	}
	return nil
}

// notRefused judges success where a refusal is right. An other body that was executed is no replay: the created
// expectation says so, and where that could not be judged it is said here.
func (v *view) notRefused(e *scenarios.Expectation, i int) (trace.Finding, bool) {
	x := v.x(i)
	evidence, executed := []int{i}, v.executed(i)
	if earlier := v.succeededBefore(i); len(earlier) > 0 {
		evidence = []int{earlier[0], i}
	}
	switch {
	case v.shareKey(i) && v.in.Facts.EndpointScope != scopeChecked:
		return trace.Finding{}, false // nothing says that the other endpoint must know the key
	case e.As == "mismatch" && v.in.Facts.Mismatch == mismatchReplayed && !executed:
		return trace.Finding{}, false
	}
	if e.Rule != ruleReplayed || !executed {
		return v.finding(e.Rule, v.name(i)+v.changed(i)+" should be refused, but was answered with success", "a refusal (4xx)", answerText(x), evidence...), true
	}
	if v.effects.judged || v.effects.rule == "" {
		return trace.Finding{}, false
	}
	return v.finding(v.effects.rule, v.name(i)+v.changed(i)+" should be refused, but was answered with a creation of its own", "a refusal (4xx)", answerText(x), evidence...), true
}

// executed reports whether a success under a known key shows a creation of its own beside all that had succeeded before.
func (v *view) executed(i int) bool {
	earlier := v.succeededBefore(i)
	return len(earlier) > 0 && !slices.ContainsFunc(earlier, func(j int) bool {
		return !v.otherCreation(j, i) && (!v.effects.exceeded || v.sameCreation(j, i))
	})
}

// succeededBefore are the successes of the same key that were there before a request began.
func (v *view) succeededBefore(i int) []int {
	var earlier []int
	for j := range v.round.Exchanges {
		if j != i && v.class[j] == trace.ClassSuccess && sameKey(v.x(j), v.x(i)) && v.x(j).Done < v.x(i).Started {
			earlier = append(earlier, j)
		}
	}
	return earlier
}

// accepted checks that sends end with success.
func (v *view) accepted(e *scenarios.Expectation) outcome {
	var out outcome
	for _, i := range v.finals(e.Accepted) {
		x := v.x(i)
		switch v.class[i] {
		case trace.ClassSuccess:
			out.judged = true
		case trace.ClassRefused, trace.ClassFailed:
			if v.class[i] == trace.ClassRefused && v.credentialsRefused(i) {
				out.gap(v.turnedAway(i))
				continue
			}
			if v.class[i] == trace.ClassFailed && (v.shareKey(i) || e.Rule == ruleConflict) {
				continue // an error, and no sign of the first answer
			}
			out.judged = true
			if v.class[i] == trace.ClassRefused && (v.refusalRight(e.Rule, i) || outdated(x)) {
				continue
			}
			rule, expected, more := e.Rule, "success", ""
			switch concluded := concludedBefore(v.in.Facts, v.learned, v.round, i, true); {
			case concluded && v.in.Facts.Conflicts && v.class[i] == trace.ClassRefused:
				rule, expected = ruleRefusal, v.conflictText()
			case concluded && v.isConflict(x.Response.Status):
				rule, more = ruleConflict, v.onceText()
			}
			out.findings = merge(out.findings, []trace.Finding{v.finding(rule,
				fmt.Sprintf("%s ended with status %d instead of success%s", v.name(i), x.Response.Status, more), expected, answerText(x), i)})
		case trace.ClassInProgress:
			out.gap(&trace.Reason{Code: trace.Assumption, Detail: v.name(i) + " was still in progress at the end: " + answerText(x)})
		}
	}
	return out
}

// outdated reports whether a conditional request was refused because the first one had changed what it is about: the repeat
// was recognised (RFC 9110 section 13.1).
func outdated(x *trace.Exchange) bool {
	conditional := firstHeader(x.Request.Headers, "If-Match") != "" || firstHeader(x.Request.Headers, "If-None-Match") != "" ||
		firstHeader(x.Request.Headers, "If-Unmodified-Since") != ""
	return conditional && x.Response.Status == 412
}

// credentialsRefused reports whether a refusal may be about who asks, and not about the key: 401, and 403 for a caller who
// was never seen to succeed.
func (v *view) credentialsRefused(i int) bool {
	switch v.x(i).Response.Status {
	case 401:
		return true
	case 403:
		return v.foreign(i) && !slices.ContainsFunc(v.of(trace.ClassSuccess, v.labelled(nil)), func(j int) bool { return v.x(j).Caller == v.x(i).Caller })
	}
	return false
}

// turnedAway says that a caller was refused for who they are. Where it is not the one of the control, the plan can name another
// one who may, or leave the scenario out.
func (v *view) turnedAway(i int) *trace.Reason {
	x := v.x(i)
	if !v.foreign(i) || x.Caller == "" {
		return authReason(x)
	}
	return &trace.Reason{Code: trace.Auth,
		Detail: fmt.Sprintf("caller %s, the second one of the plan, is refused whatever the key, so nothing shows whether keys are kept apart: %s", x.Caller, answerText(x)),
		Enable: v.in.Scenario.AnotherCaller(x.Caller)}
}

// refusalRight reports whether the convention documents a refusal where success is asked for: the other endpoint may
// refuse a key that it did not see first, a body is compared by its bytes, or a finished operation is not repeated.
func (v *view) refusalRight(rule string, i int) bool {
	switch {
	case v.shareKey(i):
		return v.in.Facts.EndpointScope != scopeIndependent
	case rule == ruleEquivalent:
		return !v.in.asserts(rule)
	}
	return v.in.Facts.Conflicts && v.in.conflictRight(v.x(i).Response.Status) && v.doneBefore(i)
}

// doneBefore reports whether the operation that exchange i repeats was done when it was sent: an answer or a count said so,
// or an earlier copy lost its answer and the counters show an effect of the key. The latter only tells where i itself was refused.
func (v *view) doneBefore(i int) bool {
	if concludedBefore(v.in.Facts, v.learned, v.round, i, true) {
		return true
	}
	x := v.x(i)
	return v.rose(x.Scope, 0) && slices.ContainsFunc(v.round.Exchanges, func(o trace.Exchange) bool {
		return sameKey(&o, x) && o.Response == nil && o.Sent != 0 && o.Done < x.Started
	})
}

// failed checks that sends are answered with 5xx.
func (v *view) failed(e *scenarios.Expectation) outcome {
	var out outcome
	for _, i := range v.finals(e.Failed) {
		switch v.class[i] {
		case trace.ClassFailed:
			out.judged = true
		case trace.ClassNone, trace.ClassBusy, trace.ClassIntermediary: // reported for every exchange
		default:
			out.judged = true
			out.findings = merge(out.findings, []trace.Finding{v.finding(e.Rule, v.name(i)+" should fail with 5xx", "status 5xx", answerText(v.x(i)), i)})
		}
	}
	return out
}

// never checks that no answer has a class. An endpoint that answers so from the start, with nothing else
// under way, shows nothing about retries.
func (v *view) never(e *scenarios.Expectation) outcome {
	var out outcome
	among := v.labelled(e.Of)
	bad := v.of(e.Never, among)
	out.judged = len(among) > 0
	if len(bad) == 0 {
		return out
	}
	if first := v.uncontestedFirst(); first >= 0 && v.class[first] == e.Never && !slices.Contains(e.Of, v.x(first).Label) {
		out.judged = false
		out.gap(&trace.Reason{Code: trace.Assumption, Detail: fmt.Sprintf("the first request was already so (%s): %s", classText(e.Never), answerText(v.x(first)))})
		return out
	}
	evidence := bad
	if ref := v.reference(v.labelled(nil)); ref >= 0 && !slices.Contains(bad, ref) {
		evidence = append([]int{ref}, bad...)
	}
	out.findings = append(out.findings, v.finding(e.Rule,
		fmt.Sprintf("%d of %s: %s", len(bad), plural(len(among), "answer"), classText(e.Never)), "none: "+classText(e.Never),
		v.name(bad[0])+": "+answerText(v.x(bad[0])), evidence...))
	return out
}

// uncontestedFirst is the first exchange of the round when it ended before any other began; else -1.
func (v *view) uncontestedFirst() int {
	first := -1
	for i := range v.round.Exchanges {
		if s := v.x(i).Started; s != 0 && (first < 0 || s < v.x(first).Started) {
			first = i
		}
	}
	for i := range v.round.Exchanges {
		if first >= 0 && i != first && v.x(i).Started != 0 && v.x(i).Started < v.x(first).Done {
			return -1
		}
	}
	return first
}

// stuck checks that what is repeated until final does become final. It holds whatever else went wrong in the round.
func (v *view) stuck() []trace.Finding {
	var out []trace.Finding
	for _, i := range v.finals(nil) {
		s := v.send(i)
		if s == nil || !s.UntilFinal || v.class[i] != trace.ClassInProgress {
			continue
		}
		first := v.firstAttempt(i)
		waited := v.x(i).Done - v.x(first).Started
		if v.in.Case.Stop != nil && waited < v.in.Facts.InProgressLimit {
			continue // the run stopped asking
		}
		evidence := []int{i}
		if first != i {
			evidence = []int{first, i}
		}
		out = merge(out, []trace.Finding{v.finding(ruleStuck,
			fmt.Sprintf("%s was still in progress after %s and %.1f s", v.name(i), plural(v.x(i).Repeat+1, "attempt"), waited.Duration().Seconds()),
			fmt.Sprintf("a final answer within %.1f s", v.in.Facts.InProgressLimit.Duration().Seconds()), answerText(v.x(i)), evidence...)})
	}
	return out
}

func (v *view) firstAttempt(i int) int {
	first := i
	for j := range v.round.Exchanges {
		if v.x(j).Step == v.x(i).Step && v.x(j).Copy == v.x(i).Copy && v.x(j).Label == v.x(i).Label && v.x(j).Repeat < v.x(first).Repeat {
			first = j
		}
	}
	return first
}

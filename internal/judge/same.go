package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// same checks that the answers under the labels repeat the first success answer among them.
func (v *view) same(e *scenarios.Expectation) outcome {
	var out outcome
	among := v.labelled(e.Same)
	ref := v.reference(among)
	if ref < 0 {
		out.judged = v.refusedThroughout(among)
		return out
	}
	ref, early := v.withResult(ref, among)
	if f, lost := v.resultLost(ref); lost {
		out.judged, out.findings = true, []trace.Finding{f}
		return out
	}
	for _, i := range among {
		if i == ref {
			continue
		}
		switch v.class[i] {
		case trace.ClassInProgress:
			out.judged = out.judged || e.Rule == ruleFalseSuccess // the truth, while the first ran
		case trace.ClassSuccess:
			out.judged = true
			out.findings = merge(out.findings, v.succeeded(ref, i, early(i), &out))
		case trace.ClassRefused:
			if v.x(i).Response.Status == 401 || asksWho(v.x(i)) {
				out.gap(authReason(v.x(i)))
				continue
			}
			out.judged = true
			if f, bad := v.refusedInstead(e.Rule, ref, i); bad {
				out.findings = merge(out.findings, []trace.Finding{f})
			}
		}
	}
	return out
}

// refusedThroughout reports whether all answers refuse the retry of what had succeeded before, as the convention documents
// it. Nothing else is compared then.
func (v *view) refusedThroughout(among []int) bool {
	if !v.in.Facts.Conflicts || len(among) == 0 {
		return false
	}
	for _, i := range among {
		if v.class[i] != trace.ClassRefused || !v.in.conflictRight(v.x(i).Response.Status) ||
			!v.doneBefore(i) {
			return false
		}
	}
	return true
}

// reference is the success answer that came first; -1 when there is none. Of copies that were under way together
// nobody knows which one ran, so among them the one that is most like an uncontested answer is preferred.
func (v *view) reference(among []int) int {
	ref := -1
	for _, i := range v.of(trace.ClassSuccess, among) {
		switch {
		case ref < 0, v.x(i).Done < v.x(ref).Started:
			ref = i
		case v.x(i).Started > v.x(ref).Done:
		case v.usual(i) > v.usual(ref), v.usual(i) == v.usual(ref) && v.x(i).Done < v.x(ref).Done:
			ref = i
		}
	}
	return ref
}

// usual says how much of an uncontested answer a success answer has: its status and creation fields, and where these
// are alike, headers that a replay must repeat.
func (v *view) usual(i int) int {
	n := v.ids[i].size()
	if v.x(i).Response.Status == v.learned.SuccessStatus {
		n += 1 + len(v.learned.CreationFields)
	}
	headers := 0
	for _, name := range v.repeatedHeaders() {
		if firstHeader(v.x(i).Response.Headers, name) != "" {
			headers++
		}
	}
	return n*len(v.repeatedHeaders()) + headers
}

// succeeded judges a success answer beside the reference. Early is true when it is a success before there was a result.
func (v *view) succeeded(ref, i int, early bool, out *outcome) []trace.Finding {
	first, x := v.x(ref), v.x(i)
	switch {
	case early:
		when := "while the request that has it was under way"
		if before := answeredAt(first) - answeredAt(x); before > 0 {
			when = fmt.Sprintf("%.0f ms before the first answer with it came", before.Duration().Seconds()*1e3)
		}
		return []trace.Finding{v.finding(ruleFalseSuccess, v.name(i)+" was answered with success and without the result, "+when,
			"one of the in-progress statuses, or "+answerText(first), answerText(x), ref, i)}
	case v.in.Facts.Conflicts && x.Started > first.Done && !v.otherCreation(ref, i) &&
		!slices.Contains(v.in.Facts.ReplayStatuses, x.Response.Status):
		return []trace.Finding{v.finding(ruleRefusal,
			fmt.Sprintf("%s was answered with %d, where the convention has a finished operation refused", v.name(i), x.Response.Status),
			v.conflictText(), answerText(x), ref, i)}
	}
	return v.repeated(ref, i, out)
}

func (v *view) conflictText() string {
	if len(v.in.Facts.ReplayStatuses) == 0 {
		return "a refusal (4xx)"
	}
	return "status " + either(v.in.Facts.ReplayStatuses)
}

// withResult is the answer that the others must repeat, and tells which of them are successes from before there was a result. That
// answer is the first one, unless a request of its operation got no answer before it: what has no result then, where a later
// answer has one, was told while that request was still at work.
func (v *view) withResult(ref int, among []int) (int, func(i int) bool) {
	unanswered := v.unansweredBefore(ref)
	for _, i := range v.of(trace.ClassSuccess, among) {
		if unanswered && v.x(i).Started > v.x(ref).Done && v.lacksResult(i, ref) {
			return i, func(k int) bool { return v.x(k).Done < v.x(i).Started && v.lacksResult(i, k) }
		}
	}
	return ref, v.earlyFrom(ref, among)
}

// unansweredBefore reports whether an earlier request of an exchange's operation got no answer.
func (v *view) unansweredBefore(i int) bool {
	return slices.ContainsFunc(v.round.Exchanges, func(x trace.Exchange) bool {
		return x.Response == nil && x.Sent != 0 && x.Started < v.x(i).Started && sameOperation(&x, v.x(i))
	})
}

// resultLost finds a success answer that has less than uncontested ones, and nothing of what names a creation there, which is the first one
// that an operation got, and the best: nobody can learn its result. Replays of it agree with it, so nothing else tells.
func (v *view) resultLost(ref int) (trace.Finding, bool) {
	fields := v.learned.CreationFields
	if !slices.ContainsFunc(fields, isIdentity) || v.in.Facts.Conflicts || v.ids[ref] != nil || v.results[ref] != nil ||
		!v.unansweredBefore(ref) || !v.hasLess(v.x(ref).Response) {
		return trace.Finding{}, false
	}
	return v.finding(ruleBody, v.name(ref)+" was answered with success and without the result, and no other answer to its operation has it",
		"an answer with "+strings.Join(fields, ", "), answerText(v.x(ref)), ref), true
}

// hasLess reports whether an answer has no body, or one of JSON with no other values than those that are also in uncontested answers, and no
// header that may lead to the result. In another form the result may stand elsewhere.
func (v *view) hasLess(r *trace.Response) bool {
	headers := append([]string{"Location", "Content-Location", "Link"}, v.in.Facts.ReplayHeaders...)
	if r.Body.Truncated || slices.ContainsFunc(headers, func(name string) bool { return firstHeader(r.Headers, name) != "" }) {
		return false
	}
	doc := bodyJSON(r)
	if doc == nil {
		return isEmpty(r)
	}
	known := map[string]bool{}
	for i := range v.in.Control.Rounds {
		for k := range v.in.Control.Rounds[i].Exchanges {
			if x := &v.in.Control.Rounds[i].Exchanges[k]; x.Response != nil {
				for _, path := range valuesOf(bodyJSON(x.Response)) {
					known[path] = true
				}
			}
		}
	}
	return !slices.ContainsFunc(valuesOf(doc), func(path string) bool { return !known[path] })
}

// valuesOf are the places of a document that hold a value; null is none.
func valuesOf(doc *value) []string {
	var out []string
	if doc == nil {
		return nil
	}
	for _, l := range doc.leaves("$", "", nil) {
		if l.value.kind != isNull {
			out = append(out, l.path)
		}
	}
	return out
}

// earlyFrom tells which success answers came while the first request was under way and have nothing of its result. Where a
// later answer has the result, it is what was sent before the first answer came; where later ones lack it too, results are
// lost on replay, and none is; without a later one, what was answered clearly before.
func (v *view) earlyFrom(ref int, among []int) func(i int) bool {
	later, kept := false, false
	for _, i := range v.of(trace.ClassSuccess, among) {
		if v.x(i).Started > v.x(ref).Done {
			later, kept = true, kept || !v.lacksResult(ref, i)
		}
	}
	return func(i int) bool {
		switch {
		case !v.lacksResult(ref, i) || v.x(i).Started > v.x(ref).Done:
			return false
		case later:
			return kept
		}
		return v.clearlyDuring(v.x(ref), v.x(i))
	}
}

// lacksResult reports whether a success answer has nothing of what the first one names.
func (v *view) lacksResult(ref, i int) bool {
	a, b := v.x(ref).Response, v.x(i).Response
	return v.ids[ref] != nil && v.ids[i] == nil || isEmpty(b) && !isEmpty(a)
}

// clearlyDuring reports whether x was sent and answered while another exchange ran: that one went on for at least as
// long as x had taken, and for a good part of the handling time. An answer that waited for the other comes at about the same
// time, before or after it, and on a busy machine it may be read some milliseconds before.
func (v *view) clearlyDuring(other, x *trace.Exchange) bool {
	if x.Sent == 0 || other.Started == 0 || other.Started > x.Started {
		return false
	}
	rest := max(answeredAt(x)-x.Sent, goodPart(v.learned.Handling))
	return answeredAt(x)+rest < answeredAt(other)
}

// goodPart is so much of a handling time that of copies at 0.2, 0.35 and 0.8 of it the first two have as much ahead, and a quarter more for
// what varies.
func goodPart(handling trace.Nanos) trace.Nanos { return trace.Nanos(0.4 * float64(handling)) }

// repeated compares a success answer with the reference. One that names another creation is a second
// creation, which the created expectation reports, unless the counters say that there was only one.
func (v *view) repeated(ref, i int, out *outcome) []trace.Finding {
	if !v.otherCreation(ref, i) {
		return v.replay(ref, i, out)
	}
	switch {
	case v.effects.exceeded:
		return nil
	case v.effects.stated && !v.effects.judged:
		return nil // the gap of the created expectation says why
	case v.effects.stated && !v.effects.counted:
		return nil
	}
	message := v.name(i) + " names another creation than the first answer"
	if v.effects.stated {
		message += ", yet the counters show no second effect"
	}
	return []trace.Finding{v.finding(ruleBody, message, v.naming(ref), v.naming(i), ref, i)}
}

// refusedInstead judges a refusal where the first answer should be repeated. A refusal that came while the first
// was still under way is at most the wrong way to say so.
func (v *view) refusedInstead(rule string, ref, i int) (trace.Finding, bool) {
	x, first := v.x(i), v.x(ref)
	status := x.Response.Status
	expected := answerText(first)
	if rule == ruleFalseSuccess {
		rule = "" // that one is about answers that say success
	}
	running := (x.Started < first.Done || underWay(v.in.Facts, v.round, first, x.Started)) && slices.Contains([]int{409, 423, 425}, status)
	switch {
	case running && len(v.in.Facts.Statuses.InProgress) == 0:
		return trace.Finding{}, false
	case running:
		return v.finding(ruleRefusal, fmt.Sprintf("%s was refused with %d while the first was under way", v.name(i), status),
			"status "+either(v.in.Facts.Statuses.InProgress)+", or the first answer", answerText(x), ref, i), true
	case v.in.Facts.Conflicts && v.in.conflictRight(status), rule == ruleEquivalent && !v.in.asserts(rule):
		return trace.Finding{}, false
	case rule != "":
		return v.finding(rule, fmt.Sprintf("%s was refused with %d, though the same request had been answered with %d before", v.name(i), status, first.Response.Status),
			expected, answerText(x), ref, i), true
	case v.in.Facts.Conflicts:
		return v.finding(ruleRefusal, fmt.Sprintf("%s was refused with %d, expected one of %v", v.name(i), status, v.in.Facts.ReplayStatuses),
			v.conflictText(), answerText(x), ref, i), true
	case v.isConflict(status):
		return v.finding(ruleConflict, fmt.Sprintf("%s was refused with %d, though the operation had succeeded with %d%s",
			v.name(i), status, first.Response.Status, v.onceText()), expected, answerText(x), ref, i), true
	case redirectsOnSuccess(v.in.Facts, x) && !likePlace(v.learned.Redirect, location(x)):
		return v.finding(ruleHeaders, fmt.Sprintf("%s was redirected to %q, the first answer named %q", v.name(i),
			location(x), location(first)), expected, answerText(x), ref, i), true
	case saysSuccess(v.in.Facts, v.learned, x): // an error that the plan's query found in it
		return v.finding(ruleBody, v.name(i)+" was answered with an error, the first answer was success", expected, answerText(x), ref, i), true
	}
	return v.finding(ruleStatus, fmt.Sprintf("%s was refused with %d, the first answer had %d", v.name(i), status, first.Response.Status),
		expected, answerText(x), ref, i), true
}

// onceText adds to a conflict what the counts say of it.
func (v *view) onceText() string {
	if !v.effects.once {
		return ""
	}
	return ": one effect, but the retry cannot learn the result"
}

// isConflict reports whether a status says that somebody else is at it.
func (v *view) isConflict(status int) bool {
	return status == 409 || slices.Contains(v.in.Facts.Statuses.InProgress, status)
}

// distinct checks that success answers to different keys, or of different callers, name different creations.
func (v *view) distinct(e *scenarios.Expectation) outcome {
	var out outcome
	var with []int
	for _, i := range v.of(trace.ClassSuccess, v.labelled(e.Distinct)) {
		if v.ids[i] != nil && !keyless(v.x(i)) {
			with = append(with, i)
		}
	}
	for k, i := range with {
		for _, j := range with[:k] {
			if sameOperation(v.x(i), v.x(j)) || v.x(i).OtherEndpoint != v.x(j).OtherEndpoint {
				continue // two endpoints may number alike
			}
			out.judged = true
			if !v.sameCreation(j, i) {
				continue
			}
			out.findings = merge(out.findings, []trace.Finding{v.finding(e.Rule,
				fmt.Sprintf("%s, %s, was answered with the creation of %s", v.name(i), tellApart(v.x(j), v.x(i)), v.name(j)),
				"another creation than "+v.naming(j), v.naming(i), j, i)})
		}
	}
	return out
}

// tellApart says what tells two operations apart.
func tellApart(a, b *trace.Exchange) string {
	switch {
	case a.Key != b.Key:
		return "with another key"
	case a.Caller != b.Caller:
		return "of another caller"
	}
	return "another request"
}

// keyless reports whether an exchange belongs to no key letter.
func keyless(x *trace.Exchange) bool {
	letter, _, _ := strings.Cut(strings.TrimSuffix(x.Scope, "/other"), "@")
	return x.Key == "" && letter == scenarios.KeyNone
}

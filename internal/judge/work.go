package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// ruleNeverDone is broken by a success answer whose work is not done, where that of the control was.
const ruleNeverDone = "accepted-never-done"

// ReadWork reads what was answered to a question for work. A place that is not there yet, and a server that cannot tell
// at the moment, are asked again.
func ReadWork(a *trace.Await, x *trace.Exchange) trace.WorkState {
	switch {
	case x.Response == nil:
		return trace.WorkOpen
	case x.Response.Status/100 == 3, x.Response.Status == 401, x.Response.Status == 403:
		return trace.WorkAstray
	case x.Response.Status/100 != 2:
		return trace.WorkOpen
	}
	dec := json.NewDecoder(bytes.NewReader(content(x.Response)))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil {
		return trace.WorkOpen
	}
	lacks := func(m trace.Match) bool { return !holds(m, doc) }
	switch {
	case slices.ContainsFunc(a.Failed, func(m trace.Match) bool { return holds(m, doc) }):
		return trace.WorkFailed
	case !slices.ContainsFunc(a.Until, lacks):
		return trace.WorkDone
	}
	return trace.WorkOpen
}

// holds reports whether a document has values at a path, and each is one that is looked for. A path that cannot be parsed
// finds none; the plan has refused it before.
func holds(m trace.Match, doc any) bool {
	p, err := jsonpath.Parse(m.Path)
	if err != nil {
		return false
	}
	found := p.Select(doc)
	for _, v := range found {
		if !slices.ContainsFunc(m.Values, func(want string) bool { return saysSo(v, want) }) {
			return false
		}
	}
	return len(found) > 0
}

func saysSo(v any, want string) bool {
	switch v := v.(type) {
	case string:
		return v == want
	case bool:
		return fmt.Sprint(v) == want
	case json.Number:
		n := parseJSON([]byte(want))
		return n != nil && n.kind == isNumber && canonicalNumber(n.text) == canonicalNumber(v.String())
	}
	return false
}

// workOf is the work that the answer of an exchange names; nil when it was not asked for.
func workOf(r *trace.Round, id int) *trace.Work {
	for i := range r.Work {
		if slices.Contains(r.Work[i].Of, id) {
			return &r.Work[i]
		}
	}
	return nil
}

// hasWork reports whether a success answer to an exchange promises work. What an earlier run was promised is long over.
func hasWork(f trace.Facts, x *trace.Exchange) bool {
	return f.Await != nil && !x.OtherEndpoint && x.Planted.IsZero()
}

// lastAsked is the last question for some work; nil when there was none.
func lastAsked(w *trace.Work) *trace.Exchange {
	if w == nil || len(w.Asked) == 0 {
		return nil
	}
	return &w.Asked[len(w.Asked)-1]
}

// result is what was found where the work behind an answer is done; nil when it was not seen to be.
func result(f trace.Facts, r *trace.Round, x *trace.Exchange) *trace.Exchange {
	if f.Await == nil {
		return nil
	}
	last := lastAsked(workOf(r, x.ID))
	if last == nil || ReadWork(f.Await, last) != trace.WorkDone {
		return nil
	}
	found := *last
	found.Scope, found.Key = x.Scope, x.Key // what it may repeat
	return &found
}

// underWay reports whether the work behind a success answer was not yet seen to have ended when a copy was sent. Where
// nothing can be asked, the answer is the end.
func underWay(f trace.Facts, r *trace.Round, x *trace.Exchange, at trace.Nanos) bool {
	if !hasWork(f, x) {
		return false
	}
	w := workOf(r, x.ID)
	last := lastAsked(w)
	switch {
	case w != nil && w.Refusal != "":
		return false
	case last == nil:
		return true
	}
	switch ReadWork(f.Await, last) {
	case trace.WorkAstray:
		return false
	case trace.WorkOpen:
		return true
	}
	return last.Done >= at
}

// overAt is when an exchange was answered or, where its work was awaited, when that was seen to have ended.
func (v *view) overAt(x *trace.Exchange) trace.Nanos {
	if v.in.Facts.Await != nil {
		if last := lastAsked(workOf(v.round, x.ID)); last != nil {
			return last.Done
		}
	}
	return answeredAt(x)
}

// unsoundWork says why the work behind an uncontested success answer does not count as done; nil when it does.
func unsoundWork(f trace.Facts, r *trace.Round, x *trace.Exchange) *trace.Reason {
	if f.Await == nil {
		return nil
	}
	w := workOf(r, x.ID)
	last := lastAsked(w)
	accepted := fmt.Sprintf("the request was answered with %d, ", x.Response.Status)
	switch {
	case w != nil && w.Refusal != "":
		return &trace.Reason{Code: trace.ControlUnsound, Detail: accepted + "but the work behind it cannot be asked for: " + w.Refusal + "; " + answerText(x),
			Enable: "await: {follow: the header or JSONPath that holds the URL, ...}"}
	case last == nil:
		return &trace.Reason{Code: trace.ControlUnsound, Detail: accepted + "and the work behind it was not asked for"}
	}
	where := fmt.Sprintf("GET %s is answered %s", last.Request.URL, answerText(last))
	switch ReadWork(f.Await, last) {
	case trace.WorkDone:
		return nil
	case trace.WorkFailed:
		return &trace.Reason{Code: trace.ControlUnsound, Detail: accepted + "and the work behind it failed: " + where,
			Enable: "body: and headers: with which one request succeeds"}
	case trace.WorkAstray:
		return astray(last)
	}
	if last.Response == nil {
		return unanswered(last)
	}
	return &trace.Reason{Code: trace.ControlUnsound,
		Detail: fmt.Sprintf("%sbut the work behind it was not done within %.1f s: %s, expected %s; no duplicate of it could be seen in time",
			accepted, f.Await.Limit.Duration().Seconds(), where, matchText(f.Await.Until)),
		Enable: "limits: {await: 2m}, if the work takes that long; or await: until: what the answer says in the end"}
}

// astray says why asking for work leads nowhere.
func astray(x *trace.Exchange) *trace.Reason {
	if x.Response.Status/100 == 3 {
		return &trace.Reason{Code: trace.ControlUnsound,
			Detail: fmt.Sprintf("GET %s for the work behind an answer is redirected with %d to %q; redirects are answers, never followed",
				x.Request.URL, x.Response.Status, firstHeader(x.Response.Headers, "Location")),
			Enable: "await: {follow: what names the place itself, ...}"}
	}
	return authReason(x)
}

// matchText is what is looked for, such as "$.status = done".
func matchText(ms []trace.Match) string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = m.Path + " = " + strings.Join(m.Values, " or ")
	}
	return strings.Join(parts, ", ")
}

// workTime is how long after an answer its work was seen to be done.
func workTime(f trace.Facts, r *trace.Round, x *trace.Exchange) trace.Nanos {
	if found := result(f, r, x); found != nil {
		return max(0, found.Done-x.Done)
	}
	return 0
}

// resultFields are creation fields of what is found where the work of two uncontested requests is done. Only what names a
// thing counts: who did the work, and how far it got, may differ for every work.
func resultFields(f trace.Facts, ra, rb *trace.Round, a, b *trace.Exchange) []string {
	fa, fb := result(f, ra, a), result(f, rb, b)
	if fa == nil || fb == nil {
		return nil
	}
	return slices.DeleteFunc(creationFields(f, ra, rb, fa, fb), func(field string) bool { return !isIdentity(field) })
}

// undone finds success answers whose work is not done, where that of the control was, and says what could not be asked for.
// It holds whatever else went wrong in the round.
func (v *view) undone() (found []trace.Finding, gaps []trace.Reason) {
	if v.in.Facts.Await == nil || v.in.onControl() {
		return nil, nil
	}
	for _, i := range v.of(trace.ClassSuccess, v.labelled(nil)) {
		if !hasWork(v.in.Facts, v.x(i)) {
			continue
		}
		switch f, why := v.undoneWork(i); {
		case f != nil:
			found = merge(found, []trace.Finding{*f})
		case why != nil:
			gaps = append(gaps, *why)
		}
	}
	return found, gaps
}

func (v *view) undoneWork(i int) (*trace.Finding, *trace.Reason) {
	x, a := v.x(i), v.in.Facts.Await
	w := workOf(v.round, x.ID)
	last := lastAsked(w)
	switch {
	case w != nil && w.Refusal != "":
		return nil, &trace.Reason{Code: trace.Assumption, Detail: "the work behind " + v.name(i) + " cannot be asked for: " + w.Refusal + "; it was answered with " + answerText(x)}
	case last == nil:
		return nil, &trace.Reason{Code: trace.Interrupted, Detail: "the work behind " + v.name(i) + " was not asked for"}
	}
	state := ReadWork(a, last)
	switch {
	case state == trace.WorkDone:
		return nil, nil
	case state == trace.WorkAstray:
		why := astray(last)
		if why.Code == trace.ControlUnsound {
			why.Code = trace.Assumption // the control's work was found
		}
		return nil, why
	case last.Response == nil:
		return nil, unanswered(last)
	case state == trace.WorkOpen && last.Response.Status/100 == 5, state == trace.WorkOpen && last.Response.Status == 429:
		return nil, &trace.Reason{Code: trace.StillBusy, Detail: "the work behind " + v.name(i) + " could not be seen: GET " + last.Request.URL + ": " + answerText(last)}
	case state == trace.WorkOpen && last.Started < x.Done+a.Limit:
		return nil, &trace.Reason{Code: trace.Interrupted, Detail: "the work behind " + v.name(i) + " was asked for until the run stopped, and was not done"}
	case v.failedOnPurpose():
		return nil, &trace.Reason{Code: trace.Assumption,
			Detail: "the script made the work behind " + v.name(i) + " fail, not its request, and this case cannot judge that: GET " + last.Request.URL + ": " + answerText(last)}
	}
	return new(v.neverDone(i, state, last)), nil
}

// failedOnPurpose reports whether a request was accepted in this round that the script made fail.
func (v *view) failedOnPurpose() bool {
	return slices.ContainsFunc(v.of(trace.ClassSuccess, v.labelled(nil)), func(i int) bool {
		return v.x(i).Body == scenarios.BodyFail || brokenOnPurpose(v.round, v.x(i))
	})
}

func (v *view) neverDone(i int, state trace.WorkState, last *trace.Exchange) trace.Finding {
	x := v.x(i)
	became := fmt.Sprintf("was not done %.1f s later", (last.Done - x.Done).Duration().Seconds())
	switch {
	case state == trace.WorkFailed:
		became = "failed"
	case last.Response.Status/100 != 2:
		became = fmt.Sprintf("could not be found %.1f s later", (last.Done - x.Done).Duration().Seconds())
	}
	f := v.finding(ruleNeverDone,
		fmt.Sprintf("%s was answered with %d, and the work behind it %s; that of an uncontested request was done after %.1f s",
			v.name(i), x.Response.Status, became, v.learned.WorkTime.Duration().Seconds()),
		fmt.Sprintf("GET %s: %s within %.1f s", last.Request.URL, matchText(v.in.Facts.Await.Until), v.in.Facts.Await.Limit.Duration().Seconds()),
		answerText(last), i)
	f.Exchanges = append(f.Exchanges, last.ID)
	return f
}

// otherCreation reports whether two success answers stand for two creations: by what their work came to where both are known,
// else by the answers themselves.
func (v *view) otherCreation(i, j int) bool {
	if equal, differ := v.results[i].compare(v.results[j]); equal+differ > 0 {
		return equal == 0
	}
	return v.ids[i].other(v.ids[j])
}

// sameCreation reports whether two success answers stand for one creation in every field that both have.
func (v *view) sameCreation(i, j int) bool {
	if equal, differ := v.results[i].compare(v.results[j]); equal+differ > 0 {
		return differ == 0
	}
	return v.ids[i].same(v.ids[j])
}

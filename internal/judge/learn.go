package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Learn concludes from the control: whether it is sound, what names a creation, what an ordinary success looks
// like. It may be called after the first of the two rounds, and then says whether that one is sound so far;
// creation fields need both.
func Learn(f trace.Facts, c *trace.Control) trace.Learned {
	l := trace.Learned{}
	answers := make([]*trace.Exchange, len(c.Rounds))
	for i := range c.Rounds {
		answers[i] = final(&c.Rounds[i])
		if l.Reason = unsoundAnswer(f, &c.Rounds[i], answers[i]); l.Reason != nil {
			l.Reason = failedBySink(l.Reason, &c.Rounds[i], answers[i])
			return l
		}
		if l.Reason = unsoundWork(f, &c.Rounds[i], answers[i]); l.Reason != nil {
			return l
		}
	}
	if len(answers) == 0 {
		l.Reason = &trace.Reason{Code: trace.ControlUnsound, Detail: "the first request was not sent"}
		return l
	}
	first := answers[0]
	l.SuccessStatus = first.Response.Status
	l.ContentType = firstHeader(first.Response.Headers, "Content-Type")
	l.Server = firstHeader(first.Response.Headers, "Server")
	for i, x := range answers {
		if x.Sent != 0 {
			l.Handling = max(l.Handling, x.Done-x.Sent)
		}
		l.WorkTime = max(l.WorkTime, workTime(f, &c.Rounds[i], x))
		if after := reading(&c.Rounds[i], trace.ReadingAfter); after != nil {
			l.CountLag = max(l.CountLag, after.Lag)
		}
	}
	if len(answers) > 1 {
		if len(f.SuccessStatuses) > 0 {
			l.Redirect = placeOf(location(answers[0]), location(answers[1]))
		}
		l.CreationFields = creationFields(f, &c.Rounds[0], &c.Rounds[1], answers[0], answers[1])
		l.ResultFields = resultFields(f, &c.Rounds[0], &c.Rounds[1], answers[0], answers[1])
	}
	if l.Reason = unsoundCounts(f, c); l.Reason == nil {
		l.Reason = unsoundPlace(f, l, answers)
	}
	l.Sound = l.Reason == nil
	l.Bodies = bodies(f, l, c)
	return l
}

// final is the last exchange of a control round: the answer once busy ones were waited out. Nil when none was sent.
func final(r *trace.Round) *trace.Exchange {
	if len(r.Exchanges) == 0 {
		return nil
	}
	return &r.Exchanges[len(r.Exchanges)-1]
}

// unsoundAnswer says why the answer of a control round is no success; nil when it is one.
func unsoundAnswer(f trace.Facts, r *trace.Round, x *trace.Exchange) *trace.Reason {
	if x == nil {
		return unsoundSetup(r)
	}
	if x.Response == nil {
		return unanswered(x)
	}
	status, text := x.Response.Status, answerText(x)
	html := mediaType(firstHeader(x.Response.Headers, "Content-Type")) == "text/html" && isJSON(firstHeader(x.Request.Headers, "Content-Type"))
	switch class := Classify(f, trace.Learned{}, r, len(r.Exchanges)-1); {
	case class == trace.ClassSuccess:
		return nil
	case class == trace.ClassBusy:
		return stillBusy(x)
	case status == 401 || status == 403:
		return authReason(x)
	case status >= 502 && status <= 504:
		return intermediary(x)
	case asksWho(x):
		return authReason(x)
	case status/100 == 3:
		return redirected(x)
	case html && status/100 == 2:
		return unsound("a login or error page? the first request sent JSON and was answered with HTML: " + text)
	case status == 404 || status == 405:
		return &trace.Reason{Code: trace.ControlUnsound, Detail: "nothing takes the first request at this method and path: " + text,
			Enable: "request: METHOD /path as the endpoint has it"}
	case status == 415:
		return &trace.Reason{Code: trace.ControlUnsound, Detail: "the endpoint does not take this content type: " + text,
			Enable: "headers: {Content-Type: what the endpoint takes}"}
	}
	return unsound("the first request, with a key never used before, did not succeed: " + text)
}

// redirected says what a redirect needs to be read as success.
func redirected(x *trace.Exchange) *trace.Reason {
	status := x.Response.Status
	r := &trace.Reason{Code: trace.ControlUnsound,
		Detail: fmt.Sprintf("the first request was answered with status %d and Location %q; redirects are answers, never followed", status, location(x)),
		Enable: "request: the method and path that answers itself, or target: with the right scheme and host"}
	if status == 301 || status == 302 || status == 303 {
		r.Enable = fmt.Sprintf("answers: {success: [%d]}, if success looks so; else %s", status, r.Enable)
	}
	return r
}

// unsoundPlace says that two redirects to one place show nothing of what was done, where nothing is counted either; nil when
// they do.
func unsoundPlace(f trace.Facts, l trace.Learned, answers []*trace.Exchange) *trace.Reason {
	if len(answers) < 2 || l.SuccessStatus/100 != 3 || len(f.Counters) > 0 || len(l.CreationFields) > 0 {
		return nil
	}
	return &trace.Reason{Code: trace.ControlUnsound,
		Detail: fmt.Sprintf("both first requests were redirected to %q, and nothing is counted: success looks like anything else there", location(answers[0])),
		Enable: "counters: what one request raises"}
}

func location(x *trace.Exchange) string { return firstHeader(x.Response.Headers, "Location") }

// failedBySink adds to why the first request failed that a sink had failed a call of it.
func failedBySink(why *trace.Reason, r *trace.Round, x *trace.Exchange) *trace.Reason {
	if x == nil {
		return why
	}
	for _, a := range r.Arrivals {
		if a.Call == nil || a.Call.Failed == "" {
			continue
		}
		said := *why
		said.Detail += fmt.Sprintf("; the sink %s had failed the first call for it, as `first` says (%s), and the endpoint did not get over that by itself",
			a.Sink, a.Call.Outcome())
		said.Enable = fmt.Sprintf("fail: {sink: %s} in the endpoint, in place of `first` in the sink", a.Sink)
		return &said
	}
	return why
}

func unsound(detail string) *trace.Reason {
	return &trace.Reason{Code: trace.ControlUnsound, Detail: detail, Enable: "body: and headers: with which one request succeeds"}
}

func unsoundSetup(r *trace.Round) *trace.Reason {
	if n := len(r.Setup); n > 0 {
		return &trace.Reason{Code: trace.SetupFailed,
			Detail: fmt.Sprintf("the first request was not sent, because its set-up %s %s did not go well: %s",
				r.Setup[n-1].Request.Method, r.Setup[n-1].Request.URL, answerText(&r.Setup[n-1]))}
	}
	return &trace.Reason{Code: trace.ControlUnsound, Detail: "the first request was not sent"}
}

// unsoundCounts says why the counters did not do what the plan says; nil when they did.
func unsoundCounts(f trace.Facts, c *trace.Control) *trace.Reason {
	if len(f.Counters) == 0 {
		return nil
	}
	for i := range c.Rounds {
		r := &c.Rounds[i]
		before, after := reading(r, trace.ReadingBefore), reading(r, trace.ReadingAfter)
		if before == nil || after == nil {
			return &trace.Reason{Code: trace.CounterUnreadable, Detail: "the counters were not read before and after the first request"}
		}
		if reason := noise(f, r, before); reason != nil {
			return reason
		}
		cs, unreadable := changes(f.Counters, before, after, nil)
		if len(unreadable) > 0 {
			return &trace.Reason{Code: trace.CounterUnreadable, Detail: strings.Join(unreadable, "; "),
				Enable: "counters: a request, command or query that answers with one whole number"}
		}
		if reason := unsoundRise(c, cs); reason != nil {
			return reason
		}
	}
	return nil
}

// noise reports an unmarked counter that moved before anything was sent.
func noise(f trace.Facts, r *trace.Round, before *trace.Reading) *trace.Reason {
	idle := reading(r, trace.ReadingIdle)
	if idle == nil {
		return nil
	}
	return moved(f, idle, before)
}

// moved reports an unmarked counter that differs between two looks with nothing sent between them.
func moved(f trace.Facts, first, second *trace.Reading) *trace.Reason {
	for _, v := range first.Values {
		marked := slices.ContainsFunc(f.Counters, func(c trace.CounterFact) bool { return c.Name == v.Counter && c.Marked })
		now, ok := valueFor(second, v)
		if marked || !ok || v.Error != "" || now.Error != "" || now.N == v.N {
			continue
		}
		return &trace.Reason{Code: trace.CounterNoise,
			Detail: fmt.Sprintf("counter %s moved from %d to %d while nothing was sent, so its rises prove nothing (asked: %s)", v.Counter, v.N, now.N, v.Source),
			Enable: fmt.Sprintf("counters: {%s: ...} with {{marker}} in it, so that it counts the tested requests only", v.Counter)}
	}
	return nil
}

func unsoundRise(c *trace.Control, cs []change) *trace.Reason {
	if !slices.ContainsFunc(cs, func(c change) bool { return c.rise() != 0 }) {
		return noRise(c, cs)
	}
	for _, ch := range cs {
		if ch.rise() == ch.fact.Rise {
			continue
		}
		rightly := "rightly does that"
		if ch.above(1) {
			rightly += "; else the endpoint does it again by itself, or something on the way sends requests again"
			if !ch.fact.Marked {
				rightly += ", or others moved the counter, which has no {{marker}}"
			}
		}
		return &trace.Reason{Code: trace.ControlUnsound,
			Detail: fmt.Sprintf("one uncontested request: counter %s rose by %d, expected %d; %s", ch.fact.Name, ch.rise(), ch.fact.Rise, ch.said()),
			Enable: fmt.Sprintf("counters: {%s: %d}, if one request %s", ch.fact.Name, ch.rise(), rightly)}
	}
	return nil
}

func noRise(c *trace.Control, cs []change) *trace.Reason {
	var said []string
	for _, ch := range cs {
		said = append(said, ch.said())
	}
	raw := strings.Join(said, "; ")
	if locatedFound(c) {
		return &trace.Reason{Code: trace.ControlUnsound,
			Detail: fmt.Sprintf("no counter rose, but the resource exists at %s, so the counter looks at the wrong thing; %s", c.Located.Request.URL, raw),
			Enable: "counters: a request or command that sees what this endpoint creates"}
	}
	return &trace.Reason{Code: trace.ControlUnsound,
		Detail: "the first request was answered with success and no counter rose: the endpoint did nothing, or the counter looks at the wrong thing; " + raw,
		Enable: "settle: or limits.count: longer, if the effect comes later; or a counter that sees what this endpoint creates"}
}

// locatedMissing reports whether the resource that the first answer named is not there: then the endpoint did
// nothing, whatever the counter looks at.
func locatedMissing(c *trace.Control) bool {
	if c == nil || c.Located == nil || c.Located.Response == nil {
		return false
	}
	return c.Located.Response.Status == 404 || c.Located.Response.Status == 410
}

// locatedFound reports whether the resource that the first answer named exists.
func locatedFound(c *trace.Control) bool {
	return c != nil && c.Located != nil && c.Located.Response != nil && c.Located.Response.Status/100 == 2
}

// bodies says for each other body that was tried why scenarios cannot rely on it; nil when they can.
func bodies(f trace.Facts, l trace.Learned, c *trace.Control) map[string]*trace.Reason {
	if len(c.Variants) == 0 {
		return nil
	}
	out := map[string]*trace.Reason{}
	for i := range c.Variants {
		r := &c.Variants[i]
		out[r.Variant] = variantReason(f, l, r)
	}
	return out
}

func variantReason(f trace.Facts, l trace.Learned, r *trace.Round) *trace.Reason {
	x := final(r)
	if x == nil {
		return &trace.Reason{Code: trace.Assumption, Detail: fmt.Sprintf("the body `%s` could not be tried with a key of its own", r.Variant)}
	}
	class := Classify(f, l, r, len(r.Exchanges)-1)
	switch {
	case r.Variant == scenarios.BodyFail && class != trace.ClassFailed:
		return &trace.Reason{Code: trace.Assumption,
			Detail: "the body `fail` should be answered with 5xx (503 cannot be told from a gateway's), found " + answerText(x),
			Enable: "fail: what makes the endpoint fail once"}
	case r.Variant == scenarios.BodyFail:
		return nil
	case r.Variant == scenarios.BodyInvalid:
		return invalidReason(x, class)
	case class != trace.ClassSuccess && r.Variant == scenarios.BodyReordered:
		return &trace.Reason{Code: trace.Assumption,
			Detail: "the body with its names in another order and other white space, with a key never used before, should succeed, found " + answerText(x)}
	case class != trace.ClassSuccess:
		return &trace.Reason{Code: trace.Assumption,
			Detail: fmt.Sprintf("the body `%s`, with a key never used before, should succeed, found %s; a refusal of it under a used key would prove nothing", r.Variant, answerText(x)),
			Enable: "other_body: a change that the endpoint accepts, such as {quantity: 2}"}
	}
	if why := unsoundWork(f, r, x); why != nil {
		return &trace.Reason{Code: trace.Assumption, Detail: fmt.Sprintf("the body `%s`, with a key never used before: %s", r.Variant, why.Detail), Enable: why.Enable}
	}
	return nil
}

// invalidReason says why the body `invalid` cannot stand for a mistake of the caller; nil when it can.
func invalidReason(x *trace.Exchange, class trace.Class) *trace.Reason {
	enable := "invalid_body: a change that the endpoint refuses, such as {quantity: -1}"
	switch {
	case class == trace.ClassSuccess:
		return &trace.Reason{Code: trace.Assumption, Detail: "the body `invalid`, with a key never used before, should be refused, but the endpoint accepted it: " + answerText(x), Enable: enable}
	case class == trace.ClassRefused && x.Response.Status == 401:
		return authReason(x)
	case class != trace.ClassRefused:
		return &trace.Reason{Code: trace.Assumption, Detail: "the body `invalid`, with a key never used before, should be refused, found " + answerText(x), Enable: enable}
	}
	return nil
}

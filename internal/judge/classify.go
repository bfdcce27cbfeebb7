package judge

import (
	"mime"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// Classify reads the answer of round.Exchanges[i] in the light of the others. It may be called while the
// round grows: only the exchanges that are there matter. l is what the control taught; its zero value means
// that there is no control yet.
func Classify(f trace.Facts, l trace.Learned, round *trace.Round, i int) trace.Class {
	x := &round.Exchanges[i]
	if x.Response == nil {
		return trace.ClassNone
	}
	status := x.Response.Status
	switch {
	case status/100 == 5 && brokenOnPurpose(round, x):
		return trace.ClassFailed
	case status == 502 || status == 504:
		return trace.ClassNone
	case status == 429 || status == 503 && firstHeader(x.Response.Headers, "Retry-After") != "":
		return trace.ClassBusy
	case status == 503 || fromIntermediary(f, l, x):
		return trace.ClassIntermediary
	case saysSuccess(f, l, x) && saysRefused(f, x.Response):
		return trace.ClassRefused
	case slices.Contains(f.Statuses.InProgress, status) && status != l.SuccessStatus &&
		contested(round, i) && !concludedBefore(f, l, round, i, !saysSuccess(f, l, x)):
		return trace.ClassInProgress
	case saysRefused(f, x.Response):
		return trace.ClassRefused
	case saysSuccess(f, l, x):
		return trace.ClassSuccess
	case status/100 == 5:
		return trace.ClassFailed
	}
	return trace.ClassRefused
}

// fromIntermediary reports whether an answer looks like that of a gateway, a proxy or a login page. An endpoint's
// own error pages often have another content type than its successes, so that alone proves nothing.
func fromIntermediary(f trace.Facts, l trace.Learned, x *trace.Exchange) bool {
	if redirectsOnSuccess(f, x) {
		return false
	}
	kind := mediaType(firstHeader(x.Response.Headers, "Content-Type"))
	if l.SuccessStatus == 0 {
		return kind == "text/html" && isJSON(firstHeader(x.Request.Headers, "Content-Type"))
	}
	usual := mediaType(l.ContentType)
	status := x.Response.Status
	page := kind == "text/html" && usual != "text/html"
	switch {
	case status/100 == 3:
		return l.SuccessStatus/100 == 2
	case status/100 == 2:
		return page
	}
	return kind != usual && (page || l.Server != "") && firstHeader(x.Response.Headers, "Server") != l.Server
}

// contested reports whether another copy of the key had begun to be sent before this answer came.
func contested(round *trace.Round, i int) bool {
	x := &round.Exchanges[i]
	for j := range round.Exchanges {
		o := &round.Exchanges[j]
		if j != i && sameKey(o, x) && o.Started != 0 && o.Started < answeredAt(x) {
			return true
		}
	}
	return false
}

// concludedBefore reports whether the key's operation was over before this copy was sent: another copy was
// answered with success or, with byEffect set, had no answer and the counters had shown its effect. A 5xx
// concludes nothing, and copies that are under way together do not conclude each other. Where the work is done behind
// the answer, it must have been seen to end. The copy counts as sent from its first byte on, because a server may look its key up as soon as the head is there.
//
// A 2xx such as 202 is no conflict, so a seen effect alone does not turn it into a final answer: whoever keeps
// answering it ends as stuck in progress.
func concludedBefore(f trace.Facts, l trace.Learned, round *trace.Round, i int, byEffect bool) bool {
	x := &round.Exchanges[i]
	for j := range round.Exchanges {
		o := &round.Exchanges[j]
		if j == i || !sameKey(o, x) {
			continue
		}
		if o.Response == nil {
			if byEffect && o.EffectSeen != 0 && o.EffectSeen < x.Started {
				return true
			}
			continue
		}
		if o.Done < x.Started && isSuccess(f, l, o) && !underWay(f, round, o, x.Started) {
			return true
		}
	}
	return false
}

// isSuccess reports whether an answer is a success whatever the other copies got.
func isSuccess(f trace.Facts, l trace.Learned, x *trace.Exchange) bool {
	status := x.Response.Status
	return saysSuccess(f, l, x) && !fromIntermediary(f, l, x) &&
		(status == l.SuccessStatus || !slices.Contains(f.Statuses.InProgress, status)) && !saysRefused(f, x.Response)
}

// sameKey reports whether two exchanges are copies of one operation by their key. Another caller's operation and one at
// another endpoint are others, whatever the key.
func sameKey(a, b *trace.Exchange) bool { return a.Key != "" && sameOperation(a, b) }

// sameOperation is sameKey that also takes requests without a key for copies when they were rendered alike.
func sameOperation(a, b *trace.Exchange) bool {
	return a.Key == b.Key && a.Scope == b.Scope && a.Caller == b.Caller && a.OtherEndpoint == b.OtherEndpoint
}

// answeredAt is when the answer of x began, or when x ended where no byte came.
func answeredAt(x *trace.Exchange) trace.Nanos {
	if x.FirstByte != 0 {
		return x.FirstByte
	}
	return x.Done
}

// mediaType is the type and subtype of a Content-Type header in lower case.
func mediaType(contentType string) string {
	if t, _, err := mime.ParseMediaType(contentType); err == nil {
		return t
	}
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// isJSON reports whether a Content-Type header says JSON (RFC 6839 section 3.1 for "+json").
func isJSON(contentType string) bool {
	t := mediaType(contentType)
	return t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json")
}

package judge

import (
	"bytes"
	"fmt"
	"mime"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// The rules about replays.
const (
	ruleStatus   = "status-not-replayed"
	ruleHeaders  = "headers-not-replayed"
	ruleBody     = "body-not-replayed"
	ruleBytes    = "replay-not-byte-identical"
	ruleConflict = "conflict-instead-of-replay"
	ruleRefusal  = "wrong-refusal-status"
	ruleStuck    = "stuck-in-progress"
	// ruleFalseSuccess takes the place of the others for answers given while the first request runs.
	ruleFalseSuccess = "in-progress-false-success"
)

// shownPlaces is how many differing places a message names; more do not help to find the cause.
const shownPlaces = 3

// replay compares a success answer with the reference, the first answer.
func (v *view) replay(ref, i int, o *outcome) []trace.Finding {
	a, b := v.x(ref).Response, v.x(i).Response
	var out []trace.Finding
	if !v.in.rightStatus(a.Status, b.Status) {
		out = append(out, v.finding(ruleStatus, fmt.Sprintf("%s was answered with status %d, the first answer had %d", v.name(i), b.Status, a.Status),
			v.in.expectedStatus(a.Status), answerText(v.x(i)), ref, i))
	}
	if expected, actual := v.headersDiffer(a, b); len(expected) > 0 {
		out = append(out, v.finding(ruleHeaders, fmt.Sprintf("%s does not repeat %s of the first answer", v.name(i), headerNames(expected)),
			strings.Join(expected, "\n"), strings.Join(actual, "\n"), ref, i))
	}
	switch f, differs := v.bodiesDiffer(ref, i); {
	case !differs:
	case mayBeAlike(a, b):
		o.gap(&trace.Reason{Code: trace.NoEvidence,
			Detail: fmt.Sprintf("the bodies of %s and the first answer cannot be compared: different (%d and %d bytes), and too long to be kept whole, so nobody knows whether what differs matters",
				v.name(i), b.Body.Size, a.Body.Size),
			Enable: "limits: {body: 16MiB}"})
	default:
		out = append(out, f)
	}
	return out
}

// mayBeAlike reports whether two bodies that differ and were not both kept whole may say the same: compressed in another way, or
// JSON with other white space, another order, or something in it that may differ. White space hardly doubles a body.
func mayBeAlike(a, b *trace.Response) bool {
	if !a.Body.Truncated && !b.Body.Truncated {
		return false
	}
	json := true
	for _, r := range []*trace.Response{a, b} {
		if compressed(r) && r.Body.Truncated {
			return true
		}
		json = json && isJSON(firstHeader(r.Headers, "Content-Type")) && (r.Body.Truncated || bodyJSON(r) != nil)
	}
	return json && 2*min(a.Body.Size, b.Body.Size) > max(a.Body.Size, b.Body.Size)
}

func headerNames(lines []string) string {
	var names []string
	for _, l := range lines {
		name, _, _ := strings.Cut(l, ":")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// headersDiffer lists the headers that a replay must repeat and does not, as header lines.
func (v *view) headersDiffer(a, b *trace.Response) (expected, actual []string) {
	for _, n := range v.repeatedHeaders() {
		if containsFold(v.in.Facts.IgnoreHeaders, n) || strings.EqualFold(n, "Content-Type") && isEmpty(a) && isEmpty(b) {
			continue
		}
		was, is := headerText(a.Headers, n), headerText(b.Headers, n)
		if was == is || mayAppear(n) && (was == "" || is == "" && !v.uncontestedHave(n)) {
			continue
		}
		expected = append(expected, n+": "+orMissing(was))
		actual = append(actual, n+": "+orMissing(is))
	}
	return expected, actual
}

// repeatedHeaders are the names of the headers that a replay must repeat.
func (v *view) repeatedHeaders() []string {
	names := []string{"Content-Type", "Location", "ETag", "Link", "Set-Cookie"}
	for _, n := range v.in.Facts.ReplayHeaders {
		if !containsFold(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// mayAppear reports whether a replay may carry a header that the first answer lacked.
func mayAppear(name string) bool {
	return slices.Contains([]string{"ETag", "Link", "Set-Cookie"}, name)
}

// uncontestedHave reports whether a header is part of an answer to a request that has no copies. Of copies that were under way together a
// replay may have been taken for the first.
func (v *view) uncontestedHave(name string) bool {
	return slices.ContainsFunc(v.in.Control.Rounds, func(r trace.Round) bool {
		return slices.ContainsFunc(r.Exchanges, func(x trace.Exchange) bool {
			return x.Response != nil && firstHeader(x.Response.Headers, name) != ""
		})
	})
}

func orMissing(s string) string {
	if s == "" {
		return "(missing)"
	}
	return shorten(s, excerptLimit)
}

// headerText is what counts of a header: of a media type its meaning, of cookies their names, because sessions
// roll their values.
func headerText(hs []trace.Header, name string) string {
	values := header(hs, name)
	switch strings.ToLower(name) {
	case "content-type":
		for i, h := range values {
			if t, params, err := mime.ParseMediaType(h); err == nil {
				if c, ok := params["charset"]; ok {
					params["charset"] = strings.ToLower(c)
				}
				values[i] = mime.FormatMediaType(t, params)
			}
		}
	case "set-cookie":
		for i, h := range values {
			n, _, _ := strings.Cut(h, "=")
			values[i] = strings.TrimSpace(n)
		}
		slices.Sort(values)
		values = slices.Compact(values)
	}
	return strings.Join(values, ", ")
}

// isEmpty reports whether an answer has no body.
func isEmpty(r *trace.Response) bool {
	return r.Body.Size == 0 && len(r.Body.Bytes()) == 0 || compressed(r) && len(content(r)) == 0
}

// bodiesDiffer compares the bodies of two success answers.
func (v *view) bodiesDiffer(ref, i int) (trace.Finding, bool) {
	a, b := v.x(ref).Response, v.x(i).Response
	if a.Body.Truncated || b.Body.Truncated {
		return v.digestsDiffer(ref, i)
	}
	if bytes.Equal(content(a), content(b)) {
		return trace.Finding{}, false
	}
	ja, jb := bodyJSON(a), bodyJSON(b)
	if ja == nil || jb == nil {
		return v.finding(ruleBody, v.name(i)+" has another body than the first answer", bodyExcerpt(a), bodyExcerpt(b), ref, i), true
	}
	if len(diff(ja, jb, skipNothing)) == 0 {
		return v.finding(ruleBytes, v.name(i)+" has the same JSON as the first answer in other bytes (order of members, white space or spelling)",
			bodyExcerpt(a), bodyExcerpt(b), ref, i), true
	}
	places := diff(ja, jb, v.ignoring(a, b))
	if len(places) == 0 {
		return trace.Finding{}, false
	}
	expected, actual := placesText(places)
	f := v.finding(ruleBody, fmt.Sprintf("%s differs from the first answer in %s: %s", v.name(i), plural(len(places), "place"), pathsOf(places)), expected, actual, ref, i)
	changedOnly := !slices.ContainsFunc(places, func(d difference) bool { return !d.changed })
	if v.in.Facts.Lenient && changedOnly && v.ids[ref].same(v.ids[i]) {
		f.Severity = trace.Minor
	}
	return f, true
}

func (v *view) digestsDiffer(ref, i int) (trace.Finding, bool) {
	a, b := v.x(ref).Response.Body, v.x(i).Response.Body
	if a.Size == b.Size && a.SHA256 == b.SHA256 {
		return trace.Finding{}, false
	}
	text := func(b trace.Body) string {
		if b.SHA256 == "" {
			return fmt.Sprintf("%d bytes", b.Size)
		}
		return fmt.Sprintf("%d bytes, SHA-256 %s", b.Size, b.SHA256)
	}
	return v.finding(ruleBody, v.name(i)+" has another body than the first answer; both were too long to be kept whole", text(a), text(b), ref, i), true
}

// ignoring gives the places that do not count: volatile names and what the plan ignores, in either answer.
func (v *view) ignoring(a, b *trace.Response) skipper {
	ignored := map[string]bool{}
	selected(content(a), v.in.Facts.IgnoreJSON, ignored)
	selected(content(b), v.in.Facts.IgnoreJSON, ignored)
	return func(path, name string) bool { return ignored[path] || isVolatile(name) }
}

func pathsOf(places []difference) string {
	var names []string
	for _, d := range places[:min(len(places), shownPlaces)] {
		names = append(names, d.path)
	}
	if len(places) > shownPlaces {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

func placesText(places []difference) (expected, actual string) {
	var e, a []string
	for _, d := range places[:min(len(places), shownPlaces)] {
		e = append(e, placeText(d.path, d.a))
		a = append(a, placeText(d.path, d.b))
	}
	return strings.Join(e, "\n"), strings.Join(a, "\n")
}

func placeText(path, text string) string {
	if text == nothing {
		return path + " is missing"
	}
	return path + " = " + text
}

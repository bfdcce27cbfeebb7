package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/trace"
)

// shortestNumber is from how many digits on a number that names a creation is no accident at a place where no other answer
// has a number of its own: one of a thousand comes by itself often enough, as a code, a rank or a rest.
const shortestNumber = 4

// spot is a place in an answer, with the text that stands there.
type spot struct{ at, text string }

// besides says where a stranger's answer holds a short number that names the creation of j, at another place than there. sure
// is true when it can hardly be there by accident: nothing that was answered to others holds it, and the place does
// not vary by itself. Empty: nowhere, or where it says nothing.
func (p pair) besides(name creationName) (at string, sure bool) {
	digits := name.text[strings.LastIndex(name.text, "/")+1:]
	if name.telling || !p.strangers || digits == "" || strings.Trim(digits, "0123456789") != "" || digits == strconv.Itoa(p.x(p.i).Response.Status) {
		return "", false
	}
	others := p.others()
	for _, o := range others {
		if writtenIn(o).holds(digits) {
			return "", false
		}
	}
	long := len(digits) >= shortestNumber && !isYear(digits)
	for _, s := range p.spots() {
		whole := s.text == digits || s.text == name.text
		if s.at == name.field || !whole && !(long && standsIn(s.text, digits)) {
			continue
		}
		switch varies := p.varies(s.at, others); {
		case long && !varies:
			return s.at, true
		case !p.ownEffect() && (long || !varies):
			at = s.at
		} // else it is what this answer itself created, or a number that goes its own way
	}
	return at, false
}

// others are the answers that neither of the two exchanges has to do with: those of the control, and what was answered to
// other operations of the round.
func (p pair) others() []*trace.Response {
	var out []*trace.Response
	if p.view.in.Control != nil {
		for i := range p.view.in.Control.Rounds {
			if x := final(&p.view.in.Control.Rounds[i]); x != nil && x.Response != nil {
				out = append(out, x.Response)
			}
		}
	}
	for k := range p.round.Exchanges {
		x := p.x(k)
		if x.Response != nil && !sameOperation(x, p.x(p.i)) && !sameOperation(x, p.x(p.j)) && !x.OtherEndpoint {
			out = append(out, x.Response)
		}
	}
	return out
}

// spots are the places of answer i that can hold a number of meaning.
func (p pair) spots() []spot {
	r := p.x(p.i).Response
	var out []spot
	if doc := bodyJSON(r); doc != nil {
		ignored := map[string]bool{}
		selected(content(r), p.view.in.Facts.IgnoreJSON, ignored)
		for _, l := range doc.leaves("$", "", nil) {
			if l.value.kind != isNull && !underAny(ignored, l.path) && !isVolatile(l.name) && !isDurationName(l.name) && !isTime(l.value, r) {
				out = append(out, spot{l.path, l.value.text})
			}
		}
	} else if text := wholeText(r); text != "" {
		out = append(out, spot{"the body", plainText(text, nil)})
	}
	for _, h := range r.Headers {
		if !p.asideOf(h.Name) {
			out = append(out, spot{"header " + h.Name, h.Value})
		}
	}
	return out
}

// asideOf reports whether a header says nothing about what was created.
func (p pair) asideOf(name string) bool {
	return slices.Contains([]string{"date", "age", "contentlength", "etag", "lastmodified", "expires", "servertiming", "server", "setcookie", "keepalive",
		"retryafter", "connection"}, plainName(name)) || isVolatile(name) || isDurationName(name) || containsFold(p.view.in.Facts.IgnoreHeaders, name)
}

// varies reports whether a place differs from one answer of others to the next, or may: one answer alone does not show that it
// stays as it is.
func (p pair) varies(at string, others []*trace.Response) bool {
	if slices.Contains(p.learned.CreationFields, at) {
		return true
	}
	var seen []string
	for _, o := range others {
		text, ok := writtenIn(o).fields[at]
		if name, isHeader := strings.CutPrefix(at, "header "); isHeader {
			text = firstHeader(o.Headers, name)
			ok = text != ""
		}
		if ok {
			seen = append(seen, text)
		}
	}
	return len(seen) == 1 || len(seen) > 1 && slices.Max(seen) != slices.Min(seen)
}

// ownEffect reports whether the request of i did what it asks for itself.
func (p pair) ownEffect() bool { return p.own || p.roseItself() }

func isYear(digits string) bool {
	return len(digits) == 4 && (strings.HasPrefix(digits, "19") || strings.HasPrefix(digits, "20"))
}

// ambiguous says that a short number may be there by accident, and from how many on it would not.
func (p pair) ambiguous(at string, name creationName, from string) *trace.Reason {
	return &trace.Reason{Code: trace.NoEvidence,
		Detail: fmt.Sprintf("%s, %s, holds %s at %s, which is the %s of %s: a leak, or an accident with so short a number: %s",
			p.view.name(p.i), p.whose(p.j, p.i), name.text, at, name.field, p.view.name(p.j), answerText(p.x(p.i))),
		Enable: "ids from " + from + " on in the system under test, so that a number tells one creation from another"}
}

package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// hidden checks that answers hold nothing that names what another scope's or another caller's request created, whatever their status.
func (v *view) hidden(e *scenarios.Expectation) outcome {
	var out outcome
	if v.in.waived(e) {
		return out
	}
	for _, i := range v.labelled(e.Hidden) {
		if v.lockedOut(i) {
			out.judged = true // whoever gets no connection is shown nothing
			continue
		}
		switch v.class[i] {
		case trace.ClassNone, trace.ClassBusy, trace.ClassIntermediary:
			continue
		}
		for _, j := range v.of(trace.ClassSuccess, v.labelled(nil)) {
			same := v.x(j).Scope == v.x(i).Scope && v.x(j).Caller == v.x(i).Caller
			if same || v.anonymous(i) && v.anonymous(j) || v.x(j).Started >= v.x(i).Done {
				continue // what nobody's request created is nobody's
			}
			leak, able, doubt := v.beside(j, i).leak()
			if leak == "" && v.barred(i) {
				out.gap(v.turnedAway(i))
				continue
			}
			out.judged = out.judged || able
			if leak == "" {
				if doubt != nil {
					out.gap(doubt)
				}
				continue
			}
			if k := v.servedAnyway(i); k >= 0 {
				out.gap(v.perhapsPublic(i, k))
				continue
			}
			f := v.finding(e.Rule, fmt.Sprintf("%s, %s, was answered with what the request of %s created: %s", v.name(i), v.whose(j, i), v.name(j), leak),
				"nothing that names "+v.naming(j), answerText(v.x(i)), j, i)
			out.decisive = out.decisive || f.Severity == trace.Critical
			out.findings = merge(out.findings, []trace.Finding{f})
		}
	}
	return out
}

// barred reports whether a caller may not use the endpoint at all: what such a one is told says nothing about keys. Who sends without
// credentials is meant to be refused.
func (v *view) barred(i int) bool {
	return !v.anonymous(i) && v.class[i] == trace.ClassRefused && v.foreign(i) && (v.credentialsRefused(i) || v.refusedAnyway(i))
}

// refusedAnyway reports whether the caller was told with another key too that nothing is there (404) or to pay first (402), and never
// seen to succeed.
func (v *view) refusedAnyway(i int) bool {
	if s := v.x(i).Response.Status; s != 404 && s != 402 {
		return false
	}
	alike := false
	for _, j := range v.labelled(nil) {
		if v.x(j).Caller != v.x(i).Caller {
			continue
		}
		if v.class[j] == trace.ClassSuccess {
			return false
		}
		alike = alike || v.class[j] == trace.ClassRefused && v.x(j).Key != v.x(i).Key && v.x(j).Response.Status == v.x(i).Response.Status
	}
	return alike
}

// lockedOut reports whether a request without credentials was refused as early as that is possible: whoever presents no certificate
// gets no connection.
func (v *view) lockedOut(i int) bool { return v.anonymous(i) && v.x(i).LockedOut() }

// anonymous reports whether the script sends a request without credentials.
func (v *view) anonymous(i int) bool {
	s := v.send(i)
	return s != nil && slices.Contains([]string{scenarios.CallerAnonymous, scenarios.CallerStripped}, s.Caller)
}

// unservedElse reports whether one without credentials was refused where another key was sent: then what it was shown is not its own.
func (v *view) unservedElse(i int) bool {
	if !v.anonymous(i) || v.servedAnyway(i) >= 0 {
		return false
	}
	for k := range v.round.Exchanges {
		if v.anonymous(k) && v.class[k] == trace.ClassRefused && v.x(k).Key != v.x(i).Key {
			return true
		}
	}
	return false
}

// servedAnyway is an exchange that was answered with success without credentials and with another key than one that had none either; -1
// when there is none.
func (v *view) servedAnyway(i int) int {
	if !v.anonymous(i) {
		return -1
	}
	for k := range v.round.Exchanges {
		if v.anonymous(k) && v.class[k] == trace.ClassSuccess && v.x(k).Key != v.x(i).Key {
			return k
		}
	}
	return -1
}

// perhapsPublic says that answers to who has no credentials may be meant for everybody.
func (v *view) perhapsPublic(i, k int) *trace.Reason {
	return &trace.Reason{Code: trace.Assumption,
		Detail: fmt.Sprintf("%s got what the first caller's request created, but the endpoint serves requests without credentials anyway (%s: %s): perhaps it does not look at them, and whoever has the key is the caller",
			v.name(i), v.name(k), answerText(v.x(k))),
		Enable: fmt.Sprintf("skip: {%s: anybody may use this endpoint}", v.in.Scenario.ID)}
}

// whose says what makes exchange i another operation than j.
func (v *view) whose(j, i int) string {
	switch {
	case v.x(j).OtherEndpoint != v.x(i).OtherEndpoint:
		return "sent to another endpoint"
	case v.x(j).Caller != v.x(i).Caller:
		return "of another caller"
	}
	return tellApart(v.x(j), v.x(i))
}

// pair is answer i beside the success answer j of another scope.
type pair struct {
	*view
	j, i int
	// from and in are the answers as they were written, of j and of i.
	from, in written
	// crossed is true when they are of different endpoints, strangers when of two callers of one endpoint. A stranger
	// may not be shown anything; the same caller may well be told what it created before.
	crossed, strangers bool
	// own is true when i was answered with success and with the marker of its own request.
	own bool
}

func (v *view) beside(j, i int) pair {
	a, b := v.x(j), v.x(i)
	p := pair{view: v, j: j, i: i, from: writtenIn(a.Response), in: writtenIn(b.Response), crossed: a.OtherEndpoint != b.OtherEndpoint}
	p.strangers = !p.crossed && a.Caller != b.Caller
	p.own = v.class[i] == trace.ClassSuccess && v.markerOf(i) != v.markerOf(j) && p.in.holds(v.markerOf(i))
	return p
}

// leak shows what answer i holds of the creation that j names; empty when nothing was found. able is true when something
// could have been found, and doubt says what may be a leak or an accident. What the request of i carried itself, and what the
// control was answered with too, is none.
func (p pair) leak() (leak string, able bool, doubt *trace.Reason) {
	whole := !p.x(p.i).Response.Body.Truncated || p.anotherOne()
	if m := p.markerOf(p.j); m != p.markerOf(p.i) && p.from.holds(m) {
		if p.showsMarker(m) {
			return "the marker " + m, true, nil
		}
		able = whole
	}
	able = able || p.showsNothing() || p.crossed && whole && p.differs()
	for _, name := range p.names(p.j, p.from) {
		if holdsRequest(p.x(p.i), name.text) || p.knownBefore(name) {
			continue
		}
		at, tells := p.find(name)
		able = able || tells && whole
		if at != "" {
			return at + " = " + shorten(name.text, 60), true, nil
		}
		switch at, sure := p.besides(name); {
		case sure:
			return at + " holds " + shorten(name.text, 60) + ", the " + name.field + " of that one", true, nil
		case at != "" && doubt == nil:
			doubt = p.ambiguous(at, name, "100000")
		case doubt == nil && p.namedAlike(name):
			doubt = &trace.Reason{Code: trace.NoEvidence, Detail: fmt.Sprintf("%s, %s, holds %s, the %s of %s, and the counters show an effect of its own: "+
				"the other one's answer, or a name that is made from what was sent, which both sent: %s",
				p.view.name(p.i), p.whose(p.j, p.i), shorten(name.text, 60), name.field, p.view.name(p.j), answerText(p.x(p.i)))}
		case doubt == nil && p.perhapsOwn(name):
			doubt = p.ambiguous(name.field, name, "100000000")
		}
	}
	return "", able, doubt
}

// showsMarker reports whether answer i shows the marker of the other request: anywhere to a stranger, else only in the place
// of its own.
func (p pair) showsMarker(marker string) bool {
	if p.strangers || p.class[p.i] != trace.ClassSuccess || p.own {
		return p.strangers && p.in.holds(marker)
	}
	for at, text := range p.from.fields {
		if standsIn(text, marker) && standsIn(p.in.fields[at], marker) {
			return true
		}
	}
	return false
}

// anotherOne reports whether answer i is surely no copy of the other one, also where the bodies are too long to be kept.
func (p pair) anotherOne() bool {
	here, there := p.in.fields[fieldLocation], p.from.fields[fieldLocation]
	return p.own || here != "" && there != "" && here != there
}

// showsNothing reports whether answer i has neither body nor Location.
func (p pair) showsNothing() bool {
	return isEmpty(p.x(p.i).Response) && p.in.fields[fieldLocation] == ""
}

// differs reports whether the answers differ in more than moments and the like: then i is no replay of j, however
// short the names are.
func (p pair) differs() bool {
	_, _, differ := differingParts(wholeText(p.x(p.j).Response), wholeText(p.x(p.i).Response))
	return differ
}

// find says where answer i holds a name; empty where it does not. tells is false when the name is too short to tell one
// creation from another. An answer with its own marker is its own, however ids are made.
func (p pair) find(name creationName) (at string, tells bool) {
	telling := name.telling || p.crossed && name.field == fieldLocation // no two endpoints create at one place
	tells = telling || !p.crossed
	placed := p.in.fields[name.field] == name.text && !p.own && !(p.oneScope() && p.roseItself()) && (telling || tells && p.alike() && (!p.oneScope() || p.older(name) || p.unservedElse(p.i)))
	switch {
	case p.crossed && p.class[p.i] != trace.ClassSuccess: // it may say why it refuses
	case placed:
		return name.field, true
	case name.telling && p.strangers && p.in.fields[name.field] != name.text && p.in.holds(name.text):
		return "the " + name.field + " of that one", true
	}
	return "", tells
}

// alike reports whether short names may count: every name that both answers give is equal, and the counters
// do not show that the request of i had an effect of its own.
func (p pair) alike() bool {
	fields := p.learned.CreationFields
	a, b := p.ids[p.j].onlyNames(fields), identify(fields, p.round, p.x(p.i)).onlyNames(fields)
	return a.same(b) && !p.roseItself()
}

// oneScope reports whether two callers sent the same key and body: then they are counted together, as the first caller sees it.
func (p pair) oneScope() bool { return p.x(p.i).Scope == p.x(p.j).Scope }

// roseItself reports whether a counter shows an effect of the request of i, beside that of j where they are counted together.
func (p pair) roseItself() bool {
	others := 0
	if p.oneScope() {
		others = 1
	}
	return p.rose(p.x(p.i).Scope, others)
}

// older reports whether a number names nothing that the request of i created itself: its caller was given the same or a higher one
// before, at the same place. Numbers rise, those of each tenant by themselves too.
func (p pair) older(name creationName) bool {
	n, isNumber := numberAtEnd(name.text)
	return isNumber && slices.ContainsFunc(p.of(trace.ClassSuccess, p.labelled(nil)), func(k int) bool {
		x := p.x(k)
		if x.Caller != p.x(p.i).Caller || x.Done > p.x(p.i).Started {
			return false
		}
		before, isNumber := numberAtEnd(writtenIn(x.Response).fields[name.field])
		return isNumber && before >= n
	})
}

// perhapsOwn reports whether a name may be that of the other creation, or of one with the same number where each tenant counts from 1
// and the counters are asked as the first caller.
func (p pair) perhapsOwn(name creationName) bool {
	return p.strangers && p.oneScope() && !name.telling && p.in.fields[name.field] == name.text && p.alike()
}

// namedAlike reports whether both creations are named alike beyond accident, though the same request had an effect for each of two callers.
func (p pair) namedAlike(name creationName) bool {
	return p.oneScope() && name.telling && p.in.fields[name.field] == name.text && p.roseItself()
}

// numberAtEnd is the number that a name is, or that a path ends with.
func numberAtEnd(name string) (uint64, bool) {
	n, err := strconv.ParseUint(name[strings.LastIndex(name, "/")+1:], 10, 64)
	return n, err == nil
}

func (v *view) markerOf(i int) string {
	for _, s := range v.round.Scopes {
		if s.Name == v.x(i).Scope {
			return s.Marker
		}
	}
	return ""
}

// knownBefore reports whether the control was answered with a name too: then it does not name one creation alone.
func (v *view) knownBefore(name creationName) bool {
	if v.in.Control == nil {
		return false
	}
	for i := range v.in.Control.Rounds {
		x := final(&v.in.Control.Rounds[i])
		if x == nil || x.Response == nil {
			continue
		}
		if w := writtenIn(x.Response); w.fields[name.field] == name.text || name.telling && w.holds(name.text) {
			return true
		}
	}
	return false
}

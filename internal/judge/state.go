package judge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/trace"
)

// stateFor finds the same state and scope in another reading.
func stateFor(r *trace.Reading, like trace.StateValue) (trace.StateValue, bool) {
	i := slices.IndexFunc(r.States, func(s trace.StateValue) bool { return s.State == like.State && s.Scope == like.Scope })
	if i < 0 {
		return trace.StateValue{}, false
	}
	return r.States[i], true
}

func unreadableState(s trace.StateValue) *trace.Reason {
	text := "state " + s.State + " gave no value: " + s.Error
	if s.Source != "" {
		text += " (asked: " + s.Source + ")"
	}
	return &trace.Reason{Code: trace.CounterUnreadable, Detail: text}
}

// ownState reports whether a state belongs to this round alone, so that nobody else moves it: what was asked names the
// round's marker, or differs from what another round asked.
func (v *view) ownState(s trace.StateValue) bool {
	for _, sc := range v.round.Scopes {
		if sc.Name == s.Scope && (standsIn(s.Source, sc.Marker) || standsIn(s.Source, sc.Key)) {
			return true
		}
	}
	rounds := v.in.Case.Trace
	if v.in.Control != nil {
		rounds = slices.Concat(rounds, v.in.Control.Rounds)
	}
	for i := range rounds {
		for _, r := range rounds[i].Readings {
			if slices.ContainsFunc(r.States, func(o trace.StateValue) bool { return o.State == s.State && o.Source != s.Source }) {
				return true
			}
		}
	}
	return false
}

// movesByItself reports whether a state differs between two looks with nothing sent between them, in this round or in
// the control. The late look comes after the clean-up, which may rightly change it.
func (v *view) movesByItself(s trace.StateValue) bool {
	rounds := []*trace.Round{v.round}
	if v.in.Control != nil {
		for i := range v.in.Control.Rounds {
			rounds = append(rounds, &v.in.Control.Rounds[i])
		}
	}
	return slices.ContainsFunc(rounds, func(r *trace.Round) bool {
		for i := range r.Readings {
			for j := range i {
				if restless(r, s.State, &r.Readings[j], &r.Readings[i]) {
					return true
				}
			}
		}
		return false
	})
}

// restless reports whether a state differs between two readings between which nothing was sent.
func restless(r *trace.Round, state string, a, b *trace.Reading) bool {
	if a.At > b.At {
		a, b = b, a
	}
	if a.Name == trace.ReadingLate || b.Name == trace.ReadingLate {
		return false
	}
	for _, x := range slices.Concat(r.Setup, r.Exchanges) {
		if x.Started < b.At && x.Done > a.At {
			return false
		}
	}
	return slices.ContainsFunc(a.States, func(was trace.StateValue) bool {
		now, ok := stateFor(b, was)
		_, _, differ := differingParts(was.Value, now.Value)
		return ok && was.State == state && was.Error == "" && now.Error == "" && differ
	})
}

// showsNothing reports whether a state is an error that was there before anything was sent, and stayed in all readings of the round: what
// asks at a wrong place is never changed by anything. A bare 404 may as well be a number that the plan chose.
func (v *view) showsNothing(s trace.StateValue) bool {
	status, rest := splitStatus(s.Value)
	before := reading(v.round, trace.ReadingBefore)
	if status < "400" || rest == "" || before == nil {
		return false
	}
	if _, ok := stateFor(before, s); !ok {
		return false
	}
	for i := range v.round.Readings {
		if r := &v.round.Readings[i]; r.Name != trace.ReadingLate {
			if was, ok := stateFor(r, s); ok {
				if _, _, differ := differingParts(was.Value, s.Value); differ {
					return false
				}
			}
		}
	}
	return true
}

// digestForm is how a state is recorded that is too long to be kept.
var digestForm = regexp.MustCompile(`\[\d+ bytes, sha256 [0-9a-f]*\]$`)

func isDigest(value string) bool { return digestForm.MatchString(value) }

// differingParts gives what differs between two values of a state, as text. Within an object times, ids of requests and
// counts of versions do not matter: they move with every write, also with one that changes nothing else. A state that is
// nothing but such a value was chosen by the plan, and counts, unless it is a time.
func differingParts(a, b string) (before, after string, differ bool) {
	if a == b {
		return a, b, false
	}
	statusA, restA := splitStatus(a)
	statusB, restB := splitStatus(b)
	ja, jb := parseJSON([]byte(restA)), parseJSON([]byte(restB))
	if statusA != statusB || ja == nil || jb == nil {
		return a, b, plainText(a, nil) != plainText(b, nil)
	}
	alike := momentsApart(ja, jb)
	places := diff(ja, jb, func(path, name string) bool { return alike[path] || isVolatile(name) || isVersion(name) })
	if len(places) == 0 || len(places) == 1 && places[0].path == "$" {
		return a, b, len(places) > 0
	}
	before, after = placesText(places)
	return before, after, true
}

// splitStatus takes the status off a state that is a whole answer, such as "200 {...}".
func splitStatus(value string) (status, rest string) {
	status, rest, _ = strings.Cut(value, " ")
	if n, err := strconv.Atoi(status); len(status) == 3 && err == nil && n >= 100 {
		return status, rest
	}
	return "", value
}

// momentsApart are the places at which two states differ by moments at most: by their form, within a text, or by name.
func momentsApart(a, b *value) map[string]bool {
	others := map[string]*value{}
	for _, l := range b.leaves("$", "", nil) {
		others[l.path] = l.value
	}
	out := map[string]bool{}
	for _, l := range a.leaves("$", "", nil) {
		o := others[l.path]
		switch undated := (&trace.Response{}); {
		case o == nil || o.kind != l.value.kind:
		case isTime(l.value, undated) && isTime(o, undated),
			l.value.kind == isNumber && isMomentName(l.name),
			l.value.kind == isString && plainText(l.value.text, nil) == plainText(o.text, nil):
			out[l.path] = true
		}
	}
	return out
}

// isMomentName reports whether members of that name say when something happened.
func isMomentName(name string) bool {
	plain := plainName(name)
	return strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "At") || strings.HasSuffix(plain, "time") ||
		strings.HasSuffix(plain, "timestamp") || slices.Contains([]string{"updated", "modified", "lastmodified", "lastupdated", "lastseen"}, plain)
}

// isVersion reports whether members of that name count the writes of a thing, changed or not.
func isVersion(name string) bool {
	switch plainName(name) {
	case "version", "lockversion", "rowversion", "revision", "rev", "etag", "v":
		return true
	}
	return false
}

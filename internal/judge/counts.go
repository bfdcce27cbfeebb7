package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// change is what one counter did between two readings, summed over the scopes of the round.
type change struct {
	fact          trace.CounterFact
	before, after int64
	// source and raw are what was asked and answered at the end, for the eyes.
	source, raw string
	// shared is true when scopes of the other endpoint were counted together with those of this one.
	shared bool
}

// ofOther reports whether a scope is one of the other endpoint.
func ofOther(scope string) bool { return strings.HasSuffix(scope, "/other") }

// ofOtherAlone reports whether a count is about the other endpoint's requests only.
func ofOtherAlone(v trace.Value) bool {
	return len(v.Scopes) > 0 && !slices.ContainsFunc(v.Scopes, func(s string) bool { return !ofOther(s) })
}

func (c change) rise() int64 { return c.after - c.before }

// above and below compare the rise with that of n effects.
func (c change) above(n int) bool { return c.rise() > int64(n)*c.fact.Rise }
func (c change) below(n int) bool { return c.rise() < int64(n)*c.fact.Rise }

// said shows what the counter answered.
func (c change) said() string {
	if c.source == "" && c.raw == "" {
		return c.fact.Name + " says " + fmt.Sprint(c.after)
	}
	return fmt.Sprintf("%s (%s) says: %s", c.fact.Name, c.source, shorten(c.raw, excerptLimit))
}

// reading finds a reading by name; nil when it was not taken.
func reading(r *trace.Round, name string) *trace.Reading {
	for i := range r.Readings {
		if r.Readings[i].Name == name {
			return &r.Readings[i]
		}
	}
	return nil
}

// changes compares two readings for every counter of the endpoint. Later looks can only raise the end: rows that
// a clean-up removed were there. unreadable says of each counter without a number why.
func changes(facts []trace.CounterFact, start, end *trace.Reading, later []*trace.Reading) (out []change, unreadable []string) {
	for _, f := range facts {
		c, err := changeOf(f, start, end, later)
		if err != "" {
			unreadable = append(unreadable, err)
			continue
		}
		out = append(out, c)
	}
	return out, unreadable
}

func changeOf(f trace.CounterFact, start, end *trace.Reading, later []*trace.Reading) (change, string) {
	c := change{fact: f}
	seen := 0
	for _, e := range end.Values {
		if e.Counter != f.Name || ofOtherAlone(e) {
			continue
		}
		seen++
		c.shared = c.shared || slices.ContainsFunc(e.Scopes, ofOther)
		s, ok := valueFor(start, e)
		switch {
		case e.Error != "":
			return c, unreadableText(e)
		case !ok:
			return c, fmt.Sprintf("counter %s was not read before the requests", f.Name)
		case s.Error != "":
			return c, unreadableText(s)
		}
		n := e.N
		for _, l := range later {
			if v, ok := valueFor(l, e); ok && v.Error == "" {
				n = max(n, v.N)
			}
		}
		c.before, c.after = c.before+s.N, c.after+n
		if seen == 1 { // the first scope is the one that the script is about
			c.source, c.raw = e.Source, e.Raw
		}
	}
	if seen == 0 {
		return c, fmt.Sprintf("counter %s was not read after the requests", f.Name)
	}
	return c, ""
}

// valueFor finds the count of the same counter and scopes in another reading.
func valueFor(r *trace.Reading, like trace.Value) (trace.Value, bool) {
	i := slices.IndexFunc(r.Values, func(v trace.Value) bool {
		return v.Counter == like.Counter && slices.Equal(v.Scopes, like.Scopes)
	})
	if i < 0 {
		return trace.Value{}, false
	}
	return r.Values[i], true
}

func unreadableText(v trace.Value) string {
	text := fmt.Sprintf("counter %s gave no number: %s", v.Counter, v.Error)
	if v.Source != "" {
		text += " (asked: " + v.Source + ")"
	}
	if v.Raw != "" {
		text += "; it answered: " + shorten(v.Raw, excerptLimit)
	}
	return text
}

// risesText says how the counters rose beside what n effects do to them.
func risesText(n int, cs []change) string {
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = fmt.Sprintf("%s rose by %d, expected %d", c.fact.Name, c.rise(), int64(n)*c.fact.Rise)
	}
	return strings.Join(parts, "; ")
}

// expectedText is what n effects do to the counters.
func expectedText(n int, cs []change) string {
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = fmt.Sprintf("%s +%d", c.fact.Name, int64(n)*c.fact.Rise)
	}
	return plural(n, "effect") + ": " + strings.Join(parts, ", ")
}

func actualText(cs []change) string {
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = fmt.Sprintf("%s +%d (%d -> %d)", c.fact.Name, c.rise(), c.before, c.after)
	}
	return strings.Join(parts, ", ")
}

func countChanges(n int, cs []change) map[string]trace.CountChange {
	out := map[string]trace.CountChange{}
	for _, c := range cs {
		out[c.fact.Name] = trace.CountChange{Before: c.before, After: c.after, Expected: c.before + int64(n)*c.fact.Rise}
	}
	return out
}

// Package baseline reads and writes the file of accepted violations: known ones that somebody answers for, until a day if
// stated, so that only new ones fail a run.
package baseline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// Baseline is a file of accepted violations. The zero value accepts nothing.
type Baseline struct {
	// File is the path it was read from.
	File    string
	Entries []Entry
}

// Entry is a violation that is accepted.
type Entry struct {
	Endpoint, Scenario, Rule string
	// Reason says why; never empty.
	Reason string
	// Owner is who answers for it; empty when not stated.
	Owner string
	// Expires is the last day, in UTC, on which it is accepted; the zero time when it is accepted for good.
	Expires time.Time
	pos     strict.Pos
}

// dayLayout is how a day is written.
const dayLayout = time.DateOnly

// Parse reads a baseline. The rules are the ids of the catalogue. Mistakes are returned all at once, as strict.Errors.
func Parse(file string, text []byte, rules []string) (*Baseline, error) {
	doc := strict.Parse(file, text, nil)
	o := doc.Root().Object("version", "accepted")
	if v := o.Require("version"); v.Present() && (v.Kind() != strict.Number || v.Scalar().Value != "1") {
		v.Expected("version 1, the only one that there is")
	}
	b := &Baseline{File: file}
	lines := map[trace.BaselineEntry]int{}
	for _, item := range accepted(o) {
		e := decode(item, rules)
		if line := lines[e.id()]; line != 0 {
			item.Errorf("duplicate entry, the first one is in line %d: remove one", line)
		}
		lines[e.id()] = e.pos.Line
		b.Entries = append(b.Entries, e)
	}
	return b, doc.Err()
}

// accepted are the entries; `accepted:` without any is an empty list.
func accepted(o strict.Object) []strict.Value {
	v := o.Require("accepted")
	if v.Kind() == strict.Nothing {
		return nil
	}
	return v.List()
}

func decode(v strict.Value, rules []string) Entry {
	o := v.Object("endpoint", "scenario", "rule", "reason", "owner", "expires")
	e := Entry{
		Endpoint: text(o.Require("endpoint")), Scenario: text(o.Require("scenario")), Rule: text(o.Require("rule")),
		Reason: text(o.Require("reason")), Owner: text(o.Get("owner")), pos: v.Pos(),
	}
	if e.Rule != "" && !slices.Contains(rules, e.Rule) {
		o.Get("rule").Errorf("unknown rule %s%s (list: `retrysafe explain`)", o.Get("rule").Text().Show(), strict.DidYouMean(e.Rule, rules))
	}
	if day := o.Get("expires"); day.Present() {
		var err error
		if e.Expires, err = Day(day.Text().Value); err != nil && day.Kind() == strict.String {
			day.Errorf("%s", err)
		}
	}
	return e
}

// text is a text that says something; an empty one is noted.
func text(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && strings.TrimSpace(t.Value) == "" {
		v.Errorf("expected a text, found nothing")
	}
	return t.Value
}

// Day reads a day such as 2026-12-31.
func Day(s string) (time.Time, error) {
	day, err := time.Parse(dayLayout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("expected a day such as 2026-12-31, found %q", s)
	}
	return day, nil
}

// Expired reports whether the entry accepts nothing any more.
func (e *Entry) Expired(now time.Time) bool {
	return !e.Expires.IsZero() && now.UTC().After(e.Expires.AddDate(0, 0, 1).Add(-1))
}

// id is what tells the entry from others.
func (e *Entry) id() trace.BaselineEntry {
	return trace.BaselineEntry{Endpoint: e.Endpoint, Scenario: e.Scenario, Rule: e.Rule}
}

// until is the last day as text; empty when there is none.
func (e *Entry) until() string {
	if e.Expires.IsZero() {
		return ""
	}
	return e.Expires.Format(dayLayout)
}

// Accepted are the rules whose violations are accepted in a case today.
func (b *Baseline) Accepted(endpoint, scenario string, now time.Time) map[string]trace.Accepted {
	if b == nil {
		return nil
	}
	out := map[string]trace.Accepted{}
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Endpoint == endpoint && e.Scenario == scenario && !e.Expired(now) {
			out[e.Rule] = trace.Accepted{Reason: e.Reason, Owner: e.Owner, Expires: e.until()}
		}
	}
	return out
}

// Settle says in the run what became of every entry. The cases of the run have been judged. With failFixed an entry whose
// violation is not there any more fails the run.
func (b *Baseline) Settle(run *trace.Run, failFixed bool) {
	out := &trace.Baseline{File: b.File, Strict: failFixed, Entries: []trace.BaselineEntry{}}
	for i := range b.Entries {
		e := &b.Entries[i]
		entry := e.id()
		entry.Reason, entry.Owner, entry.Expires = e.Reason, e.Owner, e.until()
		entry.State = stateOf(run, e)
		out.Entries = append(out.Entries, entry)
	}
	run.Info.Baseline = out
}

// stateOf says what the run shows of an entry.
func stateOf(run *trace.Run, e *Entry) trace.BaselineState {
	c := find(run, e)
	if c == nil {
		return trace.BaselineUnjudged
	}
	i := slices.IndexFunc(c.Findings, func(f trace.Finding) bool { return f.Rule == e.Rule })
	switch {
	case i >= 0 && c.Findings[i].Accepted == nil:
		return trace.BaselineExpired
	case i >= 0:
		return trace.BaselineAccepted
	case slices.Contains([]trace.Verdict{trace.Pass, trace.Warn, trace.Fail}, c.Verdict):
		return trace.BaselineFixed
	}
	return trace.BaselineUnjudged
}

// find is the case that an entry is about; nil when the run does not have it.
func find(run *trace.Run, e *Entry) *trace.Case {
	for i := range run.Endpoints {
		if run.Endpoints[i].Name != e.Endpoint {
			continue
		}
		for k := range run.Endpoints[i].Cases {
			if c := &run.Endpoints[i].Cases[k]; c.Scenario == e.Scenario {
				return c
			}
		}
	}
	return nil
}

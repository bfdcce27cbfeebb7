package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// Terms are what new entries get. Entries that have expired get Expires too, unless it is the zero time.
type Terms struct {
	Reason, Owner string
	Expires       time.Time
}

// Change says what Update did, each entry once.
type Change struct {
	// Added were found and are not in the file, Removed are in it and fixed, Renewed had expired and got the new day, Expired
	// had and there was no new day to give.
	Added, Removed, Renewed, Expired []Entry
	// Kept is how many entries stayed as they were.
	Kept int
	// Rewritten is true when the file's layout could not be kept, so that comments are lost.
	Rewritten bool
}

// Update gives the text of a baseline that accepts what fails in a run: entries of fixed violations are taken out, new ones are put
// at the end, and what stays keeps its place, its comments and its layout. Text is the file as it is; empty for a new
// one. Entries that the run did not judge stay.
func Update(file string, text []byte, run *trace.Run, t Terms, rules []string, now time.Time) (string, Change, error) {
	if strings.TrimSpace(string(text)) == "" {
		text = []byte("version: 1\naccepted: []\n")
	}
	b, err := Parse(file, text, rules)
	if err != nil {
		return "", Change{}, err
	}
	var change Change
	var want []Entry
	drop, renew := map[int]bool{}, map[int]bool{}
	for i, e := range b.Entries {
		switch state := stateOf(run, &e); {
		case !found(run, &e) && state == trace.BaselineFixed:
			drop[i] = true
			change.Removed = append(change.Removed, e)
			continue
		case found(run, &e) && e.Expired(now) && t.Expires.IsZero():
			change.Expired = append(change.Expired, e)
		case found(run, &e) && e.Expired(now):
			renew[i] = true
			e.Expires = t.Expires
			change.Renewed = append(change.Renewed, e)
		default:
			change.Kept++
		}
		want = append(want, e)
	}
	change.Added = b.missing(run, t)
	want = append(want, change.Added...)
	out := edit(string(text), b, drop, renew, change.Added, t.Expires)
	if again, err := Parse(file, []byte(out), rules); err != nil || !slices.EqualFunc(again.Entries, want, sameEntry) {
		out, change.Rewritten = write(want), true
	}
	return out, change, nil
}

func sameEntry(a, b Entry) bool {
	a.pos, b.pos = strict.Pos{}, strict.Pos{}
	return a == b
}

// found reports whether the run has the violation of an entry.
func found(run *trace.Run, e *Entry) bool {
	c := find(run, e)
	return c != nil && slices.ContainsFunc(c.Findings, func(f trace.Finding) bool { return f.Rule == e.Rule })
}

// missing are entries for the violations of the run that fail and are not in the file.
func (b *Baseline) missing(run *trace.Run, t Terms) []Entry {
	var out []Entry
	for i := range run.Endpoints {
		failOn := cmp.Or(run.Endpoints[i].Facts.FailOn, run.Info.FailOn, trace.Major)
		for _, c := range run.Endpoints[i].Cases {
			for _, f := range c.Findings {
				e := Entry{Endpoint: run.Endpoints[i].Name, Scenario: c.Scenario, Rule: f.Rule, Reason: t.Reason, Owner: t.Owner, Expires: t.Expires}
				known := slices.ContainsFunc(b.Entries, func(o Entry) bool { return o.id() == e.id() })
				if f.Severity.AtLeast(failOn) && !known {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// write writes entries anew.
func write(entries []Entry) string {
	var b strings.Builder
	b.WriteString("version: 1\naccepted:")
	if len(entries) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for i := range entries {
		b.WriteString(block(&entries[i], "  "))
	}
	return b.String()
}

// block is an entry as an item of a list.
func block(e *Entry, indent string) string {
	var b strings.Builder
	lead := indent + "- "
	for _, f := range []struct{ name, value string }{
		{"endpoint", quoted(e.Endpoint)}, {"scenario", quoted(e.Scenario)}, {"rule", quoted(e.Rule)},
		{"reason", quoted(e.Reason)}, {"owner", quoted(e.Owner)}, {"expires", e.until()},
	} {
		if f.value != "" && f.value != `""` {
			fmt.Fprintf(&b, "%s%s: %s\n", lead, f.name, f.value)
			lead = indent + "  "
		}
	}
	return b.String()
}

// quoted is a text as YAML reads it back: plain where every character is harmless, else in double quotes, whose escapes YAML
// has from JSON.
func quoted(s string) string {
	plain := s != "" && s == strings.TrimSpace(s) && !strict.IsNumber(s) &&
		!slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "~"}, strings.ToLower(s)) &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(" -_./()", r)
		}) && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
	if plain {
		return s
	}
	return jsonText(s)
}

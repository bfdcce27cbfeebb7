package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"retrysafe/internal/draft"
	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
)

// imported is a plan that sources are merged into, and what is told about it.
type imported struct {
	env          Env
	o            *initOptions
	before, text []byte
	included     []draft.File // by the plan

	names   []string // of sources
	left    []string
	added   []string
	notes   []string
	kept    int
	out     int
	callers []string
}

// planMistakes are the mistakes in a plan, but for what depends on where it runs: variables that are not set, and hosts that nobody has
// allowed yet.
func planMistakes(env Env, file string, text []byte) error {
	_, err := plan.Parse(file, text, env.LookupEnv)
	var found strict.Errors
	if !errors.As(err, &found) {
		return err
	}
	return slices.DeleteFunc(found, func(e *strict.Error) bool {
		return e.Unset != "" || strings.HasPrefix(e.Message, "host ") && strings.Contains(e.Message, " is not allowed: ")
	}).Err()
}

// included are the files that a plan includes, each once. What is wrong with them is told by planMistakes.
func included(env Env, file string, text []byte) ([]draft.File, error) {
	var found []draft.File
	seen := map[string]bool{filepath.Clean(file): true}
	for queue := []draft.File{{Name: file, Text: text}}; len(queue) > 0; queue = queue[1:] {
		for _, pattern := range draft.Includes(queue[0], env.LookupEnv) {
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(queue[0].Name), pattern)
			}
			names, err := filepath.Glob(pattern)
			if err != nil {
				return nil, usagef("", "%s: %s", file, err)
			}
			for _, name := range names {
				if seen[name] {
					continue
				}
				seen[name] = true
				part, err := readFile(name)
				if err != nil {
					return nil, asUsage(err)
				}
				found = append(found, draft.File{Name: name, Text: part})
				queue = append(queue, found[len(found)-1])
			}
		}
	}
	return found, nil
}

// merge adds what a source has. An endpoint that no plan can have is left out, and told with the plan's reason.
func (m *imported) merge(s *source) error {
	m.names = append(m.names, s.Source)
	m.left = append(m.left, s.Left...)
	m.notes = append(m.notes, s.Notes...)
	for {
		if len(s.Endpoints) == 0 {
			m.notes = append(m.notes, s.Source+" has no request that changes something, so nothing to test")
			return nil
		}
		text, report, err := draft.Merge(m.text, m.o.output, s.Draft, m.included...)
		if err != nil {
			return sourceError(err)
		}
		bad := m.unusable(text, report.Added)
		if len(bad) == 0 {
			m.text = text
			m.note(s, report)
			return nil
		}
		good := slices.DeleteFunc(slices.Clone(s.Endpoints), func(e draft.Endpoint) bool {
			i := slices.IndexFunc(bad, func(b unusable) bool { return b.Name == e.Name || b.Request == e.Request })
			if i >= 0 {
				m.left = append(m.left, fmt.Sprintf("%s: %s cannot be an endpoint of a plan: %s", e.Place, e.Request, bad[i].reason))
			}
			return i >= 0
		})
		if len(good) == len(s.Endpoints) {
			return planMistakes(m.env, m.o.output, text)
		}
		s.Select(good)
	}
}

// unusable is an endpoint of which the plan says that it is none.
type unusable struct {
	draft.Stated
	reason string
}

// unusable are the added endpoints in which the plan finds mistakes.
func (m *imported) unusable(text []byte, added []string) []unusable {
	var mistakes strict.Errors
	if !errors.As(planMistakes(m.env, m.o.output, text), &mistakes) {
		return nil
	}
	endpoints, _, err := draft.ReadStated(m.o.output, text)
	if err != nil {
		return nil
	}
	var bad []unusable
	for _, e := range mistakes {
		at := -1
		for i, s := range endpoints {
			if s.Pos.Line <= e.Line {
				at = i
			}
		}
		if at < 0 || e.File != m.o.output || !slices.Contains(added, endpoints[at].Name) {
			return []unusable{{}} // of what all of them share
		}
		bad = append(bad, unusable{endpoints[at], e.Message})
	}
	return bad
}

// note keeps what a merge is told as.
func (m *imported) note(s *source, r draft.MergeReport) {
	m.added = append(m.added, r.Added...)
	m.kept += r.Kept
	m.out += len(r.Out)
	if len(r.Callers) > 0 && len(m.before) > 0 {
		m.callers = append(m.callers, r.Callers...)
	}
	say := func(format string, args ...any) { m.notes = append(m.notes, fmt.Sprintf(format, args...)) }
	if r.Target != "" && m.o.target == "" {
		say("%s names the target %s, the plan keeps its own", s.Source, r.Target)
	}
	if len(r.Out) > 0 {
		say("stays out, as a comment in the plan: %s", strings.Join(r.Out, ", "))
	}
	if s.whole && len(r.Gone) > 0 {
		var gone []string
		for _, g := range r.Gone {
			gone = append(gone, fmt.Sprintf("%s (%s, %s)", g.Name, g.Request, placeOf(g.Pos.File, g.Pos.Line)))
		}
		say("not in %s, and left as it is: %s", s.Source, strings.Join(gone, ", "))
	}
}

// finish writes the plan and says what is in it and what comes next.
func (m *imported) finish() error {
	if len(m.added)+m.kept+m.out == 0 {
		m.tellLeft()
		return usagef("retrysafe init", "%s: nothing is written", strings.Join(m.notes, "; "))
	}
	changed := !bytes.Equal(m.text, m.before)
	if changed || m.o.output == "-" {
		if err := m.o.write(m.env, m.text); err != nil {
			return err
		}
	}
	m.tell(changed)
	return nil
}

func (m *imported) tell(changed bool) {
	say := func(format string, args ...any) { fmt.Fprintf(m.env.Stderr, format+"\n", args...) }
	name, from := m.o.output, strings.Join(m.names, ", ")
	if name == "-" {
		name = "plan"
	}
	guesses := bytes.Count(m.text, []byte("guess: ")) - bytes.Count(m.before, []byte("guess: "))
	switch {
	case len(m.before) == 0:
		say("%s: %s from %s, %s", name, count(len(m.added), "endpoint"), from, told(guesses, "guess", "guesses"))
	case !changed:
		say("%s: has all of %s already, nothing is changed", name, from)
	default:
		say("%s: %d added from %s, %d kept, %s", name, len(m.added), from, m.kept, told(guesses, "guess", "guesses"))
		for _, a := range m.added {
			say("  + %s", a)
		}
	}
	if len(m.callers) > 0 {
		say("  + callers: %s (the first caller of a plan goes with every endpoint)", strings.Join(m.callers, ", "))
	}
	for _, n := range m.notes {
		say("note: %s", n)
	}
	m.tellLeft()
	if m.o.output != "-" && changed {
		m.tellNext(say)
	}
}

// tellLeft says what is not in the plan.
func (m *imported) tellLeft() {
	switch {
	case len(m.left) == 0:
	case m.o.verbose:
		fmt.Fprintln(m.env.Stderr, "left out:")
		for _, l := range m.left {
			fmt.Fprintf(m.env.Stderr, "  %s\n", l)
		}
	default:
		fmt.Fprintf(m.env.Stderr, "left out: %s (--verbose says which)\n", told(len(m.left), "part", "parts"))
	}
}

// tellNext says which variables are missing, and the next command.
func (m *imported) tellNext(say func(string, ...any)) {
	unset := draft.Unset(m.text)
	unset = slices.DeleteFunc(unset, func(name string) bool { _, set := m.env.LookupEnv(name); return set })
	if len(unset) > 0 {
		say("set: export %s=...", strings.Join(unset, "=... "))
	}
	var found strict.Errors
	if _, err := plan.Parse(m.o.output, m.text, m.env.LookupEnv); errors.As(err, &found) {
		if i := slices.IndexFunc(found, func(e *strict.Error) bool { return e.Unset == "" }); i >= 0 {
			say("not yet: %s", found[i])
		}
	}
	say("next: retrysafe validate%s", m.o.argument())
}

func placeOf(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

package scenarios

import (
	"fmt"
	"slices"
)

// Letters are the key letters that the script sends under, in the order of their first use, whoever sends and whereto, and
// KeyNone for requests without a key. KeyFresh shares the scope of the first letter.
func (s *Scenario) Letters() []string {
	var out []string
	seen := map[string]bool{}
	for _, send := range s.Sends() {
		name := send.Key
		if name == KeyFresh || seen[name] {
			continue
		}
		seen[name] = true
		out = append(out, name)
	}
	return out
}

// ScopeUse is an identity that a script sends under: a key letter, or KeyNone, with a caller and an endpoint.
type ScopeUse struct {
	// Name is what the record calls the scope: the letter, with "@other" or "@anonymous" for those callers, and "/other"
	// for the other endpoint.
	Name string
	// Letter is the key letter, or KeyNone.
	Letter string
	// Caller is CallerFirst, CallerOther or CallerAnonymous; renewed credentials are the first caller's, and an
	// impostor and a stripped request are sent under the first caller's identity.
	Caller string
	// Other is true for the other endpoint.
	Other bool
}

// Scopes are the identities that the script sends under, in the order of their first use. KeyFresh has none of its own: it
// takes all but the key from the one of the first letter.
func (s *Scenario) Scopes() []ScopeUse {
	var out []ScopeUse
	for _, send := range s.Sends() {
		if send.Key == KeyFresh {
			continue
		}
		use := send.scope()
		if !slices.Contains(out, use) {
			out = append(out, use)
		}
	}
	return out
}

// ScopeName is the name of the scope that the send goes under. For a fresh key it is KeyFresh, which no scope is called.
func (s Send) ScopeName() string { return s.scope().Name }

func (s Send) scope() ScopeUse {
	use := ScopeUse{Name: s.Key, Letter: s.Key, Caller: CallerFirst, Other: s.Other}
	if s.Caller == CallerOther || s.Caller == CallerAnonymous {
		use.Caller = s.Caller
		use.Name += "@" + s.Caller
	}
	if s.Other {
		use.Name += "/other"
	}
	return use
}

// Hooks are the names of the hooks that the script runs, each once, in the order of their first use. A wait for expiry that
// a hook stands in for is none.
func (s *Scenario) Hooks() []string {
	var out []string
	for _, st := range s.Steps {
		if st.Hook != nil && !slices.Contains(out, st.Hook.Run) {
			out = append(out, st.Hook.Run)
		}
	}
	return out
}

// Alone reports whether nothing else may be under way: the scenario changes the system under test for all.
func (s *Scenario) Alone() bool {
	return s.Disruptive || slices.ContainsFunc(s.Hooks(), func(h string) bool { return h != "expire" })
}

// WaitsForExpiry reports whether the script waits for a share of a key's lifetime.
func (s *Scenario) WaitsForExpiry() bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Wait != nil && st.Wait.Expiry > 0 })
}

// Planted is the step with which the script goes on with a key of an earlier run; nil when it has none.
func (s *Scenario) Planted() *Planted {
	for i := range s.Steps {
		if p := s.Steps[i].Planted; p != nil {
			return p
		}
	}
	return nil
}

// WaitsWithin reports whether the script waits for a part of the handling time, to do something while a request runs.
func (s *Scenario) WaitsWithin() bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Wait != nil && st.Wait.Handling > 0 && st.Wait.Handling < 1 })
}

// OpenAt reports whether a request is open in the background when a step runs, counted from 0; false for no step.
func (s *Scenario) OpenAt(step int) bool {
	open := map[string]bool{}
	for i := range s.Steps {
		st := &s.Steps[i]
		switch {
		case i == step:
			return len(open) > 0
		case st.Send != nil && st.Send.Background:
			open[st.Send.Label] = true
		case st.Join != "":
			delete(open, st.Join)
		}
	}
	return false
}

// EndsUnderWay reports whether the script ends the process, by a hook crash or restart, while a request is open in the
// background.
func (s *Scenario) EndsUnderWay() bool {
	for i, st := range s.Steps {
		if st.Hook != nil && (st.Hook.Run == "crash" || st.Hook.Run == "restart") && s.OpenAt(i) {
			return true
		}
	}
	return false
}

// AnotherCaller are the lines of plan that help where the second caller of that name may not use an endpoint.
func (s *Scenario) AnotherCaller(name string) string {
	return fmt.Sprintf(`callers: {%s: {headers: {Authorization: "Bearer ${TOKEN}"}}} of somebody who may send this request, or in the endpoint skip: {%s: %s may not}`,
		name, s.ID, name)
}

// Sends are all sends of the script, those of volleys included, in order.
func (s *Scenario) Sends() []Send {
	var out []Send
	for _, st := range s.Steps {
		if st.Send != nil {
			out = append(out, *st.Send)
		}
		out = append(out, st.Volley...)
	}
	return out
}

// JudgesHangs reports whether a request that is never answered breaks a rule in the scenario.
func (s *Scenario) JudgesHangs() bool {
	return slices.ContainsFunc(s.Expect, func(e Expectation) bool { return len(e.Answered) > 0 })
}

// UsesBody reports whether any send has this body.
func (s *Scenario) UsesBody(body string) bool {
	for _, send := range s.Sends() {
		if send.Body == body {
			return true
		}
	}
	return false
}

// Requests is how many requests one round sends when nothing has to be repeated, those to another endpoint included.
func (s *Scenario) Requests() int {
	n := 0
	for _, send := range s.Sends() {
		n += max(1, send.Times, send.Together)
	}
	return n
}

// Creations is how many effects a round is expected to have had when the named reading is taken; keys is
// how many different keys were sent. The second result is false when the expectations do not say.
func (s *Scenario) Creations(reading, last string, keys int) (int64, bool) {
	for _, e := range s.Expect {
		if e.Created == nil {
			continue
		}
		until := e.Created.Until
		if until == "" {
			until = last
		}
		if until != reading {
			continue
		}
		n := int64(e.Created.N)
		if e.Created.PerKey {
			n = int64(keys)
		}
		if e.Created.Since == "" {
			return n, true
		}
		if before, ok := s.Creations(e.Created.Since, last, keys); ok && e.Created.Since != reading {
			return before + n, true
		}
	}
	return 0, false
}

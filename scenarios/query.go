package scenarios

// Letters are the names of the scopes that the script sends under, in the order of their first use:
// key letters, and KeyNone for requests without a key. KeyFresh shares the scope of the first letter.
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

// UsesBody reports whether any send has this body.
func (s *Scenario) UsesBody(body string) bool {
	for _, send := range s.Sends() {
		if send.Body == body {
			return true
		}
	}
	return false
}

// Requests is how many requests one round sends when nothing has to be repeated.
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

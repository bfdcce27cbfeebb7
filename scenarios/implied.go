package scenarios

import "slices"

// impliedNeeds are what a script uses and its `needs` does not name, so that a plan that lacks it skips the scenario
// instead of sending something else.
func impliedNeeds(s *Scenario) [][]string {
	var used []string
	for _, send := range s.Sends() {
		used = append(used, needsOfSend(send)...)
	}
	for _, hook := range s.Hooks() {
		used = append(used, needOfHook(hook))
	}
	for _, st := range s.Steps {
		if st.Planted != nil || st.Wait != nil && st.Wait.Expiry > 0 {
			used = append(used, "key_lifetime")
		}
	}
	for _, e := range s.Expect {
		if e.Outlives != "" {
			used = append(used, e.Outlives)
		}
	}
	var missing [][]string
	stated := s.Needs
	for _, need := range used {
		named := func(either []string) bool { return len(either) == 1 && either[0] == need }
		if !slices.ContainsFunc(stated, named) && !slices.ContainsFunc(missing, named) {
			missing = append(missing, []string{need})
		}
	}
	return missing
}

func needsOfSend(s Send) []string {
	var used []string
	for _, u := range []struct {
		uses bool
		need string
	}{
		{s.Body == BodyOther, "other_body"},
		{s.Body == BodyFail, "fail"},
		{s.Body == BodyInvalid, "invalid_body"},
		{s.Body == BodyReordered, "reordered_body"},
		{s.Body == BodyNested, "nested_body"},
		{s.Caller == CallerOther, "other_caller"},
		{s.Caller == CallerAnonymous || s.Caller == CallerStripped, "credentials"},
		{s.Caller == CallerImpostor, "other_caller"},
		{s.Caller == CallerImpostor, "credentials"},
		{s.Caller == CallerRenewed, "renewable_caller"},
		{s.Other, "other_endpoint"},
		{s.OtherQuery, "other_query"},
		{s.Replica > 0, "replicas"},
	} {
		if u.uses {
			used = append(used, u.need)
		}
	}
	return used
}

// needOfHook is the need that a hook meets; one that undoes another goes with it.
func needOfHook(hook string) string {
	for _, pair := range undoing() {
		if hook == pair[1] {
			return pair[0]
		}
	}
	return hook
}

// disturbs reports whether the script runs a hook that everybody who uses the system would notice.
func disturbs(s *Scenario) bool {
	return slices.ContainsFunc(s.Hooks(), func(hook string) bool {
		return slices.Contains([]string{"restart", "crash", "break", "reset"}, hook)
	})
}

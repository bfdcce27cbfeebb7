package judge

import (
	"slices"

	"retrysafe/scenarios"
)

// Finds are the rules that a scenario can find broken on some endpoint, each once. Which of them it can find on a given one depends
// on its counters, its dialect and what it answers; a pass says that.
func Finds(s *scenarios.Scenario) []string {
	var out []string
	add := func(rules ...string) {
		for _, r := range rules {
			if r != "" && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	for i := range s.Expect {
		e := &s.Expect[i]
		add(e.Rule)
		switch {
		case e.Created != nil:
			add(effectFinds(e.Created)...)
		case e.Same != nil:
			add(ruleStatus, ruleHeaders, ruleBody, ruleConflict, ruleBytes, ruleRefusal)
			if overlaps(s) {
				add(ruleFalseSuccess)
			}
		case e.Refused != nil, e.OneOf != nil:
			add(ruleRefusal)
		}
	}
	if slices.ContainsFunc(s.Sends(), func(s scenarios.Send) bool { return s.UntilFinal }) {
		add(ruleStuck)
	}
	if !s.OnControl {
		add(ruleNeverDone)
	}
	return out
}

// effectFinds are the rules about how many effects there are.
func effectFinds(c *scenarios.Created) []string {
	if c.N == 0 && !c.PerKey {
		return nil
	}
	out := []string{ruleSideEffect, c.Below, ruleDownstream, ruleDownstreamBody}
	if c.Below == "" {
		out[1] = ruleNothing
	}
	if !c.PerKey {
		out = append(out, ruleSilent)
	}
	return out
}

// overlaps reports whether a script may have copies under way at the same time; a request that is cut off may be at work still.
func overlaps(s *scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Steps, func(st scenarios.Step) bool {
		return len(st.Volley) > 1 || st.Send != nil && (st.Send.Together > 1 || st.Send.Every > 0 || st.Send.Background || st.Send.Cut != nil)
	})
}

package judge

import (
	"cmp"
	"slices"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Diagnose tells the likely causes behind the findings of an endpoint from their pattern: the fewest diagnoses of the
// catalogue whose condition holds and that together explain every finding; of two sets as small the one
// that is nearer to the catalogue's beginning. The cause of the worst finding comes first. Every finding is
// a symptom of one of them, unless the catalogue knows nothing for it. The order of the cases does not
// change which diagnoses are told. Nil without findings.
func Diagnose(catalogue []scenarios.Diagnosis, cases []trace.Case) []trace.Diagnosis {
	seen := lookAt(cases)
	var c cover
	for i := range catalogue {
		if seen.fits(&catalogue[i].When) {
			c.add(i, seen.explained(&catalogue[i]))
		}
	}
	var out []trace.Diagnosis
	for _, i := range seen.worstFirst(catalogue, c.fewest(len(seen.symptoms))) {
		out = append(out, seen.diagnosis(&catalogue[i]))
	}
	return out
}

// picture is what the cases of an endpoint show.
type picture struct {
	// symptoms are the findings, each once, with their severities.
	symptoms   []trace.Symptom
	severities []trace.Severity
	// often says of each symptom whether half of the rounds of its case or more show it.
	often []bool
	// passed are the scenarios with verdict pass.
	passed map[string]bool
	// told marks symptoms that a diagnosis has been given for.
	told []bool
}

func lookAt(cases []trace.Case) *picture {
	p := &picture{passed: map[string]bool{}}
	for i := range cases {
		c := &cases[i]
		p.passed[c.Scenario] = c.Verdict == trace.Pass
		for _, f := range c.Findings {
			if s := (trace.Symptom{Scenario: c.Scenario, Rule: f.Rule}); !slices.Contains(p.symptoms, s) {
				p.symptoms, p.severities = append(p.symptoms, s), append(p.severities, f.Severity)
				p.often = append(p.often, 2*f.Seen >= c.Rounds)
			}
		}
	}
	p.told = make([]bool, len(p.symptoms))
	return p
}

// matches reports whether a finding is what a pattern means.
func matches(pattern, found trace.Symptom) bool {
	return pattern.Rule == found.Rule && (pattern.Scenario == "" || pattern.Scenario == found.Scenario)
}

// has reports whether a finding like this is there.
func (p *picture) has(pattern trace.Symptom) bool {
	return slices.ContainsFunc(p.symptoms, func(s trace.Symptom) bool { return matches(pattern, s) })
}

// mostly reports whether a finding like this is there in half of the rounds of a case or more.
func (p *picture) mostly(pattern trace.Symptom) bool {
	for i, s := range p.symptoms {
		if p.often[i] && matches(pattern, s) {
			return true
		}
	}
	return false
}

// fits reports whether a condition holds.
func (p *picture) fits(when *scenarios.Pattern) bool {
	lacks := func(s trace.Symptom) bool { return !p.has(s) }
	rare := func(s trace.Symptom) bool { return !p.mostly(s) }
	unproved := func(either []string) bool {
		return !slices.ContainsFunc(either, func(id string) bool { return p.passed[id] })
	}
	return !slices.ContainsFunc(when.All, lacks) &&
		!slices.ContainsFunc(when.Mostly, rare) &&
		(len(when.Any) == 0 || slices.ContainsFunc(when.Any, p.has)) &&
		!slices.ContainsFunc(when.None, p.has) &&
		!slices.ContainsFunc(when.Passed, unproved)
}

// explained are the indices of the symptoms that a diagnosis accounts for.
func (p *picture) explained(d *scenarios.Diagnosis) []int {
	var out []int
	for i, s := range p.symptoms {
		if slices.ContainsFunc(d.Explains, func(e trace.Symptom) bool { return matches(e, s) }) {
			out = append(out, i)
		}
	}
	return out
}

// worstFirst orders diagnoses by the severity of the worst finding that each explains, else as in the catalogue.
func (p *picture) worstFirst(catalogue []scenarios.Diagnosis, chosen []int) []int {
	slices.Sort(chosen)
	weight := func(i int) int {
		worst := trace.Severity("")
		for _, n := range p.explained(&catalogue[i]) {
			if !worst.AtLeast(p.severities[n]) {
				worst = p.severities[n]
			}
		}
		return slices.Index([]trace.Severity{trace.Critical, trace.Major, trace.Minor, ""}, worst)
	}
	slices.SortStableFunc(chosen, func(a, b int) int { return cmp.Compare(weight(a), weight(b)) })
	return chosen
}

// diagnosis tells a diagnosis with those of its symptoms that none before it has.
func (p *picture) diagnosis(d *scenarios.Diagnosis) trace.Diagnosis {
	out := trace.Diagnosis{ID: d.ID, Title: d.Title, Why: d.Why, Fix: d.Fix, Example: d.Example}
	for _, i := range p.explained(d) {
		if !p.told[i] {
			p.told[i] = true
			out.Symptoms = append(out.Symptoms, p.symptoms[i])
			out.Rules = append(out.Rules, p.symptoms[i].Rule)
		}
	}
	slices.Sort(out.Rules)
	out.Rules = slices.Compact(out.Rules)
	return out
}

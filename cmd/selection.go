package cmd

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/judge"
	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// selectWhat finds the scenarios and endpoints to run, and gives the jobs that have both. A name that matches nothing in any plan is an
// error: a run that silently tests less than it was asked for must not look green.
func selectWhat(env Env, jobs []*job, o *runOptions) ([]*job, error) {
	for _, j := range jobs {
		var err error
		if j.all, err = loadScenarios(j.plan); err != nil {
			return nil, err
		}
		for _, s := range j.all {
			if s.Control {
				j.control = s
			}
		}
	}
	if err := selectScenarios(jobs, o); err != nil {
		return nil, err
	}
	if err := selectEndpoints(jobs, o); err != nil {
		return nil, err
	}
	if err := sameScenarios(jobs); err != nil {
		return nil, err
	}
	if err := selectShard(jobs, o.shard); err != nil {
		return nil, err
	}
	if err := selectFailed(env, jobs, o.onlyFailed); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(jobs, func(j *job) bool { return len(j.endpoints) == 0 || len(j.scenarios) == 0 }), nil
}

// selectScenarios keeps those that --scenario names, as far as they can find what --rule names.
func selectScenarios(jobs []*job, o *runOptions) error {
	var all []*scenarios.Scenario
	for _, j := range jobs {
		all = append(all, j.all...)
	}
	chosen, err := pick(all, o.scenarios, "scenario", listScenarios, func(s *scenarios.Scenario) []string { return []string{s.ID} })
	if err != nil {
		return err
	}
	if len(o.rules) > 0 {
		if _, err := pick(jobs[0].rules, o.rules, "rule", listExplanations, func(r scenarios.Rule) []string { return []string{r.ID} }); err != nil {
			return err
		}
		finding, err := pick(all, o.rules, "rule", listScenarios, judge.Finds)
		if err != nil {
			return usagef("", "--rule %s: no scenario can find it", strings.Join(o.rules, ","))
		}
		if chosen, err = both(chosen, finding, "--scenario and --rule"); err != nil {
			return err
		}
	}
	for _, j := range jobs {
		j.scenarios = slices.DeleteFunc(slices.Clone(j.all), func(s *scenarios.Scenario) bool { return !slices.Contains(chosen, s) })
	}
	return nil
}

// selectEndpoints keeps those that --endpoint names, as far as they have a tag that --tag names and an owner that --owner does.
func selectEndpoints(jobs []*job, o *runOptions) error {
	var all []*plan.Endpoint
	for _, j := range jobs {
		for i := range j.plan.Endpoints {
			all = append(all, &j.plan.Endpoints[i])
		}
	}
	chosen, err := pick(all, o.endpoints, "endpoint", listEndpoints, func(e *plan.Endpoint) []string { return namesOf(e.Name, e.Named) })
	if err != nil {
		return err
	}
	tagged, err := pick(all, o.tags, "tag", listEndpoints, func(e *plan.Endpoint) []string { return e.Tags })
	if err != nil {
		return err
	}
	owned, err := pick(all, o.owners, "owner", listEndpoints, func(e *plan.Endpoint) []string { return namesOf(e.Owner) })
	if err != nil {
		return err
	}
	if chosen, err = both(chosen, tagged, "--endpoint and --tag"); err != nil {
		return err
	}
	if chosen, err = both(chosen, owned, "--owner and the other selections"); err != nil {
		return err
	}
	for _, j := range jobs {
		for i := range j.plan.Endpoints {
			if slices.Contains(chosen, &j.plan.Endpoints[i]) {
				j.endpoints = append(j.endpoints, j.plan.Endpoints[i])
			}
		}
	}
	return nil
}

// namesOf are the names that are not empty.
func namesOf(names ...string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// both are the items of one selection that are in the other too; an error when there are none.
func both[T comparable](a, b []T, flags string) ([]T, error) {
	out := slices.DeleteFunc(slices.Clone(a), func(item T) bool { return !slices.Contains(b, item) })
	if len(out) == 0 {
		return nil, usagef("", "%s together match nothing: each matches something, but nothing matches both", flags)
	}
	return out, nil
}

// selectFailed keeps the cases that failed or could not be judged in the record that --only-failed names.
func selectFailed(env Env, jobs []*job, file string) error {
	if file == "" {
		return nil
	}
	r, err := readResults(env, file, nil)
	if err != nil {
		return err
	}
	failed, n := map[trace.Symptom]bool{}, 0
	for i := range r.Endpoints {
		name := r.Endpoints[i].Name
		for _, c := range r.Endpoints[i].Cases {
			if !slices.Contains([]trace.Verdict{trace.Fail, trace.Inconclusive, trace.Error}, c.Verdict) {
				continue
			}
			n++
			at := slices.IndexFunc(jobs, func(j *job) bool {
				return slices.ContainsFunc(j.plan.Endpoints, func(e plan.Endpoint) bool { return e.Name == name })
			})
			switch {
			case at < 0:
				return usagef("", "--only-failed: in %s %s failed on endpoint %q, which the plan does not have", file, c.Scenario, name)
			case !slices.ContainsFunc(jobs[at].all, func(s *scenarios.Scenario) bool { return s.ID == c.Scenario }):
				return usagef("", "--only-failed: in %s scenario %q failed, which this version and the plan do not have", file, c.Scenario)
			}
			failed[trace.Symptom{Rule: name, Scenario: c.Scenario}] = true
		}
	}
	if n == 0 {
		return usagef("", "--only-failed: nothing failed in %s, and everything that ran could be judged", file)
	}
	left := 0
	for _, j := range jobs {
		j.wanted = func(endpoint, scenario string) bool { return failed[trace.Symptom{Rule: endpoint, Scenario: scenario}] }
		j.endpoints = slices.DeleteFunc(slices.Clone(j.endpoints), func(e plan.Endpoint) bool { return len(j.scenariosOf(e.Name)) == 0 })
		j.scenarios = slices.DeleteFunc(slices.Clone(j.scenarios), func(s *scenarios.Scenario) bool {
			return !slices.ContainsFunc(j.endpoints, func(e plan.Endpoint) bool { return j.wanted(e.Name, s.ID) })
		})
		left += len(j.endpoints)
	}
	if left == 0 {
		return usagef("", "--only-failed: %s failed in %s, none of them is among the selected ones", count(n, "case"), file)
	}
	return nil
}

// selectShard keeps the endpoints of the part that --shard names.
func selectShard(jobs []*job, shard string) error {
	if shard == "" {
		return nil
	}
	n, of, ok := strings.Cut(shard, "/")
	i, errN := strconv.Atoi(n)
	all, errOf := strconv.Atoi(of)
	if !ok || errN != nil || errOf != nil || i < 1 || i > all {
		return usagef("", "--shard: expected I/N with I from 1 to N, such as 2/4, found %q", shard)
	}
	plans, endpoints := make([]*plan.Plan, len(jobs)), make([][]plan.Endpoint, len(jobs))
	for k, j := range jobs {
		plans[k], endpoints[k] = j.plan, j.endpoints
	}
	mine, err := plan.Shard(plans, endpoints, i, all)
	if err != nil {
		return usagef("", "--shard: %s", err)
	}
	for k, j := range jobs {
		j.endpoints, j.shard = mine[k], &trace.Shard{N: i, Of: all}
	}
	return nil
}

// loadScenarios gives the built-in scenarios and those of the plan.
func loadScenarios(p *plan.Plan) ([]*scenarios.Scenario, error) {
	all, err := scenarios.Load(p.Scenarios...)
	if err != nil {
		return nil, planError(err)
	}
	var ids []string
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return all, p.CheckScenarios(ids)
}

// warnings are those of a plan and of its own scenarios.
func warnings(p *plan.Plan, all []*scenarios.Scenario) strict.Errors {
	found := slices.Clone(p.Warnings)
	for _, s := range all {
		if slices.Contains(p.Scenarios, s.File) {
			found = append(found, s.Warnings...)
		}
	}
	return found
}

// planError keeps the mistakes in a file apart from a file that cannot be read.
func planError(err error) error {
	var found strict.Errors
	if errors.As(err, &found) {
		return err
	}
	return usagef("", "%s", err)
}

// pick gives the items of which a name matches one of the patterns (shell globs), in the order of the items; all
// when there are no patterns. List is the command that shows the names.
func pick[T any](items []T, patterns []string, noun, list string, names func(T) []string) ([]T, error) {
	if len(patterns) == 0 {
		return items, nil
	}
	var known []string
	for _, it := range items {
		for _, n := range names(it) {
			if !slices.Contains(known, n) {
				known = append(known, n)
			}
		}
	}
	chosen := make([]bool, len(items))
	for _, p := range patterns {
		hit := false
		for i, it := range items {
			ok, err := matches(p, slices.Contains(known, p), names(it))
			if err != nil {
				return nil, usagef("", "--%s %q: %s", noun, p, err)
			}
			if ok {
				chosen[i], hit = true, true
			}
		}
		if !hit {
			return nil, usagef(list, "--%s %q matches nothing%s", noun, p, strict.Suggestion(p, known))
		}
	}
	var out []T
	for i, it := range items {
		if chosen[i] {
			out = append(out, it)
		}
	}
	return out, nil
}

// matches reports whether one of some names is the pattern, where that is a name, or else matches it.
func matches(pattern string, exact bool, names []string) (bool, error) {
	if exact {
		return slices.Contains(names, pattern), nil
	}
	_, err := trace.Matches(pattern, "")
	return err == nil && slices.ContainsFunc(names, func(n string) bool { return trace.Named(pattern, n) }), err
}

// The commands that show all names of a kind.
const (
	listScenarios    = "retrysafe scenarios"
	listEndpoints    = "retrysafe run --dry-run"
	listExplanations = "retrysafe explain"
)

// unknown is a name that matches nothing: with the nearest known one, and the command that shows them all.
func unknown(list, noun, name string, known []string) error {
	return usagef(list, "there is no %s %q%s", noun, name, strict.Suggestion(name, known))
}

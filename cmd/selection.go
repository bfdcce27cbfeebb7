package cmd

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// selectWhat finds the scenarios and endpoints to run. A name that matches nothing is an error: a run
// that silently tests less than it was asked for must not look green.
func (j *job) selectWhat() error {
	all, err := loadScenarios(j.plan)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Control {
			j.control = s
		}
	}
	if j.scenarios, err = pick(all, j.opts.scenarios, "scenario", listScenarios, func(s *scenarios.Scenario) string { return s.ID }); err != nil {
		return err
	}
	j.endpoints, err = pick(j.plan.Endpoints, j.opts.endpoints, "endpoint", "retrysafe run --dry-run", func(e plan.Endpoint) string { return e.Name })
	if err != nil {
		return err
	}
	return j.selectShard()
}

// selectShard keeps the endpoints of the part that --shard names.
func (j *job) selectShard() error {
	if j.opts.shard == "" {
		return nil
	}
	n, of, ok := strings.Cut(j.opts.shard, "/")
	i, errN := strconv.Atoi(n)
	all, errOf := strconv.Atoi(of)
	if !ok || errN != nil || errOf != nil || i < 1 || i > all {
		return usagef("", "--shard: expected I/N with I from 1 to N, such as 2/4, found %q", j.opts.shard)
	}
	endpoints, err := j.plan.Shard(j.endpoints, i, all)
	if err != nil {
		return usagef("", "--shard: %s", err)
	}
	j.endpoints, j.shard = endpoints, &trace.Shard{N: i, Of: all}
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

// pick gives the items whose names match one of the patterns (shell globs), in the order of the items; all
// when there are no patterns. List is the command that shows the names.
func pick[T any](items []T, patterns []string, noun, list string, name func(T) string) ([]T, error) {
	if len(patterns) == 0 {
		return items, nil
	}
	var names []string
	for _, it := range items {
		names = append(names, name(it))
	}
	chosen := make([]bool, len(items))
	for _, p := range patterns {
		hit := false
		for i, n := range names {
			ok, err := path.Match(p, n)
			if err != nil {
				return nil, usagef("", "--%s %q: %s", noun, p, err)
			}
			if ok || n == p {
				chosen[i], hit = true, true
			}
		}
		if !hit {
			return nil, usagef(list, "--%s %q matches nothing%s", noun, p, strict.Suggestion(p, names))
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

// The commands that show all names of a kind.
const (
	listScenarios    = "retrysafe scenarios"
	listExplanations = "retrysafe explain"
)

// unknown is a name that matches nothing: with the nearest known one, and the command that shows them all.
func unknown(list, noun, name string, known []string) error {
	return usagef(list, "there is no %s %q%s", noun, name, strict.Suggestion(name, known))
}

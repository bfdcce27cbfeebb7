package cmd

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"retrysafe/fixtures"
	"retrysafe/internal/recorded"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// racy variants lose a race or not: what they are pinned with and what sends copies at the same time is run alone, so that nothing else
// takes their processors, and the rest of the catalogue beside the others.
func racy() []string {
	return []string{
		"check-then-insert", "get-create-set", "article-decorator", "article-express-naive",
		"select-then-insert", "select-insert-in-transaction", "locks-a-missing-row", "redis-get-then-set",
	}
}

// run runs the variants, first what is racy, one after another, then everything else side by side.
func (m *matrix) run(t *testing.T, variants []fixtures.Variant, pinned rules) {
	m.results = map[string]result{}
	alone, beside := map[string][]string{}, map[string][]string{}
	for _, v := range variants {
		if m.only != nil {
			alone[v.Name] = scenariosOf(m.only, v)
		} else {
			alone[v.Name], beside[v.Name] = parted(t, scenariosOf(pinned, v))
		}
		if slices.Contains(racy(), v.Name) {
			m.results[v.Name] = m.execute(v, alone[v.Name])
		}
	}
	var g errgroup.Group
	g.SetLimit(m.atOnce())
	var mu sync.Mutex
	keep := func(v fixtures.Variant, r result) {
		mu.Lock()
		defer mu.Unlock()
		if raced, ok := m.results[v.Name]; ok {
			r = united(t, r, raced)
		}
		m.results[v.Name] = r
	}
	for _, v := range slices.Backward(variants) { // the slow ones are near the end of the list
		switch {
		case !slices.Contains(racy(), v.Name):
			g.Go(func() error { keep(v, m.execute(v, scenariosOf(m.only, v))); return nil })
		case m.only == nil:
			g.Go(func() error { keep(v, m.execute(v, beside[v.Name])); return nil })
		}
	}
	_ = g.Wait()
}

// scenariosOf are the scenarios that these cells of a variant are of; nil where there are none.
func scenariosOf(cells rules, v fixtures.Variant) []string {
	var ids []string
	for key := range cells {
		if f := strings.Fields(key); f[0] == v.Name && f[2] != causes {
			ids = append(ids, f[2])
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// parted are the built-in scenarios that are among these or send copies at the same time, and all others.
func parted(t *testing.T, ids []string) (racing, rest []string) {
	all, err := scenarios.Builtin()
	if err != nil {
		t.Error(err)
	}
	for _, s := range all {
		if s.Overlap || slices.Contains(ids, s.ID) || slices.ContainsFunc(s.Steps, atOnce) {
			racing = append(racing, s.ID)
		} else {
			rest = append(rest, s.ID)
		}
	}
	return racing, rest
}

// atOnce is true for a step that sends several requests without waiting for their answers.
func atOnce(s scenarios.Step) bool {
	return len(s.Volley) > 0 || s.Send != nil && (s.Send.Together > 1 || s.Send.Every > 0)
}

// united is one record of two runs of a variant, each of other scenarios. Causes are told from all of them.
func united(t *testing.T, rest, raced result) result {
	if rest.err != nil || raced.err != nil {
		return result{err: cmp.Or(rest.err, raced.err), output: raced.output + rest.output}
	}
	for i := range rest.run.Endpoints {
		ep := &rest.run.Endpoints[i]
		for _, c := range raced.run.Endpoints[i].Cases {
			if k := slices.IndexFunc(ep.Cases, func(o trace.Case) bool { return o.Scenario == c.Scenario }); k < 0 {
				ep.Cases = append(ep.Cases, c)
			}
		}
	}
	diagnoses, err := scenarios.Diagnoses()
	if err != nil {
		t.Error(err)
	}
	recorded.Sum(rest.run, diagnoses)
	rest.exit, rest.output = max(rest.exit, raced.exit), raced.output+rest.output
	return rest
}

package recorded

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Source is a run with the name of the file that it was read from.
type Source struct {
	Name string
	Run  *trace.Run
}

// Merge puts the records of runs of one plan together, each of which tested some of its endpoints: the endpoints in the order
// of the plan, the requests added up, the longest time. It uses the runs up. Runs of another plan, target or
// dialect, with another fail-on level or other scenarios under the same id are an error; with force the first run's are taken. An
// endpoint that two runs have is always one. So are shards of which some are missing, without force. There must be at least one
// source.
func Merge(sources []Source, force bool, diagnoses []scenarios.Diagnosis) (*trace.Run, error) {
	first := sources[0]
	out, from := first.Run, map[string]string{}
	if len(sources) == 1 {
		return out, nil
	}
	missing, err := missingShards(sources)
	if err != nil && !force {
		return nil, err
	}
	endpoints, requests := []trace.Endpoint{}, 0
	ids := []string{}
	for _, s := range sources {
		if err := alike(first, s); err != nil && !force {
			return nil, err
		}
		for i := range s.Run.Endpoints {
			name := s.Run.Endpoints[i].Name
			if other, dup := from[name]; dup {
				return nil, fmt.Errorf("%s and %s both have the endpoint %q: merge runs that tested different ones", other, s.Name, name)
			}
			from[name] = s.Name
		}
		endpoints = append(endpoints, s.Run.Endpoints...)
		requests += s.Run.Summary.Requests
		add(&out.Info, &s.Run.Info)
		ids = append(ids, cmp.Or(strings.Join(s.Run.Info.Merged, " "), s.Run.Info.ID))
	}
	slices.SortStableFunc(endpoints, func(a, b trace.Endpoint) int {
		return cmp.Or(a.Place-b.Place, a.Line-b.Line)
	})
	if out.Info.Shard = nil; missing != "" {
		out.Info.Notes = append(out.Info.Notes, missing)
	}
	if ids = slices.Compact(ids); len(ids) > 1 {
		out.Info.Merged = strings.Fields(strings.Join(ids, " "))
	}
	out.Endpoints, out.Summary.Requests = endpoints, requests
	Sum(out, diagnoses)
	return out, nil
}

// add takes over what belongs to the run as a whole.
func add(into, more *trace.Info) {
	if more.Started.Before(into.Started) {
		into.Started = more.Started
	}
	into.ElapsedMS = max(into.ElapsedMS, more.ElapsedMS)
	into.Interrupted = into.Interrupted || more.Interrupted
	if into.Scenarios == nil {
		into.Scenarios = map[string]string{}
	}
	for id, text := range more.Scenarios {
		if _, known := into.Scenarios[id]; !known {
			into.Scenarios[id] = text
		}
	}
	addBaseline(into, more)
	for _, note := range more.Notes {
		if !slices.Contains(into.Notes, note) {
			into.Notes = append(into.Notes, note)
		}
	}
}

// alike says why two runs are none of one plan.
func alike(a, b Source) error {
	x, y := &a.Run.Info, &b.Run.Info
	for _, f := range []struct{ what, a, b string }{
		{"plan", x.Plan.Digest, y.Plan.Digest},
		{"target", x.Target, y.Target},
		{"dialect", x.Dialect, y.Dialect},
		{"fail-on level", string(x.FailOn), string(y.FailOn)},
	} {
		if f.a != f.b {
			return fmt.Errorf("%s and %s are runs of another %s: %q and %q", a.Name, b.Name, f.what, f.a, f.b)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(y.Scenarios)) {
		if text, known := x.Scenarios[id]; known && text != y.Scenarios[id] {
			return fmt.Errorf("%s and %s ran the scenario %s with different texts", a.Name, b.Name, id)
		}
	}
	return nil
}

// missingShards says which parts of a run are not among the sources: in a sentence, and as an error; empty and nil when all are, or the
// sources are no shards.
func missingShards(sources []Source) (string, error) {
	of, seen := 0, map[int]bool{}
	for _, s := range sources {
		shard := s.Run.Info.Shard
		switch {
		case shard == nil:
			continue
		case of != 0 && of != shard.Of:
			return "", fmt.Errorf("%s is shard %d of %d, another one is of %d: merge the shards of one run", s.Name, shard.N, shard.Of, of)
		}
		of, seen[shard.N] = shard.Of, true
	}
	var missing []string
	for n := 1; n <= of; n++ {
		if !seen[n] {
			missing = append(missing, fmt.Sprintf("%d/%d", n, of))
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	list := strings.Join(missing, ", ")
	return "not the whole plan: shard " + list + " is missing", fmt.Errorf("shard %s is missing: name its results too, or merge what there is with --force", list)
}

// addBaseline puts what two runs show of the entries of one baseline together: each has judged some.
func addBaseline(into, more *trace.Info) {
	if into == more || more.Baseline == nil {
		return
	}
	if into.Baseline == nil {
		into.Baseline = more.Baseline
		return
	}
	for _, e := range more.Baseline.Entries {
		i := slices.IndexFunc(into.Baseline.Entries, func(o trace.BaselineEntry) bool {
			return o.Endpoint == e.Endpoint && o.Scenario == e.Scenario && o.Rule == e.Rule
		})
		switch {
		case i < 0:
			into.Baseline.Entries = append(into.Baseline.Entries, e)
		case e.State != trace.BaselineUnjudged:
			into.Baseline.Entries[i] = e
		}
	}
}

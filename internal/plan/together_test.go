package plan

import (
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, file, text string) *Plan {
	t.Helper()
	p, err := Parse(file, []byte(text), nil)
	if err != nil {
		t.Fatal(pretty(err))
	}
	return p
}

func namesIn(plans ...*Plan) []string {
	var names []string
	for _, p := range plans {
		for _, e := range p.Endpoints {
			names = append(names, e.Name+"|"+e.Named+"|"+e.OtherEndpoint)
		}
	}
	return names
}

func TestTogether(t *testing.T) {
	const two = "endpoints:\n  - {name: a, request: POST /a, key: {header: K}, other_endpoint: %}\n  - {name: %, request: POST /b, key: {header: K}, other_endpoint: a}\n"
	x := parsed(t, "./plans/x.yaml", head+strings.ReplaceAll(two, "%", "b"))
	y := parsed(t, "y.yaml", head+strings.ReplaceAll(two, "%", "c"))
	alone := parsed(t, "y.yaml", head+strings.ReplaceAll(two, "%", "c"))
	Together([]*Plan{alone})
	if got := namesIn(alone); alone.Number != 0 || !slices.Equal(got, []string{"a||c", "c||a"}) {
		t.Errorf("alone: %q", got)
	}
	Together([]*Plan{x, y})
	want := []string{"plans/x.yaml: a|a|b", "b||plans/x.yaml: a", "y.yaml: a|a|c", "c||y.yaml: a"}
	if got := namesIn(x, y); !slices.Equal(got, want) {
		t.Errorf("together: %q", got)
	}
	if x.Number != 1 || y.Number != 2 || x.Before != 0 || y.Before != 2 {
		t.Errorf("%d %d, %d %d", x.Number, y.Number, x.Before, y.Before)
	}
}

// TestShardOfPlans: on one target endpoints that count without a marker stay together whatever plan they are of; on two they do not.
func TestShardOfPlans(t *testing.T) {
	text := func(target string) string {
		return "version: 1\ntarget: " + target + "\ncounters: {all: {http: GET /c, value: $.n}, mine: {http: \"GET /c/{{marker}}\", value: $.n}}\nendpoints:\n" +
			"  - {name: a, request: POST /a, body: {m: \"{{marker}}\"}, counters: [all]}\n  - {name: b, request: POST /b, body: {m: \"{{marker}}\"}, counters: [mine]}\n"
	}
	const here, there = "http://127.0.0.1:1", "http://127.0.0.1:2"
	for target, want := range map[string][]string{here: {"a;a", "b;", ";b"}, there: {"a;b", "b;", ";a"}} {
		plans := []*Plan{parsed(t, "x", text(here)), parsed(t, "y", text(target))}
		endpoints := [][]Endpoint{plans[0].Endpoints, plans[1].Endpoints}
		var got []string
		for i := range 3 {
			mine, err := Shard(plans, endpoints, i+1, 3)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, list := range mine {
				text := ""
				for _, e := range list {
					text += e.Name
				}
				names = append(names, text)
			}
			got = append(got, strings.Join(names, ";"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

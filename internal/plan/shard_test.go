package plan

import (
	"fmt"
	"strings"
	"testing"
)

const shardPlan = `version: 1
target: http://127.0.0.1:1
counters:
  all: {http: GET /count, value: $.n}
  mine: {http: "GET /count?m={{marker}}", value: $.n}
states:
  balance: {http: GET /wallets/w1, value: $.balance}
endpoints:
  - {name: a, request: POST /a, key: {header: K}, body: {m: "{{marker}}"}, counters: [all]}
  - {name: b, request: POST /b, key: {header: K}, body: {m: "{{marker}}"}, counters: [mine], other_endpoint: c}
  - {name: c, request: POST /c, key: {header: K}, body: {m: "{{marker}}"}, counters: [mine]}
  - {name: d, request: POST /d, key: {header: K}, body: {m: "{{marker}}"}, counters: [all, mine]}
  - {name: e, request: POST /e, key: {header: K}, body: {m: "{{marker}}"}, counters: [mine], other_endpoint: a}
  - {name: f, request: PATCH /f, body: {n: 1}, states: [balance]}
  - {name: g, request: PATCH /g, body: {n: 1}, states: [balance]}
  - {name: h, request: PATCH /h, body: {n: 1}}
`

// TestShard splits a plan: a, d and e count alike, f and g read one wallet; b and c only name each other.
func TestShard(t *testing.T) {
	p, err := Parse("p.yaml", []byte(shardPlan), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		1: "a b c d e f g h",
		2: "a d e h|b c f g",
		3: "a d e|b f g|c h",
		5: "a d e|b|c|f g|h",
	} {
		var got []string
		for i := range n {
			part, err := p.Shard(p.Endpoints, i+1, n)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range part {
				names = append(names, e.Name)
			}
			got = append(got, strings.Join(names, " "))
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%d shards: %s, want %s", n, text, want)
		}
	}
	for i := 1; i <= 6; i++ {
		if _, err := p.Shard(p.Endpoints, i, 6); err == nil || !strings.Contains(fmt.Sprint(err), "at most 5, found 6") {
			t.Errorf("shard %d of 6: %v", i, err)
		}
	}
}

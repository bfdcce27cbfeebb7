package plan

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHookMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"unknown", withTop("hooks: {restrat: {exec: [x]}}"), "p:3:9: unknown field \"restrat\"; did you mean \"restart\"? (known: expire, restart, crash, break, heal, hold, release, reset)\n3 | hooks: {restrat: {exec: [x]}}\n  |         ^~~~~~~"},
		{"nothing", withTop("hooks: {restart: {ready: GET /health}}"), "p:3:18: expected a way to run the hook: exec, http or sql"},
		{"two ways", withTop("hooks: {restart: {exec: [x], http: POST /r}}"), "p:3:30: expected one way to run the hook, found both exec and http"},
		{"then without exec", withTop("hooks: {crash: {http: POST /c, then: [x]}}"), "p:3:38: then belongs to a hook with `exec`: remove it"},
		{"then as text", withTop("hooks: {crash: {exec: [x], then: y}}"), "p:3:34: expected a list of program and arguments, found \"y\""},
		{"then of nothing", withTop("hooks: {crash: {exec: [x], then: []}}"), "p:3:34: expected a program and its arguments, found an empty list"},
		{"key of no key", withTop("hooks: {reset: {http: \"POST /reset?key={{key}}\"}}"), "p:3:40: expected no placeholder here, found {{key}}: this belongs to no key or round, write the value itself\n3 | hooks: {reset: {http: \"POST /reset?key={{key}}\"}}\n  |                                        ^~~~~~~"},
		{"misspelt key", withTop("hooks: {expire: {exec: [x, \"{{kye}}\"]}}"), "p:3:29: unknown placeholder \"kye\"; did you mean \"key\"?"},
		{"ready by POST", withTop("hooks: {crash: {exec: [x], ready: POST /h}}"), "p:3:35: expected GET for ready, found POST: it is repeated until it answers 2xx"},
		{"no request", withTop("hooks: {reset: {http: /reset}}"), "p:3:23: expected a method and a path such as POST /orders, found \"/reset\""},
		{"host", withTop("hooks: {reset: {http: POST http://other.example/reset}}"), "p:3:28: host other.example is not allowed"},
		{"host of ready", withTop("hooks: {crash: {exec: [x], ready: GET http://other.example/h}}"), "p:3:39: host other.example is not allowed"},
		{"hold for ever", withTop("hooks: {hold: {exec: [x]}}"), "p:3:9: hook hold needs hook release, which takes it back: add it\n3 | hooks: {hold: {exec: [x]}}\n  |         ^~~~"},
		{"release of nothing", withTop("hooks: {release: {exec: [x]}}"), "p:3:9: hook release takes hook hold back, which is missing"},
		{"broken for ever", withTop("hooks: {break: {exec: [x]}}"), "p:3:9: hook break needs hook heal"},
		{"heal of nothing", withTop("hooks: {heal: {exec: [x]}}"), "p:3:9: hook heal takes hook break back, which is missing"},
		{"no target", "version: 1\nhooks: {reset: {http: POST /reset}}\nendpoints: [{name: a, request: POST http://localhost/}]", "p:2:28: request POST /reset needs a target"},
		{"limit of ready", withTop("limits: {ready: 5}"), "p:3:17: expected a duration with a unit, found \"5\""},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestHooks(t *testing.T) {
	p := mustParse(t, withTop(`hooks:
  expire: {http: "POST /_/expire?key={{key}}"}
  restart: {exec: [docker, restart, api], ready: GET /health}
  crash: {exec: [docker, kill, api], then: [docker, start, api], ready: GET http://localhost:2/health}
  break: {http: POST http://127.0.0.1:2/break}
  heal: {http: POST /heal}
  hold: {http: POST /hold}
  release: {http: POST /release}
  reset: {http: DELETE /all}
limits: {ready: 5s}`))
	if len(p.Hooks) != len(hookNames) || p.Limits.Ready != 5*time.Second {
		t.Fatalf("hooks %v, limits %+v", p.Hooks, p.Limits)
	}
	if got := p.Hooks["expire"].HTTP.URL(p.Target, values{"key": "a b"}); got != "http://127.0.0.1:1/_/expire?key=a+b" {
		t.Errorf("expire %s", got)
	}
	if got := p.Hooks["break"].HTTP.URL(p.Target, values{}); got != "http://127.0.0.1:2/break" {
		t.Errorf("break %s", got)
	}
	crash := p.Hooks["crash"]
	if len(crash.Exec) != 3 || len(crash.Then) != 3 || crash.HTTP != nil || crash.Ready.String() != "GET http://localhost:2/health" {
		t.Errorf("crash %+v", crash)
	}
	if reset := p.Hooks["reset"]; reset.Exec != nil || reset.Then != nil || reset.Ready != nil || reset.HTTP.Method != "DELETE" {
		t.Errorf("reset %+v", reset)
	}
}

func TestReplicas(t *testing.T) {
	for _, c := range []mistake{
		{"no URL", withTop("replicas: [localhost:1]"), "p:3:12: expected a base URL such as http://127.0.0.1:8080 as replica\n3 | replicas: [localhost:1]\n  |            ^~~~~~~~~~~"},
		{"none", withTop("replicas: []"), "p:3:11: expected base URLs of instances such as [http://127.0.0.1:8081], found an empty list"},
		{"empty", withTop("replicas: [\"\"]"), "p:3:13: expected a base URL such as http://127.0.0.1:8080 as replica"},
		{"as text", withTop("replicas: http://localhost:1"), "p:3:11: expected a list, found the text"},
		{"host", withTop("replicas: [\"http://localhost:1\", \"http://10.0.0.1\"]"), "p:3:35: host 10.0.0.1 is not allowed"},
		{"with query", withTop("replicas: [\"http://localhost:1/?a\"]"), "p:3:13: expected a replica without ? and #: put the query into the requests"},
		{"with password", withTop("replicas: [\"http://u:p@localhost\"]"), "p:3:13: expected a replica without user and password"},
		{"twice", withTop("replicas: [\"http://localhost:1\", \"http://localhost:1/\"]"), "p:3:35: duplicate replica \"http://localhost:1/\": remove one"},
	} {
		t.Run(c.reason, c.test)
	}
	vars := map[string]string{"ONE": "http://127.0.0.1:8081", "TWO": "http://10.0.0.1:8082/api/"}
	text := withTop("replicas: [\"${ONE}\", \"${TWO}\"]", "allow_hosts: [10.0.0.1]", "counters: {c: {exec: [x, \"${ONE}/count\"]}}")
	p, err := Parse("p", []byte(text), func(n string) (string, bool) { v, ok := vars[n]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Replicas, " "); got != "http://127.0.0.1:8081 http://10.0.0.1:8082/api" {
		t.Errorf("replicas %s", got)
	}
	if len(p.Secrets) > 0 || slices.Contains(p.Secrets, vars["ONE"]) {
		t.Errorf("addresses are secrets: %q", p.Secrets)
	}
}

func TestStateMistakes(t *testing.T) {
	state := func(s string) string { return withTop("states: {s: " + s + "}") }
	for _, c := range []mistake{
		{"no request", state("{value: $.a}"), "p:3:13: expected a way to read the state: http or sql"},
		{"by POST", state("{http: POST /s}"), "p:3:20: expected GET for a state, found POST: reading must change nothing"},
		{"two places", state("{http: GET /s, value: $.a, header: ETag}"), "p:3:40: expected one place of the state, found both value and header"},
		{"JSONPath", state("{http: GET /s, value: a}"), "p:3:35: expected a JSONPath such as $.count, found unexpected identifier"},
		{"header", state("{http: GET /s, header: E Tag}"), "p:3:36: expected the name of a header, found \"E Tag\""},
		{"by a command", state("{exec: [x], http: GET /s}"), "p:3:14: unknown field \"exec\""},
		{"caller", "version: 1\ntarget: http://127.0.0.1:1\ncallers: {alice: {headers: {A: b}}}\nstates: {s: {http: GET /s, caller: alcie}}\nendpoints: [{name: a, request: POST /}]", "p:4:36: unknown caller \"alcie\"; did you mean \"alice\"?"},
		{"host", state("{http: GET http://other.example/s}"), "p:3:24: host other.example is not allowed"},
		{"name", withTop("states: {\"a b\": {http: GET /s}}"), "p:3:11: expected a name of letters, digits, _ and -, found \"a b\""},
		{"unknown", head + "states: {wallet: {http: GET /s}}\nendpoints: [{name: a, request: POST /, states: [walet]}]", "p:4:49: unknown state \"walet\"; did you mean \"wallet\"? (declare it under `states`)\n4 | ...s: [{name: a, request: POST /, states: [walet]}]\n  |                                            ^~~~~"},
		{"twice", head + "states: {s: {http: GET /s}}\nendpoints: [{name: a, request: POST /, states: [s, s]}]", "p:4:52: duplicate state \"s\": remove one"},
		{"capture of another endpoint", head + "states: {s: {http: \"GET /c/{{cart}}\"}}\nendpoints:\n  - {name: a, request: POST /, setup: [{request: POST /c, capture: {cart: $.id}}], states: [s]}\n  - {name: b, request: POST /, states: [s]}\n", "p:6:41: state \"s\" uses {{cart}}, which this endpoint does not capture: capture it in `setup`"},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestStates(t *testing.T) {
	p := mustParse(t, head+`callers: {alice: {headers: {A: b}}}
states:
  balance: {http: "GET /wallets/{{wallet}}", value: $.balance, caller: alice, headers: {X-Id: "{{send.uuid}}"}}
  version: {http: GET /version, header: ETag}
  all: {http: GET /all}
endpoints: [{name: a, request: PATCH /, setup: [{request: POST /w, capture: {wallet: $.id}}], states: [version, balance]}]`)
	s := p.States["balance"]
	if s.Name != "balance" || s.Value != "$.balance" || s.Header != "" || s.Caller != "alice" || len(s.Headers) != 1 || s.Request.String() != "GET /wallets/{{wallet}}" {
		t.Errorf("balance %+v", s)
	}
	if s := p.States["version"]; s.Value != "" || s.Header != "ETag" {
		t.Errorf("version %+v", s)
	}
	if s := p.States["all"]; s.Value != "" || s.Header != "" {
		t.Errorf("all %+v", s)
	}
	if got := p.Endpoints[0]; got.Kind != "method" || !slices.Equal(got.States, []string{"version", "balance"}) {
		t.Errorf("endpoint %+v", got)
	}
}

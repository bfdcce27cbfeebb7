package plan

import (
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	p := mustParse(t, `version: 1
target: http://127.0.0.1:8080/api
replicas: [http://127.0.0.1:8081, http://127.0.0.1:8082]
callers: {a: {login: {request: POST https://localhost:1/login, capture: {t: $.t}}, headers: {A: "{{t}}"}}}
counters: {c: {http: "GET https://localhost:2/count?r={{marker}}", value: $.n}}
states: {s: {http: GET https://localhost:3/, value: $.n}, own: {http: GET /s}}
hooks: {expire: {http: POST https://localhost:4/, ready: GET https://localhost:5/ready}}
endpoints:
  - {name: a, request: POST /, counters: [c], states: [s, own], setup: [{request: POST https://localhost:6/}], body: {r: "{{marker}}"},
     cleanup: {request: "DELETE https://localhost:7/{{id}}", capture: {id: $.id}}}
  - {name: b, request: POST https://localhost:6/other}`)
	got := strings.Join(p.Origins(), " ")
	if want := "http://127.0.0.1:8080 http://127.0.0.1:8081 http://127.0.0.1:8082 https://localhost:1 https://localhost:2 " +
		"https://localhost:3 https://localhost:4 https://localhost:5 https://localhost:6 https://localhost:7"; got != want {
		t.Errorf("origins %s\nwant    %s", got, want)
	}
}

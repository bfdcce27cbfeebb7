package plan

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// withTop is a plan of one endpoint with more fields at the top.
func withTop(lines ...string) string {
	return head + strings.Join(lines, "\n") + "\nendpoints: [{name: a, request: POST /}]"
}

func TestCallerMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"nothing", withTop("callers: {a: {}}"), "p:3:14: expected headers, exec, login, cert or sign that identify the caller, found none of them\n3 | callers: {a: {}}\n  |              ^"},
		{"misspelt", withTop("callers: {a: {headers: {A: b}, excec: [x]}}"), "p:3:32: unknown field \"excec\"; did you mean \"exec\"? (known: headers, exec, login, refresh, cert, key, sign, vars)"},
		{"two sources", withTop("callers: {a: {exec: [x], login: {request: POST /l, capture: {}}}}"), "p:3:26: expected one source of credentials, found both exec and login"},
		{"refresh of headers", withTop("callers: {a: {headers: {A: b}, refresh: 10m}}"), "p:3:41: refresh belongs to a caller with `exec` or `login`, headers stay the same: remove it\n3 | callers: {a: {headers: {A: b}, refresh: 10m}}\n  |                                         ^~~"},
		{"refresh without unit", withTop("callers: {a: {exec: [x], refresh: 10}}"), "p:3:35: expected a duration with a unit, found \"10\""},
		{"exec as text", withTop("callers: {a: {exec: ./token}}"), "p:3:21: expected a list of program and arguments, found \"./token\""},
		{"exec with a placeholder", withTop("callers: {a: {exec: [x, \"{{key}}\"]}}"), "p:3:26: expected no placeholder here, found {{key}}: this belongs to no key or round, write the value itself"},
		{"login without request", withTop("callers: {a: {login: {capture: {t: $.t}}, headers: {A: \"{{t}}\"}}}"), "p:3:22: missing field \"request\""},
		{"login that yields nothing", withTop("callers: {a: {login: {request: POST /l}}}"), "p:3:22: missing field \"capture\""},
		{"login that captures nothing", withTop("callers: {a: {login: {request: POST /l, capture: {}}}}"), "p:3:50: expected what the log-in yields, such as {token: $.token}, found nothing"},
		{"capture of nobody", withTop("callers: {a: {login: {request: POST /l, capture: {t: $.t}}, headers: {A: \"{{t}} {{tok}}\"}}}"), "p:3:81: unknown placeholder \"tok\" (known: marker, key, uuid, email, now, t, send.uuid, send.now)"},
		{"capture that nobody uses", withTop("callers: {a: {login: {request: POST /l, capture: {t: $.t}}}}"), "p:3:51: login captures \"t\", which no header of the caller uses: add it, such as `headers: {Authorization: \"Bearer {{t}}\"}`"},
		{"login with a marker", withTop("callers: {a: {login: {request: POST /l, body: {u: \"{{marker}}\"}, capture: {t: $.t}}, headers: {A: \"{{t}}\"}}}"), "p:3:52: expected no placeholder here, found {{marker}}"},
		{"login with a body for GET", withTop("callers: {a: {login: {request: GET /l, body: {}, capture: {t: $.t}}, headers: {A: \"{{t}}\"}}}"), "p:3:36: a GET request has no body"},
		{"host of a login", withTop("callers: {a: {login: {request: POST http://other.example/l, capture: {t: $.t}}, headers: {A: \"{{t}}\"}}}"), "p:3:37: host other.example is not allowed"},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestCallers(t *testing.T) {
	p := mustParse(t, withTop(`callers:
  alice:
    login: {request: POST /login, body: {user: alice}, capture: {token: $.token, cookie: header Set-Cookie}}
    headers: {Authorization: "Bearer {{token}}", Cookie: "{{cookie}}"}
    refresh: 10m
  bob: {exec: [./token, bob], headers: {X-Tenant: two}}
  carol: {headers: {Authorization: Bearer carol}}`))
	var names []string
	for _, c := range p.Callers {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"alice", "bob", "carol"}) {
		t.Fatalf("callers %v", names)
	}
	alice, bob, carol := p.Callers[0], p.Callers[1], p.Callers[2]
	if !alice.Renewable() || !bob.Renewable() || carol.Renewable() || alice.Refresh != 10*time.Minute || bob.Refresh != 0 {
		t.Errorf("callers %+v", p.Callers)
	}
	body, err := alice.Login.Body.Render(values{})
	if string(body) != `{"user":"alice"}` || err != nil || alice.Login.Headers[0].Value.String() != "application/json" || alice.Login.Capture["token"] != "$.token" {
		t.Errorf("login %s, %v, %+v", body, err, alice.Login)
	}
	if got, err := alice.Headers[0].Render(values{"token": "alice.1"}); got != "Bearer alice.1" || err != nil {
		t.Errorf("header %q, %v", got, err)
	}
	if len(bob.Exec) != 2 || bob.Exec[1].String() != "bob" {
		t.Errorf("exec %v", bob.Exec)
	}
}

func TestSecretsOfLogins(t *testing.T) {
	p := mustParse(t, withTop(`callers:
  alice:
    login: {request: POST /login, headers: {X-Api-Key: key-of-app}, body: {user: alice-smith, auth: {clientSecret: hunter-22}}, capture: {t: $.t}}
    headers: {A: "{{t}}"}
states: {s: {http: GET /s, headers: {Authorization: Bearer reader-1}}}`))
	for _, want := range []string{"hunter-22", "key-of-app", "reader-1"} {
		if !slices.Contains(p.Secrets, want) {
			t.Errorf("%q is no secret: %q", want, p.Secrets)
		}
	}
	if slices.Contains(p.Secrets, "alice-smith") {
		t.Error("the user's name is a secret")
	}
}

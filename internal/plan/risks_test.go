package plan

import (
	"strings"
	"testing"

	"retrysafe/internal/strict"
)

// sound is an endpoint of which nothing is to be said.
const sound = "counters: {c: {http: \"GET /c?m={{marker}}\", value: $.n}}\nendpoints:\n  - {name: a, request: POST /a, key: {header: K}, body: {r: \"{{marker}}\"}, counters: [c]}\n"

func TestRisks(t *testing.T) {
	allowed := func(host string) string {
		return "version: 1\ntarget: https://" + host + "\nallow_hosts: [" + host + "]\n" + sound
	}
	for _, c := range []struct {
		reason, text string
		want         []string
	}{
		{"none", head + sound, nil},
		{"none without a key", head + "states: {s: {http: GET /s}}\nendpoints: [{name: a, request: PUT /a, states: [s]}]", nil},
		{"no counter", endpoint("body: {r: \"{{marker}}\"}"), []string{"p:5:19: no counter sees the effects of this endpoint: a duplicate shows only"}},
		{"no counter and no marker", endpoint("body: {r: 1}"), []string{"p:5:19: no counter sees the effects of this endpoint, and none could tell them"}},
		{"no state", head + "endpoints: [{name: a, request: PUT /a}]", []string{"p:3:36: no counter and no state sees what this endpoint does"}},
		{"no marker, and a counter of all", head + "counters: {c: {http: GET /c, value: $.n}}\nendpoints: [{name: a, request: POST /a, counters: [c]}]",
			[]string{"p:3:12: this counter counts for everybody", "p:4:37: no request of this endpoint carries {{marker}}"}},
		{"a counter by a capture", head + "counters: {c: {http: \"GET /c/{{cart}}\", value: $.n}}\nendpoints: [{name: a, request: POST /a, setup: [{request: POST /c, capture: {cart: $.id}}], counters: [c]}]", nil},
		{"long lifetime", strings.Replace(head+sound, "counters: [c]", "counters: [c], key_lifetime: 24h", 1), []string{"p:5:105: a key_lifetime of 24h0m0s cannot be waited for (limits.wait is 1m0s), and no hook `expire`"}},
		{"long lifetime of all, told once", head + "defaults: {key_lifetime: 24h}\n" + sound + "  - {name: b, request: POST /a, body: {r: \"{{marker}}\"}, counters: [c]}\n", []string{"p:3:26: a key_lifetime"}},
		{"long lifetime with a hook", strings.Replace(head+"hooks: {expire: {http: POST /e}}\n"+sound, "counters: [c]", "counters: [c], key_lifetime: 24h", 1), nil},
		{"lifetime that can be waited for", strings.Replace(head+sound, "counters: [c]", "counters: [c], key_lifetime: 50s", 1), nil},
		{"live by name", allowed("api.prod.example.com"), []string{"p:2:9: host api.prod.example.com may be a live system (\"prod\" in its name): requests of a run create real things there"}},
		{"www", allowed("www.shop.dev"), []string{"p:2:9: host www.shop.dev may be a live system (\"www\" in its name)"}},
		{"nothing says otherwise", allowed("api.shop.com"), []string{"p:2:9: host api.shop.com may be a live system (nothing in its name says test, staging, dev or the like)"}},
		{"staging", allowed("api-staging2.shop.com"), nil},
		{"a network of containers", allowed("api"), nil},
		{"an address", allowed("10.0.0.7"), nil},
		{"allowed and unused", head + "allow_hosts: [other.test]\n" + sound, []string{"p:3:15: nothing in the plan is sent to \"other.test\": remove it from `allow_hosts`"}},
		{"allowed for a set-up", head + "allow_hosts: [other.test]\n" + strings.Replace(sound, "body:", "setup: [{request: POST http://other.test/x}], body:", 1), nil},
		{"allowed for a database", head + "allow_hosts: [db.test]\n" + strings.Replace(sound, "http: \"GET /c?m={{marker}}\", value: $.n", "sql: {dsn: \"postgres://u@db.test/x\", query: \"select count(*) from c where m = {{marker}}\"}", 1), nil},
		{"allowed for where answers lead to", head + "allow_hosts: [other.test]\n" + strings.Replace(sound, "body:", "await: {follow: Location, until: {$.s: done}}, body:", 1), nil},
		{"credential", head + "callers: {a: {headers: {Authorization: Bearer 4f2a1c9d}}}\n" + sound, []string{"p:3:40: a credential stands in the plan: write ${VARIABLE}"}},
		{"credential of an endpoint", head + strings.Replace(sound, "body:", "headers: {x-api-key: 4f2a1c9d}, body:", 1), []string{"p:5:72: a credential stands in the plan"}},
		{"password of a log-in", head + "callers: {a: {login: {request: POST /l, body: {user: alice, password: hunter22}, capture: {t: $.t}}, headers: {A: \"{{t}}\"}}}\n" + sound, []string{"p:3:71: a credential stands in the plan"}},
		{"password of a database", head + strings.Replace(sound, "http: \"GET /c?m={{marker}}\", value: $.n", "sql: {dsn: \"postgres://u:hunter22@localhost/x\", query: \"select count(*) from c where m = {{marker}}\"}", 1), []string{"p:3:28: a credential stands in the plan"}},
		{"secret of a webhook", head + strings.Replace(sound, "key: {header: K}", "webhook: {scheme: github, secret: hunter22}", 1), []string{"p:5:67: a credential stands in the plan"}},
		{"credential from the environment", head + "callers: {a: {headers: {Authorization: \"Bearer ${TOKEN}\"}}}\n" + sound, nil},
		{"what is no credential", head + "callers: {a: {headers: {X-User: somebody-else}}, b: {headers: {Authorization: Bearer bob}}}\n" + sound, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p, err := Parse("p", []byte(c.text), func(string) (string, bool) { return "from-the-environment", true })
			if err != nil {
				t.Fatal(pretty(err))
			}
			if len(p.Risks) != len(c.want) {
				t.Fatalf("got\n%s\nwant %q", p.Risks.Pretty(), c.want)
			}
			for i, want := range c.want {
				if got := p.Risks[i].Error(); !strings.HasPrefix(got, want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			}
			if shown := p.Risks.Pretty(); strings.Contains(shown, "hunter22") || strings.Contains(shown, "4f2a1c9d") {
				t.Errorf("a secret is shown:\n%s", shown)
			}
		})
	}
}

func TestRisksOfIncludedFiles(t *testing.T) {
	files := memory{"plans/shop.yaml": head + "include: [\"*-part.yaml\"]\n" + sound,
		"plans/b-part.yaml": "counters: {d: {http: GET /d, value: $.n}}\nallow_hosts: [x.test]\n", "plans/a-part.yaml": "endpoints: [{name: b, request: POST /b, counters: [d], body: {r: \"{{marker}}\"}}]\n"}
	p, err := files.parse(noEnv)
	if err != nil {
		t.Fatal(pretty(err))
	}
	if len(p.Risks) != 2 || p.Risks[0].Pos != (strict.Pos{File: "plans/b-part.yaml", Line: 1, Col: 12}) || p.Risks[1].Pos.Line != 2 || len(p.Warnings) > 0 {
		t.Errorf("%s\n%s", p.Risks.Pretty(), p.Warnings.Pretty())
	}
}

func TestNoHost(t *testing.T) {
	for _, c := range []mistake{
		{"target", "version: 1\ntarget: http://:80\nendpoints: [{name: a, request: POST /}]", "p:2:9: expected a base URL such as http://127.0.0.1:8080 as target"},
		{"request", endpoint("setup: [{request: POST http://:80/x}]"), "p:6:28: expected a host, found none before the port in :80"},
	} {
		t.Run(c.reason, c.test)
	}
}

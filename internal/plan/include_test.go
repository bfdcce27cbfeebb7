package plan

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// memory holds files by their paths.
type memory map[string]string

func (m memory) Read(path string, most int64) ([]byte, error) {
	text, ok := m[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if int64(len(text)) > most {
		return nil, errOtherFile
	}
	return []byte(text), nil
}

func (m memory) Glob(pattern string) ([]string, error) {
	var found []string
	for name := range m {
		if ok, err := path.Match(pattern, name); err != nil {
			return nil, err
		} else if ok {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found, nil
}

func (m memory) parse(env func(string) (string, bool)) (*Plan, error) {
	return ParseFrom(m, "plans/shop.yaml", []byte(m["plans/shop.yaml"]), env, Overrides{})
}

const shopIncludes = head + "include: [\"../common.yaml\", teams/*.yaml]\n"

func TestInclude(t *testing.T) {
	files := memory{
		"plans/shop.yaml": shopIncludes + "defaults: {key: {header: K}}\ncounters: {orders: {http: \"GET /o?m={{marker}}\", value: $.n}}\n",
		"common.yaml": "callers: {alice: {headers: {A: a}}, bob: {headers: {A: b}}}\nlimits: {count: 2s}\nsecrets: [hidden-value]\n" +
			"hooks: {expire: {exec: [./expire, \"{{key}}\"]}}\ninclude: [more.yaml]\n",
		"more.yaml":             "defaults: {owner: nobody, settle: 1s}\nsecrets: [\"${HIDDEN}\"]\ncounters: {carts: {exec: [./carts, \"{{marker}}\"]}}\n",
		"plans/teams/a.yaml":    "include: [\"../../common.yaml\"]\ndefaults: {owner: ordering, tags: [money]}\nendpoints:\n  - {name: order, request: POST /o, body: {r: \"{{marker}}\"}, counters: [orders]}\n  - {name: paid, request: POST /p, owner: paying, settle: 2s}\n",
		"plans/teams/b.yaml":    "version: 1\nendpoints:\n  - {name: cart, request: POST /c, file: cart.json, body_: 1}\n",
		"plans/teams/cart.json": "{}",
	}
	files["plans/teams/b.yaml"] = strings.Replace(files["plans/teams/b.yaml"], ", body_: 1", "", 1)
	p, err := files.parse(func(name string) (string, bool) { return "from-the-environment", name == "HIDDEN" })
	if err != nil {
		t.Fatal(pretty(err))
	}
	if want := []string{"common.yaml", "more.yaml", "plans/teams/a.yaml", "plans/teams/b.yaml"}; !slices.Equal(p.Included, want) {
		t.Errorf("included %q", p.Included)
	}
	var told []string
	for _, e := range p.Endpoints {
		told = append(told, strings.Join([]string{e.Name, e.Pos.String(), e.Owner, e.Settle.String(), strings.Join(e.Tags, "+"), e.Key.Name}, " "))
	}
	want := []string{
		"order plans/teams/a.yaml:4:5 ordering 1s money K",
		"paid plans/teams/a.yaml:5:5 paying 2s money K",
		"cart plans/teams/b.yaml:3:5 nobody 1s  K",
	}
	if !slices.Equal(told, want) {
		t.Errorf("endpoints\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if p.Callers[0].Name != "alice" || p.Limits.Count != 2*time.Second || p.Counters["carts"].Pos.File != "more.yaml" || p.Hooks["expire"].Pos.File != "common.yaml" {
		t.Errorf("%+v %+v %+v", p.Callers, p.Limits, p.Counters)
	}
	if body, err := p.Endpoints[2].Body.Render(byName{}); err != nil || string(body) != "{}" {
		t.Errorf("%q %v", body, err)
	}
	for _, secret := range []string{"hidden-value", "from-the-environment"} {
		if !slices.Contains(p.Secrets, secret) {
			t.Errorf("%s is no secret", secret)
		}
	}
	changed := memory{}
	for name, text := range files {
		changed[name] = text
	}
	changed["more.yaml"] += "# changed\n"
	if q, err := changed.parse(func(string) (string, bool) { return "from-the-environment", true }); err != nil || q.Digest == p.Digest {
		t.Errorf("the digest stays the same when an included file changes: %v", err)
	}
}

func TestIncludeMistakes(t *testing.T) {
	const one = "endpoints: [{name: a, request: POST /a}]\n"
	for _, c := range []struct {
		reason string
		files  memory
		want   []string
	}{
		{"nothing there", memory{"plans/shop.yaml": head + one + "include: [x/*.yaml]\n"},
			[]string{"plans/shop.yaml:4:11: no file matches \"x/*.yaml\": paths start at the folder of the file that includes them"}},
		{"any depth", memory{"plans/shop.yaml": head + one + "include: [\"**/x.yaml\"]\n"},
			[]string{"plans/shop.yaml:4:12: expected * for the names in one folder, found ** in \"**/x.yaml\": name each folder"}},
		{"no list", memory{"plans/shop.yaml": head + one + "include: x.yaml\n"},
			[]string{"plans/shop.yaml:4:10: expected a list, found the text \"x.yaml\": write [x.yaml]"}},
		{"itself", memory{"plans/shop.yaml": head + one + "include: [\"*.yaml\"]\n"},
			[]string{"plans/shop.yaml:4:12: files include each other in a circle: plans/shop.yaml includes plans/shop.yaml"}},
		{"a circle", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "include: [b.yaml]\n", "plans/b.yaml": "include: [a.yaml]\n"},
			[]string{"plans/b.yaml:1:11: files include each other in a circle: plans/a.yaml includes plans/b.yaml includes plans/a.yaml"}},
		{"a mistake in it", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "# a\nendpoints:\n  - {name: b, request: post /b}\n"},
			[]string{"plans/a.yaml:3:24: expected a method in capital letters such as POST, found \"post\""}},
		{"no YAML", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "a: ]\n"},
			[]string{"plans/a.yaml:1:4: invalid YAML"}},
		{"empty", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": ""},
			[]string{"plans/a.yaml:1:1: the file is empty"}},
		{"no mapping", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "[1]\n"},
			[]string{"plans/a.yaml:1:1: expected a mapping, found a list"}},
		{"other version", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "version: 2\n"},
			[]string{"plans/a.yaml:1:10: expected version 1, the only one that there is, found the number 2"}},
		{"unknown field", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "conters: {}\n"},
			[]string{"plans/a.yaml:1:1: unknown field \"conters\"; did you mean \"counters\"?"}},
		{"another kind", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\nhooks: {}\n", "plans/a.yaml": "hooks: []\n"},
			[]string{"plans/a.yaml:1:8: expected a mapping, found a list"}},
		{"target twice", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "target: http://127.0.0.1:2\n"},
			[]string{"plans/a.yaml:1:1: duplicate field \"target\", the first one is at plans/shop.yaml:2:1: remove one"}},
		{"names twice", memory{"plans/shop.yaml": head + one + "include: [a.yaml, b.yaml]\n",
			"plans/a.yaml": "callers: {x: {headers: {A: a}}}\nlimits: {wait: 1s}\ndefaults: {owner: a}\n", "plans/b.yaml": "callers: {x: {headers: {A: b}}}\nlimits: {wait: 2s}\ndefaults: {owner: b}\n"},
			[]string{"plans/b.yaml:1:11: duplicate field \"x\", the first one is at plans/a.yaml:1:11: remove one",
				"plans/b.yaml:2:10: duplicate field \"wait\", the first one is at plans/a.yaml:2:10: remove one",
				"plans/b.yaml:3:12: duplicate field \"owner\", the first one is at plans/a.yaml:3:12: remove one"}},
		{"endpoint twice", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": one},
			[]string{"plans/a.yaml:1:20: duplicate endpoint \"a\", the first one is at plans/shop.yaml:3:20: give it another name"}},
		{"no endpoints", memory{"plans/shop.yaml": head + "include: [a.yaml]\n", "plans/a.yaml": "limits: {}\n"},
			[]string{"plans/shop.yaml:1:1: missing field \"endpoints\""}},
		{"a default that nobody takes", memory{"plans/shop.yaml": head + one + "include: [a.yaml]\n", "plans/a.yaml": "defaults: {settle: 5, body: {}}\nendpoints: [{name: b, request: POST /b, settle: 5s}]\n"},
			[]string{"plans/a.yaml:1:20: expected a duration with a unit, found \"5\"", "plans/a.yaml:1:23: unknown field \"body\""}},
		{"in the order of the files", memory{"plans/shop.yaml": head + "include: [b.yaml, a.yaml]\nendpoints: [{name: a, request: x}]\n",
			"plans/a.yaml": "endpoints: [{name: c, request: x}]\n", "plans/b.yaml": "\nendpoints: [{name: b, request: x}]\n"},
			[]string{"plans/shop.yaml:4:32: expected a method", "plans/b.yaml:2:32: expected a method", "plans/a.yaml:1:32: expected a method"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := c.files.parse(noEnv)
			var found strict.Errors
			errors.As(err, &found)
			if len(found) != len(c.want) {
				t.Fatalf("got\n%s", pretty(err))
			}
			for i, want := range c.want {
				if !strings.HasPrefix(found[i].Error(), want) || found[i].Source == "" && !strings.Contains(want, "empty") {
					t.Errorf("got\n%s\nwant\n%s", found[i].Pretty(), want)
				}
			}
		})
	}
}

// TestIncludeEnds: links that lead in a circle give ever new paths, and files that are too deep or too many are refused.
func TestIncludeEnds(t *testing.T) {
	deep := memory{"plans/shop.yaml": head + "include: [x/a.yaml]\nendpoints: [{name: a, request: POST /a}]\n"}
	for i, dir := 0, "plans/x"; i < 2*deepestFile; i, dir = i+1, dir+"/x" {
		deep[dir+"/a.yaml"] = "include: [x/a.yaml]\n"
	}
	if _, err := deep.parse(noEnv); !strings.Contains(pretty(err), "10 deep at most") {
		t.Error(pretty(err))
	}
}

func TestSharedDefaults(t *testing.T) {
	p := mustParse(t, head+`callers: {alice: {headers: {A: a}}}
defaults:
  headers: {X-A: "1", X-B: "1"}
  key: {header: K}
  required: true
  key_lifetime: 3s
  statuses: {mismatch: [422], in_progress: [409]}
  stores: {4xx: yes}
  ignore: {json: [$.a], headers: [Date-Of]}
  skip: {retry-storm: too slow, key-case: not ours}
  require: [same-key-again, same-key-concurrent]
  fail_on: minor
  tags: [money]
  owner: payments
endpoints:
  - {name: takes, request: POST /a}
  - name: says
    request: POST /b
    headers: {x-b: "2"}
    key: {header: L}
    required: false
    statuses: {mismatch: [409]}
    ignore: {json: [$.b]}
    skip: {same-key-again: not here}
    require: [key-case]
    fail_on: never
    tags: []
    owner: orders
  - {name: skips, request: POST /d, skip: {same-key-again: not here}}
  - {name: no key, request: PUT /c, key: none}
`)
	takes, says, skips, none := p.Endpoints[0], p.Endpoints[1], p.Endpoints[2], p.Endpoints[3]
	if takes.Key.Name != "K" || !takes.Required || takes.KeyLifetime != 3*time.Second || takes.Statuses.InProgress[0] != 409 || takes.Stores4xx != "yes" ||
		takes.FailOn != trace.Minor || takes.Owner != "payments" || !slices.Equal(takes.Tags, []string{"money"}) || len(takes.Skip) != 2 || len(takes.Require) != 2 || len(takes.Headers) != 2 {
		t.Errorf("%+v", takes)
	}
	if says.Key.Name != "L" || says.Required || !says.RequiredSet || says.Statuses.Mismatch[0] != 409 || says.Statuses.InProgress[0] != 409 || says.Stores4xx != "yes" ||
		!slices.Equal(says.IgnoreJSON, []string{`$["b"]`}) && !slices.Equal(says.IgnoreJSON, []string{"$.b"}) || !slices.Equal(says.IgnoreHeaders, []string{"Date-Of"}) ||
		says.FailOn != trace.Never || says.Owner != "orders" || len(says.Tags) != 0 {
		t.Errorf("%+v", says)
	}
	if says.Skip["retry-storm"] == "" || says.Skip["same-key-again"] == "" || says.Skip["key-case"] != "" || !slices.Equal(says.Require, []string{"key-case"}) {
		t.Errorf("skip %v, require %v", says.Skip, says.Require)
	}
	if !slices.Equal(skips.Require, []string{"same-key-concurrent"}) {
		t.Errorf("require %v beside skip %v", skips.Require, skips.Skip)
	}
	if none.RequiredSet || none.Key.In != "" {
		t.Errorf("%+v", none)
	}
}

func TestRequirePatterns(t *testing.T) {
	p := mustParse(t, endpoint(`require: ["same-*", "no-such-*", al]`, "skip: {same-key-again: not here}"))
	err := p.CheckScenarios([]string{"same-key-again", "same-key-concurrent", "all"})
	if got := pretty(err); !strings.HasPrefix(got, "plan.yaml:6:26: no scenario matches \"no-such-*\"") || !strings.Contains(got, "unknown scenario \"al\"; did you mean \"all\"?") || strings.Count(got, "plan.yaml:") != 2 {
		t.Error(got)
	}
	for _, c := range []mistake{
		{"no pattern", endpoint(`require: ["[a"]`), "p:6:16: expected a scenario or a pattern such as same-key-*, found \"[a\""},
		{"both", endpoint("require: [key-case]", "skip: {key-case: x}"), "p:6:15: scenario \"key-case\" is both skipped and required: remove one"},
		{"fail_on", endpoint("fail_on: none"), "p:6:14: expected critical, major, minor or never, found \"none\""},
		{"owner", endpoint("owner: \"\""), "p:6:12: expected an owner in one line, such as payments or @org/payments, found \"\""},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestVars(t *testing.T) {
	p := mustParse(t, head+`callers:
  alice: {vars: {tenant: t1, region: 7}, headers: {X-Tenant: "{{tenant}}"}}
  bob: {vars: {tenant: "t 2"}, login: {request: "POST /{{tenant}}/login", capture: {token: $.t}}, headers: {A: "{{token}}"}}
  admin: {headers: {A: admin}}
counters:
  orders: {http: "GET /{{tenant}}/orders", value: $.n, caller: admin}
endpoints:
  - name: a
    request: POST /{{tenant}}/orders
    setup: [{request: "POST /{{tenant}}/carts", capture: {cart: $.id}}]
    headers: {X-T: "{{tenant}}"}
    body: {t: "{{tenant}}", c: "{{cart}}"}
    counters: [orders]
    cleanup: {request: "DELETE /{{tenant}}/orders/{{id}}", capture: {id: $.id}}
`)
	if p.Counters["orders"].Marked {
		t.Error("a counter of a tenant is nobody's own")
	}
	for other, want := range map[bool]string{false: "t1", true: "t 2"} {
		if got := p.VarsOf(other)["tenant"]; got != want {
			t.Errorf("tenant %q, want %q", got, want)
		}
	}
	if got := p.Endpoints[0].Request.URL("", values(p.VarsOf(true))); got != "/t%202/orders" {
		t.Error(got)
	}
	two := "callers: {a: {vars: {t: x}}, b: {headers: {A: b}}}"
	for _, c := range []mistake{
		{"missing", head + two + "\nendpoints: [{name: a, request: \"POST /{{t}}\"}]", "p:4:39: {{t}} is a var that caller \"b\" does not have (p:3:30): add `vars: {t: ...}` to it\n4 | endpoints: [{name: a, request: \"POST /{{t}}\"}]\n  |                                       ^~~~~"},
		{"in a counter", head + two + "\ncounters: {c: {http: \"GET /{{t}}\", value: $.n}}\nendpoints: [{name: a, request: POST /, counters: [c]}]", "p:4:28: {{t}} is a var that caller \"b\" does not have"},
		{"unknown", head + two + "\nendpoints: [{name: a, request: \"POST /{{tt}}\"}]", "p:4:39: unknown placeholder \"tt\"; did you mean \"t\"?"},
		{"of another caller", withTop("callers: {a: {vars: {t: x}}, b: {headers: {A: \"{{t}}\"}}}"), "p:3:48: unknown placeholder \"t\""},
		{"builtin", withTop("callers: {a: {vars: {key: x}}}"), "p:3:22: \"key\" is a placeholder of its own: give the var another name"},
		{"placeholder", withTop("callers: {a: {vars: {t: \"{{uuid}}\"}}}"), "p:3:25: expected the value of t, found a placeholder in it"},
		{"empty", withTop("callers: {a: {vars: {t: \"\"}}}"), "p:3:25: expected the value of t, found an empty text"},
		{"mapping", withTop("callers: {a: {vars: {t: {}}}}"), "p:3:25: expected text or a number, found a mapping"},
		{"captured too", head + "callers: {a: {vars: {t: x}}}\nendpoints: [{name: a, request: POST /, setup: [{request: POST /, capture: {t: $.t}}]}]", "p:4:76: \"t\" is one of the vars of `callers`: capture under another name"},
		{"clean-up by tenant alone", head + "callers: {a: {vars: {t: x}}}\nendpoints: [{name: a, request: POST /, cleanup: {request: \"DELETE /{{t}}\", capture: {id: $.id}}}]", "p:4:59: expected a captured name in the request, found none"},
	} {
		t.Run(c.reason, c.test)
	}
}

package plan

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/dialect"
	"retrysafe/internal/strict"
)

// values are placeholders for tests; a limit cuts.
type values map[string]string

func (v values) Lookup(name string, limit int) string {
	if limit > 0 {
		return v[name][:min(limit, len(v[name]))]
	}
	return v[name]
}

func noEnv(string) (string, bool) { return "", false }

// head makes a plan of some endpoint lines.
const head = "version: 1\ntarget: http://127.0.0.1:1\n"

func endpoint(lines ...string) string {
	return head + "endpoints:\n  - name: a\n    request: POST /x\n    " + strings.Join(lines, "\n    ") + "\n"
}

func mustParse(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := Parse("plan.yaml", []byte(text), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pretty(err error) string {
	var mistakes strict.Errors
	if errors.As(err, &mistakes) {
		return mistakes.Pretty()
	}
	return ""
}

// mistake is a plan with one mistake, and how the message about it begins.
type mistake struct{ reason, text, want string }

func (m mistake) test(t *testing.T) {
	_, err := Parse("p", []byte(m.text), noEnv)
	var mistakes strict.Errors
	errors.As(err, &mistakes)
	if got := pretty(err); !strings.HasPrefix(got, m.want) || len(mistakes) != 1 {
		t.Errorf("got\n%s\nwant\n%s", got, m.want)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"no endpoints", head, "p:1:1: missing field \"endpoints\"\n1 | version: 1\n  | ^"},
		{"no version", "endpoints: [{name: a, request: POST http://localhost/}]", "p:1:1: missing field \"version\""},
		{"other version", "version: 2\nendpoints: [{name: a, request: POST http://localhost/}]", "p:1:10: expected version 1, the only one that there is, found the number 2\n1 | version: 2\n  |          ^"},
		{"empty list", head + "endpoints: []\n", "p:3:12: expected at least one endpoint, found an empty list"},
		{"misspelt field", endpoint("hedaers: {}"), "p:6:5: unknown field \"hedaers\"; did you mean \"headers\"?\n6 |     hedaers: {}\n  |     ^~~~~~~"},
		{"unknown dialect", head + "dialect: itef\nendpoints: [{name: a, request: POST /}]", "p:3:10: unknown dialect \"itef\"; did you mean \"ietf\"? (known: " + strings.Join(dialect.Names(), ", ") + ")"},
		{"target not set", "version: 1\ntarget: ${UNSET}\nendpoints: [{name: a, request: POST /}]", "p:2:9: variable UNSET is not set: export UNSET=..., or give a default with ${UNSET:-value}\n2 | target: ${UNSET}\n  |         ^~~~~~~~"},
		{"number not set", endpoint("statuses:", "  mismatch:", "    - ${UNSET}"), "p:8:11: variable UNSET is not set"},
		{"target without scheme", "version: 1\ntarget: localhost:8080\nendpoints: [{name: a, request: POST /}]", "p:2:9: expected a base URL such as http://127.0.0.1:8080 as target\n2 | target: localhost:8080\n  |         ^~~~~~~~~~~~~~"},
		{"target with query", "version: 1\ntarget: http://localhost/?a\nendpoints: [{name: a, request: POST /}]", "p:2:9: expected a target without ? and #"},
		{"target with password", "version: 1\ntarget: http://u:p@localhost\nendpoints: [{name: a, request: POST /}]", "p:2:9: expected a target without user and password"},
		{"host not allowed", "version: 1\ntarget: https://staging.example.com\nendpoints: [{name: a, request: POST /}]", "p:2:9: host staging.example.com is not allowed: only loopback is, and hosts that are named; if it may be tested, add `allow_hosts: [staging.example.com]` or --allow-host staging.example.com\n2 | target: https://staging.example.com\n  |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~"},
		{"host of a set-up", endpoint("setup: [{request: POST http://other.example/x}]"), "p:6:28: host other.example is not allowed"},
		{"host of a counter", head + "counters: {c: {http: GET http://other.example/x, value: $.n}}\nendpoints: [{name: a, request: POST /}]", "p:3:26: host other.example is not allowed"},
		{"host of a clean-up", endpoint("cleanup: {request: \"DELETE http://other.example/{{id}}\", capture: {id: $.id}}"), "p:6:32: host other.example is not allowed"},
		{"host by a trick", endpoint("setup: [{request: POST http://localhost@other.example/}]"), "p:6:28: expected a URL without user and password"},
		{"placeholder as host", endpoint("setup: [{request: \"POST http://{{marker}}.example/\"}]"), "p:6:29: expected a host without placeholders, found \"http://{{marker}}.example/\""},
		{"allow_hosts with scheme", head + "allow_hosts: [\"https://a.example\"]\nendpoints: [{name: a, request: POST /}]", "p:3:16: expected a host such as staging.example.com or staging.example.com:8443, found \"https://a.example\""},
		{"allow_hosts with wildcard", head + "allow_hosts: [\"*.example\"]\nendpoints: [{name: a, request: POST /}]", "p:3:16: expected a host"},
		{"no target", "version: 1\nendpoints: [{name: a, request: POST /x}]", "p:2:37: request POST /x needs a target: add `target: http://127.0.0.1:8080`, or write the whole URL\n2 | endpoints: [{name: a, request: POST /x}]\n  |                                     ^~"},
		{"no method", strings.Replace(endpoint(), "POST /x", "/x", 1), "p:5:14: expected a method and a path such as POST /orders, found \"/x\"\n5 |     request: /x\n  |              ^~"},
		{"small method", strings.Replace(endpoint(), "POST /x", "post /x", 1), "p:5:14: expected a method in capital letters such as POST, found \"post\"\n5 |     request: post /x\n  |              ^~~~"},
		{"misspelt method", strings.Replace(endpoint(), "POST /x", "PSOT /x", 1), "p:5:14: unknown method \"PSOT\"; did you mean \"POST\"?\n5 |     request: PSOT /x\n  |              ^~~~"},
		{"misspelt small method", strings.Replace(endpoint(), "POST /x", "psot /x", 1), "p:5:14: expected a method in capital letters such as POST, found \"psot\"; did you mean \"POST\"?"},
		{"path without slash", strings.Replace(endpoint(), "POST /x", "POST x", 1), "p:5:19: expected a path that starts with / or an http(s) URL, found \"x\"\n5 |     request: POST x\n  |                   ^"},
		{"path with a space", strings.Replace(endpoint(), "POST /x", "POST /x y", 1), "p:5:19: expected a path without spaces, control characters and #, found \"/x y\""},
		{"other scheme", strings.Replace(endpoint(), "POST /x", "POST ftp://localhost/x", 1), "p:5:19: expected a path that starts with / or an http(s) URL"},
		{"same name twice", endpoint() + "  - name: a\n    request: POST /y\n", "p:7:11: duplicate endpoint \"a\", the first one is in line 4: give it another name\n7 |   - name: a\n  |           ^"},
		{"name without text", strings.Replace(endpoint(), "name: a", "name: ''", 1), "p:4:11: expected a name in one line, found \"\""},
		{"unknown placeholder", endpoint("body: {r: \"é {{makrer}}\"}"), "p:6:18: unknown placeholder \"makrer\"; did you mean \"marker\"? (known: marker, key, uuid, email, now)\n6 |     body: {r: \"é {{makrer}}\"}\n  |                  ^~~~~~~~~~"},
		{"placeholder not closed", endpoint("text: \"{{marker\""), "p:6:12: expected }} after {{, found the end of the text: close the placeholder\n6 |     text: \"{{marker\"\n  |            ^~"},
		{"placeholder without quotes", endpoint("body: {r: {{marker}}}"), "p:6:16: expected a field name, found a mapping: quote placeholders (\"{{marker}}\")"},
		{"per request outside of headers", endpoint("body: {r: \"{{send.uuid}}\"}"), "p:6:16: {{send.uuid}} changes with every request and is allowed in headers only, so that retries stay the same: use {{uuid}}"},
		{"number of nothing captured", endpoint("body: {a: \"{{uuid:number}}\"}"), "p:6:16: only captures and vars in a `body` can be numbers, found {{uuid:number}}: write {{uuid}}"},
		{"number in a text", endpoint("setup: [{request: POST /u, capture: {u: $.id}}]", "text: \"{{u:number}}\""), "p:7:12: only captures and vars in a `body` can be numbers, found {{u:number}}: write {{u}}"},
		{"number beside something", endpoint("setup: [{request: POST /u, capture: {u: $.id}}]", "body: {a: \"x{{u:number}}\"}"), "p:7:16: {{NAME:number}} is a number of its own: expected nothing beside it, found \"x{{u:number}}\""},
		{"length of another placeholder", endpoint("text: \"{{uuid:8}}\""), "p:6:12: only {{marker:N}} takes a length, found {{uuid:8}}: write {{uuid}}"},
		{"marker too short", endpoint("text: \"{{marker:3}}\""), "p:6:12: expected a length from 8 to 255, found {{marker:3}}"},
		{"capture of nobody", strings.Replace(endpoint(), "POST /x", "\"POST /x/{{cart}}\"", 1), "p:5:23: unknown placeholder \"cart\""},
		{"capture used too early", endpoint("setup: [{request: \"POST /c/{{cart}}\", capture: {cart: $.id}}]"), "p:6:32: unknown placeholder \"cart\""},
		{"capture with the name of a placeholder", endpoint("setup: [{request: POST /c, capture: {key: $.id}}]"), "p:6:42: \"key\" is a placeholder of its own: capture under another name"},
		{"captured twice", endpoint("setup: [{request: POST /c, capture: {c: $.id}}, {request: POST /c, capture: {c: $.id}}]"), "p:6:82: \"c\" is captured already"},
		{"capture from nowhere", endpoint("setup: [{request: POST /c, capture: {c: id}}]"), "p:6:45: expected a JSONPath such as $.id, or `header Location`, found \"id\""},
		{"JSONPath", endpoint("ignore: {json: [$.a, \"$.b[x]\"]}"), "p:6:31: expected a JSONPath such as $.count, found unexpected identifier\n6 |     ignore: {json: [$.a, \"$.b[x]\"]}\n  |                               ^"},
		{"JSONPath of a counter", head + "counters:\n  c: {http: GET /c, value: \"$.a[\"}\nendpoints: [{name: a, request: POST /}]", "p:4:33: expected a JSONPath such as $.count, found unexpected end of the path\n4 |   c: {http: GET /c, value: \"$.a[\"}\n  |                                 ^"},
		{"counter by POST", head + "counters: {c: {http: POST /c, value: $.n}}\nendpoints: [{name: a, request: POST /}]", "p:3:22: expected GET for a counter, found POST: counting must change nothing"},
		{"counter two ways", head + "counters: {c: {http: GET /c, exec: [x], value: $.n}}\nendpoints: [{name: a, request: POST /}]", "p:3:30: expected one way to count, found both http and exec"},
		{"counter of nothing", head + "counters: {c: {http: GET /c}}\nendpoints: [{name: a, request: POST /}]", "p:3:15: expected a place of the number: value, header or length"},
		{"exec as text", head + "counters: {c: {exec: ./count x}}\nendpoints: [{name: a, request: POST /}]", "p:3:22: expected a list of program and arguments, found \"./count x\": write [program, \"argument\"]; no shell is involved"},
		{"exec of nothing", head + "counters: {c: {exec: []}}\nendpoints: [{name: a, request: POST /}]", "p:3:22: expected a program and its arguments, found an empty list"},
		{"program from an answer", head + "counters: {c: {exec: [\"{{marker}}\"]}}\nendpoints: [{name: a, request: POST /}]", "p:3:22: expected the program's name first, found placeholders in it"},
		{"value of a command", head + "counters: {c: {exec: [x], value: $.n}}\nendpoints: [{name: a, request: POST /}]", "p:3:34: value belongs to a counter with `http:`"},
		{"unknown caller", head + "callers: {alice: {headers: {A: b}}}\ncounters: {c: {http: GET /c, value: $.n, caller: alcie}}\nendpoints: [{name: a, request: POST /}]", "p:4:50: unknown caller \"alcie\"; did you mean \"alice\"? (declare it under `callers`)"},
		{"unknown counter", head + "counters: {orders: {exec: [x]}}\nendpoints: [{name: a, request: POST /, counters: [order]}]", "p:4:51: unknown counter \"order\"; did you mean \"orders\"? (declare it under `counters` or `sinks`)\n4 | ... [{name: a, request: POST /, counters: [order]}]\n  |                                            ^~~~~"},
		{"rise of nothing", head + "counters: {c: {exec: [x]}}\nendpoints: [{name: a, request: POST /, counters: {c: 0}}]", "p:4:54: expected a number from 1 to 1000, found \"0\""},
		{"counter needs a capture", head + "counters: {c: {exec: [x, \"{{cart}}\"]}}\nendpoints:\n  - {name: a, request: POST /, setup: [{request: POST /c, capture: {cart: $.id}}], counters: [c]}\n  - {name: b, request: POST /, counters: [c]}\n", "p:6:43: counter \"c\" uses {{cart}}, which this endpoint does not capture: capture it in `setup`"},
		{"header twice", endpoint("headers: {X-A: 1, x-a: 2}"), "p:6:23: duplicate header x-a (names ignore case): remove one"},
		{"header name", endpoint("headers: {\"X A\": 1}"), "p:6:16: expected the name of a header, found \"X A\""},
		{"header of the wire", endpoint("headers: {Content-Length: 1}"), "p:6:15: header Content-Length follows from the request and cannot be set: remove it"},
		{"header over two lines", endpoint("headers: {X: \"a\\r\\nB: c\"}"), "p:6:19: expected the value of header X in one line"},
		{"header of the key", endpoint("key: {header: Idempotency-Key}", "headers: {idempotency-key: x}"), "p:7:32: header idempotency-key carries the key, which `key` sets: remove it from `headers`"},
		{"key as text", endpoint("key: Idempotency-Key"), "p:6:10: expected {header: NAME}, {json: PATH}, {query: NAME} or none, found \"Idempotency-Key\": write {header: Idempotency-Key}"},
		{"key at two places", endpoint("key: {header: A, query: b}"), "p:6:22: expected one place of the key, found both header and query"},
		{"key by a query for many", endpoint("key: {json: \"$.a[*]\"}", "body: {}"), "p:6:17: expected member names only, such as $.request_id, found \"$.a[*]\""},
		{"key as the body", endpoint("key: {json: $}", "body: {}"), "p:6:17: expected the path of a member such as $.request_id, found the whole body"},
		{"key in a list", endpoint("key: {json: $.a}", "body: [1]"), "p:5:19: cannot put the key at $.a: expected an object around \"a\", found a list"},
		{"key in a text", endpoint("key: {json: $.a}", "text: x"), "p:5:19: expected a JSON body to put the key at $.a, found a text body: use `body:`"},
		{"quoted key in a query", endpoint("key: {query: k, format: sf-string}"), "p:6:29: format sf-string belongs to a key in a header: remove it"},
		{"key without a key", endpoint("body: {r: \"{{key}}\"}"), "p:5:19: the endpoint uses {{key}} and has no key"},
		{"two bodies", endpoint("body: {}", "text: x"), "p:7:5: expected one body, found both body and text"},
		{"body with GET", head + "endpoints: [{name: a, request: GET /x, body: {}}]", "p:3:36: a GET request has no body: remove the body, or write another method"},
		{"no JSON number", endpoint("body: {a: 0x1f}"), "p:6:15: expected a number as JSON has it, found 0x1f: write it in decimal, or quote it to send text"},
		{"no number at all", endpoint("body: {a: .inf}"), "p:6:15: expected a number as JSON has it, found .inf"},
		{"file that is not there", endpoint("file: none.json"), "p:6:11: cannot read the body's file \"none.json\": paths start at the plan's folder"},
		{"file that is a folder", endpoint("file: ."), "p:6:11: expected a regular file of at most 16 MiB"},
		{"same other body", endpoint("body: {a: 1, b: 2}", "other_body: {a: 1}"), "p:7:17: expected other_body to change the body, found the same body: change a value"},
		{"patch of a file", endpoint("file: plan_test.go", "other_body: {a: 1}"), "p:7:17: a file cannot be patched: write the body as `body:`, `form:` or `text:`"},
		{"fail without anything", endpoint("fail: {}"), "p:6:11: expected headers, a body or a sink that make the endpoint fail once, found none of them"},
		{"lifetime without unit", endpoint("key_lifetime: 24"), "p:6:19: expected a duration with a unit, found \"24\": write 24s, 24ms or 24m"},
		{"status", endpoint("statuses: {mismatch: [42]}"), "p:6:27: expected a number from 100 to 599, found \"42\""},
		{"no status", endpoint("statuses: {mismatch: []}"), "p:6:26: expected status codes such as [422], found an empty list"},
		{"stores", endpoint("stores: {4xx: maybe}"), "p:6:19: expected true or false, found the text \"maybe\""},
		{"ignored and replayed", endpoint("ignore: {headers: [X-A]}", "replay_headers: [x-a]"), "p:7:22: header x-a cannot be both ignored and replayed: remove it from one list"},
		{"clean-up of everything", endpoint("cleanup: {request: DELETE /x, capture: {id: $.id}}"), "p:6:24: expected a captured name in the request, found none: it would be the same for everything that was created; write {{id}}"},
		{"clean-up with a marker", endpoint("cleanup: {request: \"DELETE /x/{{marker}}\", capture: {id: $.id}}"), "p:6:35: unknown placeholder \"marker\" (known: id)"},
		{"clean-up that removes nothing", endpoint("cleanup: {request: \"GET /x/{{id}}\", capture: {id: $.id}}"), "p:6:24: a GET request removes nothing: expected one such as DELETE /orders/{{id}}"},
		{"key that no delivery has", endpoint("webhook: {scheme: github, secret: abcdef}", "key: {header: Idempotency-Key}"), "p:7:10: key contradicts webhook: deliveries of github name their event in header X-GitHub-Delivery: remove `key`\n7 |     key: {header: Idempotency-Key}\n  |          ^"},
		{"key that no event has", endpoint("webhook: {scheme: stripe, secret: abcdef}", "key: {query: k}", "body: {}"), "p:7:10: key contradicts webhook: deliveries of stripe name their event in json $.id: remove `key`"},
		{"required without a key", endpoint("required: true"), "p:6:15: a key is required, and this endpoint has none: say where it travels with `key`, or remove `required`"},
		{"required without any key", endpoint("key: none", "required: true"), "p:7:15: a key is required, and this endpoint has none"},
		{"marker that is not sent", head + "counters: {c: {exec: [x, \"{{marker}}\"]}}\nendpoints: [{name: a, request: POST /, body: {a: 1}, counters: [c]}]", "p:4:64: counter \"c\" asks for {{marker}}, which no request of this endpoint carries"},
		{"counters as text", head + "counters: {c: {exec: [x]}}\nendpoints: [{name: a, request: POST /, counters: c}]", "p:4:50: expected names of counters such as [orders], or how much each rises such as {orders: 1}, found the text \"c\""},
		{"list as text", endpoint("require: missing-key"), "p:6:14: expected a list, found the text \"missing-key\": write [missing-key]"},
		{"skips without reasons", endpoint("skip: [missing-key]"), "p:6:11: expected scenarios with the reason for each, such as {restart-between: staging cannot be restarted}, found a list"},
		{"target with an unset variable", "version: 1\ntarget: \"http://${UNSET}\"\nendpoints: [{name: a, request: POST /}]", "p:2:17: variable UNSET is not set"},
		{"skip without reason", endpoint("skip: {missing-key: \"\"}"), "p:6:25: expected the reason for skipping, found nothing"},
		{"skipped and required", endpoint("skip: {missing-key: later}", "require: [missing-key]"), "p:7:15: scenario \"missing-key\" is both skipped and required: remove one"},
		{"no scenario file", head + "scenarios: [./none/*.yaml]\nendpoints: [{name: a, request: POST /}]", "p:3:13: no scenario file matches \"./none/*.yaml\": paths start at the plan's folder"},
		{"short secret", head + "secrets: [abc]\nendpoints: [{name: a, request: POST /}]", "p:3:11: expected a secret of at least 4 characters"},
	} {
		t.Run(c.reason, c.test)
	}
}

// What is allowed and most likely not meant is said, and is no mistake.
func TestWarnings(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"a counter that nobody reads", head + "counters: {c: {exec: [x]}}\nendpoints: [{name: a, request: POST /}]", "plan.yaml:3:12: no endpoint reads the counter \"c\": name it in `counters` of those that it belongs to"},
		{"a state that nobody reads", head + "states: {s: {http: GET /s}}\nendpoints: [{name: a, request: POST /}]", "plan.yaml:3:10: no endpoint reads the state \"s\""},
		{"one instance", head + "replicas: [\"http://127.0.0.1:1\"]\nendpoints: [{name: a, request: POST /}]", "plan.yaml:3:11: one instance shows nothing that target does not"},
		{"a method of one's own", strings.Replace(endpoint(), "POST", "PURGE", 1), ""},
		{"the key of the scheme", endpoint("webhook: {scheme: github, secret: abcdef}", "key: {header: x-github-delivery}"), ""},
		{"a required key of the dialect", head + "dialect: stripe\nendpoints: [{name: a, request: POST /, required: true}]", ""},
		{"a marker in the set-up", head + "counters: {c: {exec: [x, \"{{marker}}\"]}}\nendpoints: [{name: a, request: POST /, setup: [{request: POST /c, body: {a: \"{{marker}}\"}}], counters: [c]}]", ""},
	} {
		if got := mustParse(t, c.text).Warnings.Error(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestAllMistakesInOneRun(t *testing.T) {
	_, err := Parse("p", []byte("version: 3\ntaget: x\nlimits: {wait: 5}\nendpoints:\n  - name: a\n    request: x\n    body: {r: \"{{nope}}\", v: \"${UNSET}\"}\n"), noEnv)
	var lines []int
	var mistakes strict.Errors
	errors.As(err, &mistakes)
	for _, m := range mistakes {
		lines = append(lines, m.Line)
	}
	if want := []int{1, 2, 3, 6, 7, 7}; !slices.Equal(lines, want) {
		t.Errorf("lines %v, want %v:\n%v", lines, want, err)
	}
}

func TestDefaults(t *testing.T) {
	p := mustParse(t, endpoint())
	if want := (Limits{InProgress: 10 * time.Second, Request: 30 * time.Second, Count: 5 * time.Second, Await: 30 * time.Second, Wait: time.Minute, Ready: 30 * time.Second, Body: 1 << 20}); p.Limits != want {
		t.Errorf("limits %+v", p.Limits)
	}
	e := p.Endpoints[0]
	if p.Dialect.Name != "any" || e.Kind != "create" || e.FreshKey != "creates" || e.DoubleClick != "two" || e.Settle != 100*time.Millisecond || e.Key.In != "" || e.RequiredSet {
		t.Errorf("dialect %s, endpoint %+v", p.Dialect.Name, e)
	}
	if !slices.Equal(e.Statuses.Mismatch, []int{400, 409, 422}) || e.Statuses.MissingKey != nil {
		t.Errorf("statuses %+v", e.Statuses)
	}
	if e.HasOther || e.OtherWhy != "the request has no body" {
		t.Errorf("other body: %v, %q", e.HasOther, e.OtherWhy)
	}
	if !strings.HasPrefix(p.Digest, "sha256:") || len(p.Digest) != 7+64 {
		t.Errorf("digest %s", p.Digest)
	}
}

func TestDialectAndPlan(t *testing.T) {
	for _, c := range []struct{ reason, dialect, lines, key, required, mismatch, stores string }{
		{"nothing documented", "any", "", "", "open", "[400 409 422]", "/"},
		{"documented", "ietf", "", "header Idempotency-Key sf-string", "yes", "[422]", "/"},
		{"documented otherwise", "stripe", "", "header Idempotency-Key bare", "no", "[400]", "/yes"},
		{"the plan wins", "ietf", "key: {header: X-Key, format: bare}\n    required: false\n    statuses: {mismatch: [409]}\n    stores: {4xx: no, 5xx: true}", "header X-Key bare", "no", "[409]", "no/yes"},
		{"the format of the dialect", "ietf", "key: {header: X-Key}", "header X-Key sf-string", "yes", "[422]", "/"},
		{"no key on purpose", "ietf", "key: none", "", "open", "[422]", "/"},
		{"key in the body", "ietf", "key: {json: $.id}\n    body: {}", "json $.id ", "yes", "[422]", "/"},
	} {
		e := mustParse(t, strings.Replace(endpoint(c.lines), "endpoints:", "dialect: "+c.dialect+"\nendpoints:", 1)).Endpoints[0]
		key := ""
		if e.Key.In != "" {
			key = e.Key.In + " " + e.Key.Name + " " + e.Key.Format
		}
		required := map[bool]string{true: "yes", false: "no"}[e.Required]
		if !e.RequiredSet {
			required = "open"
		}
		got := strings.Join([]string{key, required, strings.Join(strings.Fields(strings.TrimSpace(sprint(e.Statuses.Mismatch))), " "), e.Stores4xx + "/" + e.Stores5xx}, ";")
		if want := strings.Join([]string{c.key, c.required, c.mismatch, c.stores}, ";"); got != want {
			t.Errorf("%s: got %s, want %s", c.reason, got, want)
		}
	}
}

func TestDefaultsAreMerged(t *testing.T) {
	p := mustParse(t, head+`defaults: {headers: {X-A: 1, X-B: 1}, key: {header: K}}
endpoints:
  - {name: a, request: POST /a, headers: {x-b: 2, X-C: "3"}, body: {q: 1}}
  - {name: b, request: PUT /b, key: none, headers: {Content-Type: text/x}, text: x}
`)
	show := func(e Endpoint) string {
		out := e.Kind + " " + e.Key.Name
		for _, h := range e.Headers {
			out += " " + h.Name + "=" + h.Value.String()
		}
		return out
	}
	if got, want := show(p.Endpoints[0]), "create K X-A=1 x-b=2 X-C=3 Content-Type=application/json"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := show(p.Endpoints[1]), "method  X-A=1 X-B=1 Content-Type=text/x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCounters(t *testing.T) {
	p := mustParse(t, head+`counters:
  byMarker: {http: "GET /c?r={{marker}}", header: X-Total}
  byCart: {exec: [./count, "{{cart}}"]}
  all: {http: GET /c, length: $, headers: {X-Id: "{{send.uuid}}"}}
endpoints:
  - {name: a, request: POST /, setup: [{request: POST /c, capture: {cart: header Location}}], counters: {all: 2, byCart: 1}}
  - {name: b, request: "POST /?r={{marker}}", counters: [byMarker]}
`)
	for name, marked := range map[string]bool{"byMarker": true, "byCart": true, "all": false} {
		if got := p.Counters[name].Marked; got != marked {
			t.Errorf("%s: marked is %v", name, got)
		}
	}
	if got := p.Endpoints[0].Counters; len(got) != 2 || got[0] != (CounterRise{"all", 2}) || got[1] != (CounterRise{"byCart", 1}) {
		t.Errorf("rises %v", got)
	}
}

func TestSecrets(t *testing.T) {
	vars := map[string]string{"URL": "http://127.0.0.1:8080", "TOKEN": "tok-123456", "SHORT": "abc", "LISTED": "pass", "PORT": "8080"}
	p, err := Parse("p", []byte(`version: 1
target: ${URL}
callers:
  alice: {headers: {Authorization: "Bearer ${TOKEN}", X-Tenant: "${SHORT}"}}
  bob: {headers: {Authorization: Basic Ym9iOnN3b3JkZmlzaA==}}
secrets: ["${LISTED}"]
endpoints:
  - {name: a, request: POST /, headers: {X-Default: "${NOPE:-not a secret}", X-Port: "${PORT}", Cookie: "session=1"}}
`), func(n string) (string, bool) { v, ok := vars[n]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tok-123456", "Bearer tok-123456", "swordfish", "Ym9iOnN3b3JkZmlzaA==", "session=1", "pass"} {
		if !slices.Contains(p.Secrets, want) {
			t.Errorf("%q is no secret", want)
		}
	}
	for _, open := range []string{"abc", "http://127.0.0.1:8080", "8080", "not a secret"} {
		if slices.Contains(p.Secrets, open) {
			t.Errorf("%q is a secret", open)
		}
	}
	for i := 1; i < len(p.Secrets); i++ {
		if len(p.Secrets[i]) > len(p.Secrets[i-1]) {
			t.Errorf("%q is after %q", p.Secrets[i], p.Secrets[i-1])
		}
	}
}

func TestCheckScenarios(t *testing.T) {
	p := mustParse(t, endpoint("require: [same-key-agian]", "skip: {gone: x, missing-key: later}"))
	want := "plan.yaml:6:15: unknown scenario \"same-key-agian\"; did you mean \"same-key-again\"? (list: `retrysafe scenarios`)\n6 |     require: [same-key-agian]\n  |               ^~~~~~~~~~~~~~\nplan.yaml:7:12: unknown scenario \"gone\" (list: `retrysafe scenarios`)\n7 |     skip: {gone: x, missing-key: later}\n  |            ^~~~"
	if got := pretty(p.CheckScenarios([]string{"same-key-again", "missing-key"})); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := p.CheckScenarios([]string{"gone", "same-key-agian", "missing-key"}); err != nil {
		t.Error(err)
	}
}

func TestHostAllowed(t *testing.T) {
	p := &Plan{AllowHosts: []string{"staging.example.com", "api.example:8443", "10.0.0.1", "[fd00::1]:80"}}
	for _, c := range []struct {
		reason, url string
		want        bool
	}{
		{"loopback", "http://127.0.0.1:1/x", true},
		{"all of loopback", "http://127.9.9.9", true},
		{"loopback in IPv6", "http://[::1]:8080/", true},
		{"by name", "https://LOCALHOST/", true},
		{"named", "https://staging.example.com/x", true},
		{"named, any case and port", "http://Staging.Example.COM:1/", true},
		{"port as named", "https://api.example:8443/", true},
		{"another port", "https://api.example/", false},
		{"address", "http://10.0.0.1:5/", true},
		{"IPv6 with the scheme's port", "http://[fd00::1]/", true},
		{"IPv6 with another port", "https://[fd00::1]/", false},
		{"below a named host", "http://x.staging.example.com/", false},
		{"loopback as user", "http://localhost@evil.example/", false},
		{"user at loopback", "http://u@localhost/", false},
		{"loopback as prefix", "http://127.0.0.1.evil.example/", false},
		{"all addresses", "http://0.0.0.0/", false},
		{"short form of an address", "http://127.1/", false},
		{"other scheme", "ftp://localhost/", false},
		{"no host", "http:///x", false},
		{"no URL", "://", false},
	} {
		if got := p.HostAllowed(c.url); got != c.want {
			t.Errorf("%s: %s is allowed: %v", c.reason, c.url, got)
		}
	}
}

func TestAllowHostOption(t *testing.T) {
	text := []byte("version: 1\ntarget: http://a.example\nendpoints: [{name: a, request: POST /}]")
	if _, err := Parse("p", text, noEnv, "a.example"); err != nil {
		t.Error(err)
	}
	if _, err := Parse("p", text, noEnv, "http://a.example"); err == nil || !strings.Contains(err.Error(), "--allow-host: expected a host") {
		t.Errorf("got %v", err)
	}
}

func TestInRepository(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"repo/.git", "repo/a/b", "other"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ dir, file, want string }{
		{"repo", "p.yaml", "p.yaml"},
		{"repo", "./a/../a/p.yaml", "a/p.yaml"},
		{"repo/a", "p.yaml", "a/p.yaml"},
		{"repo/a/b", "../../p.yaml", "p.yaml"},
		{"other", filepath.Join(root, "repo", "a", "p.yaml"), "a/p.yaml"},
		{"other", "p.yaml", "p.yaml"},
		{"other", filepath.Join(root, "other", "p #1.yaml"), "p #1.yaml"},
		{"other", "../p.yaml", ""},
		{"other", "", ""},
	} {
		t.Chdir(filepath.Join(root, c.dir))
		if got := InRepository(c.file); got != c.want {
			t.Errorf("%q in %s: got %q, want %q", c.file, c.dir, got, c.want)
		}
	}
}

func TestFindFile(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "repo", "a", "b")
	for _, dir := range []string{deep, filepath.Join(root, "repo", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path ...string) string {
		name := filepath.Join(append([]string{root}, path...)...)
		if err := os.WriteFile(name, []byte(endpoint()), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("retrysafe.yaml") // outside of the repository
	if got, err := FindFile(deep); err == nil || !strings.Contains(err.Error(), "up to "+filepath.Join(root, "repo")) {
		t.Errorf("without a plan: %q, %v", got, err)
	}
	for _, nearer := range [][]string{{"repo", ".retrysafe.yaml"}, {"repo", "retrysafe.yaml"}, {"repo", "a", ".retrysafe.yaml"}} {
		want := write(nearer...)
		if got, err := FindFile(deep); err != nil || got != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	if p, err := Load(filepath.Join(root, "retrysafe.yaml"), noEnv, Overrides{}); err != nil || p.Dir() != root {
		t.Errorf("load: %v, %v", p, err)
	}
	if _, err := Load(filepath.Join(root, "none.yaml"), noEnv, Overrides{}); err == nil || !strings.Contains(err.Error(), "cannot read the plan") {
		t.Errorf("got %v", err)
	}
}

func TestOwnScenarios(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yaml", "a.yaml", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Parse(filepath.Join(dir, "plan.yaml"), []byte(strings.Replace(endpoint(), "endpoints:", "scenarios: [b.yaml, ./*.yaml]\nendpoints:", 1)), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(dir, "b.yaml"), filepath.Join(dir, "a.yaml")}; !slices.Equal(p.Scenarios, want) {
		t.Errorf("got %v, want %v", p.Scenarios, want)
	}
}

// TestReadmePlans holds the plans of the README to the language.
func TestReadmePlans(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```$").FindAllSubmatch(text, -1)
	blocks = slices.DeleteFunc(blocks, func(b [][]byte) bool { return !bytes.HasPrefix(b[1], []byte("version: 1\n")) }) // the others are for CI
	if len(blocks) < 4 {
		t.Fatalf("the README has %d plans", len(blocks))
	}
	vars := map[string]string{"RETRYSAFE_TARGET": "http://127.0.0.1:8080", "ALICE_PASSWORD": "hunter2", "WEBHOOK_SECRET": "whsec_bm8gc2VjcmV0",
		"DATABASE_URL": "postgres://shop:secret@127.0.0.1/shop"}
	dir := t.TempDir()
	pemFiles(t, dir, "alice")
	for _, b := range blocks {
		if _, err := Parse(filepath.Join(dir, "README.md"), b[1], func(name string) (string, bool) { v, ok := vars[name]; return v, ok }); err != nil {
			t.Errorf("%s", pretty(err))
		}
	}
}

func TestFixturePlans(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/plans/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	addresses := map[string]string{
		"RETRYSAFE_TARGET": "http://127.0.0.1:8080", "RETRYSAFE_CONTROL": "http://127.0.0.1:8083",
		"RETRYSAFE_REPLICA_1": "http://127.0.0.1:8081", "RETRYSAFE_REPLICA_2": "http://127.0.0.1:8082",
	}
	for _, file := range files {
		p, err := Load(file, func(name string) (string, bool) { v, ok := addresses[name]; return v, ok }, Overrides{})
		if err != nil {
			t.Errorf("%s: %v\n%s", file, err, pretty(err))
			continue
		}
		for _, e := range p.Endpoints {
			if e.Kind == "method" {
				if e.Key.In != "" || len(e.States) == 0 {
					t.Errorf("%s, %s: a key, or no state", file, e.Name)
				}
				continue
			}
			if !e.HasOther || !e.HasReordered || e.Fail == nil || e.Key.In == "" {
				t.Errorf("%s, %s: no other body, nothing to reorder or no key", file, e.Name)
			}
		}
	}
}

// TestAliasIsOneMistake: what an alias stands for is read in its place, so that nothing else is wrong, and the advice is about fields that
// `defaults` can hold.
func TestAliasIsOneMistake(t *testing.T) {
	two := func(field, first, second string) string {
		return head + "endpoints:\n  - {name: a, request: \"PUT /r/{{r}}\", setup: [{request: POST /r, capture: {r: $.id}}], " + field + first + "}\n" +
			"  - {name: b, request: \"PUT /r/{{r}}\", setup: [{request: POST /r, capture: {r: $.id}}], " + field + second + "}\n"
	}
	for _, c := range []struct{ reason, text, want string }{
		{"a set-up, on which the path depends", head + "endpoints:\n  - {name: a, request: \"PUT /r/{{r}}\", setup: &s [{request: POST /r, capture: {r: $.id}}]}\n  - {name: b, request: \"DELETE /r/{{r}}\", setup: *s}\n",
			"p:5:50: aliases are not supported, found *s: write the value out"},
		{"a field of defaults", two("headers: ", "&h {X-A: b}", "*h"), "p:5:98: aliases are not supported, found *h: write the value out, or once for all endpoints: `defaults: {headers: ...}`"},
		{"within a field of defaults", two("headers: ", "{X-A: &h b}", "{X-A: *h}"), "p:5:104: aliases are not supported, found *h: write the value out, or once for all endpoints: `defaults: {headers: ...}`"},
		{"a merge key", head + "endpoints:\n  - &e {name: a, request: POST /r}\n  - {<<: *e, name: b}\n", "p:5:6: merge keys are not supported: write the fields out"},
		{"an alias within its anchor", two("body: ", "&b {x: *b}", "{x: 1}"), "p:4:102: aliases are not supported, found *b: write the value out"},
	} {
		_, err := Parse("p", []byte(c.text), noEnv)
		var mistakes strict.Errors
		if errors.As(err, &mistakes); len(mistakes) != 1 || mistakes[0].Error() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.reason, pretty(err), c.want)
		}
	}
	text := head + "endpoints: [{name: a, request: POST /r, body: {a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"
	for c := 'b'; c < 'z'; c++ {
		text += ", " + string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+" , ", 10) + "0]"
	}
	begun := time.Now()
	if _, err := Parse("p", []byte(text+"}}]\n"), noEnv); err == nil || time.Since(begun) > 10*time.Second {
		t.Errorf("aliases of aliases: %s, %v", time.Since(begun), err != nil)
	}
}

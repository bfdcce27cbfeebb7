package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"retrysafe/internal/strict"
)

func TestConceal(t *testing.T) {
	for _, c := range []struct{ reason, line, want string }{
		{"plain, in a block", `  Authorization: Bearer a}b "c", d # mine`, `  Authorization: ***************** # mine`},
		{"plain, in braces", `{Authorization: Bearer abc, Cookie: a=b; c=d}`, `{Authorization: **********, Cookie: ********}`},
		{"quoted", `{"password": "a\"b, c", 'token': 'it''s', note: x}`, `{"password": "*******", 'token': '*****', note: x}`},
		{"never closed", `{secret: "abc, def: x`, `{secret: "***********`},
		{"JSON in a text", `body: '{"password": "abc", "note": "x"}'`, `body: '{"password": "***", "note": "x"}'`},
		{"JSON in an escaped text", `text: "{\"password\": \"abc\", \"note\": 1}"`, `text: "{\"password\": \"***\", \"note\": 1}"`},
		{"a header in a text", `headers: "X-Api-Key: abc"`, `headers: "X-Api-Key: ***"`},
		{"a query and a form", `request: POST /a?api_key=abc&page=1 client_secret=x y`, `request: POST /a?api_key=***&page=1 client_secret=* y`},
		{"a list", `secrets: [abc, "def"] # two`, `secrets: ************ # two`},
		{"members have their own names", `token: {password: abc, note: x}`, `token: {password: ***, note: x}`},
		{"user of a URL", `dsn: postgres://shop:a:b@c@db/shop`, `dsn: postgres://shop:*****@db/shop`},
		{"an address is no user", `target: http://127.0.0.1:8080/@me?x=1`, `target: http://127.0.0.1:8080/@me?x=1`},
		{"variables", `{Authorization: "Bearer ${TOKEN}", password: ${A}${B}}`, `{Authorization: "Bearer ${TOKEN}", password: ${A}${B}}`},
		{"placeholders", `{Authorization: "Bearer {{token}}"}`, `{Authorization: "Bearer {{token}}"}`},
		{"a variable in a secret", `password: "abc-${A}"`, `password: "********"`},
		{"captures", `capture: {token: $.token, id: $.id}`, `capture: {token: $.token, id: $.id}`},
		{"other names", `{key: {header: Idempotency-Key}, token_url: abc, tokens: 5}`, `{key: {header: Idempotency-Key}, token_url: abc, tokens: 5}`},
		{"a text that follows", `password: |`, `password: |`},
	} {
		got := conceal(c.line)
		if got != c.want || conceal(got) != got || utf8.RuneCountInString(got) != utf8.RuneCountInString(c.line) {
			t.Errorf("%s: got\n%s, want\n%s", c.reason, got, c.want)
		}
	}
}

// TestConcealLong: a plan of one line with a thousand mistakes and as many credentials is told as soon as any.
func TestConcealLong(t *testing.T) {
	if testing.Short() {
		t.Skip("much work for one goroutine: run it without -short")
	}
	each := "{name: a, request: POST /a, headrs: {Authorization: Bearer hush-1234}, zzz: 1}"
	text := "{version: 1, target: 'http://127.0.0.1:1', endpoints: [" + strings.Repeat(each+", ", 1000) + each + "]}"
	started := time.Now()
	_, err := Parse("p", []byte(text), nil)
	if took := time.Since(started); err == nil || took > time.Minute {
		t.Errorf("took %s, and found %v", took, err != nil)
	}
}

// TestMistakesHide: whatever is wrong near a secret of a plan, no mistake and no warning shows it.
func TestMistakesHide(t *testing.T) {
	const head, foot = "version: 1\ntarget: http://127.0.0.1:1\n", "endpoints: [{name: a, request: POST /a}]\n"
	for _, c := range []struct{ reason, text string }{
		{"header of a caller", head + "callers: {a: {headers: {Authorization: Bearer hush-1234}, bogus: 1}}\n" + foot},
		{"header of a caller with its own name", head + "callers: {a: {headers: {X-Who: hush-1234, \"bad name\": x}}}\n" + foot},
		{"log-in", head + "callers: {a: {login: {request: POST /l, body: {pin: hush-1234}, capture: {t: $.t}, wrong: 1}}}\n" + foot},
		{"DSN", head + "counters: {c: {sql: {dsn: 'postgres://u:hush-1234@h/db', query: 'select {{nope}}'}}}\n" + foot},
		{"DSN with options", head + "counters: {c: {sql: {dsn: 'postgres://u@h/db?password=hush-1234', query: 'select {{nope}}'}}}\n" + foot},
		{"webhook", head + "endpoints: [{name: a, request: POST /a, kind: webhook, webhook: {scheme: github, secret: hush-1234, foo: 1}}]\n"},
		{"webhook with a number", head + "endpoints: [{name: a, request: POST /a, kind: webhook, webhook: {scheme: github, secret: 7771234}}]\n"},
		{"headers of an endpoint", head + "endpoints: [{name: a, request: POST /a, headers: {X-Api-Key: hush-1234, N: {a: b}}}]\n"},
		{"misspelt field", head + "endpoints: [{name: a, request: POST /a, headrs: {Authorization: Bearer hush-1234}}]\n"},
		{"body", head + "endpoints: [{name: a, request: POST /a, body: {password: hush-1234, note: '{{nope}}'}}]\n"},
		{"list", head + "secrets: [hush-1234, x]\n" + foot},
		{"no list", head + "secrets: hush-1234\n" + foot},
		{"header in a text", head + "endpoints: [{name: a, request: POST /a, headers: 'Authorization: Bearer hush-1234'}]\n"},
		{"not YAML", head + "callers: {a: {headers: {Authorization: Bearer hush-1234, X: @x}}}\n" + foot},
		{"control character", head + "callers: {a: {headers: {Authorization: \"Bearer hush-1234\x01\"}}}\n" + foot},
		{"several lines", head + "callers:\n  a:\n    headers:\n      Cookie: |-\n        hush-1234={{nope}}\n" + foot},
		{"warning", head + "callers: {a: {headers: {X-Who: Bearer hush-1234, Authorization: Bearer whoever-it-is}}}\nendpoints: [{name: a, request: POST /a}]\n"},
	} {
		p, err := Parse("p", []byte(c.text), nil)
		var found strict.Errors
		if err == nil {
			found = slices.Concat(p.Warnings, p.Risks)
		} else if !errors.As(err, &found) {
			t.Errorf("%s: %v", c.reason, err)
		}
		shown := found.Pretty()
		if len(found) == 0 || strings.Contains(shown, "hush") || strings.Contains(shown, "777") {
			t.Errorf("%s: shows\n%s", c.reason, shown)
		}
	}
}

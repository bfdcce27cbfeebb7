package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestSQLMistakes(t *testing.T) {
	counter := func(sql string) string { return withTop("counters: {c: {sql: " + sql + "}}") }
	lite := func(query string) string { return counter(`{dsn: "sqlite:x.db", query: "` + query + `"}`) }
	for _, c := range []mistake{
		{"quotes", lite("select count(*) from o where r = '{{marker}}'"), "p:3:84: expected {{marker}} without quotes, found it in quotes, where it would be text: drop the quotes, it is sent as a parameter\n3 | ...ery: \"select count(*) from o where r = '{{marker}}'\"}}}\n  |                                            ^~~~~~~~~~"},
		{"part of a text", lite("select count(*) from o where r like '%{{marker}}%'"), "p:3:88: expected {{marker}} without quotes, found it in quotes, where it would be text: it is sent as a parameter; to add text, write 'text' || {{marker}}"},
		{"part of a name", lite("select count(*) from o_{{marker}}"), "p:3:73: expected {{marker}} to stand alone"},
		{"misspelt", lite("select count(*) from o where r = {{marke}}"), "p:3:83: unknown placeholder \"marke\"; did you mean \"marker\"?"},
		{"of a request", lite("select count(*) from o where r = {{send.uuid}}"), "p:3:83: {{send.uuid}} changes with every request"},
		{"writes", lite("update o set r = {{marker}}"), "p:3:50: expected a query that only reads, such as select count(*), found update: what changes something belongs to `hooks`"},
		{"two statements", lite("select 1; drop table o"), "p:3:60: expected one statement"},
		{"no statement", lite(""), "p:3:50: expected a statement such as select count(*)"},
		{"no query", counter(`{dsn: "sqlite:x.db"}`), "p:3:21: missing field \"query\""},
		{"no dsn", counter(`{query: select 1}`), "p:3:21: missing field \"dsn\""},
		{"empty dsn", counter(`{dsn: "", query: select 1}`), "p:3:27: expected a DSN such as postgres://"},
		{"as text", counter(`select 1`), "p:3:21: expected a mapping"},
		{"unknown field", counter(`{dsn: "sqlite:x.db", query: select 1, args: []}`), "p:3:59: unknown field \"args\""},
		{"scheme", counter(`{dsn: "redis://localhost/0", query: select 1}`), "p:3:28: expected a DSN such as postgres://USER:PASSWORD@HOST/DATABASE, mysql://USER:PASSWORD@HOST/DATABASE or sqlite:FILE, found a URL of scheme redis"},
		{"host", counter(`{dsn: "postgres://u:p@db.example/x?sslmode=disable", query: select 1}`), "p:3:28: host db.example:5432 is not allowed: only loopback is, and hosts that are named; if it may be tested, add `allow_hosts: [db.example:5432]` or --allow-host db.example:5432"},
		{"second host", counter(`{dsn: "postgres://u@localhost,db.example/x?sslmode=disable", query: select 1}`), "p:3:28: host db.example:5432 is not allowed"},
		{"host as an option", counter(`{dsn: "postgres://u@localhost/x?host=db.example&sslmode=disable", query: select 1}`), "p:3:28: host db.example:5432 is not allowed"},
		{"host of MySQL", counter(`{dsn: "u:p@tcp(db.example:3306)/x", query: select 1}`), "p:3:28: host db.example:3306 is not allowed"},
		{"host of a hook", withTop(`hooks: {expire: {sql: {dsn: "mysql://u@db.example/x", query: "delete from k where k = {{key}}"}}}`), "p:3:30: host db.example:3306 is not allowed"},
		{"host of a state", withTop(`states: {s: {sql: {dsn: "mysql://u@db.example/x", query: select 1}}}`), "p:3:26: host db.example:3306 is not allowed"},
		{"value of a query", withTop("counters: {c: {sql: {dsn: \"sqlite:x.db\", query: select 1}, value: $.a}}"), "p:3:67: value belongs to a counter with `http:`, a query gives the number: remove it"},
		{"value of a state", withTop("states: {s: {sql: {dsn: \"sqlite:x.db\", query: select 1}, value: $.a}}"), "p:3:65: value belongs to a state with `http:`, a query says by itself what it reads: remove it"},
		{"two ways", withTop("counters: {c: {sql: {dsn: \"sqlite:x.db\", query: select 1}, exec: [x]}}"), "p:3:60: expected one way to count, found both sql and exec"},
		{"then", withTop("hooks: {crash: {sql: {dsn: \"sqlite:x.db\", query: delete from o}, then: [x]}}"), "p:3:72: then belongs to a hook with `exec`: remove it"},
		{"key of no key", withTop("hooks: {reset: {sql: {dsn: \"sqlite:x.db\", query: \"delete from o where k = {{key}}\"}}}"), "p:3:75: expected no placeholder here, found {{key}}"},
		{"capture of another endpoint", head + "counters: {c: {sql: {dsn: \"sqlite:x.db\", query: \"select 1 where 1 = {{cart}}\"}}}\nendpoints:\n  - {name: a, request: POST /, setup: [{request: POST /c, capture: {cart: $.id}}], counters: [c]}\n  - {name: b, request: POST /, counters: [c]}\n", "p:6:43: counter \"c\" uses {{cart}}, which this endpoint does not capture: capture it in `setup`"},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestSQL(t *testing.T) {
	p := mustParse(t, head+`counters:
  marked: {sql: {dsn: "postgres://u@localhost/x?sslmode=disable", query: "select count(*) from o where r = {{marker:20}} and k in ({{key}}, {{key}});"}}
  all: {sql: {dsn: "sqlite:x.db", query: "select count(*)\n  from o"}}
  day: {sql: {dsn: "sqlite:x.db", query: "select count(*) from o where d > {{now}}"}}
states: {s: {sql: {dsn: "mysql://u@127.0.0.1/x", query: "select a, b from o where r = {{marker}}"}}}
hooks: {expire: {sql: {dsn: "sqlite:x.db", query: "update k set expires_at = 0 where k = {{key}}"}, ready: GET /health}}
endpoints: [{name: a, request: POST /, body: {r: "{{marker}}"}, counters: [marked, all, day], states: [s]}]
`)
	for name, marked := range map[string]bool{"marked": true, "all": false, "day": false} {
		if got := p.Counters[name].Marked; got != marked {
			t.Errorf("%s: marked is %v", name, got)
		}
	}
	v := values{"marker": "m'; drop table o; --, longer than it may be", "key": `k"`}
	query, args := p.Counters["marked"].SQL.Statement(v)
	if query != "select count(*) from o where r = $1 and k in ($2, $3);" || !slices.Equal(args, []any{"m'; drop table o; --", `k"`, `k"`}) {
		t.Errorf("got %s with %q", query, args)
	}
	if query, _ := p.States["s"].SQL.Statement(v); query != "select a, b from o where r = ?" {
		t.Errorf("got %s", query)
	}
	if got := p.Counters["all"].SQL.Show(v); got != "SQLite x.db: select count(*) from o" {
		t.Errorf("shown as %s", got)
	}
	if got := p.Hooks["expire"].SQL.Show(v); got != `SQLite x.db: update k set expires_at = 0 where k = ? with ? = "k\""` {
		t.Errorf("shown as %s", got)
	}
}

// TestDSNIsSecret: neither the DSN nor its password, in any spelling, is shown by a mistake or left out of the secrets.
func TestDSNIsSecret(t *testing.T) {
	vars := map[string]string{"DSN": "postgres://app:s3cr%2Ft@db.example/x?sslmode=disable", "PASSWORD": "pa55word", "BAD": "postgres://app:s3cr/t@db.example/x", "UNKNOWN": "oracle://app:s3crt@db.example/x"}
	env := func(n string) (string, bool) { v, ok := vars[n]; return v, ok }
	text := func(dsn string) []byte {
		return []byte(withTop(`counters: {c: {sql: {dsn: "` + dsn + `", query: select 1}}}`))
	}
	p, err := Parse("p", text("${DSN}"), env, "db.example")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{vars["DSN"], "s3cr%2Ft", "s3cr/t"} {
		if !slices.Contains(p.Secrets, secret) {
			t.Errorf("%q is no secret: %q", secret, p.Secrets)
		}
	}
	if p, err = Parse("p", text("mysql://app:${PASSWORD}@localhost/x"), env); err != nil || !slices.Contains(p.Secrets, "pa55word") {
		t.Errorf("%v, %v", p, err)
	}
	if p, err = Parse("p", text("mysql://app:written@localhost/x"), env); err != nil || !slices.Contains(p.Secrets, "written") {
		t.Errorf("%v, %v", p, err)
	}
	if p, err = Parse("p", text("sqlite:${PASSWORD}.db"), env); err != nil || len(p.Secrets) > 0 {
		t.Errorf("the path of a file: %v, %v", p, err)
	}
	for _, dsn := range []string{"mysql://app:s3cr3t@db.example/x", "oracle://app:s3cr3t@localhost/x", "postgres://app:s3cr/3t@h/x", "postgres://localhost/x?password=s3cr3t"} {
		mistaken := strings.Replace(string(text(dsn)), "select 1}}}", "delete from o}}}", 1)
		if _, err := Parse("p", []byte(mistaken), env); err == nil || strings.Contains(pretty(err), "s3c") {
			t.Errorf("%s: %s", dsn, pretty(err))
		}
	}
	for _, dsn := range []string{"${DSN}", "${BAD}", "${UNKNOWN}"} {
		_, err := Parse("p", text(dsn), env)
		if err == nil || strings.Contains(pretty(err), "s3c") || strings.Contains(pretty(err), "app") {
			t.Errorf("%s: %s", dsn, pretty(err))
		}
	}
}

package count

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/database"
	"retrysafe/internal/database/dbtest"
	"retrysafe/internal/plan"
)

// given are the values of placeholders.
type given map[string]string

func (g given) Lookup(name string, _ int) string { return g[name] }

// planned is a plan with one counter, one state and one hook of the same query, but for what each may be.
func planned(t *testing.T, dsn, counter, state, hook string) *plan.Plan {
	t.Helper()
	text := fmt.Sprintf(`version: 1
target: http://127.0.0.1:1
counters: {c: {sql: {dsn: "${DSN}", query: %q}}}
states: {s: {sql: {dsn: "${DSN}", query: %q}}}
hooks: {expire: {sql: {dsn: "${DSN}", query: %q}}}
endpoints: [{name: a, request: POST /, setup: [{request: POST /, capture: {cart: $.id}}]}]
`, counter, state, hook)
	p, err := plan.Parse("p", []byte(text), func(string) (string, bool) { return dsn, true })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const someHook = "delete from orders where reference = {{key}}"

// TestSQLNeverSplices: marker, key and captures that a hostile server chose do nothing but be compared.
func TestSQLNeverSplices(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		const evil = `'; drop table orders; -- \'; drop table orders; --`
		d.Exec(t, "create table orders (id integer, reference varchar(100))")
		d.Exec(t, "insert into orders values (1, "+d.Engine.Parameter(1)+")", evil)
		d.Exec(t, "insert into orders values (2, 'other')")
		r := &Reader{Databases: d.Pool, Timeout: 30 * time.Second}
		for _, name := range []string{"marker", "key", "cart", "uuid", "email"} {
			p := planned(t, d.DSN, "select count(*) from orders where reference = {{"+name+"}}", "select id from orders where reference = {{"+name+"}}", someHook)
			v := given{name: evil}
			if got := r.Read(t.Context(), p.Counters["c"], v); got.N != 1 || got.Error != "" || got.Raw != "1" {
				t.Errorf("%s: %+v", name, got)
			}
			if got := r.ReadState(t.Context(), p.States["s"], v); got.Value != "1" || got.Error != "" || !strings.Contains(got.Source, "reference = "+d.Engine.Parameter(1)+" with ") {
				t.Errorf("%s: %+v", name, got)
			}
		}
		p := planned(t, d.DSN, "select 1", "select 1", someHook)
		if err := Statement(t.Context(), d.Pool, r.Timeout, p.Hooks["expire"].SQL, given{"key": evil}); err != nil {
			t.Error(err)
		}
		if n := d.Value(t, "select count(*) from orders"); n != int64(1) {
			t.Errorf("%v orders", n)
		}
		err := Statement(t.Context(), d.Pool, r.Timeout, p.Hooks["expire"].SQL, given{"key": evil})
		if err == nil || !strings.Contains(err.Error(), "expected a row to change, found none") {
			t.Errorf("nothing to expire: %v", err)
		}
	})
}

func TestSQLCounter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		d.Exec(t, "create table orders (id integer, total numeric(10, 2), reference varchar(40), made timestamp null)")
		d.Exec(t, "insert into orders values (1, 2.00, 'a', '2026-01-31 10:00:00')")
		d.Exec(t, "insert into orders values (2, 2.50, 'b', null)")
		r := &Reader{Databases: d.Pool, Timeout: 30 * time.Second}
		for _, c := range []struct {
			query, err, reason string
			want               int64
		}{
			{"select count(*) from orders", "", "a count", 2},
			{"select count(*) from orders where reference = {{marker}}", "", "of a marker", 1},
			{"select sum(id) from orders", "", "a sum, of another type in each database", 3},
			{"select sum(total) from orders where id = 1", "", "a decimal that is whole", 2},
			{"select sum(total) from orders", `expected a whole number, found "4.5`, "one that is not", 0},
			{"select reference from orders where id = 1", `expected a whole number, found "a"`, "a text", 0},
			{"select sum(id) from orders where id > 9", "found NULL", "a sum of nothing", 0},
			{"select id from orders where id > 9", "found no row: select count(*)", "no row", 0},
			{"select id from orders", "found more than one", "several rows", 0},
			{"select id, total from orders where id = 1", "found 2 (id, total)", "several columns", 0},
			{"select made from orders where id = 1", "expected a whole number, found", "a time", 0},
		} {
			p := planned(t, d.DSN, c.query, "select 1", someHook)
			got := r.Read(t.Context(), p.Counters["c"], given{"marker": "a"})
			if got.N != c.want || (got.Error == "") != (c.err == "") || !strings.Contains(got.Error, c.err) {
				t.Errorf("%s: %d, %q", c.reason, got.N, got.Error)
			}
			if !strings.HasPrefix(got.Source, d.Name+": select ") {
				t.Errorf("%s: source %q", c.reason, got.Source)
			}
		}
	})
}

func TestSQLState(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		d.Exec(t, "create table orders (id integer, reference varchar(5000), paid integer)")
		d.Exec(t, "insert into orders values (1, '<a> \"b\"', null)")
		d.Exec(t, "insert into orders values (2, "+d.Engine.Parameter(1)+", 1)", strings.Repeat("x", stateLimit+1))
		r := &Reader{Databases: d.Pool, Timeout: 30 * time.Second}
		for _, c := range []struct{ query, want, err, reason string }{
			{"select id from orders where id = 1", "1", "", "a number"},
			{"select reference from orders where id = 1", `"<a> \"b\""`, "", "a text"},
			{"select paid from orders where id = 1", "null", "", "null is a value"},
			{"select reference, id, paid from orders where id = 1", `{"id":1,"paid":null,"reference":"<a> \"b\""}`, "", "a row"},
			{"select paid, reference from orders where id = 2", `{"paid":1,"reference":"[4097 bytes, sha256 `, "", "a long column does not hide another"},
			{"select count(*) as n, max(paid) as paid from orders where id = 3", `{"n":0,"paid":null}`, "", "nothing there, as a state"},
			{"select id from orders where id = 3", "", "found no row: where that is a state too", "no row"},
			{"select id from orders", "", "found more than one", "several rows"},
			{"select id, paid as id from orders where id = 1", "", `found "id" twice`, "columns of one name"},
		} {
			p := planned(t, d.DSN, "select 1", c.query, someHook)
			got := r.ReadState(t.Context(), p.States["s"], nil)
			if !strings.HasPrefix(got.Value, c.want) || (got.Error == "") != (c.err == "") || !strings.Contains(got.Error, c.err) {
				t.Errorf("%s: %q, %q", c.reason, got.Value, got.Error)
			}
		}
	})
}

// TestHookOfOtherStatements: only what counts rows can find none.
func TestHookOfOtherStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		d.Exec(t, "create table orders (id integer, reference varchar(40))")
		for query, wants := range map[string]bool{
			"delete from orders": true, "drop table orders": true, "create table more (id integer)": true,
			"update orders set id = 1 where reference = {{key}}": false, "nonsense {{key}}": false,
		} {
			d.Exec(t, "drop table if exists orders")
			d.Exec(t, "create table orders (id integer, reference varchar(40))")
			p := planned(t, d.DSN, "select 1", "select 1", query)
			err := Statement(t.Context(), d.Pool, 30*time.Second, p.Hooks["expire"].SQL, given{"key": "k"})
			if (err == nil) != wants || err != nil && d.Engine != database.SQLite && !strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%s: %v", query, err)
			}
		}
	})
}

package database_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"retrysafe/internal/database"
	"retrysafe/internal/database/dbtest"
)

const timeout = 30 * time.Second

// hostile are values that a hostile server could answer with, and a plan capture.
var hostile = []string{
	"'; drop table orders; --", `\'; drop table orders; --`, `"; drop table orders; --`, "'); drop table orders; --", "1 or 1=1", "' or ''='",
	"$1", "?", "{{marker}}", "$$; drop table orders; $$", "*/ drop table orders; /*", "`; drop table orders; --", "%", "\u02bc; drop table orders; --",
}

// TestValuesAreNeverText: whatever a value holds, it is compared as it is, and the statement stays what it was.
func TestValuesAreNeverText(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		d.Exec(t, "create table orders (id integer, reference varchar(100))")
		d.Exec(t, "insert into orders values (1, 'plain')")
		for i, value := range hostile {
			d.Exec(t, fmt.Sprintf("insert into orders values (%d, %s)", i+2, d.Engine.Parameter(1)), value)
			query := "select count(*) from orders where reference = " + d.Engine.Parameter(1)
			if n := d.Value(t, query, value); n != int64(1) {
				t.Errorf("%q is counted as %v", value, n)
			}
			if _, err := d.Pool.Query(t.Context(), d.Database, timeout, 1, "select count(*) from orders where id = "+d.Engine.Parameter(1), []any{value}); err != nil &&
				!strings.Contains(err.Error(), "cast") {
				t.Errorf("%q against a number: %v", value, err)
			}
		}
		if n := d.Value(t, "select count(*) from orders"); n != int64(len(hostile)+1) {
			t.Errorf("%v rows", n)
		}
	})
}

// TestSettingsCannotUndoParameters: options of a DSN that would have a driver write values into the text are of no effect.
func TestSettingsCannotUndoParameters(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		option := map[database.Engine]string{
			database.PostgreSQL: "default_query_exec_mode=simple_protocol", database.MySQL: "interpolateParams=true&multiStatements=true", database.SQLite: "mode=rwc"}[d.Engine]
		sign := "?"
		if strings.Contains(d.DSN, "?") {
			sign = "&"
		}
		set, err := database.Parse(d.DSN+sign+option, "")
		if err != nil {
			t.Fatal(err)
		}
		pool := &database.Pool{}
		defer pool.Close()
		d.Exec(t, "create table orders (id integer)")
		// In quotes a parameter is text: a driver that fills it in would take the value for one.
		table, err := pool.Query(t.Context(), set, timeout, 1, "select '"+d.Engine.Parameter(1)+"'", []any{"'; drop table orders; --"})
		if err == nil && table.Rows[0][0] != d.Engine.Parameter(1) {
			t.Errorf("got %v", table.Rows)
		}
		if _, err = pool.Query(t.Context(), set, timeout, 1, "select 1; drop table orders", nil); err == nil && d.Engine != database.SQLite {
			t.Error("two statements were taken")
		}
		d.Value(t, "select count(*) from orders") // still there
	})
}

func TestReadingChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		d.Exec(t, "create table orders (id integer)")
		d.Exec(t, "insert into orders values (1)")
		for _, query := range []string{"delete from orders", "update orders set id = 2", "insert into orders values (2)", "drop table orders", "create table more (id integer)"} {
			_, err := d.Pool.Query(t.Context(), d.Database, timeout, 1, query, nil)
			if err == nil || !strings.Contains(err.Error(), "hooks") {
				t.Errorf("%s: %v", query, err)
			}
		}
		if id := d.Value(t, "select sum(id) from orders"); fmt.Sprintf("%s", id) != "1" && fmt.Sprint(id) != "1" {
			t.Errorf("orders are %v", id)
		}
	})
}

// TestTypes: a value is sent as text, and meets columns of other types where the database can tell what is meant.
func TestTypes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		uuid := "uuid"
		if d.Engine != database.PostgreSQL {
			uuid = "char(36)"
		}
		d.Exec(t, "create table typed (i integer, b bigint, n numeric(20, 2), u "+uuid+", v varchar(40), d date)")
		d.Exec(t, "insert into typed values (7, 9007199254740993, 12.50, '8a4f2a0e-6f0c-4f0e-9d7f-2f6b1f0a7c11', '7', '2026-01-31')")
		d.Exec(t, "insert into typed values (8, 9007199254740992, 12.51, '8a4f2a0e-6f0c-4f0e-9d7f-2f6b1f0a7c12', '07', '2026-02-01')")
		for _, c := range []struct{ column, value string }{
			{"i", "7"}, {"b", "9007199254740993"}, {"n", "12.50"}, {"u", "8a4f2a0e-6f0c-4f0e-9d7f-2f6b1f0a7c11"}, {"v", "7"}, {"d", "2026-01-31"},
		} {
			query := "select count(*) from typed where " + c.column + " = " + d.Engine.Parameter(1)
			if n := d.Value(t, query, c.value); n != int64(1) {
				t.Errorf("%s = %s: %v rows", c.column, c.value, n)
			}
		}
		_, err := d.Pool.Query(t.Context(), d.Database, timeout, 1, "select count(*) from typed where i = "+d.Engine.Parameter(1), []any{"r2d2"})
		if said := fmt.Sprint(err); d.Engine == database.PostgreSQL && !(strings.Contains(said, `"r2d2"`) && strings.Contains(said, "::text")) {
			t.Errorf("a text against a number: %v", err)
		}
	})
}

func TestExplain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		d.Exec(t, "create table orders (id integer)")
		for _, c := range []struct{ query, want string }{
			{"select count(*) from orderz", "orderz"},
			{"select count(*) from orderz", "correct the name"},
			{"select count(*) from orders where nothing = 1", "nothing"},
			{"select count(*) form orders", "correct the query"},
		} {
			_, err := d.Pool.Query(t.Context(), d.Database, timeout, 1, c.query, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", c.query, err)
			}
		}
		if _, err := d.Pool.Query(t.Context(), d.Database, timeout, 1, "select id from orders", nil); err != nil {
			t.Errorf("no row is no error here: %v", err)
		}
	})
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	for _, dsn := range []string{"postgres://u:s3cr3t@" + closed + "/x?sslmode=disable", "mysql://u:s3cr3t@" + closed + "/x", "sqlite:" + filepath.Join(t.TempDir(), "x.db")} {
		d, err := database.Parse(dsn, "")
		if err != nil {
			t.Fatal(err)
		}
		pool := &database.Pool{}
		_, err = pool.Query(t.Context(), d, timeout, 1, "select 1", nil)
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || !(strings.Contains(err.Error(), "connection refused: is it running") || strings.Contains(err.Error(), "start the service first")) {
			t.Errorf("%s: %v", d.Name, err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server of another kind, or one without the TLS that the DSN asks for, is no mistake in the query.
func TestAnotherServer(t *testing.T) {
	greeting := "\x0a8.0\x00\x01\x00\x00\x00saltsalt\x00\x00\x02" // of MySQL, which offers no TLS
	greeting = "\x64\x00\x00\x00" + greeting + strings.Repeat("\x00", 0x64-len(greeting))
	for _, c := range []struct {
		dsn, want string
		says      string
	}{
		{"postgres://u:s3cr3t@%s/x?sslmode=disable", "unexpected message", greeting},
		{"postgres://u:s3cr3t@%s/x?sslmode=require", "refused TLS", "N"},
		{"mysql://u:s3cr3t@%s/x?tls=true", "does not support TLS", greeting},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, c.says)
				_, _ = io.Copy(io.Discard, conn) // until the client has had enough
				_ = conn.Close()
			}
		}()
		d, err := database.Parse(fmt.Sprintf(c.dsn, l.Addr()), "")
		if err != nil {
			t.Fatal(err)
		}
		pool := &database.Pool{}
		_, err = pool.Query(t.Context(), d, timeout, 1, "select 1", nil)
		said := fmt.Sprint(err)
		if !strings.Contains(said, "cannot connect to "+d.Name) || !strings.Contains(said, c.want) || !strings.Contains(said, "check host and port") ||
			strings.Contains(said, "query") || strings.Contains(said, "user=") || strings.Contains(said, "%!") {
			t.Errorf("%s: %v", c.dsn, err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		_ = l.Close()
		<-done
	}
}

// TestWrongPassword needs a server that asks for one; MariaDB's root has an empty one, which another is not.
func TestWrongPassword(t *testing.T) {
	address := os.Getenv("RETRYSAFE_TEST_MYSQL")
	if address == "" {
		t.Skip("RETRYSAFE_TEST_MYSQL is not set: it holds the DSN of a server for tests")
	}
	_, rest, _ := strings.Cut(address, "@tcp(")
	host, _, _ := strings.Cut(rest, ")")
	d, err := database.Parse("mysql://nobody:s3cr3t@"+host+"/test", "")
	if err != nil {
		t.Fatal(err)
	}
	pool := &database.Pool{}
	defer pool.Close()
	_, err = pool.Query(t.Context(), d, timeout, 1, "select 1", nil)
	if err == nil || !strings.Contains(err.Error(), "check user and password") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%v", err)
	}
}

// TestHang: a server that accepts connections and says nothing holds up each statement for the timeout, and after three of
// them for a tenth of it.
func TestHang(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, dsn := range []string{"postgres://u:s3cr3t@" + l.Addr().String() + "/x?sslmode=disable", "mysql://u:s3cr3t@" + l.Addr().String() + "/x"} {
		d, err := database.Parse(dsn, "")
		if err != nil {
			t.Fatal(err)
		}
		pool := &database.Pool{}
		const wait = 400 * time.Millisecond
		for i := range 5 {
			start := time.Now()
			_, err := pool.Query(t.Context(), d, wait, 1, "select 1", nil)
			took := time.Since(start)
			if err == nil || !strings.Contains(err.Error(), "no answer from "+d.Name+" within") || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%d: %v", i, err)
			}
			if short := took < wait; short != (i >= 3) {
				t.Errorf("%s: number %d took %s", d.Name, i+1, took)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := pool.Query(ctx, d, wait, 1, "select 1", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupt is %v", err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSlow: a slow query ends with the timeout, and the next one is answered.
func TestSlow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		slow := map[database.Engine]string{
			database.PostgreSQL: "select pg_sleep(60)", database.MySQL: "select sleep(60)",
			database.SQLite: "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"}[d.Engine]
		start := time.Now()
		_, err := d.Pool.Query(t.Context(), d.Database, 300*time.Millisecond, 1, slow, nil)
		if err == nil || !strings.Contains(err.Error(), "no answer from") || time.Since(start) > 20*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if n := d.Value(t, "select 1"); n != int64(1) {
			t.Errorf("then %v", n)
		}
	})
}

// TestCloseLeavesNothing: no connection and no goroutine of a pool outlives it.
func TestCloseLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		before := goleak.IgnoreCurrent()
		pool := &database.Pool{}
		if _, err := pool.Query(t.Context(), d.Database, timeout, 1, "select 1", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Exec(t.Context(), d.Database, timeout, "create table orders (id integer)", nil); err != nil {
			t.Fatal(err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, before)
	})
}

// TestExecCountsRows: an update that finds a row and leaves it as it is has found it.
func TestExecCountsRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		d.Exec(t, "create table keys_of (k varchar(20), expires_at integer)")
		d.Exec(t, "insert into keys_of values ('a', 1)")
		for key, want := range map[string]int64{"a": 1, "b": 0} {
			n, err := d.Pool.Exec(t.Context(), d.Database, timeout, "update keys_of set expires_at = 1 where k = "+d.Engine.Parameter(1), []any{key})
			if err != nil || n != want {
				t.Errorf("%s: %d rows, %v", key, n, err)
			}
		}
	})
}

// Package dbtest gives a test a database of its own on each kind of server that there is: SQLite always, PostgreSQL and
// MariaDB where RETRYSAFE_TEST_POSTGRES and RETRYSAFE_TEST_MYSQL hold DSNs of a user who may create databases.
package dbtest

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/database"
)

// timeout is far more than any statement of a test takes.
const timeout = 30 * time.Second

// Database is empty when a test gets it, and dropped behind it.
type Database struct {
	*database.Database
	DSN string
	// Pool is for the test's own statements.
	Pool *database.Pool
}

// Each runs f with a database of each kind, as a subtest of the engine's name, and skips those that are not to be had.
func Each(t *testing.T, f func(t *testing.T, d Database)) {
	t.Run(string(database.SQLite), func(t *testing.T) {
		d, _ := SQLite(t)
		f(t, d)
	})
	t.Run(string(database.PostgreSQL), func(t *testing.T) { f(t, Postgres(t)) })
	t.Run(string(database.MySQL), func(t *testing.T) { f(t, onServer(t, "RETRYSAFE_TEST_MYSQL")) })
}

// SQLite is a database in a file.
func SQLite(t *testing.T) (d Database, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, "sqlite:"+file), file
}

// Postgres is a database on the PostgreSQL server; the test is skipped where there is none.
func Postgres(t *testing.T) Database { return onServer(t, "RETRYSAFE_TEST_POSTGRES") }

func onServer(t *testing.T, variable string) Database {
	t.Helper()
	dsn := os.Getenv(variable)
	if dsn == "" {
		t.Skipf("%s is not set: it holds the DSN of a server for tests", variable)
	}
	server := open(t, dsn)
	name := "retrysafe_" + strings.ToLower(rand.Text()[:12])
	server.Exec(t, "create database "+name)
	d := open(t, with(dsn, name))
	t.Cleanup(func() {
		_ = d.Pool.Close() // before the database goes
		server.Exec(t, "drop database "+name)
	})
	return d
}

// with is a DSN with another name of the database.
func with(dsn, name string) string {
	before, options, has := strings.Cut(dsn, "?")
	before = before[:strings.LastIndex(before, "/")+1] + name
	if has {
		before += "?" + options
	}
	return before
}

func open(t *testing.T, dsn string) Database {
	t.Helper()
	d, err := database.Parse(dsn, "")
	if err != nil {
		t.Fatal(err)
	}
	pool := &database.Pool{}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return Database{d, dsn, pool}
}

// Exec sends a statement of the test itself.
func (d Database) Exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := d.Pool.Exec(context.Background(), d.Database, timeout, query, args); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Value is the one value that a query gives.
func (d Database) Value(t *testing.T, query string, args ...any) any {
	t.Helper()
	table, err := d.Pool.Query(context.Background(), d.Database, timeout, 1, query, args)
	if err != nil || len(table.Rows) != 1 || len(table.Columns) != 1 {
		t.Fatalf("%s: %v, %v", query, table, err)
	}
	return table.Rows[0][0]
}

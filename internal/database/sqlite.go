package database

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// parseSQLite reads what follows the scheme: a path, with // in front or without, and options behind a ?.
func parseSQLite(rest, dir string) (*Database, error) {
	path, query, _ := strings.Cut(rest, "?")
	if after, ok := strings.CutPrefix(path, "//"); ok {
		path = strings.TrimPrefix(after, "localhost/")
		if path != after {
			path = "/" + path
		}
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	options, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("expected sqlite:FILE, with options as ?name=value, found other options")
	}
	if path == "" || strings.Contains(path, ":memory:") || options.Get("mode") == "memory" {
		return nil, errors.New("expected sqlite:FILE, found no file: a database in another process's memory cannot be seen from here")
	}
	for _, ours := range []string{"mode", "cache", "_txlock"} {
		options.Del(ours)
	}
	d := &Database{Engine: SQLite, Name: "SQLite " + filepath.ToSlash(path), file: path, options: options.Encode()}
	if !filepath.IsAbs(path) {
		d.file = filepath.Join(dir, path)
	}
	return d, nil
}

// openSQLite never makes a file that is not there. Who has the database locked is waited for.
func (d *Database) openSQLite(write bool, timeout time.Duration) (*sql.DB, error) {
	options, err := url.ParseQuery(d.options)
	if err != nil {
		return nil, err
	}
	options.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", timeout.Milliseconds()))
	options.Set("mode", "rw")
	if !write {
		options.Set("mode", "ro")
		options.Add("_pragma", "query_only(1)")
	}
	path := (&url.URL{Path: filepath.ToSlash(d.file)}).EscapedPath()
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: path, RawQuery: options.Encode()}).String())
}

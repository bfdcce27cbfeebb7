// Package database asks PostgreSQL, MySQL (MariaDB) and SQLite. Parse reads a DSN, Check looks at a statement before it is
// sent anywhere, and a Pool sends statements: those that read in a way in which the database refuses to change anything.
// What goes wrong is said in words that never hold the DSN.
//
// Values are parameters of the statement, always: the wire carries them beside its text, and every setting of a DSN that
// would make a driver write them into the text is switched off.
package database

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
)

// Engine is a kind of database, as people call it.
type Engine string

// The engines. MySQL stands for MariaDB too.
const (
	PostgreSQL Engine = "PostgreSQL"
	MySQL      Engine = "MySQL"
	SQLite     Engine = "SQLite"
)

// Parameter is what stands for the n-th parameter of a statement, counted from 1.
func (e Engine) Parameter(n int) string {
	if e == PostgreSQL {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

// Database is where statements are sent. Parse makes one; the zero value cannot be used.
type Database struct {
	Engine Engine
	// Name is for people: the engine, its host and the database, or the file; neither user nor password.
	Name string
	// Hosts are the addresses that are connected to; empty for a file or a socket on this machine.
	Hosts []Host
	// Secrets are the password as it is and as it is written, and the DSN with it; empty where there is no password.
	Secrets []string

	dsn      string
	postgres *pgx.ConnConfig
	mysql    *mysql.Config
	file     string // of SQLite, with its folder
	options  string // of SQLite, as in a URI
}

// Host is a name or an IP address without brackets, and a port.
type Host struct{ Name, Port string }

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)

// Parse reads a DSN: postgres://, postgresql://, mysql:// and mariadb:// URLs, what the Go driver of MySQL calls its DSN
// (user:password@tcp(host:port)/database), and sqlite:FILE, sqlite3:FILE or file:FILE, relative to dir. The error says what
// was expected and never holds more of the DSN than its scheme.
func Parse(dsn, dir string) (*Database, error) {
	var d *Database
	var err error
	name := ""
	if found := scheme.FindStringSubmatch(dsn); found != nil {
		name = strings.ToLower(found[1])
	}
	isURL := strings.HasPrefix(strings.TrimPrefix(dsn[len(name):], ":"), "//")
	switch {
	case slices.Contains([]string{"postgres", "postgresql"}, name) && isURL:
		d, err = parsePostgres(dsn)
	case slices.Contains([]string{"mysql", "mariadb"}, name) && isURL:
		d, err = parseMySQLURL(dsn)
	case slices.Contains([]string{"sqlite", "sqlite3", "file"}, name):
		d, err = parseSQLite(dsn[len(name)+1:], dir)
	case isURL && name != "":
		return nil, fmt.Errorf("%s, found a URL of scheme %s", expectedDSN, name)
	case strings.Contains(dsn, "/") && strings.Contains(dsn, "@"):
		d, err = parseMySQL(dsn)
	default:
		return nil, fmt.Errorf("%s, found something else; a file is written as sqlite:FILE", expectedDSN)
	}
	if err != nil {
		return nil, err
	}
	d.dsn = dsn
	d.Secrets = secretsOf(dsn, d.Secrets)
	return d, nil
}

const expectedDSN = "expected a DSN such as postgres://USER:PASSWORD@HOST/DATABASE, mysql://USER:PASSWORD@HOST/DATABASE or sqlite:FILE"

// secretsOf are the passwords and, where there is one, the DSN.
func secretsOf(dsn string, passwords []string) []string {
	var found []string
	for _, p := range passwords {
		if p != "" && !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	if len(found) > 0 {
		found = append(found, dsn)
	}
	return found
}

// userInfo is what stands before the host of a URL, its password as it is written. It refuses a URL in which it cannot be
// told where that ends: taken for a host, a part of the password would be shown.
func userInfo(dsn string) (password string, err error) {
	_, rest, _ := strings.Cut(dsn, "://")
	authority, tail := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, tail = rest[:end], rest[end:]
	}
	at := strings.LastIndex(authority, "@")
	if strings.Contains(tail, "@") {
		return "", errURL
	}
	if at < 0 {
		return "", nil
	}
	_, password, _ = strings.Cut(authority[:at], ":")
	return password, nil
}

// Hidden is the part of a DSN, be it right or wrong, in which a password would stand: from the first colon of what is
// before the last @. Empty when there is none.
func Hidden(dsn string) string {
	if _, rest, ok := strings.Cut(dsn, "://"); ok {
		dsn = rest
	}
	at := strings.LastIndex(dsn, "@")
	if at < 0 {
		return ""
	}
	_, hidden, _ := strings.Cut(dsn[:at], ":")
	return hidden
}

var errURL = errors.New("expected a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE, found one that cannot be read: " +
	"check host and port, and write / ? # @ and % in user, password and options as %2F %3F %23 %40 and %25")

// named is the name of a database on a host.
func named(e Engine, where, database string) string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s/%s", e, where, database), "/")
}

package database

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// The next step for each kind of trouble.
const (
	nextStart    = "is it running, and the address in the dsn right?"
	nextPassword = "check user and password in the dsn"
	nextBase     = "check the name of the database in the dsn"
	nextCast     = "values are sent as text or as the column's type: cast the other side, such as cast(id as char(40)) = {{id}}"
	nextReadOnly = "counters and states only read: what changes something belongs to `hooks`"
	nextGrant    = "grant it to the user of the dsn, or take another user"
	nextServer   = "check host and port in the dsn, that such a server is there, and what the dsn says of TLS (sslmode, tls)"
	nextQuery    = "correct the query, and try it by hand"
)

// tables is how the tables of a database are listed.
func (e Engine) tables() string {
	switch e {
	case PostgreSQL:
		return `correct the name, or write its schema; \dt *.* in psql lists tables`
	case MySQL:
		return "correct the name; `show tables` lists them"
	}
	return "correct the name; .tables in sqlite3 lists them"
}

// explain says what a database's error means and what to do; the database's own words are kept.
func (d *Database) explain(err error) error {
	var pg *pgconn.PgError
	var my *mysql.MySQLError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &pg):
		return words(pg.Message, postgresNext(pg.Code))
	case errors.As(err, &my):
		return words(my.Message, mysqlNext(my.Number))
	case errors.As(err, &lite):
		return d.explainSQLite(lite)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		cause := op.Err
		var call *os.SyscallError
		if errors.As(op.Err, &call) {
			cause = call.Err
		}
		return fmt.Errorf("cannot connect to %s: %w: %s", d.Name, cause, nextStart)
	}
	for _, broken := range []error{driver.ErrBadConn, mysql.ErrInvalidConn, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, broken) {
			return fmt.Errorf("the connection to %s broke off: is it running?", d.Name)
		}
	}
	if why := unconnected(err); why != "" {
		return words("cannot connect to "+d.Name+": "+why, nextServer)
	}
	return words(err.Error(), nextQuery)
}

// unconnected says why a server that took the connection is none that statements can be sent to: one of another kind, or one that
// does not speak TLS as the DSN wants it. Empty where that is not the trouble.
func unconnected(err error) string {
	var pg *pgconn.ConnectError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &pg):
		return strings.ReplaceAll(pg.Unwrap().Error(), ": %!w(<nil>)", "") // without the user, and what the driver adds where it has no cause
	case errors.Is(err, mysql.ErrNoTLS), errors.As(err, &certificate):
		return err.Error()
	}
	return ""
}

// words is an error of one line and what to do about it.
func words(message, next string) error {
	message = strings.Join(strings.Fields(message), " ")
	if next == "" {
		next = nextQuery
	}
	return fmt.Errorf("%s: %s", strings.TrimSuffix(message, "."), next)
}

// postgresNext knows error codes of PostgreSQL, appendix A of its manual.
func postgresNext(code string) string {
	switch code {
	case "28P01", "28000":
		return nextPassword
	case "3D000":
		return nextBase
	case "42P01":
		return PostgreSQL.tables()
	case "42883", "42804", "22P02", "22003", "22007", "42P18", "42P08", "22008":
		return "a placeholder is sent as the type of what it is compared with: cast that, as in id::text = {{id}}, or the placeholder, as in {{id}}::bigint"
	case "25006":
		return nextReadOnly
	case "42501":
		return nextGrant
	case "53300":
		return "the server has no connection left: close others, or raise max_connections"
	case "57P01", "57P02", "57P03":
		return nextStart
	}
	return nextQuery
}

// mysqlNext knows error numbers of MySQL, which MariaDB shares.
func mysqlNext(number uint16) string {
	switch number {
	case 1045, 1698:
		return nextPassword
	case 1044, 1142, 1143, 1227:
		return nextGrant
	case 1046, 1049:
		return nextBase
	case 1146:
		return MySQL.tables()
	case 1792:
		return nextReadOnly
	case 1193:
		return "options of the dsn that the driver does not know are set as variables: take it out of the dsn"
	case 1366, 1292:
		return nextCast
	case 1040, 1203:
		return "the server has no connection left: close others, or raise max_connections"
	case 1053, 1077, 1927:
		return nextStart
	}
	return nextQuery
}

// explainSQLite knows result codes of SQLite; the low byte is the primary one.
func (d *Database) explainSQLite(err *sqlite.Error) error {
	message := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	switch err.Code() & 0xff {
	case 5, 6:
		return words(message, "another process holds the database for too long: raise limits.count, or use journal_mode=WAL there")
	case 8:
		return words(message, nextReadOnly)
	case 14:
		return noFile(d)
	case 26:
		return words(message, "check the path in the dsn")
	}
	if strings.HasPrefix(message, "no such table") {
		return words(message, SQLite.tables())
	}
	return words(message, nextQuery)
}

func noFile(d *Database) error {
	return fmt.Errorf("expected a database file at %s, found none that can be opened: start the service first, or correct the path in the dsn (paths start at the plan's folder)", d.file)
}

func tooLate(d *Database, timeout, wait time.Duration) error {
	before := ""
	if wait < timeout {
		before = fmt.Sprintf(" (and none to those before it within %s)", timeout)
	}
	return fmt.Errorf("no answer from %s within %s%s: check that it is reachable and the query fast, or raise limits.count (for hooks, limits.request)",
		d.Name, wait, before)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

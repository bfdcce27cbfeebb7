package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// parseMySQL reads the driver's own form.
func parseMySQL(dsn string) (*Database, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil || strings.ContainsAny(cfg.DBName, "@:()") { // the driver takes what is behind the last slash for the database
		return nil, errors.New("expected USER:PASSWORD@tcp(HOST:PORT)/DATABASE, as the Go driver of MySQL has it, found something else: " +
			"write the port, or a URL, mysql://USER:PASSWORD@HOST/DATABASE")
	}
	return mysqlDatabase(cfg, cfg.Passwd)
}

// tlsModes are what the command-line clients of MySQL call what its Go driver has other names for.
var tlsModes = map[string]string{
	"disable": "false", "disabled": "false", "preferred": "preferred", "prefer": "preferred",
	"require": "skip-verify", "required": "skip-verify", "verify_identity": "true", "verify-full": "true",
}

// parseMySQLURL reads a URL as most other tools write it; its options are those of the driver, and ssl-mode.
func parseMySQLURL(dsn string) (*Database, error) {
	written, err := userInfo(dsn)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(dsn)
	if err != nil || strings.ContainsAny(u.Host, "()") || u.Fragment != "" {
		return nil, errURL
	}
	options := u.Query()
	for _, name := range []string{"ssl-mode", "sslmode", "ssl_mode"} {
		if !options.Has(name) {
			continue
		}
		mode, known := tlsModes[strings.ToLower(options.Get(name))]
		if !known {
			return nil, fmt.Errorf("expected %s DISABLED, PREFERRED, REQUIRED or VERIFY_IDENTITY, found another one", name)
		}
		options.Del(name)
		options.Set("tls", mode)
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "3306"
	}
	cfg, err := mysql.ParseDSN("tcp(" + net.JoinHostPort(host, port) + ")/?" + options.Encode())
	if err != nil {
		return nil, errors.New("expected options that the Go driver of MySQL has, found others: see its documentation, or leave them out")
	}
	password, _ := u.User.Password()
	cfg.User, cfg.Passwd, cfg.DBName = u.User.Username(), password, strings.TrimPrefix(u.Path, "/")
	return mysqlDatabase(cfg, written)
}

func mysqlDatabase(cfg *mysql.Config, written string) (*Database, error) {
	d := &Database{Engine: MySQL, mysql: cfg, Secrets: []string{cfg.Passwd, written}}
	switch cfg.Net {
	case "unix":
	case "tcp":
		host, port, err := net.SplitHostPort(cfg.Addr)
		if err != nil {
			return nil, errors.New("expected USER:PASSWORD@tcp(HOST:PORT)/DATABASE, found another address: write host and port")
		}
		d.Hosts = []Host{{host, port}}
	default:
		return nil, errors.New("expected tcp(HOST:PORT) or unix(PATH) in the DSN, found another network")
	}
	d.Name = named(MySQL, cfg.Addr, cfg.DBName)
	return d, nil
}

// openMySQL switches off whatever could put a parameter into the text of a statement, send several statements, or send a
// file of this machine. An update counts the rows that it found, also those that it left as they were.
func (d *Database) openMySQL(write bool, timeout time.Duration) (*sql.DB, error) {
	cfg := d.mysql.Clone()
	cfg.InterpolateParams, cfg.MultiStatements, cfg.AllowAllFiles = false, false, false
	cfg.ParseTime, cfg.ClientFoundRows = false, true
	// The context of each statement ends it, a rollback has none; a time-out that is as long would be reported first at random.
	cfg.Timeout, cfg.ReadTimeout, cfg.WriteTimeout = 2*timeout, 2*timeout, 2*timeout
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, errors.New("expected a DSN that the Go driver of MySQL takes, found another one: check its options")
	}
	if !write {
		connector = readOnly{connector}
	}
	return sql.OpenDB(connector), nil
}

// readOnly makes every connection one on which transactions only read. The transactions of a Pool say so themselves, which
// alone lets MariaDB run a DROP TABLE: that ends the transaction first.
type readOnly struct{ driver.Connector }

func (r readOnly) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := c.(driver.ExecerContext).ExecContext(ctx, "SET SESSION TRANSACTION READ ONLY", nil); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

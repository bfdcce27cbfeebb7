package database

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// parsePostgres leaves to the driver what a URL means, so that what is checked is what will be connected to: options,
// PG* variables, password and service files count too.
func parsePostgres(dsn string) (*Database, error) {
	written, err := userInfo(dsn)
	if err != nil {
		return nil, err
	}
	cfg, err := pgx.ParseConfig(dsn)
	switch {
	case err != nil && strings.Contains(err.Error(), "sslmode is invalid"):
		return nil, errors.New("expected sslmode disable, allow, prefer, require, verify-ca or verify-full, found another one")
	case err != nil && (strings.Contains(err.Error(), "TLS") || strings.Contains(err.Error(), "sslrootcert")):
		return nil, errors.New("expected readable PEM files in sslrootcert, sslcert and sslkey, found something else: check their paths")
	case err != nil:
		return nil, errURL
	}
	d := &Database{Engine: PostgreSQL, postgres: cfg, Secrets: []string{cfg.Password, written, option(dsn, "password")}}
	where := cfg.Host
	d.addPostgresHost(cfg.Host, cfg.Port)
	for _, f := range cfg.Fallbacks {
		d.addPostgresHost(f.Host, f.Port)
	}
	if len(d.Hosts) > 0 {
		where = net.JoinHostPort(d.Hosts[0].Name, d.Hosts[0].Port)
	}
	d.Name = named(PostgreSQL, where, cfg.Database)
	return d, nil
}

// addPostgresHost leaves sockets out: a path, or a name in Linux's abstract namespace.
func (d *Database) addPostgresHost(name string, port uint16) {
	h := Host{name, fmt.Sprint(port)}
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "@") {
		return
	}
	for _, known := range d.Hosts {
		if known == h {
			return
		}
	}
	d.Hosts = append(d.Hosts, h)
}

// option is the value of an option of a URL as it is written.
func option(dsn, name string) string {
	_, query, _ := strings.Cut(dsn, "?")
	values, _ := url.ParseQuery(query)
	return values.Get(name)
}

// openPostgres has every statement described before it is executed: the server says of which types its parameters are, and
// nothing is cached that a migration or a pooler in between could make wrong.
func (d *Database) openPostgres(timeout time.Duration) *sql.DB {
	cfg := d.postgres.Copy()
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	cfg.StatementCacheCapacity, cfg.DescriptionCacheCapacity = 0, 0
	cfg.ConnectTimeout = 2 * timeout // the context of each statement ends it before
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "retrysafe"
	}
	return stdlib.OpenDB(*cfg)
}

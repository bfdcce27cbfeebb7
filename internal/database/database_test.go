package database

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Setenv("PGHOST", "")
	for _, c := range []struct{ dsn, name, hosts, secrets, reason string }{
		{"postgres://u:p4ssw0rd@127.0.0.1:5432/shop", "PostgreSQL 127.0.0.1:5432/shop", "127.0.0.1:5432", "p4ssw0rd", "a URL"},
		{"postgresql://u:p%40ss%2Fword@db.example/shop?sslmode=disable", "PostgreSQL db.example:5432/shop", "db.example:5432", "p@ss/word p%40ss%2Fword", "escaped, with the default port"},
		{"postgres://u@a:1,b:2/shop?sslmode=disable", "PostgreSQL a:1/shop", "a:1 b:2", "", "two hosts"},
		{"postgres://u@/shop?host=db.example&password=s3cr3t&sslmode=disable", "PostgreSQL db.example:5432/shop", "db.example:5432", "s3cr3t", "host and password as options"},
		{"postgres:///shop?host=/run/postgresql&user=u", "PostgreSQL /run/postgresql/shop", "", "", "a socket"},
		{"postgres://u@[::1]:5432/shop?sslmode=disable", "PostgreSQL [::1]:5432/shop", "::1:5432", "", "IPv6"},
		{"mysql://u:p%40ss@db.example/shop", "MySQL db.example:3306/shop", "db.example:3306", "p@ss p%40ss", "a URL"},
		{"mariadb://u@[::1]:3307/shop?ssl-mode=REQUIRED&charset=utf8mb4", "MySQL [::1]:3307/shop", "::1:3307", "", "with options"},
		{"u:p@ss/w(o)rd@tcp(db.example:3307)/shop?parseTime=true", "MySQL db.example:3307/shop", "db.example:3307", "p@ss/w(o)rd", "the driver's form"},
		{"u@/shop", "MySQL 127.0.0.1:3306/shop", "127.0.0.1:3306", "", "its default"},
		{"u@unix(/run/mysqld.sock)/shop", "MySQL /run/mysqld.sock/shop", "", "", "a socket"},
		{"sqlite:shop.db", "SQLite shop.db", "", "", "a file beside the plan"},
		{"sqlite3:///var/shop.db?mode=rw", "SQLite /var/shop.db", "", "", "an absolute one"},
		{"sqlite://data/shop.db", "SQLite data/shop.db", "", "", "a relative one"},
		{"file:/var/a%20b.db?cache=shared", "SQLite /var/a b.db", "", "", "as SQLite writes it"},
		{"file://localhost/var/shop.db", "SQLite /var/shop.db", "", "", "with a host"},
	} {
		d, err := Parse(c.dsn, "folder")
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		var hosts []string
		for _, h := range d.Hosts {
			hosts = append(hosts, h.Name+":"+h.Port)
		}
		if got := strings.Join(hosts, " "); d.Name != c.name || got != c.hosts {
			t.Errorf("%s: got %s on %q", c.reason, d.Name, got)
		}
		var secrets []string
		if c.secrets != "" {
			secrets = append(strings.Fields(c.secrets), c.dsn)
		}
		if !slices.Equal(d.Secrets, secrets) {
			t.Errorf("%s: secrets %q, want %q", c.reason, d.Secrets, secrets)
		}
	}
	d, err := Parse("sqlite:data/shop.db", "folder")
	if err != nil || d.file != filepath.Join("folder", "data", "shop.db") {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestParseMistakes(t *testing.T) {
	const secret = "s3cr3t"
	for _, c := range []struct{ dsn, want, reason string }{
		{"redis://u:s3cr3t@h/0", "found a URL of scheme redis", "no database for SQL"},
		{"postgresql+asyncpg://u:s3cr3t@h/x", "found a URL of scheme postgresql+asyncpg", "another library's scheme"},
		{"shop.db", "sqlite:FILE", "no scheme"},
		{"", "expected a DSN", "nothing"},
		{"host=h password=s3cr3t", "expected a DSN such as postgres://", "libpq's other form"},
		{"postgres://u:s3cr3t/x@h/shop", "%2F", "a slash in the password"},
		{"postgres://u:12#s3cr3t@h/shop", "%23", "a hash in the password, that looks like a port before it"},
		{"postgres://u:s3cr3t@h:port/shop", "check host and port", "no port"},
		{"postgres://u:s3cr3t@h/shop?sslmode=s3cr3t", "expected sslmode", "no such mode"},
		{"postgres://u:s3cr3t@h/shop?sslmode=verify-full&sslrootcert=/no/s3cr3t", "PEM files", "no certificate"},
		{"mysql://u:s3cr3t?x@h/shop", "%3F", "a question mark in the password"},
		{"mysql://u:s3cr3t@h/shop?ssl-mode=s3cr3t", "expected ssl-mode", "no such mode"},
		{"mysql://u:s3cr3t@h/shop?timeout=s3cr3t", "expected options", "no duration"},
		{"u:s3cr3t@tcp(h/shop", "expected USER:PASSWORD@tcp(HOST:PORT)/DATABASE", "no closing parenthesis"},
		{"u:s3cr3t@carrier-pigeon(h)/shop", "expected", "another network"},
		{"sqlite::memory:", "found no file", "in memory"},
		{"file:x?mode=memory", "found no file", "in memory too"},
		{"sqlite:", "found no file", "nothing"},
		{"sqlite:x?%zz", "expected sqlite:FILE, with options", "no options"},
	} {
		d, err := Parse(c.dsn, "")
		if err == nil {
			t.Errorf("%s: read as %+v", c.reason, d)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}

// FuzzParse: no DSN, however broken, has its password shown in the error or in the name.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"postgres://u:%s@127.0.0.1/x", "mysql://u:%s@h:1/x?a=b", "u:%s@tcp(h:1)/x", "postgres://u:1/%s@h", "/:%s@", "file:%s", "a://%s"} {
		f.Add(seed)
	}
	const secret = "Z9q7Z9q7Z9q7"
	f.Fuzz(func(t *testing.T, form string) {
		i := strings.Index(form, "%s")
		if i < 1 || form[i-1] != ':' || strings.Contains(form, secret) {
			return
		}
		at := strings.Index(form[i:], "@")
		if at < 0 || strings.HasPrefix(form, "file:") || strings.HasPrefix(form, "sqlite") || strings.ContainsAny(form[i:i+at], "()") {
			return // no password
		}
		d, err := Parse(form[:i]+secret+form[i+2:], "")
		shown := fmt.Sprint(err)
		if d != nil {
			shown = d.Name + fmt.Sprint(d.Hosts)
		}
		if strings.Contains(shown, secret) {
			t.Errorf("%s: %s", form, shown)
		}
	})
}

package plan

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"retrysafe/internal/database"
	"retrysafe/internal/strict"
)

// SQL is one statement and the database that it is sent to.
type SQL struct {
	// Database is where the dsn points.
	Database *database.Database
	// Query is the statement. Its placeholders are sent as parameters: Render is not for it.
	Query Template

	dsn strict.Text
}

// Statement is the text that is sent and the values of its parameters, one for each placeholder in order. The text is the
// same whatever the values are.
func (s *SQL) Statement(v Values) (query string, args []any) {
	var out strings.Builder
	for _, p := range s.Query.parts {
		if p.name == "" {
			out.WriteString(p.text)
			continue
		}
		args = append(args, p.value(v))
		out.WriteString(s.Database.Engine.Parameter(len(args)))
	}
	return out.String(), args
}

// Show is the statement for people, in one line: where it is sent, its text, and its values beside it.
func (s *SQL) Show(v Values) string {
	query, args := s.Statement(v)
	shown := s.Database.Name + ": " + strings.Join(strings.Fields(query), " ")
	for i, a := range args {
		between := ", "
		if i == 0 {
			between = " with "
		}
		shown += fmt.Sprintf("%s%s = %q", between, s.Database.Engine.Parameter(i+1), a)
	}
	return shown
}

// sql reads a `sql`. reading is true where the statement may change nothing.
func (d *decoder) sql(v strict.Value, allowed names, reading bool) *SQL {
	o := v.Object("dsn", "query")
	s := &SQL{dsn: o.Require("dsn").Text()}
	query := o.Require("query").Text()
	s.Query = parseTemplate(query, allowed)
	if s.dsn.Value == "" {
		if o.Get("dsn").Kind() == strict.String {
			o.Get("dsn").Errorf("expected a DSN such as postgres://USER:PASSWORD@HOST/DATABASE or sqlite:FILE, found an empty text")
		}
		return s
	}
	d.doc.Hide(database.Hidden(s.dsn.Value))
	var err error
	if s.Database, err = database.Parse(s.dsn.Value, filepath.Dir(s.dsn.Pos().File)); err != nil {
		s.dsn.Errorf(0, len([]rune(s.dsn.Source())), "%v", err)
		return s
	}
	for _, secret := range s.Database.Secrets {
		d.doc.Hide(secret)
	}
	if s.Database.Engine == database.SQLite {
		d.public = append(d.public, s.dsn.Variables()...) // a path is shown, nothing else is in it
	}
	if o.Get("query").Kind() != strict.String {
		return s
	}
	for _, m := range database.Check(s.Database.Engine, query.Value, placeholdersIn(query), reading) {
		query.Errorf(m.Offset, m.Width, "%s", m.Message)
	}
	return s
}

// placeholdersIn is where placeholders stand in a text.
func placeholdersIn(t strict.Text) []database.Span {
	var found []database.Span
	for at := 0; ; {
		open := nextOpen(t, at)
		if open < 0 {
			return found
		}
		end := strings.Index(t.Value[open:], "}}")
		if end < 0 {
			return found
		}
		at = open + end + 2
		found = append(found, database.Span{Start: open, End: at})
	}
}

// sqls are all statements of the plan.
func (p *Plan) sqls() []*SQL {
	var found []*SQL
	add := func(s *SQL) {
		if s != nil && s.Database != nil {
			found = append(found, s)
		}
	}
	for _, c := range p.Counters {
		add(c.SQL)
	}
	for _, s := range p.States {
		add(s.SQL)
	}
	for _, h := range p.Hooks {
		add(h.SQL)
	}
	return found
}

// checkDatabases notes databases on hosts that are not allowed.
func (c *completion) checkDatabases() {
	for _, s := range c.plan.sqls() {
		for _, h := range s.Database.Hosts {
			if !c.plan.hostAllowed(h.Name, h.Port) {
				c.hostMistake(s.dsn.Pos(), len([]rune(s.dsn.Source())), net.JoinHostPort(h.Name, h.Port))
			}
		}
	}
}

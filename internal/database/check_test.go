package database

import (
	"strings"
	"testing"
)

// spans are the placeholders of a text.
func spans(text string) []Span {
	var found []Span
	for at := 0; ; {
		i := strings.Index(text[at:], "{{")
		if i < 0 {
			return found
		}
		end := strings.Index(text[at+i:], "}}")
		if end < 0 {
			return found
		}
		found = append(found, Span{at + i, at + i + end + 2})
		at += i + end + 2
	}
}

func TestCheck(t *testing.T) {
	const all = "all"
	for _, c := range []struct {
		engine Engine // all for each of them
		query  string
		want   string // a part of each message, in order; empty for none
		reason string
	}{
		{all, "select count(*) from orders where reference = {{marker}}", "", "as it should be"},
		{all, "SELECT count(*) FROM orders WHERE reference={{marker:20}} AND k IN ({{key}},{{uuid}});\n", "", "several, close to signs, a semicolon at the end"},
		{all, "select count(*) from o where r = {{marker}} -- it's a comment\n and s = 'it''s' /* ' */", "", "quotes in comments, and doubled ones"},
		{all, "with a as (select 1) select count(*) from a", "", "with"},
		{all, "(select 1)", "", "in parentheses"},
		{all, "select count(*) from o where r = '{{marker}}'", "drop the quotes", "the usual mistake"},
		{all, "select count(*) from o where r = ' {{marker}} '", "drop the quotes", "with blanks"},
		{all, "select count(*) from o where r like '%{{marker}}%'", "to add text, write", "a part of a text"},
		{all, "select count(*) from o where r = 'it''s {{marker}}'", "to add text, write", "behind a doubled quote"},
		{all, `select count(*) from o where "{{marker}}" = r`, "drop the quotes", "double quotes"},
		{all, "select count(*) from o_{{marker}}", "to stand alone", "a part of a name"},
		{all, "select count(*) from o where r = {{marker}}x", "to stand alone", "joined to a word"},
		{all, "select count(*) from o where r = {{marker}}{{key}}", "to stand alone|to stand alone", "joined to each other"},
		{all, "select count(*) from o -- where r = {{marker}}", "in a comment", "in a comment"},
		{all, "select count(*) /* {{marker}} */ from o", "in a comment", "in another comment"},
		{all, "select 1; drop table o", "expected one statement", "two statements"},
		{all, "select 1;;", "", "empty statements"},
		{all, "select 1; -- done", "", "a comment behind it"},
		{all, "select count(*) from o where r = 'x", "expected the end of the quote", "not closed"},
		{all, "select count(*) /* from o", "expected the end of the comment", "not closed either"},
		{all, " ", "expected a statement", "empty"},
		{all, "-- all\nDELETE from o", "found delete", "no query"},
		{all, "select 'é' where r = {{marker}}", "", "letters beyond ASCII"},

		{PostgreSQL, "select {{marker}}::text, a[1], '{1}'::int[], b ? 'c', x'1f' from o", "", "casts, arrays, operators"},
		{PostgreSQL, `select 'a\' , {{marker}}`, "", "a backslash is itself"},
		{PostgreSQL, `select E'it\'s {{marker}}'`, "to add text, write 'text'", "and escapes behind E"},
		{PostgreSQL, "select $$ {{marker}} $$, $a$ $$ {{key}} $a$", "drop the quotes|to add text", "dollar quotes"},
		{PostgreSQL, "select count(*) from o where r = $1", "found the parameter $1", "a parameter of its own"},
		{PostgreSQL, "select a$1 from o", "", "a name"},
		{PostgreSQL, "/* a /* b */ {{marker}} */ select 1", "in a comment", "comments nest"},

		{MySQL, `select 'it\'s', {{marker}}`, "", "a backslash escapes"},
		{MySQL, `select 'it\'s {{marker}}'`, "write concat('text', {{marker}})", "and the text goes on"},
		{MySQL, "select `{{marker}}`", "drop the quotes", "a quoted name"},
		{MySQL, "select 5--{{marker}}", "", "minus minus"},
		{MySQL, "select 1 # {{marker}}", "in a comment", "a comment of its own kind"},
		{MySQL, "select count(*) from o where r = ?", "found the parameter ?", "a parameter of its own"},
		{MySQL, "select @a := 1, {{marker}}", "", "a variable"},

		{SQLite, "select [{{marker}}] from o", "drop the quotes", "a name in brackets"},
		{SQLite, "select ?, ?1, :a, @b, $c", "parameter ?|parameter ?1|parameter :a|parameter @b|parameter $c", "parameters of its own"},
		{SQLite, `select 'a\' , {{marker}}`, "", "a backslash is itself"},
	} {
		engines := []Engine{c.engine}
		if c.engine == all {
			engines = []Engine{PostgreSQL, MySQL, SQLite}
		}
		for _, e := range engines {
			found := Check(e, c.query, spans(c.query), true)
			var want []string
			if c.want != "" {
				want = strings.Split(c.want, "|")
			}
			ok := len(found) == len(want)
			for i := 0; ok && i < len(want); i++ {
				ok = strings.Contains(found[i].Message, want[i])
			}
			if !ok {
				t.Errorf("%s, %s: %s\ngot %v, want %q", e, c.reason, c.query, found, want)
			}
		}
	}
	if found := Check(SQLite, "update o set a = 1 where k = {{key}}", spans("update o set a = 1 where k = {{key}}"), false); len(found) > 0 {
		t.Errorf("a hook may change something: %v", found)
	}
}

// FuzzCheck: whatever the text is, every mistake has a place in it, and what is accepted has its placeholders outside of
// quotes and comments, as a much simpler reading of SQLite's rules sees them.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"select 'a''b', {{m}} -- {{k}}\n, \"{{m}}\"", "select [{{a}}] /* x */ $$ {{b}} $$ ; x", "{{a}}{{b}}", "E'\\' `{{x}}` # ?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := spans(text)
		for _, e := range []Engine{PostgreSQL, MySQL, SQLite} {
			for _, m := range Check(e, text, at, true) {
				if m.Offset < 0 || m.Offset > len(text) || m.Width < 0 || m.Message == "" {
					t.Errorf("%s: %+v", e, m)
				}
			}
		}
		if len(Check(SQLite, text, at, true)) > 0 {
			return
		}
		for _, s := range at {
			if strings.Count(text[:s.Start], "'")%2 == 1 && !strings.ContainsAny(text[:s.Start], "\"`[-/") {
				t.Errorf("%q is accepted with a placeholder at %d", text, s.Start)
			}
		}
	})
}

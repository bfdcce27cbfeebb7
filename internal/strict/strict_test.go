package strict_test

import (
	"errors"
	"strings"
	"testing"

	"retrysafe/internal/strict"
)

func env(vars map[string]string) strict.Env {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// walk reads every field of a small schema, so that each accessor is met.
func walk(doc *strict.Document) {
	o := doc.Root().Object("text", "int", "float", "time", "size", "enum", "bool", "list", "map", "pick", "form")
	o.Get("text").Text()
	o.Get("int").Int(1, 9)
	o.Get("float").Float(0, 2)
	o.Get("time").Duration()
	o.Get("size").Size()
	o.Get("enum").Enum("create", "method")
	o.Get("bool").Bool()
	o.Get("list").Texts()
	for _, e := range o.Get("map").Entries() {
		e.Value.Scalar()
	}
	if o.Has("pick") {
		o.Get("pick").Object("a", "b").OneOf("choice", "a", "b")
	}
	if o.Has("form") {
		o.Get("form").Object("must").Require("must")
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		reason, text, want string
	}{
		{"nothing at all", "", `f:1:1: the file is empty`},
		{"comments only", "# x\n", "f:1:1: the file is empty\n1 | # x\n  | ^"},
		{"explicit null document", "---\n", "f:2:1: expected a mapping, found nothing"},
		{"two documents", "text: a\n---\ntext: b\n", "f:2:1: expected one document, found a second one: remove the `---` or split the file\n2 | ---\n  | ^"},
		{"tab", "map:\n\ta: 1\n", "f:2:1: invalid YAML: found character that cannot start any token while scanning for the next token (a tab cannot indent YAML: use spaces)\n2 |  a: 1\n  | ^"},
		{"second colon", "text: a: b\n", "f:1:8: invalid YAML: mapping values are not allowed in this context (a value that holds `: ` must be quoted)\n1 | text: a: b\n  |        ^"},
		{"at sign", "text: @a\n", "f:1:7: invalid YAML: found character that cannot start any token while scanning for the next token (a value that starts with @ must be quoted)\n1 | text: @a\n  |       ^"},
		{"bracket in flow", "map: {a: $.x[, b: c}\n", "f:1:13: invalid YAML: did not find expected ',' or '}' while parsing a flow mapping (inside [...] and {...} a value that holds [ ] { } or , must be quoted)"},
		{"variable in flow", "map: {a: ${X}}\n", "f:1:11: invalid YAML: did not find expected ',' or '}' while parsing a flow mapping (a value that holds ${...} or {{...}} must be quoted inside [...] and {...}, and where it starts with {{)\n1 | map: {a: ${X}}\n  |           ^"},
		{"bytes that are no UTF-8", "text: \"a\xff\"\n", "f:1:9: expected UTF-8, found the byte 0xff: save the file as UTF-8\n1 | text: \"a\ufffd\"\n  |         ^"},
		{"control character", "text: \"a\x1b\"\n", "f:1:9: expected text, found the control character U+001B: remove it\n1 | text: \"a?\"\n  |         ^"},
		{"duplicate", "int: 1\nint: 2\n", "f:2:1: duplicate field \"int\", the first one is in line 1: remove one\n2 | int: 2\n  | ^~~"},
		{"alias", "text: &x a\nlist: [*x]\n", "f:2:8: aliases are not supported, found *x: write the value out\n2 | list: [*x]\n  |        ^~"},
		{"alias within its anchor", "map: &x {a: *x}\n", "f:1:13: aliases are not supported, found *x: write the value out"},
		{"merge key", "map:\n  <<: {a: 1}\n", "f:2:3: merge keys are not supported: write the fields out\n2 |   <<: {a: 1}\n  |   ^~"},
		{"tag", "int: !!int 5\n", "f:1:6: tags are not supported, found !!int: write the plain value\n1 | int: !!int 5\n  |      ^~~~~"},
		{"placeholder not quoted", "map: {a: {{marker}}}\n", "f:1:11: expected a field name, found a mapping: quote placeholders (\"{{marker}}\")"},
		{"list as key", "? [a]\n: b\n", "f:1:3: expected a field name, found a list\n1 | ? [a]\n  |   ^"},
		{"unknown field", "itn: 1\n", "f:1:1: unknown field \"itn\"; did you mean \"int\"? (known: text, int, float, time, size, enum, bool, list, map, pick, form)\n1 | itn: 1\n  | ^~~"},
		{"far from any field", "zzzzzz: 1\n", "f:1:1: unknown field \"zzzzzz\" (known: text, int,"},
		{"text for a number", "text: 5\n", "f:1:7: expected text, found the number 5: quote it\n1 | text: 5\n  |       ^"},
		{"text for a list", "text: [a]\n", "f:1:7: expected text, found a list\n1 | text: [a]\n  |       ^"},
		{"text without value", "text:\n", "f:1:6: expected text, found nothing\n1 | text:\n  |      ^"},
		{"number for a list", "int: [1]\n", "f:1:6: expected a whole number, found a list"},
		{"number as text", "int: \"5\"\n", "f:1:6: expected a whole number, found the text \"5\"\n1 | int: \"5\"\n  |      ^~~"},
		{"number out of range", "int: 10\n", "f:1:6: expected a number from 1 to 9, found \"10\"\n1 | int: 10\n  |      ^~"},
		{"not whole", "int: 1.5\n", "f:1:6: expected a whole number, found the number 1.5"},
		{"float out of range", "float: 0\n", "f:1:8: expected a number above 0 and up to 2, found \"0\""},
		{"not a number", "float: .nan\n", "f:1:8: expected a number above 0 and up to 2, found \".nan\""},
		{"no unit", "time: 30\n", "f:1:7: expected a duration with a unit, found \"30\": write 30s, 30ms or 30m\n1 | time: 30\n  |       ^~"},
		{"days", "time: 7d\n", "f:1:7: expected a duration such as 30s, 15m or 24h, found \"7d\": write days as hours"},
		{"no duration", "time: soon\n", "f:1:7: expected a duration such as 30s, 15m or 24h, found \"soon\"\n1 | time: soon\n  |       ^~~~"},
		{"negative", "time: -1s\n", "f:1:7: expected a duration above zero, found \"-1s\""},
		{"duration list", "time: [1s]\n", "f:1:7: expected a duration such as 30s, found a list"},
		{"size", "size: 1 mile\n", "f:1:7: expected a size such as 64KiB or 1MiB, found \"1 mile\""},
		{"size of nothing", "size: 0\n", "f:1:7: expected a size from 1 byte to 1024GiB, found \"0\""},
		{"size beyond all", "size: 99999999999999999999GiB\n", "f:1:7: expected a size from 1 byte to 1024GiB"},
		{"enum", "enum: craete\n", "f:1:7: expected create or method, found \"craete\"; did you mean \"create\"?\n1 | enum: craete\n  |       ^~~~~~"},
		{"enum mapping", "enum: {a: b}\n", "f:1:7: expected create or method, found a mapping"},
		{"truth", "bool: maybe\n", "f:1:7: expected true or false, found the text \"maybe\""},
		{"list", "list: a\n", "f:1:7: expected a list, found the text \"a\""},
		{"item", "list: [a, [b]]\n", "f:1:11: expected text, found a list"},
		{"mapping", "map: [a]\n", "f:1:6: expected a mapping, found a list"},
		{"none of the choices", "pick: {}\n", "f:1:7: expected a choice: a or b"},
		{"two choices", "pick: {a: 1, b: 2}\n", "f:1:14: expected one choice, found both a and b\n1 | pick: {a: 1, b: 2}\n  |              ^"},
		{"missing", "form: {}\n", "f:1:7: missing field \"must\"\n1 | form: {}\n  |       ^"},
		{"unset variable", "text: é ${NOPE}\n", "f:1:9: variable NOPE is not set: export NOPE=..., or give a default with ${NOPE:-value}\n1 | text: é ${NOPE}\n  |         ^~~~~~~"},
		{"bad variable name", "text: ${1X}\n", "f:1:7: expected ${NAME} or ${NAME:-default}, found ${1X}: names have letters, digits and _"},
		{"open variable", "text: a ${X\n", "f:1:9: expected } after ${, found the end of the value: close it, or write $${ for the two characters"},
		{"value of a variable is not shown", "int: ${SECRET}\n", "f:1:6: expected a whole number, found the text \"${SECRET}\"\n1 | int: ${SECRET}\n  |      ^~~~~~~~~"},
		{"nor in a duration", "time: ${SECRET}\n", "f:1:7: expected a duration such as 30s, 15m or 24h, found \"${SECRET}\""},
		{"wide characters", "{\"世界\": 1, \"é\": 2}\n", "f:1:2: unknown field \"世界\""},
		{"several, in order", "int: x\ntime: 5\ntexd: a\n", "f:1:6: expected a whole number, found the text \"x\"\n1 | int: x\n  |      ^\nf:2:7: expected a duration with a unit, found \"5\": write 5s, 5ms or 5m\n2 | time: 5\n  |       ^\nf:3:1: unknown field \"texd\"; did you mean \"text\"?"},
		{"windows line ends", "text: a\r\nint: x\r\n", "f:2:6: expected a whole number, found the text \"x\"\n2 | int: x\n  |      ^"},
		{"byte order mark", "\ufeffint: x\n", "f:1:6: expected a whole number, found the text \"x\"\n1 | int: x\n  |      ^"},
		{"caret behind wide characters", "map: {\"世界\": []}\n", "f:1:13: expected text or a number, found a list\n1 | map: {\"世界\": []}\n  |               ^"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			doc := strict.Parse("f", []byte(c.text), env(map[string]string{"SECRET": "hunter22"}))
			walk(doc)
			var got strict.Errors
			if !errors.As(doc.Err(), &got) {
				t.Fatalf("no mistake found in %q", c.text)
			}
			if !strings.HasPrefix(got.Pretty(), c.want) {
				t.Errorf("got\n%s\nwant\n%s", got.Pretty(), c.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	doc := strict.Parse("", []byte("text: !!str 5\nint: ${N}\nfloat: 0.5\ntime: 1m30s\nsize: 64KiB\nenum: method\nbool: yes\nlist: [a, b]\nmap: {x: 1, y: true}\n"),
		env(map[string]string{"N": "7"}))
	o := doc.Root().Object("text", "int", "float", "time", "size", "enum", "bool", "list", "map")
	if got := o.Get("text").Text().Value; got != "5" {
		t.Errorf("text %q", got)
	}
	if got := o.Get("int").Int(1, 9); got != 7 {
		t.Errorf("int %d", got)
	}
	if got := o.Get("float").Float(0, 1); got != 0.5 {
		t.Errorf("float %g", got)
	}
	if got := o.Get("time").Duration().Seconds(); got != 90 {
		t.Errorf("time %g s", got)
	}
	if got := o.Get("size").Size(); got != 65536 {
		t.Errorf("size %d", got)
	}
	if got := o.Get("enum").Enum("create", "method"); got != "method" {
		t.Errorf("enum %q", got)
	}
	if !o.Get("bool").Bool() {
		t.Error("bool is false")
	}
	if got := o.Get("list").Texts(); len(got) != 2 || got[1].Value != "b" {
		t.Errorf("list %v", got)
	}
	entries := o.Get("map").Entries()
	if len(entries) != 2 || entries[1].Key.Value != "y" || entries[1].Value.Scalar().Value != "true" {
		t.Errorf("map %v", entries)
	}
	if err := doc.Err(); err != nil {
		t.Error(err)
	}
}

func TestAbsentNotesNothing(t *testing.T) {
	doc := strict.Parse("", []byte("{}"), nil)
	walk(doc)
	if err := doc.Err(); err != nil {
		t.Error(err)
	}
}

func TestVariables(t *testing.T) {
	vars := env(map[string]string{"A": "one", "EMPTY": "", "YAML": "x: [y", "N": "5"})
	for _, c := range []struct{ reason, text, want string }{
		{"set", "${A}", "one"},
		{"within", "a-${A}-b", "a-one-b"},
		{"default not needed", "${A:-two}", "one"},
		{"default", "${NOPE:-two}", "two"},
		{"empty takes the default", "${EMPTY:-two}", "two"},
		{"empty default", "x${NOPE:-}y", "xy"},
		{"set and empty", "x${EMPTY}y", "xy"},
		{"escaped", "$${A}", "${A}"},
		{"dollar alone", "5$ $x", "5$ $x"},
		{"structure cannot be injected", "${YAML}", "x: [y"},
		{"not twice", "${N}${A}", "5one"},
	} {
		doc := strict.Parse("", []byte("v: \""+c.text+"\""), vars)
		if got := doc.Root().Object("v").Get("v").Text().Value; got != c.want || doc.Err() != nil {
			t.Errorf("%s: got %q, %v; want %q", c.reason, got, doc.Err(), c.want)
		}
	}
	doc := strict.Parse("", []byte("v: ${NOPE}"), nil)
	if got := doc.Root().Object("v").Get("v").Text().Value; got != "${NOPE}" || doc.Err() != nil {
		t.Errorf("without a lookup: got %q, %v", got, doc.Err())
	}
}

func TestUsedVariables(t *testing.T) {
	doc := strict.Parse("", []byte("a: ${A}\nb: [\"${B:-x}\"]\n"), env(map[string]string{"A": "one"}))
	got := doc.Variables()
	want := []strict.Variable{{Name: "A", Value: "one", FromEnv: true}, {Name: "B", Value: "x"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
	if names := doc.Root().Variables(); strings.Join(names, " ") != "A B" {
		t.Errorf("names %v", names)
	}
}

// TestPlaces looks for the @ in a scalar and expects its place in the file.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		line, col    int
	}{
		{"plain", "v: ab@\n", 1, 6},
		{"plain over two lines", "v: ab\n   cd@\n", 2, 6},
		{"double-quoted", "v: \"ab@\"\n", 1, 7},
		{"behind escapes", `v: "\"\x41\u00e9\n@"` + "\n", 1, 19},
		{"behind a continued line", "v: \"a\\\n   b@\"\n", 2, 5},
		{"single-quoted", "v: 'it''s @'\n", 1, 11},
		{"literal block", "v: |\n  a\n\n   b@\n", 4, 5},
		{"folded block", "v: >-\n  a\n  b\n\n  @\n", 5, 3},
		{"behind wide characters", "v: 世界😀@\n", 1, 7},
		{"behind a variable", "v: ${X} @\n", 1, 9},
		{"behind an escaped dollar", "v: $${X} @\n", 1, 10},
		{"with a tag", "v: !!str a@\n", 1, 11},
	} {
		doc := strict.Parse("f", []byte(c.text), env(map[string]string{"X": "a much longer value"}))
		v := doc.Root().Object("v").Get("v").Text()
		if got := v.At(strings.Index(v.Value, "@")); got.Line != c.line || got.Col != c.col || got.File != "f" {
			t.Errorf("%s: got %s, want %d:%d; %v", c.reason, got, c.line, c.col, doc.Err())
		}
		at := strings.Index(v.Value, "@")
		if got := v.Slice(at, len(v.Value)).Pos(); got.Line != c.line || got.Col != c.col {
			t.Errorf("%s, sliced: got %s, want %d:%d", c.reason, got, c.line, c.col)
		}
	}
}

func TestTextKeepsVariablesApart(t *testing.T) {
	doc := strict.Parse("f", []byte("v: a${X}b${Y}\n"), env(map[string]string{"X": "11", "Y": "22"}))
	v := doc.Root().Object("v").Get("v").Text()
	if v.Value != "a11b22" || v.Source() != "a${X}b${Y}" {
		t.Errorf("value %q, source %q", v.Value, v.Source())
	}
	var literal []bool
	for i := range v.Value {
		literal = append(literal, v.Literal(i))
	}
	for i, want := range []bool{false, true, true, false, true, true} {
		if literal[i] != want {
			t.Errorf("byte %d: literal is %v", i, literal[i])
		}
	}
	if part := v.Slice(2, 5); part.Value != "1b2" || part.Source() != "${X}b${Y}" || strings.Join(part.Variables(), " ") != "X Y" {
		t.Errorf("part %q, source %q, variables %v", part.Value, part.Source(), part.Variables())
	}
	if part := v.Slice(3, 4); part.Value != "b" || part.Source() != "b" {
		t.Errorf("part %q, source %q", part.Value, part.Source())
	}
}

func TestLongLinesAreCut(t *testing.T) {
	text := "list: [" + strings.Repeat("a, ", 100) + "[b], " + strings.Repeat("c, ", 100) + "]\n"
	doc := strict.Parse("f", []byte(text), nil)
	doc.Root().Object("list").Get("list").Texts()
	var got strict.Errors
	if !errors.As(doc.Err(), &got) {
		t.Fatal("no mistake found")
	}
	lines := strings.Split(got.Pretty(), "\n")
	if len(lines) != 3 || len(lines[1]) > 90 || lines[1][strings.Index(lines[2], "^"):][:3] != "[b]" {
		t.Errorf("got\n%s", got.Pretty())
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"orders", "mails", "id"}
	for _, c := range []struct{ reason, name, want string }{
		{"one letter missing", "order", `; did you mean "orders"?`},
		{"swapped", "mials", `; did you mean "mails"?`},
		{"short", "ix", `; did you mean "id"?`},
		{"nothing near", "payments", ""},
		{"empty", "", ""},
		{"longer than any name", strings.Repeat("x", 500), ""},
	} {
		if got := strict.DidYouMean(c.name, known); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func FuzzStrict(f *testing.F) {
	for _, seed := range []string{"text: a\nint: ${N}\n", "map: {a: [1, \"${X:-y}\"]}\n", "a: |\n  x\n", "é: 'it''s'\r\n", "a: &x [*x]\n", "---\n...\n", "\ufeff? - a\n: \"\\x41\\\n  b\"\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 { // visit takes the square of it
			t.Skip("too long for a check that takes the square of the length")
		}
		doc := strict.Parse("f", []byte(text), func(name string) (string, bool) { return name, len(name)%2 == 0 })
		walk(doc)
		visit(doc.Root())
		lines := 1 + strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text), "\n")
		for _, e := range doc.Errors() {
			if e.Line < 1 || e.Line > lines || e.Col < 1 || e.Col > len([]rune(e.Source))+1 || e.Pretty() == "" {
				t.Errorf("%s is outside of the file of %d lines", e, lines)
			}
		}
	})
}

// visit asks for the place of every byte.
func visit(v strict.Value) {
	switch v.Kind() {
	case strict.List:
		for _, item := range v.List() {
			visit(item)
		}
	case strict.Mapping:
		for _, e := range v.Entries() {
			visit(e.Value)
		}
	case strict.String:
		t := v.Text()
		for i := range t.Value {
			t.Errorf(i, 1, "here")
		}
	}
}

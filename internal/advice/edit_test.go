package advice

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/trace"
)

const sample = `version: 1
target: http://127.0.0.1:1
limits: {count: 5s}
counters:
  orders: {http: "GET /n", value: $.n}   # by hand
endpoints:
  - name: one
    request: POST /one
    ignore: {json: [$.a]}
  - {name: two, request: POST /two}
`

func TestLocated(t *testing.T) {
	tests := []struct {
		endpoint, text string
		want           string
		indent         int
		replaces, into int
		braces         bool
		reason         string
	}{
		{"one", "settle: 1s", "settle: 1s", 4, 0, 0, false, "new in an endpoint"},
		{"two", "settle: 1s", "settle: 1s", 5, 0, 0, true, "new in an endpoint in braces"},
		{"", "hooks: {a: {exec: [b]}}", "hooks: {a: {exec: [b]}}", 0, 0, 0, false, "new at the top level"},
		{"one", "ignore: {json: [$.b], headers: [X]}", "ignore: {json: [$.a, $.b], headers: [X]}", 4, 9, 0, false, "lists and mappings keep what they have"},
		{"", "limits: {count: 9s, wait: 1s}", "limits: {count: 9s, wait: 1s}", 0, 3, 0, false, "a value is replaced"},
		{"", "counters: {mails: {exec: [x]}}", "mails: {exec: [x]}", 2, 0, 4, false, "an entry goes into a mapping in lines, which keeps its comments"},
		{"", "counters: {orders: {value: $.m}}", `orders: {http: "GET /n", value: $.m}`, 2, 5, 0, false, "an entry that is there is not added again, and the others stay"},
	}
	for _, tt := range tests {
		got, err := located([]byte(sample), Edit{tt.endpoint, tt.text})
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		if got.Text != tt.want || got.Indent != tt.indent || got.Replaces != tt.replaces || got.Into != tt.into || got.Braces != tt.braces || got.Top != (tt.endpoint == "") {
			t.Errorf("%s: got %+v, want %q at column %d, replaces %d, into %d", tt.reason, got, tt.want, tt.indent, tt.replaces, tt.into)
		}
	}
}

func TestApply(t *testing.T) {
	out, err := apply([]byte(sample), Edit{"one", "ignore: {json: [$.b]}"}, Edit{"two", "required: true"}, Edit{"", "limits: {wait: 9s}"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ignore: {json: [$.a, $.b]}", "required: true", "limits: {count: 5s, wait: 9s}", `http: "GET /n"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	for _, tt := range []struct{ plan, endpoint, text string }{
		{sample, "three", "a: b"}, {sample, "one", "a: b\nc: d"}, {sample, "one", "["}, {"[", "one", "a: b"}, {"- 1\n", "", "a: b"}, {"endpoints: 1\n", "one", "a: b"},
	} {
		if out, err := apply([]byte(tt.plan), Edit{tt.endpoint, tt.text}); err == nil {
			t.Errorf("%q into %q of %q gave\n%s", tt.text, tt.endpoint, tt.plan, out)
		}
	}
}

// TestFiles: a field goes into the file that declares its endpoint or has it already, and the line says which.
func TestFiles(t *testing.T) {
	files := []File{
		{"main.yaml", []byte("version: 1\ninclude: [part.yaml]\nendpoints:\n  - {name: one, request: POST /one}\n")},
		{"part.yaml", []byte("# ours\ncallers:\n    me: {headers: {A: b}}\nendpoints:\n- name: two\n  request: POST /two\n  settle: 1s\n")},
	}
	for _, tt := range []struct {
		reason   string
		edit     Edit
		want     trace.PlanLine
		in       int
		contains string
	}{
		{"an endpoint of the plan's own file", Edit{"one", "required: true"}, trace.PlanLine{Text: "required: true", Indent: 5, Braces: true}, 0, "required: true"},
		{"an endpoint of an included file", Edit{"two", "required: true"}, trace.PlanLine{Text: "required: true", File: "part.yaml", Indent: 2}, 1, "required: true"},
		{"a field that stands there", Edit{"two", "settle: 2s"}, trace.PlanLine{Text: "settle: 2s", File: "part.yaml", Indent: 2, Replaces: 7}, 1, "settle: 2s"},
		{"a field of no file", Edit{"", "hooks: {a: {exec: [b]}}"}, trace.PlanLine{Text: "hooks: {a: {exec: [b]}}", Top: true}, 0, "hooks:"},
		{"callers beside those of an included file", Edit{"", "callers: {bob: {cert: x}}"}, trace.PlanLine{Text: "bob: {cert: x}", File: "part.yaml", Top: true, Indent: 4, Into: 2}, 1, "bob: {cert: x}"},
	} {
		if got, err := locatedIn(files, tt.edit); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, %v", tt.reason, got, err)
		}
		out, err := Apply(files, tt.edit)
		if err != nil || !strings.Contains(string(out[tt.in].Text), tt.contains) || string(out[1-tt.in].Text) != string(files[1-tt.in].Text) {
			t.Errorf("%s: got %s, %v", tt.reason, out, err)
		}
	}
	if _, err := Apply(files, Edit{"three", "a: b"}); err == nil {
		t.Error("an endpoint of no file got a field")
	}
}

// FuzzEdit puts any field into any plan: what comes out is YAML with that field, or it is an error.
func FuzzEdit(f *testing.F) {
	f.Add(sample, "one", "ignore: {json: [$.b]}")
	f.Add(sample, "", "limits: {a: [1, {b: 2}]}")
	f.Add("a: &x [1]\nendpoints: [{name: one, b: *x}]\n", "one", "b: [*x]")
	f.Add("? [a]\n: 1\n", "", "{a: b}: c")
	f.Add("", "", "a: b")
	f.Add("endpoints:\n  - name: one\n    text: |\n      lines\n      more\n", "one", "text: {a: \"b\\nc\"}")
	f.Fuzz(func(t *testing.T, plan, endpoint, text string) {
		line, err := located([]byte(plan), Edit{endpoint, text})
		if err == nil && strings.Contains(line.Text, "\n") && line.Text != text {
			t.Errorf("more than a line: %q", line.Text)
		}
		out, err := apply([]byte(plan), Edit{endpoint, text})
		if err != nil {
			return
		}
		var doc yaml.Node
		if err := yaml.Load(out, &doc); err != nil {
			t.Errorf("no YAML: %v\n%s", err, out)
			return
		}
		field, _, _ := parsed(text)
		at := place(&doc, endpoint)
		if at == nil || get(at, field) == nil {
			t.Errorf("no field %q in\n%s", field, out)
		}
	})
}

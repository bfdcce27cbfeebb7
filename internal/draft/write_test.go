package draft

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
)

var update = flag.Bool("update", false, "write the expected files anew")

// written is a draft as a plan.
func written(t testing.TB, d Draft) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// read is a plan that must be a good one, with a target on loopback and all variables set.
func read(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse("retrysafe.yaml", []byte(text), env)
	var wrong strict.Errors
	if errors.As(err, &wrong) {
		t.Fatalf("%s\nin\n%s", wrong.Pretty(), text)
	} else if err != nil {
		t.Fatal(err)
	}
	return p
}

func env(name string) (string, bool) {
	if name == TargetVariable {
		return "http://127.0.0.1:8080", true
	}
	return "value-of-" + name, name != "RETRYSAFE_BRACES"
}

func TestWrite(t *testing.T) {
	got := written(t, sample(t))
	if *update {
		if err := os.WriteFile("testdata/sample.yaml", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/sample.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s", got)
	}
	for _, line := range strings.Split(got, "\n") {
		if n := utf8.RuneCountInString(line); n > commentWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	p := read(t, got)
	create, refund, cancelled, imported := p.Endpoints[0], p.Endpoints[1], p.Endpoints[2], p.Endpoints[3]
	for _, have := range []struct{ what, is, want string }{
		{"name", create.Name, "create order"},
		{"request", refund.Request.String(), "POST /orders/{{order}}/refunds"},
		{"key", create.Key.In + " " + create.Key.Name, "header Idempotency-Key"},
		{"body", rendered(t, create.Body), `{"qty":1,"reference":"<marker>","address":{"street":"12 Main St","zip":"01234"}}`},
		{"other body", rendered(t, create.OtherBody), `{"qty":2,"reference":"<marker>","address":{"street":"12 Main St","zip":"01234"}}`},
		{"form", rendered(t, refund.Body), "amount=500&note=yes&on=2024-01-01"},
		{"text", rendered(t, imported.Body), "<order>\n  <qty>1</qty>\n</order>"},
		{"set-up", refund.Setup[1].Capture["order"], "$.id"},
		{"cleanup", create.Cleanup.Request.String(), "DELETE /orders/{{id}}"},
		{"counter", create.Counters[0].Name, "orders"},
		{"list", p.Counters["orders"].HTTP.Length, "$.items"},
		{"number", p.Counters["payments"].HTTP.Value, "$.count"},
		{"states", strings.Join(cancelled.States, ","), "refund,shop"},
		{"state", p.States["refund"].Request.String() + p.States["refund"].Value, "GET /orders/{{order}}/refunds/{{refund}}"},
		{"first caller", p.Callers[0].Name, "first"},
		{"tags", strings.Join(create.Tags, ","), "orders"},
	} {
		if have.is != have.want {
			t.Errorf("%s: got %s, want %s", have.what, have.is, have.want)
		}
	}
	if !create.Required || !create.RequiredSet || refund.Required {
		t.Error("required is not what the draft says")
	}
}

// rendered is a body with <name> for each placeholder.
func rendered(t testing.TB, b plan.Body) string {
	t.Helper()
	text, err := b.Render(angled{})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type angled struct{}

func (angled) Lookup(name string, _ int) string { return "<" + name + ">" }

// TestOrder: fields stand in the order in which plans are best written.
func TestOrder(t *testing.T) {
	for _, e := range sample(t).Endpoints {
		n, err := e.node()
		if err != nil {
			t.Fatal(err)
		}
		last := -1
		for i := 0; i < len(n.Content); i += 2 {
			at := slices.Index(plan.EndpointFields(), n.Content[i].Value)
			if at <= last {
				t.Errorf("%s: %s stands behind the field that should follow it", e.Name, n.Content[i].Value)
			}
			last = at
		}
	}
}

func TestWriteTarget(t *testing.T) {
	for _, c := range []struct {
		target Text
		want   string
	}{
		{Text{}, "target: ${RETRYSAFE_TARGET}  # the base URL, such as http://127.0.0.1:8080\n"},
		{Text{Value: "http://localhost:8080"}, "target: ${RETRYSAFE_TARGET:-http://localhost:8080}\n"},
		{Text{Value: "http://127.0.0.1:1/v1", Guess: "first"}, "target: ${RETRYSAFE_TARGET:-http://127.0.0.1:1/v1}  # guess: first\n"},
		{Text{Value: "http://[::1]:80"}, "target: ${RETRYSAFE_TARGET:-http://[::1]:80}\n"},
		{Text{Value: "/v1"}, "target: ${RETRYSAFE_TARGET}/v1\n"},
		{Text{Value: "${BASE_URL}/v1"}, "target: ${BASE_URL}/v1\n"},
		{Text{Value: "https://{region}.example.com"}, "target: ${RETRYSAFE_TARGET}  # the base URL, such as http://127.0.0.1:8080\n"},
		{Text{Value: "https://api.example.com:8443/v1"}, "target: ${RETRYSAFE_TARGET:-https://api.example.com:8443/v1}\n# Only loopback is contacted " +
			"unless the plan says otherwise. If this host may be tested, allow it; else point\n# RETRYSAFE_TARGET at a system that may, such as " +
			"http://127.0.0.1:8080.\n# allow_hosts: [api.example.com:8443]\n"},
	} {
		var p printer
		p.target(c.target)
		if p.out.String() != c.want {
			t.Errorf("%v: got\n%swant\n%s", c.target, p.out.String(), c.want)
		}
	}
}

// TestAllowed: with the mark of the comment taken away the plan allows the host.
func TestAllowed(t *testing.T) {
	d := sample(t)
	for _, base := range []string{"https://api.example.com:8443/v1", "http://[2001:db8::1]:80", "http://shop.internal"} {
		d.Target = Text{Value: base}
		text := strings.Replace(written(t, d), "# allow_hosts", "allow_hosts", 1)
		if _, err := plan.Parse("p", []byte(text), func(n string) (string, bool) { return "value", n != TargetVariable }); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	if err := Write(&bytes.Buffer{}, Draft{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("a draft of nothing: %v", err)
	}
	deep := str("x")
	for range deepest + 1 {
		deep = list(deep)
	}
	wide := list(str("x"))
	for range 20 { // doubles each time: a million values in twenty nodes
		wide = list(wide, &yaml.Node{Kind: yaml.AliasNode, Alias: wide})
	}
	for _, b := range []*yaml.Node{deep, wide} {
		err := Write(&bytes.Buffer{}, Draft{Endpoints: []Endpoint{{Name: "e", Request: "POST /x", Body: Body{JSON: b}}}})
		if err == nil || !strings.Contains(err.Error(), `endpoint "e": the body`) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for s, want := range map[string]string{
		"1": "1", "-0": "-0", "1.50": "1.50", "1e5": "1e5", "0x1F": "31", "0o17": "15", "0b11": "3", "1_000": "1000", "+5": "5", ".5": "0.5",
		"-.5": "-0.5", "5.": "5", "5.e3": "5e3", "123456789012345678901234567890": "123456789012345678901234567890",
		".inf": "", ".nan": "", "1e400": "", "x": "",
	} {
		if got, ok := jsonNumber(s); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", s, got, ok, want)
		}
	}
}

// TestStarter: the plan to edit is one.
func TestStarter(t *testing.T) {
	if p := read(t, string(Starter())); len(p.Endpoints) != 1 || len(p.Warnings) > 0 {
		t.Errorf("%+v", p)
	}
}

// FuzzWrite: whatever texts a draft holds, the plan reads them as they were.
func FuzzWrite(f *testing.F) {
	for _, s := range []string{
		"", " ", "yes", "No", "~", "null", "0123", "1e3", "2024-01-01", "12:30", "a: b", "a #b", "#a", "@x", "`x", "%x", "- x", "? x", "x:", "[a", "{a}",
		"{{marker}}", "{{unknown}}", "{{ marker }}", "}}", "{{", "${HOME}", "${", "$${", "${HOME:-{{key}}}", "${H\x00\x7f-{{key}}}", "{{{marker}}}", "${A:-{{}x}}", "$$", "$$$${", "a\nb", "a\n", "\n", "\n\na", " a\nb\n", "a\tb", "\t", "a\r\nb",
		"\u0085", "\u2028", "\ufeff", "\x00", "\x7f", "\u009f", "é", "日本", "😀", `"`, `'`, `\`, `\u0041`, "<<", "=", "*a", "&a", "!a", "|", ">", "---", "...", "a---", "e,f", "a]",
		strings.Repeat("long ", 60), "guess: x # y", "\u00a0", "\ufffe",
	} {
		f.Add(s, "1")
	}
	f.Add("x", "0x1F")
	f.Add("x", "1e400")
	f.Fuzz(func(t *testing.T, s, number string) {
		if !utf8.ValidString(s) {
			return
		}
		value := str(Literal(s))
		value.LineComment = s
		json1 := newFields()
		json1.add(s, value)
		json1.add("list", list(str(Literal(s)), str(Literal(s+"\n  x\n")), word("!!float", number)))
		d := Draft{
			Source: s, Title: s, Target: Text{Guess: s},
			Callers:  []Caller{{Name: "a", Comment: s, Headers: []Header{{Name: "Authorization", Value: Text{Value: "${TOKEN}", Guess: s}}}}},
			Counters: []Counter{{Name: "c", Request: "GET /c?q={{key}}", Value: "$", Guess: s}},
			States:   []State{{Name: "s", Request: "GET /s/{{key}}", Guess: s}},
			Endpoints: []Endpoint{
				{Name: "a" + Literal(s), Place: s, Comments: []string{s}, Request: "POST /x", Key: Key{Header: "Idempotency-Key"}, Counters: []string{"c"}, States: []string{"s"}, Tags: []string{"t" + Literal(s)}, Body: Body{JSON: json1.node},
					Headers: []Header{{Name: "X", Value: Text{Value: Literal(s)}}}},
				{Name: "text", Request: "POST /y", Key: Key{Header: "Idempotency-Key"}, Body: Body{Text: "x" + Literal(s)}, Headers: []Header{{Name: "X", Value: Text{Value: s, Guess: s}}}},
				{Name: "form", Request: "POST /z?q=" + s, Key: Key{Header: "Idempotency-Key"}, Body: Body{Form: formOf(s)}},
			},
		}
		p := read(t, written(t, d))
		var got struct{ List []any }
		body := rendered(t, p.Endpoints[0].Body)
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		var named map[string]any
		if err := json.Unmarshal([]byte(body), &named); err != nil {
			t.Fatal(err)
		}
		if s != "list" && named[s] != s || got.List[0] != s || got.List[1] != s+"\n  x\n" {
			t.Errorf("%q is %s", s, body)
		}
		if text := rendered(t, p.Endpoints[1].Body); text != "x"+s {
			t.Errorf("%q is the text %q", s, text)
		}
		if form, err := url.ParseQuery(rendered(t, p.Endpoints[2].Body)); err != nil || form.Get("f"+s) != s {
			t.Errorf("%q is the form %v", s, form)
		}
		if line := oneLine("a" + s); p.Endpoints[0].Name != line {
			t.Errorf("the name %q is %q", line, p.Endpoints[0].Name)
		}
	})
}

func formOf(s string) *yaml.Node {
	f := newFields()
	f.add("f"+s, str(Literal(s)))
	return f.node
}

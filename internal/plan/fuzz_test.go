package plan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/strict"
)

func FuzzPlan(f *testing.F) {
	files, err := filepath.Glob("../../fixtures/plans/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(endpoint("form: {a: \"{{marker:20}}\"}", "other_body: {a: }", "cleanup: {request: \"DELETE /{{id}}\", capture: {id: header Location}}"))
	f.Add(withTop(`counters: {c: {sql: {dsn: "postgres://u@localhost/x?sslmode=disable", query: "select {{key}}, '' /* */"}}}`))
	f.Add(shopIncludes + "defaults: {owner: x, statuses: {mismatch: [422]}}\ninclude: [\"part*.yaml\"]\n" + fuzzCut + "callers: {a: {vars: {t: x}}, b: {vars: {t: y}}}\ninclude: [part.yaml]\n" +
		"endpoints: [{name: a, request: \"POST /{{t}}\", require: [\"*\"], fail_on: never, counters: [c]}]\ncounters: {c: {http: \"GET /{{t}}/{{marker}}\", value: $}}")
	f.Add(head + "include: [part.yaml]\nendpoints: [{name: a, request: POST /x}]\n" + fuzzCut + "target: http://other.example\nendpoints: [{name: a, request: POST http://other.example}]\nlimits: []")
	f.Add(withTop(`callers: {a: {cert: a.pem, key: "-----BEGIN PRIVATE KEY-----", sign: {exec: [./sign, a]}}}`))
	f.Fuzz(func(t *testing.T, text string) {
		main, part, _ := strings.Cut(text, fuzzCut)
		files := memory{"no-such-folder/part.yaml": part, "no-such-folder/part-too.yaml": "include: [part.yaml]"}
		p, err := ParseFrom(files, "no-such-folder/p", []byte(main), fuzzEnv, Overrides{})
		var mistakes strict.Errors
		if err != nil && !errors.As(err, &mistakes) {
			t.Fatalf("no strict.Errors: %v", err)
		}
		for _, m := range mistakes {
			if m.Line < 1 || m.Line > len(text)+1 || m.Col < 1 || m.Col > len([]rune(m.Source))+1 {
				t.Errorf("%s has no place in the file", m)
			}
		}
		if err != nil {
			return
		}
		for _, e := range p.Endpoints {
			if _, err := e.Body.Render(byName{}); err != nil {
				t.Error(err)
			}
			if url := e.Request.URL(p.Target, placeholderX{}); !p.HostAllowed(url) {
				t.Errorf("%s would be sent to", url)
			}
			if e.HasOther && e.Body.sameAs(e.OtherBody) {
				t.Errorf("other body of %s is the same: %s", e.Name, e.OtherWhy)
			}
			if e.HasInvalid && (e.Body.sameAs(e.InvalidBody) || e.HasOther && e.OtherBody.sameAs(e.InvalidBody)) {
				t.Errorf("invalid body of %s is a valid one", e.Name)
			}
			if e.HasReordered {
				fuzzReordered(t, e)
			}
		}
		for _, s := range p.sqls() {
			for _, h := range s.Database.Hosts {
				if !p.hostAllowed(h.Name, h.Port) {
					t.Errorf("%s would be connected to", h)
				}
			}
			if query, args := s.Statement(byName{}); strings.Contains(query, "{{") || len(args) != len(s.Query.Placeholders()) {
				t.Errorf("%q with %q", query, args)
			}
		}
		for _, url := range otherURLs(p) {
			if !p.HostAllowed(url) {
				t.Errorf("%s would be asked", url)
			}
		}
	})
}

// fuzzCut is where the text of a plan ends and that of a file begins which it may include.
const fuzzCut = "\n#8<#\n"

// fuzzEnv sets the addresses that the sample plans need, and nothing else.
func fuzzEnv(name string) (string, bool) {
	port := slices.Index([]string{"RETRYSAFE_TARGET", "RETRYSAFE_CONTROL", "RETRYSAFE_REPLICA_1", "RETRYSAFE_REPLICA_2"}, name)
	if port < 0 {
		return "", false
	}
	return fmt.Sprintf("http://localhost:%d", 1+port), true
}

// fuzzReordered checks that the reordered body says the same in other bytes.
func fuzzReordered(t *testing.T, e Endpoint) {
	body := e.Body
	if e.Key.In == "json" {
		body, _ = body.WithKey(e.Key.Name, "key")
	}
	first, err := body.Render(byName{})
	second, err2 := e.Reordered.Render(byName{})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if bytes.Equal(first, second) || !sameJSON(t, first, second) {
		t.Errorf("%s was reordered to %s", first, second)
	}
}

// otherURLs are where a plan sends to beside its endpoints.
func otherURLs(p *Plan) []string {
	urls := slices.Clone(p.Replicas)
	add := func(r *RequestTemplate) {
		if r != nil {
			urls = append(urls, r.URL(p.Target, placeholderX{}))
		}
	}
	for _, c := range p.Callers {
		if c.Login != nil {
			add(&c.Login.Request)
		}
	}
	for _, h := range p.Hooks {
		add(h.HTTP)
		add(h.Ready)
	}
	for _, s := range p.States {
		if s.SQL == nil {
			add(&s.Request)
		}
	}
	for _, c := range p.Counters {
		if c.HTTP != nil {
			add(&c.HTTP.Request)
		}
	}
	return urls
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"a {{marker}} b", "{{marker:20}}", "{{ key }}{{uuid}}", "{{", "}}{{}}", "{{{marker}}}", "é{{send.now}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl := parseTemplate(strict.Text{Value: text}, names{header: true})
		if tmpl.String() != text {
			t.Errorf("shown as %q", tmpl)
		}
		if !strings.Contains(text, "{{") && (tmpl.Render(values{}) != text || len(tmpl.Placeholders()) > 0) {
			t.Errorf("rendered as %q with %v", tmpl.Render(values{}), tmpl.Placeholders())
		}
		for _, name := range tmpl.Placeholders() {
			if !slices.Contains(names{header: true}.known(), name) {
				t.Errorf("unknown placeholder %q is accepted", name)
			}
		}
	})
}

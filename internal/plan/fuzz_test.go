package plan

import (
	"errors"
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
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("no-such-folder/p", []byte(text), func(name string) (string, bool) { return "http://localhost:1", name != "" })
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
		}
	})
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

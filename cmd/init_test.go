package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retrysafe/internal/draft"
)

// TestDraftsFitTheSchema: what init writes is what editors take for a plan.
func TestDraftsFitTheSchema(t *testing.T) {
	sample, err := os.ReadFile("../internal/draft/testdata/sample.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{sample, draft.Starter()} {
		if err := valid(t, published(t, "plan"), text); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		if err := decodes(t, "plan", string(text)); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}

func TestIsCurl(t *testing.T) {
	for text, want := range map[string]bool{
		"curl http://x": true, "# copied\n\n$ curl -X POST http://x": true, "  curl 'http://x' \\\n -d a": true,
		"curly brackets": false, "POST http://x": false, "": false, "# curl": false,
	} {
		if got := isCurl("x", []byte(text)); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

// TestImportLeavesOut: what no plan can have is told with the plan's reason, and the rest is written.
func TestImportLeavesOut(t *testing.T) {
	m := imported{env: unsetEnv(), o: &initOptions{output: "p.yaml"}}
	s := source{Draft: draft.Draft{Source: "api.yaml", Endpoints: []draft.Endpoint{
		{Name: "a", Request: "POST /a"},
		{Name: "b", Place: "api.yaml:7:1", Request: "POST /b", Headers: []draft.Header{{Name: "Content-Length", Value: draft.Text{Value: "3"}}}},
		{Name: "c", Place: "api.yaml:9:1", Request: "POST /c", Counters: []string{"nothing"}},
	}}}
	if err := m.merge(&s); err != nil {
		t.Fatal(err)
	}
	if len(m.added) != 1 || m.added[0] != "a" || len(m.left) != 2 {
		t.Errorf("added %q, left %q", m.added, m.left)
	}
	if want := "api.yaml:7:1: POST /b cannot be an endpoint of a plan: header Content-Length follows from the request and cannot be set: remove it"; m.left[0] != want {
		t.Errorf("got %s", m.left[0])
	}
	if err := planMistakes(unsetEnv(), "p.yaml", m.text); err != nil {
		t.Error(err)
	}
	s = source{Draft: draft.Draft{Endpoints: []draft.Endpoint{{Name: "d", Request: "POST /d"}}, Callers: []draft.Caller{{Name: "no name", Headers: []draft.Header{{Name: "X", Value: draft.Text{Value: "x"}}}}}}}
	if err := (&imported{env: m.env, o: m.o}).merge(&s); err == nil {
		t.Error("a caller whose name no plan can have was taken")
	}
}

// TestPlanMistakes: what depends on where a plan runs is no mistake of it.
func TestPlanMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\ntarget: ${T}\nendpoints:\n  - {name: a, request: POST /a}\n":                      "",
		"version: 1\ntarget: https://example.com\nendpoints:\n  - {name: a, request: POST http://x/a}": "",
		"version: 1\ntarget: https://example.com\nendpoints:\n  - {name: a, requst: POST /a}\n":        "unknown field",
		"version: 2\ntarget: ${T}\nendpoints:\n  - {name: a, request: POST /a}\n":                      "version 1",
	} {
		err := planMistakes(unsetEnv(), "p.yaml", []byte(text))
		wantSaid(t, text, err, want)
	}
}

// TestReplaceFileKeepsMode: a plan that only its owner may read stays so.
func TestReplaceFileKeepsMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(file, []byte("b")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// wantSaid checks that an error about a text says something, or that there is none.
func wantSaid(t *testing.T, text string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%q: got %v, want %q", text, err, want)
	}
}

// unsetEnv is an environment without variables.
func unsetEnv() Env { return Env{LookupEnv: func(string) (string, bool) { return "", false }} }

// What is no text is told with its place, before anybody wonders which format it is.
func TestNoText(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "f: expected a document, found nothing",
		" \n\n":                      "f: expected a document, found nothing",
		"\xff\xfeo\x00":              "f:1:1: expected text in UTF-8, found the byte 0xff",
		"o\x00p\x00":                 "f:1:2: expected text in UTF-8, found the byte 0x00",
		"a: é\nb: caf\xe9 au lait\n": "f:2:7: expected text in UTF-8, found the byte 0xe9",
		"Call the shop":              "",
	} {
		err := noText("f", []byte(text))
		wantSaid(t, text, err, want)
	}
}

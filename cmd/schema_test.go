package cmd

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"retrysafe/internal/plan"
	"retrysafe/internal/schema"
	"retrysafe/internal/strict"
	"retrysafe/scenarios"
)

// TestSchemaHoldsNoNull: no keyword of JSON Schema is null, and what stands behind a comma without quotes in a flow mapping of YAML is.
func TestSchemaHoldsNoNull(t *testing.T) {
	for _, name := range schema.Names() {
		text, err := schema.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`".*": null`).FindAll(text, -1); found != nil {
			t.Errorf("schema of %s: %s", name, found)
		}
	}
}

// published is the schema of a kind of files, compiled.
func published(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := schema.Of(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name+".json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sampleDocuments are YAML documents that are known to be good, by where they stand: the sample plans and the README's, or the built-in
// scenarios.
func sampleDocuments(t *testing.T, of string) map[string]string {
	t.Helper()
	found := map[string]string{}
	pattern := map[string]string{"plan": "../fixtures/plans/*.yaml", "scenario": "../scenarios/*-*.yaml"}[of]
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 10 {
		t.Fatalf("%v: %d files", err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[file] = string(text)
	}
	if of == "plan" {
		text, err := os.ReadFile("../README.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range regexp.MustCompile("(?ms)^```ya?ml\n(version: 1.*?)^```$").FindAllStringSubmatch(string(text), -1) {
			found["README: "+strings.SplitN(b[1], "\n", 4)[2]] = b[1]
		}
	}
	return found
}

// decodes reports whether the decoder takes a document as far as its structure goes.
func decodes(t *testing.T, of, text string) error {
	t.Helper()
	if of == "scenario" {
		_, err := scenarios.Parse("x.yaml", []byte(text))
		return err
	}
	_, err := plan.Parse("../fixtures/plans/x.yaml", []byte(text), func(string) (string, bool) { return "http://127.0.0.1:8080", true })
	return err
}

// unknownField reports whether a decoder's mistakes name a field that does not exist.
func unknownField(err error, name string) bool {
	found, _ := err.(strict.Errors)
	return slices.ContainsFunc(found, func(e *strict.Error) bool { return strings.Contains(e.Message, `unknown field "`+name+`"`) })
}

// mappings tells of the mappings of a document, each with the fields that lead to it.
func mappings(n *yaml.Node, path string, tell func(path string, m *yaml.Node)) {
	if n.Kind == yaml.MappingNode {
		tell(path, n)
	}
	for i, c := range n.Content {
		at := path
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			at += "." + n.Content[i-1].Value
		}
		mappings(c, at, tell)
	}
}

func valid(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// TestSchemaAgreesWithDecoder: what is known to be good is valid, and wherever a field that does not exist is a mistake for the decoder, the
// schema finds it too.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	t.Parallel()
	const stray = "no_such_field"
	for _, of := range []string{"plan", "scenario"} {
		s := published(t, of)
		strays, seen := 0, map[string]bool{}
		for file, text := range sampleDocuments(t, of) {
			if err := valid(t, s, []byte(text)); err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(text), &root); err != nil {
				t.Fatal(err)
			}
			mappings(&root, "", func(path string, m *yaml.Node) {
				if seen[path] {
					return
				}
				seen[path] = true
				kept := m.Content
				m.Content = append(slices.Clone(kept), &yaml.Node{Kind: yaml.ScalarNode, Value: stray}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "x"})
				changed, err := yaml.Marshal(&root)
				if err != nil {
					t.Fatal(err)
				}
				m.Content = kept
				if !unknownField(decodes(t, of, string(changed)), stray) {
					return
				}
				strays++
				if valid(t, s, changed) == nil {
					t.Errorf("%s:%d: the decoder refuses a field that the schema takes", file, m.Line)
				}
			})
		}
		if strays < 10 {
			t.Errorf("%s: only %d places in which a field is unknown", of, strays)
		}
	}
}

// TestSchemaKnowsEveryField: no field is missing, at the top or in an endpoint, and every field of scenarios' language page is there.
func TestSchemaKnowsEveryField(t *testing.T) {
	t.Parallel()
	var doc struct {
		Properties  map[string]any
		Definitions map[string]struct{ Properties map[string]any }
	}
	read := func(name string) {
		text, err := schema.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		doc.Properties, doc.Definitions = nil, nil
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, found map[string]any, want []string) {
		if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, the decoder has %q", what, got, want)
		}
	}
	read("plan")
	same("plan", doc.Properties, plan.Fields())
	same("endpoint", doc.Definitions["endpoint"].Properties, plan.EndpointFields())
	read("scenario")
	for heading, found := range map[string]map[string]any{
		"## Scenario": doc.Properties, "## Keys": doc.Definitions["form"].Properties,
		"## Step": doc.Definitions["step"].Properties, "## Send": doc.Definitions["send"].Properties,
	} {
		_, page, _ := strings.Cut(scenarios.Language(), heading+"\n")
		page, _, _ = strings.Cut(page, "\n## ")
		var fields []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(page, -1) {
			fields = append(fields, m[1])
		}
		same(heading, found, fields)
	}
}

// validResults: a results document is as its schema says, and would not be without its endpoints.
func validResults(t *testing.T, text []byte) {
	t.Helper()
	s := published(t, "results")
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%v", err)
	}
	delete(value.(map[string]any), "endpoints")
	if s.Validate(value) == nil {
		t.Errorf("valid without endpoints")
	}
}

// TestResultsAreValid: the run in which every verdict occurs. TestNoSecretIsShown holds real runs to the schema.
func TestResultsAreValid(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../report/testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	validResults(t, text)
}

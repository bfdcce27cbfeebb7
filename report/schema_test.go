package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// recordedRuns are one of each kind, by name: every verdict, text of a server that wants to break readers, and hardly anything at all.
func recordedRuns(t *testing.T) map[string]*trace.Run {
	planless := fullRun()
	planless.Info.Plan = trace.PlanInfo{}
	return map[string]*trace.Run{"full": fullRun(), "without a plan": planless, "empty": {}, "pass": passRun(), "interrupted": interruptedRun(),
		"every rule": everyRule(catalogue(t))}
}

func catalogue(t *testing.T) []scenarios.Rule {
	t.Helper()
	rules, err := scenarios.Rules()
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// everyRule has every verdict, and every rule broken: an endpoint for each, beside those of fullRun.
func everyRule(rules []scenarios.Rule) *trace.Run {
	run := fullRun()
	for i, rule := range rules {
		ep := broken(rule)
		ep.Name = fmt.Sprintf("%s %d", ep.Name, i) // names are unique in a plan
		run.Endpoints = append(run.Endpoints, ep)
	}
	return run
}

// broken is an endpoint that breaks the rule, and no other.
func broken(rule scenarios.Rule) trace.Endpoint {
	ep := brokenOrders()
	ep.Diagnoses = nil
	for _, c := range ep.Cases {
		if c.Scenario == "same-key-concurrent" {
			c.Findings[0].Rule, c.Findings[0].Severity = rule.ID, rule.Severity
			ep.Cases = []trace.Case{c}
			return ep
		}
	}
	panic("brokenOrders has lost its race")
}

// named is how a format names a broken rule, in words that a run in which nothing is broken does not have.
func named(format, rule string) string {
	if format == "sarif" { // which lists all rules
		return `"ruleId": "` + rule + `"`
	}
	return rule
}

// TestEveryRuleInEveryFormat: a reader of any format learns which rule is broken. HAR has the traffic alone.
func TestEveryRuleInEveryFormat(t *testing.T) {
	rules := catalogue(t)
	o := Options{Rules: rules}
	for _, f := range Formats() {
		var out bytes.Buffer
		if err := f.Write(&out, passRun(), o); err != nil {
			t.Fatal(err)
		}
		for _, rule := range rules {
			if strings.Contains(out.String(), named(f.Name, rule.ID)) {
				t.Errorf("%s names %s, which is not broken", f.Name, rule.ID)
			}
		}
	}
	for _, rule := range rules {
		run := fullRun()
		run.Endpoints = []trace.Endpoint{broken(rule)}
		for _, f := range Formats() {
			var out bytes.Buffer
			if err := f.Write(&out, run, o); err != nil {
				t.Fatalf("%s, %s: %v", rule.ID, f.Name, err)
			}
			told := strings.Contains(out.String(), named(f.Name, rule.ID))
			if told == f.Whole() {
				t.Errorf("%s names %s: %v", f.Name, rule.ID, told)
			}
		}
		var out bytes.Buffer
		if err := Terminal(&out, run, Options{Rules: rules}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), rule.ID) {
			t.Errorf("the terminal does not name %s", rule.ID)
		}
	}
}

// rendered is each of those runs in a format.
func rendered(t *testing.T, format string) map[string][]byte {
	t.Helper()
	formats := Formats()
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == format })
	texts := map[string][]byte{}
	for name, run := range recordedRuns(t) {
		var out bytes.Buffer
		if err := formats[i].Write(&out, run, Options{Rules: catalogue(t)}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		texts[name] = out.Bytes()
	}
	return texts
}

// TestJUnitIsValid: testdata/junit.xsd says what the strictest reader takes. The schema that Jenkins' xUnit plugin publishes stands in no package:
// it is held to as well where RETRYSAFE_TEST_SCHEMAS has it, as junit-10.xsd.
func TestJUnitIsValid(t *testing.T) {
	xmllint := os.Getenv("RETRYSAFE_TEST_XMLLINT")
	if xmllint == "" {
		t.Skip("RETRYSAFE_TEST_XMLLINT is not set: it names the program of libxml2 that validates XML")
	}
	validate := func(document []byte, schema string) (string, error) {
		c := exec.Command(xmllint, "--noout", "--schema", schema, "-")
		c.Stdin = bytes.NewReader(document)
		said, err := c.CombinedOutput()
		return string(said), err
	}
	schemas := []string{"testdata/junit.xsd"}
	if published := filepath.Join(os.Getenv("RETRYSAFE_TEST_SCHEMAS"), "junit-10.xsd"); exists(published) {
		schemas = append(schemas, published)
	}
	for name, document := range rendered(t, "junit") {
		for _, schema := range schemas {
			if said, err := validate(document, schema); err != nil {
				t.Errorf("%s, %s: %v\n%s", name, schema, err, said)
			}
		}
	}
	for _, wrong := range []string{`name="a" file="plan.yaml"`, `name="a" time="1.2345"`, `classname="a"`} {
		document := fmt.Sprintf(`<testsuites><testsuite name="s" tests="1" failures="0" errors="0"><testcase %s/></testsuite></testsuites>`, wrong)
		if _, err := validate([]byte(document), "testdata/junit.xsd"); err == nil {
			t.Errorf("a test case with %s is valid", wrong)
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// TestPublishedSchemas: the schemas are read from packages that ship them, which .ci/services fetches: SARIF 2.1.0 and CTRF. GitLab publishes none
// for its code quality reports.
func TestPublishedSchemas(t *testing.T) {
	dir := os.Getenv("RETRYSAFE_TEST_SCHEMAS")
	if dir == "" {
		t.Skip("RETRYSAFE_TEST_SCHEMAS is not set: it names a folder with sarif.json and ctrf.json")
	}
	for _, format := range []string{"sarif", "ctrf"} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join(dir, format+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for name, document := range rendered(t, format) {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
			if err == nil {
				err = schema.Validate(value)
			}
			if err != nil {
				t.Errorf("%s, %s: %v", format, name, err)
			}
		}
		if err := schema.Validate(map[string]any{"results": "none"}); err == nil {
			t.Errorf("%s: a document without anything that is required is valid", format)
		}
	}
}

package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"retrysafe/internal/trace"
)

// recordedRuns are one of each kind, by name: every verdict, text of a server that wants to break readers, and hardly anything at all.
func recordedRuns() map[string]*trace.Run {
	planless := fullRun()
	planless.Info.Plan = trace.PlanInfo{}
	return map[string]*trace.Run{"full": fullRun(), "without a plan": planless, "empty": {}, "pass": passRun(), "interrupted": interruptedRun()}
}

// rendered is each of those runs in a format.
func rendered(t *testing.T, format string) map[string][]byte {
	t.Helper()
	formats := Formats()
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == format })
	texts := map[string][]byte{}
	for name, run := range recordedRuns() {
		var out bytes.Buffer
		if err := formats[i].Write(&out, run, testRules()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		texts[name] = out.Bytes()
	}
	return texts
}

// TestJUnitIsValid: testdata/junit.xsd says what the strictest reader takes.
func TestJUnitIsValid(t *testing.T) {
	xmllint := os.Getenv("RETRYSAFE_TEST_XMLLINT")
	if xmllint == "" {
		t.Skip("RETRYSAFE_TEST_XMLLINT is not set: it names the program of libxml2 that validates XML")
	}
	validate := func(document []byte) (string, error) {
		c := exec.Command(xmllint, "--noout", "--schema", "testdata/junit.xsd", "-")
		c.Stdin = bytes.NewReader(document)
		said, err := c.CombinedOutput()
		return string(said), err
	}
	for name, document := range rendered(t, "junit") {
		if said, err := validate(document); err != nil {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
	for _, wrong := range []string{`name="a" file="plan.yaml"`, `name="a" time="1.2345"`, `classname="a"`} {
		document := fmt.Sprintf(`<testsuites><testsuite name="s" tests="1" failures="0" errors="0"><testcase %s/></testsuite></testsuites>`, wrong)
		if _, err := validate([]byte(document)); err == nil {
			t.Errorf("a test case with %s is valid", wrong)
		}
	}
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

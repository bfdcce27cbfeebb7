package scenarios

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestDiagnoses(t *testing.T) {
	list, err := Diagnoses()
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, d := range list {
		if strings.Contains(d.Title+d.Why+d.Fix, "\n") || !strings.Contains(d.Why, ".") || !strings.Contains(d.Fix, ".") {
			t.Errorf("diagnosis %s: expected a title in one line, and sentences", d.ID)
		}
		for _, s := range d.Explains {
			explained[s.Rule] = true
		}
	}
	for _, rule := range ruleIDs(t) {
		if !explained[rule] {
			t.Errorf("no diagnosis explains %s: add the rule to `explains` of its likely cause in %s, or a diagnosis", rule, diagnosesFile)
		}
	}
}

const oneDiagnosis = `checked-first:
  title: T
  why: W.
  fix: F.
  example: |
    insert
      into
  when: {all: [key-ignored], any: ["same-key-again:key-ignored", key-ignored], none: [error-pinned], passed: [same-key-again, [client-timeout, first-request]]}
  explains: ["same-key-concurrent:duplicate-creation", silent-duplicate]
`

func parseDiagnoses(t *testing.T, text string) ([]Diagnosis, error) {
	t.Helper()
	list, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSet(list)
	if err != nil {
		t.Fatal(err)
	}
	return s.diagnoses("d", []byte(text))
}

func TestDiagnosisForms(t *testing.T) {
	got, err := parseDiagnoses(t, oneDiagnosis)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	d := got[0]
	if d.ID != "checked-first" || d.Title != "T" || d.Why != "W." || d.Fix != "F." || d.Example != "insert\n  into" {
		t.Errorf("got %+v", d)
	}
	ignored := trace.Symptom{Rule: "key-ignored"}
	if !slices.Equal(d.When.All, []trace.Symptom{ignored}) ||
		!slices.Equal(d.When.Any, []trace.Symptom{{Scenario: "same-key-again", Rule: "key-ignored"}, ignored}) ||
		!slices.Equal(d.When.None, []trace.Symptom{{Rule: "error-pinned"}}) ||
		!reflect.DeepEqual(d.When.Passed, [][]string{{"same-key-again"}, {"client-timeout", "first-request"}}) {
		t.Errorf("got the condition %+v", d.When)
	}
	if !slices.Equal(d.Explains, []trace.Symptom{{Scenario: "same-key-concurrent", Rule: "duplicate-creation"}, {Rule: "silent-duplicate"}}) {
		t.Errorf("got the symptoms %+v", d.Explains)
	}
}

func TestDiagnosisMistakes(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(oneDiagnosis, old, new, 1) }
	for _, c := range []struct{ reason, text, want string }{
		{"nothing", "{}", "d:1:1: expected diagnoses, found none"},
		{"form of an id", change("checked-first", "Checked"), `d:1:1: expected an id of small letters, digits and -, found "Checked"`},
		{"an id of a rule", change("checked-first", "key-ignored"), "d:1:1: \"key-ignored\" is a rule: choose another id, `explain` knows both"},
		{"a field that is missing", change("  why: W.\n", ""), `d:2:3: missing field "why"`},
		{"a field without text", change("fix: F.", "fix: ''"), "d:4:8: expected text, found nothing"},
		{"unknown field", change("why:", "wy:"), `d:2:3: missing field "why"` + "\n" +
			`d:3:3: unknown field "wy"; did you mean "why"? (known: title, why, fix, example, when, explains)`},
		{"unknown condition", change("none:", "not:"), `d:8:80: unknown field "not" (known: all, any, none, mostly, passed)`},
		{"unknown rule", change("[error-pinned]", "[error-pined]"), `d:8:87: unknown rule "error-pined"; did you mean "error-pinned"?`},
		{"unknown rule of a scenario", change("concurrent:duplicate-creation", "concurrent:duplicate"), `d:9:35: unknown rule "duplicate"`},
		{"unknown scenario of a rule", change("same-key-concurrent:", "same-key-concurent:"), `d:9:15: unknown scenario "same-key-concurent"; did you mean "same-key-concurrent"?`},
		{"unknown scenario", change("passed: [same-key-again", "passed: [key-again"), `d:8:111: unknown scenario "key-again"`},
		{"no alternatives", change("[client-timeout, first-request]", "[]"), "d:8:127: expected the id of a scenario, found an empty list"},
		{"nothing explained", change(`["same-key-concurrent:duplicate-creation", silent-duplicate]`, "[]"), "d:9:13: expected at least one RULE or SCENARIO:RULE, found an empty list"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if _, err := parseDiagnoses(t, c.text); err == nil || err.Error() != c.want {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

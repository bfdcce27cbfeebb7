package scenarios

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLanguage holds the tables of the page about the language to what the decoder takes, both ways, and its examples to what it reads.
func TestLanguage(t *testing.T) {
	page := Language()
	sections := map[string][]string{}
	title, part := "", 0
	for line := range strings.SplitSeq(page, "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			title, part = name, 0
		}
		if strings.HasPrefix(line, "|---") {
			part++
		}
		if cell := regexp.MustCompile("^\\| `([^`]+)` \\| .").FindStringSubmatch(line); cell != nil {
			at := title + strings.Repeat("+", part-1)
			sections[at] = append(sections[at], cell[1])
		}
	}
	for _, c := range []struct {
		section string
		known   []string
	}{
		{"Scenario", scenarioFields()}, {"Keys", formFields()}, {"Step", stepForms()}, {"Send", sendFields(false)}, {"Cut", cutFields()},
		{"Wait", waitFields()}, {"Planted", plantedFields()}, {"Hook", hookFields()}, {"Expectation", forms()}, {"Expectation+", append(besideForms(), ruleFields()...)}, {"Needs", needs()},
	} {
		got, want := slices.Sorted(slices.Values(sections[c.section])), slices.Sorted(slices.Values(c.known))
		if !slices.Equal(got, want) {
			t.Errorf("section %s has %v, the decoder takes %v", c.section, got, want)
		}
		delete(sections, c.section)
	}
	if len(sections) > 0 {
		t.Errorf("tables of nothing: %v", sections)
	}
	for _, word := range slices.Concat(classes(), HookNames(), []string{BodyOriginal, BodyOther, BodyFail, BodyInvalid, BodyReordered,
		CallerFirst, CallerOther, CallerAnonymous, CallerRenewed, CallerImpostor, CallerStripped, KeyFresh, KeyNone}) {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("the page does not say %q", word)
		}
	}
	examples := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	for _, e := range examples {
		if s, err := Parse("example", []byte(e[1])); err != nil || len(s.Warnings) > 0 {
			t.Errorf("example: %v, %v", err, s)
		}
	}
	if len(examples) == 0 {
		t.Error("no example")
	}
}

package baseline

import (
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

var rules = []string{"duplicate-creation", "different-body-executed", "nothing-created"}

func day(s string) time.Time {
	d, err := Day(s)
	if err != nil {
		panic(err)
	}
	return d
}

func TestParseMistakes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"accepted: []", `b.yaml:1:1: missing field "version"`},
		{"version: 2\naccepted: []", "b.yaml:1:10: expected version 1, the only one that there is"},
		{"version: 1", `missing field "accepted"`},
		{"version: 1\naccepted:\n  - {endpoint: e, scenario: s, rule: nothing-created}", `b.yaml:3:5: missing field "reason"`},
		{"version: 1\naccepted:\n  - {endpoint: e, scenario: s, rule: nothing-created, reason: ' '}", "b.yaml:3:63: expected a text, found nothing"},
		{"version: 1\naccepted:\n  - {endpoint: e, scenario: s, rule: nothing-creatd, reason: r}", `b.yaml:3:38: unknown rule "nothing-creatd"; did you mean "nothing-created"?`},
		{"version: 1\naccepted:\n  - {endpoint: e, scenario: s, rule: nothing-created, reason: r, expires: 2026-13-01}", `b.yaml:3:75: expected a day such as 2026-12-31, found "2026-13-01"`},
		{"version: 1\naccepted:\n  - {endpoint: e, scenario: s, rule: nothing-created, reason: r, until: 2026-12-01}", `b.yaml:3:66: unknown field "until"`},
		{"version: 1\naccepted:\n  - {endpoint: e, scenario: s, rule: nothing-created, reason: r}\n  - {endpoint: e, scenario: s, rule: nothing-created, reason: r}", "b.yaml:4:5: duplicate entry, the first one is in line 3"},
	} {
		if _, err := Parse("b.yaml", []byte(tt.text), rules); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("want %q, got %v", tt.want, err)
		}
	}
	for _, text := range []string{"version: 1\naccepted:\n", "version: 1\naccepted: []\n"} {
		if b, err := Parse("b.yaml", []byte(text), rules); err != nil || len(b.Entries) != 0 {
			t.Errorf("%q: %v, %v", text, b, err)
		}
	}
}

func TestExpired(t *testing.T) {
	e := Entry{Expires: day("2026-06-30")}
	for at, want := range map[string]bool{"2026-06-30T23:59:59Z": false, "2026-07-01T00:00:00Z": true, "2026-06-30T20:00:00-05:00": true} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if e.Expired(now) != want {
			t.Errorf("on %s: expired %v", at, !want)
		}
	}
	if (&Entry{}).Expired(time.Now()) {
		t.Error("an entry without a day expired")
	}
}

// seen is a run in which rules were found broken in scenarios on endpoint e; one without rules passed.
func seen(cases map[string][]string) *trace.Run {
	ep := trace.Endpoint{Name: "e"}
	for scenario, broken := range cases {
		c := trace.Case{Scenario: scenario, Result: trace.Result{Verdict: trace.Pass}}
		for _, rule := range broken {
			c.Verdict = trace.Fail
			c.Findings = append(c.Findings, trace.Finding{Rule: rule, Severity: trace.Critical})
		}
		ep.Cases = append(ep.Cases, c)
	}
	return &trace.Run{Endpoints: []trace.Endpoint{ep}}
}

const kept = `# what we live with
version: 1
accepted:
  # the old gateway retries by itself
  - endpoint: e
    scenario: first
    rule: duplicate-creation
    reason: "a 'quoted' # reason"  # with a comment

  # goes away soon
  - endpoint: e
    scenario: second
    rule: nothing-created
    reason: >
      folded over
      two lines
    expires: 2026-01-31

  - {endpoint: other, scenario: first, rule: nothing-created, reason: not in this run}
# the end
`

func TestUpdateKeepsWhatStays(t *testing.T) {
	now := day("2026-03-01")
	terms := Terms{Reason: "SHOP-17: later", Owner: "payments", Expires: day("2026-12-31")}
	for _, tt := range []struct {
		name  string
		cases map[string][]string
		want  []string // replacements in kept: old, new
		note  Change
	}{
		{"nothing changed but the day", map[string][]string{"first": {"duplicate-creation"}, "second": {"nothing-created"}},
			[]string{"2026-01-31", "2026-12-31"}, Change{Kept: 2, Renewed: make([]Entry, 1)}},
		{"one is fixed", map[string][]string{"first": {"duplicate-creation"}, "second": nil},
			[]string{kept[strings.Index(kept, "  # goes away"):strings.Index(kept, "  - {endpoint: other")], ""}, Change{Kept: 2, Removed: make([]Entry, 1)}},
		{"one is new, one was not judged", map[string][]string{"first": {"duplicate-creation", "different-body-executed"}},
			[]string{"# the end", "  - endpoint: e\n    scenario: first\n    rule: different-body-executed\n    reason: \"SHOP-17: later\"\n    owner: payments\n    expires: 2026-12-31\n# the end"},
			Change{Kept: 3, Added: make([]Entry, 1)}},
	} {
		got, change, err := Update("b.yaml", []byte(kept), seen(tt.cases), terms, rules, now)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.NewReplacer(tt.want...).Replace(kept); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, want)
		}
		if change.Kept != tt.note.Kept || len(change.Added) != len(tt.note.Added) || len(change.Removed) != len(tt.note.Removed) ||
			len(change.Renewed) != len(tt.note.Renewed) || change.Rewritten {
			t.Errorf("%s: %+v", tt.name, change)
		}
	}
}

// TestUpdateRoundTrips shows that what is written is read back, whatever the names are, and that nothing is changed twice.
func TestUpdateRoundTrips(t *testing.T) {
	for _, name := range []string{"create order", "POST /orders", "yes", "12", "a: b", "- x", "# x", `"q"`, "{{x}}", "zwei Wörter", "a\tb", " lead"} {
		run := seen(map[string][]string{"first": {"duplicate-creation"}})
		run.Endpoints[0].Name = name
		text, change, err := Update("b.yaml", nil, run, Terms{Reason: name, Owner: name}, rules, time.Now())
		if err != nil || change.Rewritten || len(change.Added) != 1 {
			t.Errorf("%q: %+v, %v in\n%s", name, change, err, text)
		}
		again, change, err := Update("b.yaml", []byte(text), run, Terms{Reason: "x"}, rules, time.Now())
		if err != nil || again != text || len(change.Added) != 0 {
			t.Errorf("%q: the second time %v, %v", name, change, err)
		}
		run.Endpoints[0].Cases[0].Findings, run.Endpoints[0].Cases[0].Verdict = nil, trace.Pass
		if empty, _, err := Update("b.yaml", []byte(text), run, Terms{}, rules, time.Now()); err != nil || empty != "version: 1\naccepted: []\n" {
			t.Errorf("%q: fixed, %v in\n%s", name, err, empty)
		}
	}
}

// TestUpdateOfFlowStyle cannot keep the layout of a list in one line, and says so.
func TestUpdateOfFlowStyle(t *testing.T) {
	text := "version: 1\naccepted: [{endpoint: e, scenario: first, rule: nothing-created, reason: r}, {endpoint: e, scenario: second, rule: nothing-created, reason: r}]\n"
	got, change, err := Update("b.yaml", []byte(text), seen(map[string][]string{"first": nil, "second": {"nothing-created"}}), Terms{Reason: "x"}, rules, time.Now())
	if err != nil || !change.Rewritten {
		t.Fatalf("%+v, %v", change, err)
	}
	if b, err := Parse("b.yaml", []byte(got), rules); err != nil || len(b.Entries) != 1 || b.Entries[0].Scenario != "second" {
		t.Errorf("%v, %v in\n%s", b, err, got)
	}
}

func TestSettle(t *testing.T) {
	b := &Baseline{File: "b.yaml", Entries: []Entry{
		{Endpoint: "e", Scenario: "there", Rule: "nothing-created", Reason: "r"},
		{Endpoint: "e", Scenario: "over", Rule: "nothing-created", Reason: "r", Expires: day("2020-01-01")},
		{Endpoint: "e", Scenario: "gone", Rule: "nothing-created", Reason: "r"},
		{Endpoint: "e", Scenario: "unknown", Rule: "nothing-created", Reason: "r"},
		{Endpoint: "elsewhere", Scenario: "there", Rule: "nothing-created", Reason: "r"},
	}}
	run := seen(map[string][]string{"there": {"nothing-created"}, "over": {"nothing-created"}, "gone": nil})
	run.Endpoints[0].Cases = append(run.Endpoints[0].Cases, trace.Case{Scenario: "unknown", Result: trace.Result{Verdict: trace.Inconclusive}})
	for i := range run.Endpoints[0].Cases {
		c := &run.Endpoints[0].Cases[i]
		for rule, a := range b.Accepted("e", c.Scenario, time.Now()) {
			if len(c.Findings) > 0 && c.Findings[0].Rule == rule {
				c.Findings[0].Accepted = &a
			}
		}
	}
	b.Settle(run, false)
	var got []string
	for _, e := range run.Info.Baseline.Entries {
		got = append(got, string(e.State))
	}
	if text := strings.Join(got, " "); text != "accepted expired fixed unjudged unjudged" {
		t.Error(text)
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(kept)
	f.Add("version: 1\naccepted:\n- endpoint: e\n  scenario: first\n  rule: nothing-created\n  reason: r")
	f.Add("accepted:\n  -\n    endpoint: e\n    scenario: first\n    rule: nothing-created\n    reason: r\nversion: 1\n")
	run := seen(map[string][]string{"first": {"duplicate-creation"}, "second": nil})
	f.Fuzz(func(t *testing.T, text string) {
		got, _, err := Update("b.yaml", []byte(text), run, Terms{Reason: "x", Expires: day("2026-12-31")}, rules, day("2026-03-01"))
		if err != nil {
			return
		}
		if _, err := Parse("b.yaml", []byte(got), rules); err != nil {
			t.Errorf("what was written does not read: %v\n%s", err, got)
		}
	})
}

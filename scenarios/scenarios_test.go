package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

func TestBuiltin(t *testing.T) {
	list, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
		if s.File != s.ID+".yaml" {
			t.Errorf("scenario %s is in the file %s", s.ID, s.File)
		}
		if s.Text == "" || s.Title == "" || s.About == "" || s.OnControl == (len(s.Steps) > 0) || len(s.Expect) == 0 {
			t.Errorf("scenario %s lacks something", s.ID)
		}
		if s.Control != (s.ID == "first-request") {
			t.Errorf("scenario %s: control is %v", s.ID, s.Control)
		}
	}
	if !slices.Equal(ids[:len(order())], order()) {
		t.Errorf("order %v", ids)
	}
	if rest := ids[len(order()):]; !slices.IsSorted(rest) {
		t.Errorf("those without a place are not sorted: %v", rest)
	}
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != len(list)+3 {
		t.Errorf("%d files for %d scenarios and the three catalogues, %v", len(files), len(list), err)
	}
}

func TestRules(t *testing.T) {
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if r.Title == "" || r.Why == "" || r.Fix == "" || r.Source == "" || strings.Contains(r.Title, "\n") {
			t.Errorf("rule %s lacks something", r.ID)
		}
		if r.ID == "duplicate-creation" && (r.Severity != trace.Critical || !slices.Contains(r.Behaviours, "B3")) {
			t.Errorf("got %+v", r)
		}
	}
	if !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == "duplicate-creation" }) {
		t.Error("duplicate-creation is missing")
	}
	_, err = parseRules("r", []byte("A: {severity: bad, title: '', why: x, fix: x, behaviours: [X1]}"))
	want := []string{
		`r:1:1: expected an id of small letters, digits and -, found "A"`,
		`r:1:4: missing field "source"`,
		`r:1:15: expected critical, major or minor, found "bad"`,
		`r:1:27: expected text, found nothing`,
		`r:1:60: expected a behaviour such as B2, found "X1"`,
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v", err)
	}
}

const script = `id: all-forms
title: T
about: A
applies: {kind: [create, webhook], method: [POST, PUT]}
needs: [key, [fail, counter]]
disruptive: true
keys:
  C: {none: true}
  D: {text: "{{key}},b"}
  E: {length: 300, quoted: true}
  F: {like: A, first: 20}
  G: {like: A, case: upper}
  H: {like: A, lines: 2}
rounds: adaptive
overlap: true
steps:
  - send: {key: A, background: true, cut: {at: half-body, after: 5ms, by: reset}, as: lost}
  - volley: [{key: A, as: x}, {key: B, body: other, as: y}]
  - wait: 20ms
  - wait: {expiry: 0.7, of: A}
  - wait: {handling: 1.2}
  - hook: {run: expire, key: B}
  - count: half
  - count: more
  - join: lost
  - send: {key: fresh, times: 2, as: z}
  - send: {key: none, together: 5}
  - send: {key: A, body: fail, until: final}
  - hook: {run: hold}
  - hook: {run: release}
  - volley: [{key: C, body: invalid, replica: 2}, {key: D, body: reordered, noise: true}]
  - send: {key: E, query: other, times: 2, every: 20ms, jitter: 0.5, retry_after: honoured}
  - send: {key: F, caller: other, endpoint: other, as: theirs}
  - send: {key: G, caller: anonymous}
  - send: {key: H, caller: renewed}
expect:
  - {created: per-key, since: half, until: more, below: nothing-created, rule: duplicate-creation}
  - {created: 0, below: nothing-created}
  - {same: [x, y]}
  - {distinct: [x, z], rule: fresh-key-deduplicated}
  - {refused: [y], as: mismatch, rule: different-body-replayed}
  - {never: in-progress, of: [x], rule: stuck-in-progress}
  - {hidden: [theirs], rule: key-shared-across-callers}
  - {one_of: [x, y], rule: different-body-replayed}
  - {alike: [x, y], rule: keys-collide}
  - {answered: [x], rule: in-progress-hangs}
  - {consistent: [x, y], rule: in-progress-inconsistent}
  - {unchanged: {since: half, until: more}, rule: method-not-idempotent}
  - {unchanged: {since: half}, rule: method-not-idempotent}
  - {outlives: retry_window, rule: lifetime-below-retry-window}
assume:
  - {accepted: [x]}
  - {failed: [lost]}
`

// placeless takes the places in the file out of a scenario.
func placeless(s *Scenario) {
	for i := range s.Steps {
		s.Steps[i].Pos = strict.Pos{}
		if s.Steps[i].Send != nil {
			s.Steps[i].Send.Pos = strict.Pos{}
		}
		for j := range s.Steps[i].Volley {
			s.Steps[i].Volley[j].Pos = strict.Pos{}
		}
	}
	for i := range s.Expect {
		s.Expect[i].Pos = strict.Pos{}
	}
	for i := range s.Assume {
		s.Assume[i].Pos = strict.Pos{}
	}
	for letter, f := range s.Keys {
		f.Pos = strict.Pos{}
		s.Keys[letter] = f
	}
}

func TestWholeLanguage(t *testing.T) {
	got, err := Parse("s", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	placeless(got)
	send := func(s Send) Send {
		if s.Caller == "" {
			s.Caller = CallerFirst
		}
		if s.Body == "" {
			s.Body = BodyOriginal
		}
		return s
	}
	step := func(s Send) Step {
		s = send(s)
		return Step{Send: &s}
	}
	comma := "{{key}},b"
	want := &Scenario{
		ID: "all-forms", Title: "T", About: "A", Kinds: []string{"create", "webhook"}, Methods: []string{"POST", "PUT"},
		Needs: [][]string{
			{"key"}, {"fail", "counter"}, {"other_body"}, {"fail"}, {"invalid_body"}, {"replicas"}, {"reordered_body"}, {"other_query"},
			{"other_caller"}, {"other_endpoint"}, {"credentials"}, {"renewable_caller"}, {"expire"}, {"hold"}, {"key_lifetime"}, {"retry_window"},
		},
		Disruptive: true,
		Keys: map[string]KeyForm{
			"C": {None: true}, "D": {Text: &comma}, "E": {Length: 300, Quoted: true}, "F": {Like: "A", First: 20},
			"G": {Like: "A", Case: "upper"}, "H": {Like: "A", Lines: 2},
		},
		Adaptive: true, Overlap: true, File: "s", Text: script,
		Steps: []Step{
			step(Send{Key: "A", Background: true, Cut: &Cut{At: "half-body", After: 5 * time.Millisecond, By: "reset"}, Label: "lost"}),
			{Volley: []Send{send(Send{Key: "A", Label: "x"}), send(Send{Key: "B", Body: BodyOther, Label: "y"})}},
			{Wait: &Wait{For: 20 * time.Millisecond}},
			{Wait: &Wait{Expiry: 0.7, Of: "A"}},
			{Wait: &Wait{Handling: 1.2}},
			{Hook: &Hook{Run: "expire", Key: "B"}},
			{Count: "half"},
			{Count: "more"},
			{Join: "lost"},
			step(Send{Key: KeyFresh, Times: 2, Label: "z"}),
			step(Send{Key: KeyNone, Together: 5}),
			step(Send{Key: "A", Body: BodyFail, UntilFinal: true}),
			{Hook: &Hook{Run: "hold"}},
			{Hook: &Hook{Run: "release"}},
			{Volley: []Send{send(Send{Key: "C", Body: BodyInvalid, Replica: 2}), send(Send{Key: "D", Body: BodyReordered, Noise: true})}},
			step(Send{Key: "E", OtherQuery: true, Times: 2, Every: 20 * time.Millisecond, Jitter: 0.5, RetryAfter: true}),
			step(Send{Key: "F", Caller: CallerOther, Other: true, Label: "theirs"}),
			step(Send{Key: "G", Caller: CallerAnonymous}),
			step(Send{Key: "H", Caller: CallerRenewed}),
		},
		Expect: []Expectation{
			{Rule: "duplicate-creation", Created: &Created{PerKey: true, Since: "half", Until: "more", Below: "nothing-created"}},
			{Created: &Created{Below: "nothing-created"}},
			{Same: []string{"x", "y"}},
			{Rule: "fresh-key-deduplicated", Distinct: []string{"x", "z"}},
			{Rule: "different-body-replayed", Refused: []string{"y"}, As: "mismatch"},
			{Rule: "stuck-in-progress", Never: trace.ClassInProgress, Of: []string{"x"}},
			{Rule: "key-shared-across-callers", Hidden: []string{"theirs"}},
			{Rule: "different-body-replayed", OneOf: []string{"x", "y"}},
			{Rule: "keys-collide", Alike: []string{"x", "y"}},
			{Rule: "in-progress-hangs", Answered: []string{"x"}},
			{Rule: "in-progress-inconsistent", Consistent: []string{"x", "y"}},
			{Rule: "method-not-idempotent", Unchanged: &Unchanged{Since: "half", Until: "more"}},
			{Rule: "method-not-idempotent", Unchanged: &Unchanged{Since: "half"}},
			{Rule: "lifetime-below-retry-window", Outlives: "retry_window"},
		},
		Assume: []Expectation{{Accepted: []string{"x"}}, {Failed: []string{"lost"}}},
	}
	want.Warnings = got.Warnings // TestWarnings
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

const onControl = `id: a
title: T
about: A
on: control
expect:
  - {outlives: retry_window, rule: lifetime-below-retry-window}
`

// Two answers that must be distinct and may end differently are doubtful, those that must be alike or accepted are not.
func TestWarnings(t *testing.T) {
	const head = "id: x\ntitle: T\nabout: A.\nrounds: 1\nsteps: [{send: {key: A, as: a}}, {send: {key: B, as: b}}]\nexpect:\n  - {distinct: [a, b], rule: keys-collide}\n"
	for _, c := range []struct{ reason, rest, want string }{
		{"alone", "", "s:7:5: `distinct: [a, b]` holds as well when one of them is refused and has no effect: where they must be treated alike, add `{alike: [a, b], rule: RULE}`, or `accepted` under `assume`"},
		{"with created", "  - {created: per-key, rule: duplicate-creation}\n", "s:7:5: `distinct: [a, b]`"},
		{"one of them accepted", "assume: [{accepted: [a]}]\n", "s:7:5: `distinct: [a, b]`"},
		{"alike", "  - {alike: [b, a], rule: keys-collide}\n", ""},
		{"accepted", "assume: [{accepted: [a, b]}]\n", ""},
		{"assumed alike", "assume: [{alike: [a, b]}]\n", ""},
	} {
		s, err := Parse("s", []byte(head+c.rest))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Warnings.Error(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestOnControl(t *testing.T) {
	s, err := Parse("s", []byte(onControl))
	if err != nil || !s.OnControl || s.Rounds != 0 || s.Steps != nil || !reflect.DeepEqual(s.Needs, [][]string{{"retry_window"}}) {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestDisruptive(t *testing.T) {
	for hook, want := range map[string]bool{"restart": true, "crash": true, "reset": true, "expire": false} {
		s, err := Parse("s", []byte(base("  - hook: {run: "+hook+", key: A}", "")))
		if err != nil || s.Disruptive != want || !slices.Equal(s.Hooks(), []string{hook}) {
			t.Errorf("%s: got %+v, %v", hook, s, err)
		}
	}
}

func TestScopes(t *testing.T) {
	s, err := Parse("s", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"A", "B", "none", "C", "D", "E", "F", "G", "H"}; !slices.Equal(s.Letters(), want) {
		t.Errorf("letters %v", s.Letters())
	}
	first := func(letter string) ScopeUse { return ScopeUse{Name: letter, Letter: letter, Caller: CallerFirst} }
	want := []ScopeUse{
		first("A"), first("B"), first("none"), first("C"), first("D"), first("E"),
		{Name: "F@other/other", Letter: "F", Caller: CallerOther, Other: true},
		{Name: "G@anonymous", Letter: "G", Caller: CallerAnonymous}, first("H"),
	}
	if !reflect.DeepEqual(s.Scopes(), want) {
		t.Errorf("got %+v", s.Scopes())
	}
	var names []string
	for _, send := range s.Sends() {
		names = append(names, send.ScopeName())
	}
	if want := "A A B fresh none A C D E F@other/other G@anonymous H"; strings.Join(names, " ") != want {
		t.Errorf("got %v", names)
	}
	if !slices.Equal(s.Hooks(), []string{"expire", "hold", "release"}) {
		t.Errorf("hooks %v", s.Hooks())
	}
	if s.Requests() != 18 {
		t.Errorf("%d requests", s.Requests())
	}
}

func TestDefaultOfCut(t *testing.T) {
	s, err := Parse("s", []byte(base("  - send: {key: A, cut: {at: sent}}", "")))
	if err != nil || *s.Steps[1].Send.Cut != (Cut{At: "sent", By: "close"}) {
		t.Errorf("got %v, %v", s, err)
	}
}

// ruleIDs reads the catalogue once for many parses.
func ruleIDs(t testing.TB) []string {
	t.Helper()
	s, err := newSet(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.rules
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine := write("mine.yaml", strings.Replace(base("", ""), "id: a", "id: mine", 1))
	list, err := Load(mine)
	if err != nil || list[len(list)-1].ID != "mine" || list[0].ID != "first-request" {
		t.Errorf("got %d scenarios, %v", len(list), err)
	}
	again := write("again.yaml", strings.Replace(base("", ""), "id: a", "id: mine", 1))
	taken := write("taken.yaml", strings.Replace(base("", ""), "id: a", "id: same-key-again\ncontrol: true", 1))
	_, err = Load(mine, again, taken)
	want := again + `:1:5: scenario "mine" exists already, in ` + mine + ": choose another id\n" +
		taken + `:1:5: scenario "same-key-again" exists already, in same-key-again.yaml: choose another id` + "\n" +
		taken + ":2:10: only one scenario can be the control, and first-request is: remove `control`"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); err == nil || !strings.HasPrefix(err.Error(), "cannot read the scenario: ") {
		t.Errorf("got %v", err)
	}
}

// TestEndsUnderWay tells the end of a process with a request open from one with none.
func TestEndsUnderWay(t *testing.T) {
	first, join := "  - send: {key: B, background: true, as: b}\n", "\n  - join: b"
	for steps, want := range map[string]bool{
		first + "  - hook: {run: crash}" + join:            true,
		first + "  - hook: {run: restart}" + join:          true,
		first + "  - hook: {run: reset}" + join:            false,
		first + "  - join: b\n  - hook: {run: crash}":      false,
		"  - hook: {run: crash}\n" + first + "  - join: b": false,
		"  - hook: {run: crash}":                           false,
	} {
		parsed := set{rules: ruleIDs(t)}
		parsed.add("s", []byte(base(steps, "")))
		list, err := parsed.result()
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0].EndsUnderWay(); got != want {
			t.Errorf("%s: got %v", steps, got)
		}
	}
	if list, err := Builtin(); err != nil || !list[slices.IndexFunc(list, func(s *Scenario) bool { return s.ID == "crash-in-flight" })].EndsUnderWay() {
		t.Errorf("crash-in-flight does not: %v", err)
	}
}

func FuzzScenario(f *testing.F) {
	names, err := builtinNames()
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := files.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(script)
	f.Add(onControl)
	rules := ruleIDs(f)
	f.Fuzz(func(t *testing.T, text string) {
		parsed := set{rules: rules}
		parsed.add("s", []byte(text))
		list, err := parsed.result()
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
		s := list[0]
		sends := len(s.Steps) > 0 && (s.Adaptive || s.Rounds > 0)
		if s.ID == "" || sends == s.OnControl || len(s.Expect) == 0 || len(s.Scopes()) < len(s.Letters()) {
			t.Errorf("accepted %+v", s)
		}
	})
}

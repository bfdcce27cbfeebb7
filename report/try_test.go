package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

// lessons are one of a plan that works and one of a plan that does not, with hostile text in both.
func lessons() *Try {
	first := trace.Exchange{ID: 1, Label: "first", Caller: "alice", Request: trace.Request{Method: "POST", URL: "http://h/orders",
		Headers: []trace.Header{{Name: "Host", Value: "h"}, {Name: "Idempotency-Key", Value: "k"}}, Body: trace.Body{Text: `{"qty":1}`}},
		Response: &trace.Response{Status: 201, Headers: []trace.Header{{Name: "Location", Value: "/orders/1"}, {Name: "X-Noise", Value: "n"}}, Body: trace.Body{Text: "one\ntwo\x1b[31m\n3\n4\n5\n6\n7\n8\n"}}}
	sound := trace.Lesson{
		Endpoint: "create order", Request: "POST /orders", Kind: "create", Line: 7, First: &first, Location: "/orders/1", Body: first.Response.Body.Text, Exchanges: []trace.Exchange{first},
		Learned:  trace.Learned{Sound: true, SuccessStatus: 201, CreationFields: []string{"$.id"}, Handling: 20_000_000},
		Counters: []trace.Risen{{Counter: "orders", By: 1, Expected: 1}},
		Again:    &trace.Again{Outcome: trace.AgainSame, Answer: first, Volatile: []string{"$.at"}, Counters: []trace.Risen{{Counter: "orders", By: 1, Expected: 1}}},
		Keyless:  &trace.Keyless{Class: trace.ClassRefused, Answer: trace.Exchange{Response: &trace.Response{Status: 400, Body: trace.Body{Text: "no key"}}}},
		Paste: []trace.PlanLine{
			{Text: "ignore: {json: [$.at]}", Indent: 4, Why: "differs"},
			{Text: "required: true", Indent: 4, Why: "refused", Enables: []string{"missing-key"}},
		},
		Decide: []trace.PlanLine{
			{Text: "counters: {n: {http: GET /n, length: $}}", Top: true, Why: "nothing counts", Guess: true, With: &trace.PlanLine{Text: "counters: [n]", Indent: 4}},
			{Text: "limits: {wait: 1m}", Top: true, Replaces: 3, Why: "too short", Guess: true},
			{Text: "mails: {exec: [m]}", Top: true, Into: 4, Indent: 2, Why: "more", Guess: true},
			{Text: "settle: 1s", Indent: 5, Braces: true, Why: "late", Guess: true},
		},
	}
	failed := trace.Lesson{
		Endpoint: "refund", Request: "POST /refunds", Kind: "create", Line: 12, Exchanges: []trace.Exchange{},
		First:   &trace.Exchange{Caller: "alice", Request: first.Request, Response: &trace.Response{Status: 401, Body: trace.Body{Text: "who?"}}},
		Learned: trace.Learned{Reason: &trace.Reason{Code: trace.Auth, Detail: "the credentials are wrong"}},
	}
	return &Try{Schema: TrySchemaV1, Target: "http://h", Plan: "plan.yaml", Lessons: []trace.Lesson{sound, failed}, Credentials: map[string][]string{"alice": {"TOKEN", "SALT"}}}
}

func tryText(t *testing.T, doc *Try, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := TryText(&b, doc, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTryText(t *testing.T) {
	got := tryText(t, lessons(), Options{})
	for _, want := range []string{
		"✓ create order: POST /orders (plan.yaml:7)\n",
		"  success    201, handled in 20 ms\n",
		"  again      the same answer, 201; for both requests orders rose by 1; different each time: $.at\n",
		"  no key     a request without a key is refused with 400: no key\n",
		"             two\\x1b[31m\n",
		"             6\n             ...\n",
		"  In endpoint 'create order' (plan.yaml:7):\n    # differs\n    ignore: {json: [$.at]}\n    # refused; enables missing-key\n    required: true\n",
		"  At the top level of plan.yaml:\n# nothing counts\ncounters: {n: {http: GET /n, length: $}}\n  In endpoint 'create order' (plan.yaml:7) beside it:\n    counters: [n]\n",
		"  In place of line 3 of plan.yaml:\n# too short\nlimits: {wait: 1m}\n",
		"  Under line 4 of plan.yaml:\n  # more\n  mails: {exec: [m]}\n",
		"  In the braces of endpoint 'create order' (plan.yaml:7), with a comma:\n     # late\n     settle: 1s\n",
		"? refund: POST /refunds (plan.yaml:12)\n",
		"  problem    auth: the credentials are wrong\n  change     what caller alice is made of: ${TOKEN}, ${SALT}\n",
		"exit 3: the plan as it stands does not work on 1 of 2 endpoints\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, unwanted := range []string{"X-Noise", "Host:", "             7\n", "\x1b"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("%q in\n%s", unwanted, got)
		}
	}
}

func TestTryOutcomes(t *testing.T) {
	for _, tt := range []struct {
		again trace.Again
		kind  string
		want  string
	}{
		{trace.Again{Outcome: trace.AgainAnother}, "create", "the key seems not to be used"},
		{trace.Again{Outcome: trace.AgainAnother}, "method", "a second effect, 201"},
		{trace.Again{Outcome: trace.AgainDiffers, Changed: []string{"$.qty"}}, "create", "another answer, 201, different from the first one in $.qty"},
		{trace.Again{Outcome: trace.AgainDiffers}, "create", "different from the first one in its status"},
		{trace.Again{Outcome: trace.AgainRefused}, "create", "refused with 201"},
		{trace.Again{Outcome: trace.AgainAllowed, Unchanged: []string{"order"}}, "method",
			"another answer, 201; the second one left order as the first one had made it, as the repeat of such a request may get"},
		{trace.Again{Outcome: trace.AgainUnknown}, "create", "no answer that shows anything"},
		{trace.Again{Outcome: trace.AgainDiffers, Findings: []trace.Finding{{Rule: "body-not-replayed", Message: "m"}}}, "webhook", "--scenario 'webhook-redelivery'"},
	} {
		doc := lessons()
		l := &doc.Lessons[0]
		tt.again.Answer, l.Kind = l.Again.Answer, tt.kind
		l.Again = &tt.again
		if got := strings.Join(strings.Fields(tryText(t, doc, Options{})), " "); !strings.Contains(got, tt.want) {
			t.Errorf("%s of kind %s: no %q in\n%s", tt.again.Outcome, tt.kind, tt.want, got)
		}
	}
}

func TestTryManyLines(t *testing.T) {
	doc := lessons()
	doc.Lessons = doc.Lessons[:1]
	for range decideShown {
		doc.Lessons[0].Decide = append(doc.Lessons[0].Decide, trace.PlanLine{Text: "owner: me", Indent: 4, Guess: true})
	}
	if got := tryText(t, doc, Options{}); !strings.Contains(got, "and 4 lines more: --verbose shows all") || !strings.Contains(got, "exit 0: the plan works") {
		t.Errorf("got\n%s", got)
	}
	if got := tryText(t, doc, Options{Verbose: true}); strings.Contains(got, "--verbose") || !strings.Contains(got, "  #1 first, ") {
		t.Errorf("got\n%s", got)
	}
}

func TestTryFits(t *testing.T) {
	for _, width := range []int{MinWidth, 60, MaxWidth} {
		for line := range strings.Lines(tryText(t, lessons(), Options{Width: width, Verbose: true})) {
			if n := twwidth.Width(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns at width %d: %q", n, width, line)
			}
		}
	}
}

func TestTryJSON(t *testing.T) {
	var b bytes.Buffer
	if err := TryJSON(&b, lessons()); err != nil {
		t.Fatal(err)
	}
	var doc Try
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != TrySchemaV1 || len(doc.Lessons) != 2 || doc.Lessons[0].Paste[1].Enables[0] != "missing-key" || doc.Lessons[1].Learned.Reason.Code != trace.Auth {
		t.Errorf("got %+v", doc)
	}
}

package advice

import (
	"slices"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func TestScripts(t *testing.T) {
	again, keyless, err := Scripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range again {
		if s.Requests() != 2 || s.Rounds != 1 {
			t.Errorf("%s: %d requests in %d rounds, want 2 in one", s.ID, s.Requests(), s.Rounds)
		}
	}
	if keyless.Requests() != 1 || keyless.Rounds != 1 {
		t.Errorf("%d requests in %d rounds, want 1 in one", keyless.Requests(), keyless.Rounds)
	}
}

// TestScriptsExpectWhatARunDoes: a try judges the repeat of a method as the scenario for it does, which alone knows what such an endpoint may answer.
func TestScriptsExpectWhatARunDoes(t *testing.T) {
	again, _, err := Scripts()
	if err != nil {
		t.Fatal(err)
	}
	list, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	expectations := func(s *scenarios.Scenario) string {
		_, text, _ := strings.Cut(s.Text, "assume:\n")
		return text
	}
	compared := 0
	for _, run := range list {
		if !slices.Equal(run.Kinds, []string{"method"}) {
			continue
		}
		for _, method := range run.Methods {
			s := Again(again, &plan.Endpoint{Kind: "method", Request: plan.RequestTemplate{Method: method}})
			if compared++; s == nil || expectations(s) != expectations(run) || expectations(run) == "" {
				t.Errorf("%s of %s: got %+v, want\n%s", run.ID, method, s, expectations(run))
			}
		}
	}
	if compared != 4 {
		t.Errorf("%d methods, expected 4", compared)
	}
	for _, ep := range []plan.Endpoint{{Kind: "create"}, {Kind: "webhook"}, {Kind: "method", Request: plan.RequestTemplate{Method: "PURGE"}}} {
		if Again(again, &ep) == nil {
			t.Errorf("nothing is sent again to %+v", ep)
		}
	}
}

const barePlan = `version: 1
target: http://127.0.0.1:8080
counters: {orders: {http: "GET /orders/count?reference={{marker}}", value: $.count}}
endpoints:
  - name: create order
    request: POST /orders
    key: {header: Idempotency-Key}
    body: {qty: 1, reference: "{{marker}}"}
    counters: {orders: 1}
`

// learned is a lesson of a shop that works.
func learned() *trace.Lesson {
	return &trace.Lesson{
		Endpoint: "create order", Kind: "create",
		Learned: trace.Learned{Sound: true, SuccessStatus: 201, CreationFields: []string{"$.id", "header Location"}, Handling: trace.Nanos(20 * time.Millisecond)},
		First: &trace.Exchange{Request: trace.Request{Method: "POST", URL: "http://127.0.0.1:8080/orders", Body: trace.Body{Text: `{"qty":1,"reference":"x"}`}},
			Response: &trace.Response{Status: 201}},
		Location: "/orders/ord_1", LocationField: "$.id",
		Counters: []trace.Risen{{Counter: "orders", By: 1, Expected: 1}},
		Again:    &trace.Again{Outcome: trace.AgainSame, Counters: []trace.Risen{{Counter: "orders", By: 1, Expected: 1}}},
		Keyless:  &trace.Keyless{Class: trace.ClassRefused, Answer: trace.Exchange{Response: &trace.Response{Status: 400}}},
	}
}

func adviceOn(t *testing.T, text string, l *trace.Lesson, assumed ...Assumption) Input {
	t.Helper()
	parse := func(files []File) (*plan.Plan, error) {
		return plan.ParseWith("plan.yaml", files[0].Text, func(string) (string, bool) { return "not-set-yet", true }, plan.Overrides{})
	}
	own := []File{{"plan.yaml", []byte(text)}}
	all := own
	for _, a := range assumed {
		var err error
		if all, err = Apply(all, a.Edits...); err != nil {
			t.Fatal(err)
		}
	}
	p, err := parse(all)
	if err != nil {
		t.Fatal(err)
	}
	list, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return Input{Files: own, Plan: p, Endpoint: &p.Endpoints[0], Lesson: l, Assumed: assumed, Scenarios: list, Parse: parse}
}

func texts(lines []trace.PlanLine) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

func TestPasteFollowsFromWhatWasSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("much work for one goroutine: run it without -short")
	}
	ms := func(n int) trace.Nanos { return trace.Nanos(n) * trace.Nanos(time.Millisecond) }
	tests := []struct {
		name, plan string
		change     func(*trace.Lesson)
		want       []string
		reason     string
	}{
		{"refused without a key", barePlan, func(*trace.Lesson) {}, []string{"required: true"}, "a refusal shows that a key is required"},
		{"carried out without a key", barePlan, func(l *trace.Lesson) { l.Keyless.Class = trace.ClassSuccess }, nil, "nothing to say"},
		{"turned away without a key", barePlan, func(l *trace.Lesson) { l.Keyless.Answer.Response.Status = 401 }, nil, "a 401 is about who asks"},
		{"volatile", barePlan, func(l *trace.Lesson) {
			l.Again.Volatile, l.Again.VolatileHeaders = []string{"$.served_at", "$['a b'][0]"}, []string{"Set-Cookie"}
		}, []string{`ignore: {json: [$.served_at, '$[''a b''][0]'], headers: [Set-Cookie]}`, "required: true"}, "what is judged wrongly without comes first"},
		{"volatile beside what the plan ignores", barePlan + "    ignore: {json: [$.x]}\n", func(l *trace.Lesson) { l.Again.Volatile = []string{"$.y"} },
			[]string{"ignore: {json: [$.x, $.y]}", "required: true"}, "what the plan has stays"},
		{"late counters", barePlan, func(l *trace.Lesson) { l.Learned.CountLag = ms(310) }, []string{"settle: 700ms", "required: true"}, "twice the lag"},
		{"very late counters", barePlan, func(l *trace.Lesson) { l.Learned.CountLag = ms(3000) }, []string{"limits: {count: 12s}", "settle: 6s", "required: true"}, "the limit is near"},
		{"slow", barePlan, func(l *trace.Lesson) { l.Learned.Handling = ms(16000) }, []string{"limits: {request: 1m4s, in_progress: 1m4s}", "required: true"}, "two limits in one line"},
		{"long answers", barePlan, func(l *trace.Lesson) { l.First.Response.Body = trace.Body{Truncated: true, Size: 5 << 20} }, []string{"limits: {body: 6MiB}", "required: true"}, "to compare them whole"},
		{"once without a key", strings.Replace(barePlan, "    key: {header: Idempotency-Key}\n", "", 1), func(l *trace.Lesson) { l.Keyless = nil }, []string{"kind: method"}, "no second effect, and no key"},
		{"unsound", barePlan, func(l *trace.Lesson) {
			l.Learned = trace.Learned{Reason: &trace.Reason{Code: trace.ControlUnsound}}
		}, nil, "nothing was learned"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := learned()
			tt.change(l)
			paste, _ := Lines(adviceOn(t, tt.plan, l))
			if got := texts(paste); !slices.Equal(got, append([]string{}, tt.want...)) {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
			for _, line := range paste {
				if line.Why == "" || line.Guess {
					t.Errorf("no reason, or a guess: %+v", line)
				}
			}
		})
	}
}

func TestAssumed(t *testing.T) {
	l := learned()
	l.First.Response.Status, l.Location = 303, "/orders/1"
	redirect := Assumption{Kind: RedirectSucceeds, Edits: []Edit{{"create order", "answers: {success: [303]}"}}, Line: "answers: {success: [303]}"}
	paste, _ := Lines(adviceOn(t, barePlan, l, redirect))
	if len(paste) == 0 || paste[0].Text != redirect.Line || !paste[0].AllOf {
		t.Errorf("got %+v, want %q first", paste, redirect.Line)
	}
	l = learned()
	l.Learned.SuccessStatus, l.WorkDone = 202, []trace.Match{{Path: "$.status", Values: []string{"done"}}}
	work := Assumption{Kind: WorkFollows, Edits: []Edit{{"create order", "await: {follow: Location, until: {$.status: [done, ready]}}"}}}
	paste, _ = Lines(adviceOn(t, barePlan, l, work))
	if got := texts(paste); !slices.Contains(got, "await: {follow: Location, until: {$.status: done}}") {
		t.Errorf("got %q", got)
	}
	l = learned()
	rise := Assumption{Kind: RisesBy, Edits: []Edit{{"create order", "counters: {orders: 2}"}}, Line: "counters: {orders: 2}"}
	_, decide := Lines(adviceOn(t, barePlan, l, rise))
	if decide[0].Text != rise.Line || !decide[0].Guess || decide[0].Replaces != 9 {
		t.Errorf("got %+v, want %q in place of line 9", decide[0], rise.Line)
	}
}

func TestDecideNamesEveryGap(t *testing.T) {
	in := adviceOn(t, barePlan, learned())
	_, decide := Lines(in)
	enabled := map[string]bool{"missing-key": true} // by what is pasted
	for _, line := range decide {
		for _, s := range line.Enables {
			enabled[s] = true
		}
	}
	for _, g := range in.gaps(nil) {
		for _, s := range g.enables {
			if !enabled[s] && s != "renewed-token" && s != "other-endpoint" { // of a first caller, and of a second endpoint, that are not there
				t.Errorf("no line would enable %s, which the plan lacks: %s", s, g.reason.Enable)
			}
		}
	}
	want := []string{"key_lifetime: 24h", "invalid_body: {qty: -1}", `cleanup: {request: "DELETE /orders/{{id}}", capture: {id: $.id}}`}
	for _, w := range want {
		if !slices.Contains(texts(decide), w) {
			t.Errorf("no line %s in %q", w, texts(decide))
		}
	}
	for i := 1; i < len(decide); i++ {
		if a, b := decide[i-1], decide[i]; len(a.Enables) < len(b.Enables) && !strings.HasPrefix(b.Text, "hooks:") && !strings.HasPrefix(b.Text, "replicas:") {
			t.Errorf("%q enables less than %q behind it", a.Text, b.Text)
		}
	}
}

// TestAllLinesTogether pastes every line where it belongs: no two of them may be in each other's way.
func TestAllLinesTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("much work for one goroutine: run it without -short")
	}
	for _, text := range []string{
		barePlan,
		strings.Replace(barePlan, "    counters: {orders: 1}\n", "", 1),
		strings.Replace(barePlan, "    key: {header: Idempotency-Key}\n", "", 1),
		strings.Replace(barePlan, "POST /orders", "PUT /orders/{{uuid}}", 1),
		strings.Replace(barePlan, "counters:", "callers: {me: {headers: {Authorization: me}}}\ncounters:", 1),
		barePlan + "  - {name: other, request: POST /other, key: {header: Idempotency-Key}}\n",
	} {
		in := adviceOn(t, text, learned())
		paste, decide := Lines(in)
		var edits []Edit
		seen := map[string]bool{}
		for _, line := range slices.Concat(paste, decide) {
			place := "create order"
			if line.Top {
				place = ""
			}
			if field := place + "/" + strings.SplitN(line.Text, ":", 2)[0]; line.Into == 0 && seen[field] {
				t.Errorf("%s is proposed twice", field)
			} else {
				seen[field] = true
			}
			if line.Into == 0 {
				edits = append(edits, Edit{place, line.Text})
			}
			if line.With != nil {
				edits = append(edits, Edit{"create order", line.With.Text})
			}
		}
		out, err := Apply(in.Files, edits...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Parse(out); err != nil {
			t.Errorf("%v in\n%s", err, out[0].Text)
		}
	}
}

func TestGuessesOfWhatFailed(t *testing.T) {
	unsound := func(status int, body string) *trace.Lesson {
		l := learned()
		l.Learned = trace.Learned{Reason: &trace.Reason{Code: trace.ControlUnsound}}
		l.First.Response = &trace.Response{Status: status, Body: trace.Body{Text: body}}
		return l
	}
	_, decide := Lines(adviceOn(t, strings.Replace(barePlan, "Idempotency-Key", "X-Key", 1), unsound(400, `{"e": "header X-Idempotency-Key is missing"}`)))
	if len(decide) != 1 || decide[0].Text != "key: {header: X-Idempotency-Key}" || decide[0].Replaces != 7 {
		t.Errorf("got %+v", decide)
	}
	if _, decide = Lines(adviceOn(t, barePlan, unsound(400, "Idempotency-Key is too long"))); len(decide) != 0 {
		t.Errorf("the header that the plan has is proposed: %+v", decide)
	}
	l := unsound(200, `{"errors": [1]}`)
	l.ErrorAt = "$.errors"
	if _, decide = Lines(adviceOn(t, barePlan, l)); len(decide) != 1 || decide[0].Text != "answers: {refused: {json: $.errors}}" {
		t.Errorf("got %+v", decide)
	}
}

func TestAssume(t *testing.T) {
	unsound := &trace.Reason{Code: trace.ControlUnsound}
	redirected := func(status int, location string) func(*trace.Lesson) {
		return func(l *trace.Lesson) {
			l.Learned, l.First.Response.Status, l.Location = trace.Learned{Reason: unsound}, status, location
		}
	}
	tests := []struct {
		name   string
		change func(*trace.Lesson)
		kind   string
		reason string
	}{
		{"sound", func(*trace.Lesson) {}, "", "there is nothing to assume"},
		{"303", redirected(303, "/orders/1"), RedirectSucceeds, "it leads to what was made"},
		{"302 to the same host", redirected(302, "http://127.0.0.1:8080/orders/1"), RedirectSucceeds, "as with forms"},
		{"a slash more", redirected(302, "/orders/"), "", "the same place under another name"},
		{"https", redirected(302, "https://127.0.0.1:8080/orders/1"), "", "another scheme"},
		{"another host", redirected(303, "http://elsewhere/orders/1"), "", "nobody knows what it is"},
		{"307", redirected(307, "/orders/1"), "", "it asks to send the request there"},
		{"a log-in", func(l *trace.Lesson) {
			redirected(303, "/login")(l)
			l.Learned.Reason = &trace.Reason{Code: trace.Auth}
		}, "", "the judge read it so"},
		{"rose by two", func(l *trace.Lesson) {
			l.Learned, l.Counters[0].By = trace.Learned{Reason: unsound}, 2
		}, RisesBy, "it may be right"},
		{"did not rise", func(l *trace.Lesson) {
			l.Learned, l.Counters[0].By = trace.Learned{Reason: unsound}, 0
		}, "", "there is nothing to measure by"},
		{"202 with a Location", func(l *trace.Lesson) { l.Learned.SuccessStatus = 202 }, WorkFollows, "the work may be done later"},
		{"202 without", func(l *trace.Lesson) { l.Learned.SuccessStatus, l.Location = 202, "" }, "", "nowhere to ask"},
	}
	for _, tt := range tests {
		l := learned()
		tt.change(l)
		in, kind := adviceOn(t, barePlan, l), ""
		a := Assume(in, nil)
		if a != nil {
			kind = a.Kind
			text, err := Apply(in.Files, a.Edits...)
			if err == nil {
				_, err = in.Parse(text)
			}
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			if Assume(in, []string{a.Kind}) != nil {
				t.Errorf("%s: assumed again", tt.name)
			}
		}
		if kind != tt.kind {
			t.Errorf("%s: assumed %q, want %q: %s", tt.name, kind, tt.kind, tt.reason)
		}
	}
}

// TestCallersStay: what is proposed of callers leaves those that the plan has as they are, and shows nothing of their credentials.
func TestCallersStay(t *testing.T) {
	if testing.Short() {
		t.Skip("much work for one goroutine: run it without -short")
	}
	for _, tt := range []struct {
		reason, callers string
		want            []string
	}{
		{"nobody", "", []string{`callers: {alice: {headers: {Authorization: "Bearer ${ALICE_TOKEN}"}}, bob: {headers: {Authorization: "Bearer ${BOB_TOKEN}"}}}`}},
		{"one", "callers:\n  bob: {headers: {Authorization: \"Bearer ${TOKEN}\"}}\n", []string{
			`other: {headers: {Authorization: "Bearer ${OTHER_TOKEN}"}}`,
			`bob: {headers: {Authorization: "Bearer {{token}}"}, login: {request: POST /login, body: {user: bob}, capture: {token: $.token}}}`}},
		{"one with a key of its own header", "callers:\n  user: {headers: {X-Api-Key: \"${API_KEY}\"}}\n", []string{
			`other: {headers: {X-Api-Key: "${OTHER_API_KEY}"}}`,
			`user: {headers: {X-Api-Key: "{{token}}"}, login: {request: POST /login, body: {user: user}, capture: {token: $.token}}}`}},
		{"one in braces, which is changed by no line that adds another", "callers: {user: {headers: {X-Api-Key: \"${API_KEY}\"}}}\n", []string{
			`callers: {user: {headers: {X-Api-Key: "${API_KEY}"}}, other: {headers: {X-Api-Key: "${OTHER_API_KEY}"}}}`}},
		{"one with a credential", "callers:\n  bob: {headers: {X-Api-Key: hush-1234}}\n", []string{
			`other: {headers: {X-Api-Key: "${OTHER_X_API_KEY}"}}`,
			`bob: {headers: {X-Api-Key: "{{token}}"}, login: {request: POST /login, body: {user: bob}, capture: {token: $.token}}}`}},
	} {
		_, decide := Lines(adviceOn(t, barePlan+tt.callers, learned()))
		var got []string
		for _, line := range decide {
			if strings.Contains(line.Text, "headers: {Authorization") || strings.Contains(line.Text, "X-Api-Key") || strings.Contains(line.Text, "login") {
				got = append(got, line.Text)
			}
			if strings.Contains(line.Text, "hush") {
				t.Errorf("%s: shows %s", tt.reason, line.Text)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q", tt.reason, got)
		}
	}
}

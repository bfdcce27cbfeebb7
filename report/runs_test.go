package report

import (
	"strings"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// The recorded runs that every format is shown with. They are built here, not recorded, so that each verdict, each
// kind of evidence and hostile text occurs in them and times never change.

const ms = trace.Nanos(time.Millisecond)

// hostile is what a server may answer to fool a terminal: it clears the screen, forges a pass, returns to the
// beginning of the line, reverses the text direction and ends in broken UTF-8.
const hostile = "\x1b[2J\x1b[32mPASS\x1b[0m\rok\b\a \u202egnp\u202c \u009b31m \xff\x00 日本語"

func testRules() []scenarios.Rule {
	return []scenarios.Rule{
		{
			ID: "duplicate-creation", Severity: trace.Critical, Title: "One key has more than one effect",
			Why:    "A double click, a gateway's retry or a second worker makes the customer pay twice.",
			Fix:    "Claim the key with one atomic insert under a unique constraint before the effect.",
			Source: "draft-ietf-httpapi-idempotency-key-header-07 section 2.6",
		},
		{
			ID: "status-not-replayed", Severity: trace.Major, Title: "The retry is answered with another status code",
			Why:    "Clients branch on the status.",
			Fix:    "Store the status together with headers and body when the work commits, and replay all three.",
			Source: "draft-ietf-httpapi-idempotency-key-header-07 section 2.6",
		},
		{
			ID: "replay-not-byte-identical", Severity: trace.Minor, Title: "The retry's body means the same but has other bytes",
			Why:    "Clients that check a digest over the body see a different answer.",
			Fix:    "Store the body as bytes, not as a decoded object that is encoded again.",
			Source: "draft-ietf-httpapi-idempotency-key-header-07 section 2.6",
		},
		{
			ID: "lost-after-cut", Severity: trace.Critical, Title: "The client went away, and its retry did the work again",
			Why: "This is the very case that keys exist for.", Fix: "Run effect and stored answer in one transaction.",
			Source: "draft-ietf-httpapi-idempotency-key-header-07 section 1",
		},
	}
}

func testReasons() []scenarios.Reason {
	return []scenarios.Reason{
		{Code: trace.ControlUnsound, Title: "The first requests failed", Means: "Nothing is claimed.", Fix: "make one plain request work first"},
		{Code: trace.Interrupted, Title: "The run was stopped", Means: "What was judged stands.", Fix: "run it again"},
	}
}

// testOptions are those of text as wide as it comes, with small catalogues.
func testOptions() Options {
	return Options{Rules: testRules(), Reasons: testReasons(), Fields: testFields()}
}

func testFields() PlanFields {
	return PlanFields{Plan: []string{"counters", "hooks", "replicas", "endpoints"},
		Endpoint: []string{"counters", "required", "key_lifetime", "fail", "double_click"}}
}

func testInfo() trace.Info {
	return trace.Info{
		ID: "0af7651916cd43dd8448eb211c80319c", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ElapsedMS: 8412,
		Target: "http://127.0.0.1:8080", Dialect: "ietf", Seed: "42",
		Tool: trace.Tool{Name: "retrysafe", Version: "0.1.0"},
		Plan: trace.PlanInfo{Path: "retrysafe.yaml", Digest: "sha256:3b1f0a9c2d4e5f60718293a4b5c6d7e8f9"}, FailOn: trace.Major,
		Labels:    map[string]string{"commit": "4f2a1c", "by": "Ada <ada@example.org>"},
		Scenarios: map[string]string{"same-key-again": "id: same-key-again\n"},
	}
}

// exchange is a request that was answered.
func exchange(id int, label string, copy int, sent, answered trace.Nanos, status int, class trace.Class, body string) trace.Exchange {
	return trace.Exchange{
		ID: id, Label: label, Copy: copy, Scope: "A", Key: "rs-3f2a", Body: "original", Wire: 1, Conn: id, Protocol: "HTTP/1.1",
		Request: trace.Request{Method: "POST", URL: "http://127.0.0.1:8080/orders"},
		Response: &trace.Response{Status: status, Body: trace.Body{Text: body, Size: int64(len(body))},
			Headers: []trace.Header{{Name: "Location", Value: "/orders/17"}}},
		Started: sent - 200_000, Sent: sent, FirstByte: answered, Done: answered + 100_000, Class: class,
	}
}

// lost is a request that the client left without an answer.
func lost(id int, label string, sent trace.Nanos) trace.Exchange {
	x := exchange(id, label, 0, sent, 0, 0, trace.ClassNone, "")
	x.Response, x.Broke, x.Done, x.Cut = nil, trace.PhaseCut, sent+ms, &trace.Cut{At: "sent", By: "close", Done: sent + ms}
	return x
}

func passed(scenario, title string, rounds int, power string) trace.Case {
	return trace.Case{
		Scenario: scenario, Title: title, Started: 100 * ms, Ended: 412 * ms,
		Result: trace.Result{Verdict: trace.Pass, Rounds: rounds, Power: power},
	}
}

func skipped(scenario, title, detail, enable string) trace.Case {
	return trace.Case{Scenario: scenario, Title: title,
		Result: trace.Result{Verdict: trace.Skip, Reason: trace.Needs, Detail: detail, Enable: enable}}
}

// fullRun has every verdict on three endpoints.
func fullRun() *trace.Run {
	return &trace.Run{
		Schema: trace.SchemaV1, Info: testInfo(),
		Endpoints: []trace.Endpoint{brokenOrders(), strangePayments(), failingRefunds()},
		Summary: trace.Summary{Verdict: trace.Fail, ExitCode: 1, Requests: 412,
			Cases: trace.Tally{Pass: 4, Fail: 3, Warn: 1, Inconclusive: 2, Skip: 3, Error: 1, NotApplicable: 1}},
	}
}

func brokenOrders() trace.Endpoint {
	race := trace.Case{
		Scenario: "same-key-concurrent", Title: "The same request, five times at the same instant", Started: 500 * ms, Ended: 1812 * ms,
		Trace: []trace.Round{{N: 1}, {N: 2, Exchanges: []trace.Exchange{
			exchange(12, "burst", 0, 600*ms, 621*ms, 201, trace.ClassSuccess, `{"id":"ord_17","status":"created","total":1200,"currency":"EUR","customer":"c-9"}`),
			exchange(13, "burst", 1, 600*ms+21_000, 622*ms, 201, trace.ClassSuccess, `{"id":"ord_18","status":"created","total":1200,"currency":"EUR","customer":"c-9"}`),
			exchange(14, "burst", 2, 600*ms+33_000, 602*ms, 409, trace.ClassInProgress, `{"title":"still running"}`),
		}}},
		Result: trace.Result{Verdict: trace.Fail, Rounds: 3,
			Firing: &trace.Firing{Technique: "http/1.1 last byte", Copies: 5, LeastCopies: 5, Connections: 5,
				SpreadUS: trace.Quantiles{P50: 21, P95: 40}, FirstGapUS: trace.Quantiles{P50: 4, P95: 9}},
			Findings: []trace.Finding{{
				Rule: "duplicate-creation", Severity: trace.Critical, Message: "five copies with one key had 2 effects",
				Expected: "1 effect: the counter orders rises from 0 to 1", Actual: "2 effects: the counter orders rose from 0 to 2, the answers name ord_17 and ord_18",
				Exchanges: []int{12, 13, 14}, Counts: map[string]trace.CountChange{"orders": {After: 2, Expected: 1}, "mails": {After: 2, Expected: 1}},
				Round: 2, Seen: 2,
			}}},
	}
	again := trace.Case{
		Scenario: "same-key-again", Title: "The same request again, three times in a row", Started: 200 * ms, Ended: 290 * ms,
		Trace: []trace.Round{{N: 1, Exchanges: []trace.Exchange{
			exchange(5, "first", 0, 210*ms, 231*ms, 201, trace.ClassSuccess, `{"id":"ord_3"}`),
			exchange(6, "again", 0, 240*ms, 241*ms, 200, trace.ClassSuccess, `{"id":"ord_3"}`),
		}}},
		Result: trace.Result{Verdict: trace.Fail, Rounds: 1, Findings: []trace.Finding{
			{
				Rule: "status-not-replayed", Severity: trace.Major, Message: "the retry was answered with 200, the first request with 201",
				Expected: "status 201, as the first answer", Actual: "status 200 on 3 of 3 retries", Exchanges: []int{5, 6}, Round: 1, Seen: 1,
				Curl: []string{`curl -sS -X POST http://127.0.0.1:8080/orders -H 'Content-Type: application/json' -H 'Idempotency-Key: rs-by-hand-1' -d '{"sku": "A1", "qty": 1}'`,
					`curl -sS -i -X POST http://127.0.0.1:8080/orders -H 'Idempotency-Key: rs-by-hand-1' -d '{"sku": "A1"}'`},
			},
			{
				Rule: "replay-not-byte-identical", Severity: trace.Minor, Message: "the retry's body is the same JSON with other bytes",
				Expected: `{"id":"ord_3"}`, Actual: `{ "id": "ord_3" }`, Exchanges: []int{5, 6}, Round: 1, Seen: 1,
			},
		}},
	}
	return trace.Endpoint{
		Name: "create order", Request: "POST /orders", Kind: "create", Line: 12, Verdict: trace.Fail,
		Facts: trace.Facts{Key: trace.KeyPlace{In: "header", Name: "Idempotency-Key"}, Counters: []trace.CounterFact{{Name: "orders", Rise: 1, Marked: true}, {Name: "mails", Rise: 1, Marked: true}}},
		Control: &trace.Control{Learned: trace.Learned{Sound: true, SuccessStatus: 201, CreationFields: []string{"$.id", "header Location"},
			Handling: 21 * ms, CountLag: 3 * ms}},
		Diagnoses: brokenCauses(),
		Cases: []trace.Case{
			{Scenario: "first-request", Title: "One request with a new key", OnControl: true, Result: trace.Result{Verdict: trace.Pass, Rounds: 2, Power: "2 rounds, one request each"}},
			again, race,
			passed("fresh-key-per-retry", "The same body with a new key each time", 1, "1 round of 3 requests"),
			skipped("delayed-expiry", "Replayed before the key's lifetime ends, executed again after it", "the lifetime of keys is not stated", "key_lifetime: 24h"),
			{Scenario: "client-timeout", Title: "The client goes away after sending, then retries", Started: 2000 * ms, Ended: 2100 * ms,
				Trace: []trace.Round{{N: 1, Exchanges: []trace.Exchange{lost(30, "lost", 2010*ms), exchange(31, "retry", 0, 2050*ms, 2071*ms, 201, trace.ClassSuccess, `{"id":"ord_31"}`)}}},
				Result: trace.Result{Verdict: trace.Fail, Rounds: 2, Findings: []trace.Finding{{Rule: "lost-after-cut", Severity: trace.Critical,
					Message: "the client left after sending, and the retry had an effect of its own", Expected: "1 effect", Actual: "2 effects: orders rose from 0 to 2",
					Exchanges: []int{30, 31}, Counts: map[string]trace.CountChange{"orders": {After: 2, Expected: 1}}, Round: 1, Seen: 2}}}},
		},
	}
}

// brokenCauses explain all findings of brokenOrders but one, which has the advice of its rule.
func brokenCauses() []trace.Diagnosis {
	return []trace.Diagnosis{
		{ID: "checked-before-claimed", Title: "The key is looked up first and claimed later", Why: "Copies at the same instant had more than one effect, and no plain repeat did.",
			Fix:      "Claim it with one atomic insert under a unique constraint, before the effect.",
			Example:  "insert into idempotency_keys (account, key) values (:account, :key)\n  on conflict do nothing;\n-- 1 row:   go on\n-- 0 rows:  somebody else has it",
			Rules:    []string{"duplicate-creation"},
			Symptoms: []trace.Symptom{{Scenario: "same-key-concurrent", Rule: "duplicate-creation"}}},
		{ID: "replay-rebuilt", Title: "Replays are built anew", Why: "Replays differ from the first answer.", Fix: "Store the first answer whole.",
			Example: "return raw(record.status, record.headers, record.bytes)",
			Rules:   []string{"replay-not-byte-identical", "status-not-replayed"},
			Symptoms: []trace.Symptom{{Scenario: "same-key-again", Rule: "status-not-replayed"},
				{Scenario: "same-key-again", Rule: "replay-not-byte-identical"}}},
	}
}

// strangePayments answers with text that attacks the terminal; one verdict has no counter behind it.
func strangePayments() trace.Endpoint {
	odd := exchange(40, "again", 0, 3010*ms, 3012*ms, 200, trace.ClassSuccess, hostile)
	return trace.Endpoint{
		Name: "create payment", Request: "POST /payments", Kind: "create", Line: 31, Verdict: trace.Warn,
		Cases: []trace.Case{
			passed("first-request", "One request with a new key", 2, "2 rounds, one request each"),
			{Scenario: "same-key-again", Title: "The same request again, three times in a row", Started: 3000 * ms, Ended: 3100 * ms,
				Trace: []trace.Round{{N: 1, Exchanges: []trace.Exchange{odd}}},
				Result: trace.Result{Verdict: trace.Warn, Rounds: 1, Uncounted: true, Power: "1 round of 4 requests", Findings: []trace.Finding{{
					Rule: "replay-not-byte-identical", Severity: trace.Minor, Message: "the retry's body is another text", Expected: "pong", Actual: hostile,
					Exchanges: []int{40}, Round: 1, Seen: 1}}}},
			{Scenario: "same-key-concurrent", Title: "The same request, five times at the same instant",
				Result: trace.Result{Verdict: trace.Pass, Rounds: 12, Uncounted: true,
					Power:  "12 rounds of 5 copies over 5 connections, first gap 4 us: a race window of 20 us would have been seen with 99 % probability",
					Firing: &trace.Firing{Technique: "http/1.1 last byte", Copies: 5, LeastCopies: 5, Connections: 5}}, Started: 3100 * ms, Ended: 5200 * ms},
			skipped("delayed-expiry", "Replayed before the key's lifetime ends, executed again after it", "the lifetime of keys is not stated", "key_lifetime: 24h"),
			skipped("server-error-then-retry", "The first attempt fails with 5xx, then a retry", "the plan does not say how to make the endpoint fail once",
				"fail:\n  headers:\n    X-Fail-Once: \"1\""),
		},
	}
}

func failingRefunds() trace.Endpoint {
	unsound := trace.Result{Verdict: trace.Inconclusive, Reason: trace.ControlUnsound,
		Detail: "the first request was answered 500: " + hostile, Enable: "--allow-host refunds.example.com"}
	return trace.Endpoint{
		Name: "create refund", Request: "POST /refunds", Kind: "create", Line: 48, Verdict: trace.Error,
		Cases: []trace.Case{
			{Scenario: "first-request", Title: "One request with a new key", Result: unsound},
			{Scenario: "same-key-again", Title: "The same request again, three times in a row", Result: unsound},
			{Scenario: "client-timeout", Title: "The client goes away after sending, then retries",
				Result: trace.Result{Verdict: trace.Error, Detail: "one send reached the wire twice"}},
			{Scenario: "webhook-again", Title: "The same event twice", Result: trace.Result{Verdict: trace.Skip, Reason: trace.NotApplicable, Detail: "for webhooks"}},
		},
	}
}

// passRun is complete and green.
func passRun() *trace.Run {
	return &trace.Run{
		Schema: trace.SchemaV1, Info: testInfo(),
		Endpoints: []trace.Endpoint{{Name: "create order", Request: "POST /orders", Kind: "create", Verdict: trace.Pass, Cases: []trace.Case{
			passed("first-request", "One request with a new key", 2, "2 rounds, one request each"),
			passed("same-key-again", "The same request again, three times in a row", 1, "1 round of 4 requests"),
		}}},
		Summary: trace.Summary{Verdict: trace.Pass, Requests: 6, Cases: trace.Tally{Pass: 2}},
	}
}

// greenButEmpty passes what it tested, which is little, and without any counter.
func greenButEmpty() *trace.Run {
	run := passRun()
	run.Info.Plan, run.Info.Dialect = trace.PlanInfo{}, "any"
	cases := run.Endpoints[0].Cases
	for i := range cases {
		cases[i].Uncounted = true
	}
	run.Endpoints[0].Cases = append(cases,
		skipped("missing-key", "A request without a key", "neither plan nor dialect says that a key is required", "required: true"),
		skipped("delayed-expiry", "Replayed before the key's lifetime ends, executed again after it", "the lifetime of keys is not stated", "key_lifetime: 24h"))
	run.Summary.Cases.Skip = 2
	return run
}

// untestedRun has two endpoints with one diagnosis, and a gap of every kind.
func untestedRun() *trace.Run {
	gaps := func() []trace.Case {
		return []trace.Case{
			skipped("double-click", "Two identical requests without a key", "the plan does not say that they must be one", "double_click: one"),
			skipped("crash-in-flight", "The process dies while it works", `the plan has no hook "crash"`,
				"hooks: {crash: {exec: [docker, compose, kill, -s, KILL, api], then: [docker, compose, start, api], ready: GET /health}}"),
			skipped("retry-storm", "Fifty copies", "it disturbs others who use the system", "--allow-disruptive"),
			skipped("many-keys-between", "Many other keys", "it disturbs others who use the system", "--allow-disruptive"),
			skipped("client-timeout", "The client goes away", "nothing counts the effects", `counters: {NAME: {http: "GET /PATH?reference={{marker}}", value: $.count}}`),
			{Scenario: "repeated-delete", Title: "The same DELETE again", Result: trace.Result{Verdict: trace.Skip, Reason: trace.NotApplicable}},
		}
	}
	orders, refunds := brokenOrders(), brokenOrders()
	orders.Cases = append(orders.Cases[:4], gaps()...)
	refunds.Name, refunds.Line, refunds.Cases = "create refund", 31, append(refunds.Cases[:4], gaps()...)
	refunds.Cases = append(refunds.Cases, trace.Case{Scenario: "in-progress-copy", Title: "Copies that arrive while the first request runs",
		Result: trace.Result{Verdict: trace.Inconclusive, Reason: trace.Interrupted, Detail: "the run ended before the case did"}})
	refunds.Cases = append(refunds.Cases, trace.Case{Scenario: "missing-key", Title: "A request without a key", Result: trace.Result{Verdict: trace.Fail,
		Reason: trace.Needs, Detail: "the plan requires this scenario, but it was skipped: nothing says that a key is required", Enable: "required: true"}})
	good := passRun().Endpoints[0]
	good.Name, good.Request = "create cart", "POST /carts"
	return &trace.Run{Schema: trace.SchemaV1, Info: testInfo(), Endpoints: []trace.Endpoint{good, orders, refunds},
		Summary: trace.Summary{Verdict: trace.Fail, ExitCode: 1, Requests: 99,
			Cases: trace.Tally{Pass: 6, Fail: 5, Skip: 10, Inconclusive: 1, NotApplicable: 2}}}
}

// unreachableRun could not connect.
func unreachableRun() *trace.Run {
	run := passRun()
	run.Endpoints = append(run.Endpoints, passRun().Endpoints[0])
	run.Endpoints[1].Name, run.Endpoints[1].Request = "create refund", "POST /refunds"
	for k := range run.Endpoints {
		ep := &run.Endpoints[k]
		ep.Verdict = trace.Inconclusive
		for i := range ep.Cases {
			c := &ep.Cases[i]
			c.Result, c.Started, c.Ended = trace.Result{Verdict: trace.Inconclusive, Reason: trace.Unreachable,
				Detail: "no connection for " + strings.Replace(ep.Request, " ", " http://127.0.0.1:8080", 1) + ": dial tcp 127.0.0.1:8080: connect: connection refused"}, 0, 0
		}
		ep.Cases = append(ep.Cases, skipped("double-click", "Two at once without a key", "the plan does not say that they must be one", "double_click: one"))
	}
	run.Summary = trace.Summary{Verdict: trace.Inconclusive, ExitCode: 3, Requests: 2, Cases: trace.Tally{Inconclusive: 4, Skip: 2}}
	return run
}

// interruptedRun was ended by a signal.
func interruptedRun() *trace.Run {
	run := passRun()
	run.Info.Interrupted = true
	run.Endpoints[0].Verdict = trace.Inconclusive
	run.Endpoints[0].Cases[1].Result = trace.Result{Verdict: trace.Inconclusive, Reason: trace.Interrupted, Detail: "the run ended before the case did"}
	run.Summary = trace.Summary{Verdict: trace.Inconclusive, ExitCode: 130, Requests: 3, Cases: trace.Tally{Pass: 1, Inconclusive: 1}}
	return run
}

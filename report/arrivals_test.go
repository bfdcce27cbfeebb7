package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func chargeCall(id int, at trace.Nanos, key, failed string) trace.Arrival {
	c := &trace.Call{Key: key, Status: 200, Failed: failed, Request: trace.Request{Method: "POST", URL: "/charges"}}
	if failed == trace.FailedDrop {
		c.Status = 0
	}
	return trace.Arrival{ID: id, Sink: "charges", Scopes: []string{"A"}, At: at, Call: c}
}

// TestArrivalsGolden shows what sinks got beside the exchanges of a finding, hostile text included.
func TestArrivalsGolden(t *testing.T) {
	run := passRun()
	ep := &run.Endpoints[0]
	ep.Verdict, ep.Cases = trace.Fail, []trace.Case{{Scenario: "same-key-again", Title: "The same request again", Trace: []trace.Round{{N: 1,
		Exchanges: []trace.Exchange{exchange(5, "first", 0, 210*ms, 231*ms, 201, trace.ClassSuccess, `{"id":"pay_3"}`)},
		Arrivals: []trace.Arrival{chargeCall(1, 212*ms, "k-1", trace.FailedDrop), chargeCall(2, 215*ms, "", ""),
			{ID: 3, Sink: "mails", At: 229 * ms, Mail: &trace.Mail{To: []string{"a@example.com"}, Subject: "Your \x1b[31mpayment\r\npay_3"}},
			{ID: 4, Sink: "mails", At: 230 * ms, Mail: &trace.Mail{To: []string{"a@example.com"}, Subject: "not named"}}}}},
		Result: trace.Result{Verdict: trace.Fail, Rounds: 1, Findings: []trace.Finding{{Rule: "side-effect-repeated", Severity: trace.Critical,
			Message: "more arrived than should", Expected: "1 call", Actual: "2 calls", Exchanges: []int{5}, Arrivals: []int{1, 2, 3}, Round: 1, Seen: 1}}}}}
	c := &ep.Cases[0]
	if text := account(ep, c, &c.Findings[0], testRules()); !strings.Contains(text, "\nsent out: charges: POST /charges with key k-1, dropped on purpose\n") {
		t.Errorf("the text of other formats does not say what arrived:\n%s", text)
	}
	for file, width := range map[string]int{"arrivals.txt": 100, "arrivals-40.txt": 40} {
		var out bytes.Buffer
		if err := Terminal(&out, run, Options{Width: width, Rules: testRules()}); err != nil {
			t.Fatal(err)
		}
		golden(t, file, out.Bytes())
	}
}

func TestClientGolden(t *testing.T) {
	run := &trace.ClientRun{Schema: trace.ClientSchemaV1,
		Info: trace.ClientInfo{ElapsedMS: 1400, URL: "http://127.0.0.1:8099", Tool: trace.Tool{Name: "retrysafe", Version: "v1"}, Key: "Idempotency-Key",
			First: trace.FailedDrop, Times: 1, Announced: 3, Ended: (2 * time.Second).String() + " had passed", FailOn: trace.Major},
		Calls: []trace.Arrival{chargeCall(1, 1*ms, "k-1", trace.FailedDrop), chargeCall(2, 301*ms, "k-1", ""),
			chargeCall(3, 400*ms, "k-\x1b[2J2", trace.FailedDrop), chargeCall(4, 500*ms, "", ""), chargeCall(5, 600*ms, "k-3", trace.FailedDrop), chargeCall(6, 700*ms, "", "")},
		Operations: []trace.Operation{
			{Request: "POST /charges", Calls: []int{1, 2}, Result: trace.Result{Verdict: trace.Pass, Power: "would have caught this and that"}},
			{Request: "POST /refunds", Calls: []int{3, 4}, Result: trace.Result{Verdict: trace.Fail, Findings: []trace.Finding{{Rule: "downstream-key-not-stable", Severity: trace.Critical,
				Message: "the retry carries no key", Expected: "the same key", Actual: "no key", Arrivals: []int{3, 4}}}}},
			{Request: "PATCH /x", Calls: []int{5}, Result: trace.Result{Verdict: trace.Inconclusive, Reason: trace.NoEvidence, Detail: "no retry came", Enable: "--for, longer"}},
		},
		Summary: trace.Conclusion{Verdict: trace.Fail, ExitCode: 1}}
	var out bytes.Buffer
	if err := Client(&out, run, Options{Width: 100, Rules: testRules()}); err != nil {
		t.Fatal(err)
	}
	golden(t, "client.txt", out.Bytes())
}

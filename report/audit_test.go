package report

import (
	"bytes"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestAudit(t *testing.T) {
	for file, run := range map[string]*trace.Run{"audit.txt": fullRun(), "audit-large.txt": briefly(largeRun())} {
		var out bytes.Buffer
		if err := Audit(&out, run, Options{Rules: testRules(), Fields: testFields()}); err != nil {
			t.Fatal(err)
		}
		golden(t, file, out.Bytes())
	}
}

// TestAuditNamesAll: every endpoint stands on the page, the harmed before the others.
func TestAuditNamesAll(t *testing.T) {
	run := largeRun()
	var out bytes.Buffer
	if err := Audit(&out, run, Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for i := range run.Endpoints {
		if !strings.Contains(text, run.Endpoints[i].Name) {
			t.Errorf("%q is not named", run.Endpoints[i].Name)
		}
	}
	harmed, clean := strings.Index(text, "create order 12"), strings.Index(text, "No harm found")
	if harmed < 0 || clean < harmed {
		t.Errorf("harmed at %d, clean at %d", harmed, clean)
	}
}

// TestAuditOfControlAlone: that a request works once says nothing about its repeat.
func TestAuditOfControlAlone(t *testing.T) {
	run := passRun()
	run.Endpoints = run.Endpoints[:1]
	run.Endpoints[0].Cases = []trace.Case{
		{Scenario: "first-request", OnControl: true, Result: trace.Result{Verdict: trace.Pass}},
		{Scenario: "repeated-delete", Result: trace.Result{Verdict: trace.Skip, Reason: trace.Needs, Detail: "neither a state nor a counter is read"}},
	}
	var out bytes.Buffer
	if err := Audit(&out, run, Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	if !strings.Contains(text, "? unknown") || strings.Contains(text, "No harm found") || !strings.Contains(text, "repeated-delete was not sent: neither a state nor a counter is read") {
		t.Error(out.String())
	}
}

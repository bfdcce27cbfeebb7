package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// largeRun has many endpoints of few kinds, those that fail in the middle.
func largeRun() *trace.Run {
	run := fullRun()
	run.Endpoints = nil
	for i := range 40 {
		ep := passRun().Endpoints[0]
		switch {
		case i == 12 || i >= 20 && i < 33:
			ep = brokenOrders()
		case i == 14:
			ep = failingRefunds()
		case i == 3:
			ep = strangePayments()
		}
		ep.Name = fmt.Sprintf("%s %02d", ep.Name, i)
		run.Endpoints = append(run.Endpoints, ep)
	}
	return run
}

// briefly is the run as a large one is kept: evidence for the first endpoint of each kind alone.
func briefly(run *trace.Run) *trace.Run {
	out := *run
	out.Endpoints = make([]trace.Endpoint, len(run.Endpoints))
	seen := map[string]bool{}
	for i := range run.Endpoints {
		kind := KindOf(&run.Endpoints[i])
		out.Endpoints[i] = run.Endpoints[i].Brief(!seen[kind])
		seen[kind] = true
	}
	return &out
}

func TestLargeRun(t *testing.T) {
	var whole, brief bytes.Buffer
	o := Options{Rules: testRules()}
	if err := Terminal(&whole, largeRun(), o); err != nil {
		t.Fatal(err)
	}
	if err := Terminal(&brief, briefly(largeRun()), o); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(whole.Bytes(), brief.Bytes()) {
		t.Error("the report shows what is not kept of a large run")
	}
	golden(t, "large.txt", whole.Bytes())
	last := -1
	for _, want := range []string{"FAIL  create order 12", "13 more endpoints end alike: create order 20", "ERROR  create refund 14",
		"warn  create payment 03", "pass  24 endpoints, 2 behaviours proved on each"} {
		at := strings.Index(whole.String(), want)
		if at <= last {
			t.Errorf("%q stands at %d, expected behind %d", want, at, last)
		}
		last = at
	}
}

// TestManyKinds shows that what is told in full is bounded, and the rest still named.
func TestManyKinds(t *testing.T) {
	run := fullRun()
	run.Endpoints = nil
	for i := range KindsShown + 3 {
		ep := brokenOrders()
		ep.Name = fmt.Sprintf("order %d", i)
		ep.Diagnoses[0].ID = fmt.Sprintf("cause-%d", i)
		run.Endpoints = append(run.Endpoints, ep)
	}
	var out bytes.Buffer
	if err := Terminal(&out, run, Options{}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "symptoms"); n != 2*KindsShown {
		t.Errorf("%d causes are told in full, expected two for each of %d endpoints", n, KindsShown)
	}
	if !strings.Contains(text, fmt.Sprintf("FAIL  order %d\n", KindsShown+2)) {
		t.Error("an endpoint that is not told in full is not named")
	}
}

// TestJSONOfEndpoints shows that the document put together from endpoints as they ended is that of the whole run.
func TestJSONOfEndpoints(t *testing.T) {
	for _, run := range []*trace.Run{largeRun(), fullRun(), {Schema: trace.SchemaV1, Endpoints: []trace.Endpoint{}}} {
		path := filepath.Join(t.TempDir(), "out.json")
		var direct bytes.Buffer
		for _, at := range []string{path, "-"} {
			w, err := NewJSON(at, &direct)
			if err != nil {
				t.Fatal(err)
			}
			for i := range run.Endpoints {
				k := len(run.Endpoints) - 1 - i
				if err := w.Case(run.Endpoints[k].Name, &run.Endpoints[k].Cases[0]); err != nil {
					t.Fatal(err)
				}
				if err := w.Endpoint(k, &run.Endpoints[k]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Finish(briefly(run)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := json.MarshalIndent(run, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d endpoints: the file differs from the run, %v", len(run.Endpoints), err)
		}
		if !bytes.Equal(direct.Bytes(), want) {
			t.Errorf("%d endpoints: the output differs from the run", len(run.Endpoints))
		}
	}
}

// A document that would lack what could not be kept is not written.
func TestJSONOfLostEndpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	w, err := NewJSON(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.partial.Close(); err != nil { // as good as a full disk
		t.Fatal(err)
	}
	run := passRun()
	if err := w.Endpoint(0, &run.Endpoints[0]); err == nil {
		t.Fatal("an endpoint was kept in a closed file")
	}
	if err := w.Finish(run); err == nil {
		t.Error("the document was written without it")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a document")
	}
}

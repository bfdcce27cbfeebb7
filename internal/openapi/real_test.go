//go:build unix

// Processor time is asked of the system as Unix has it; the documents come from a script of the shell anyway.

package openapi_test

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
	"retrysafe/internal/openapi/stub"
	"retrysafe/internal/plan"
)

// TestRealDocuments drafts plans from published documents. What they send is TestDocuments' of cmd.
func TestRealDocuments(t *testing.T) {
	files := stub.Documents(t)
	versions := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			versions[string(regexp.MustCompile(`2\.0|3\.[01]`).Find(regexp.MustCompile(`(swagger|openapi)"?: *["']?[0-9.]+`).Find(data)))] = true
			checkDocument(t, filepath.Base(file), data)
		})
	}
	for _, version := range []string{"2.0", "3.0", "3.1"} {
		if !versions[version] {
			t.Errorf("no document of version %s among %q", version, files)
		}
	}
}

// soon makes a plan of a document, within the processor time that it may take: the clock would count what else the machine does.
func soon(t *testing.T, name string, data []byte, target string) (*openapi.Document, draft.Draft, []byte) {
	start := processorTime(t)
	doc, err := openapi.Read(name, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := doc.Draft()
	text := write(t, d, target)
	if took := processorTime(t) - start; took > mostDrafting {
		t.Errorf("expected a plan within %v of processor time, found %v", mostDrafting, took)
	}
	return doc, d, text
}

// processorTime is what this process has used so far, its garbage collector included.
func processorTime(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func checkDocument(t *testing.T, name string, data []byte) {
	doc, d, text := soon(t, name, data, "http://127.0.0.1:1")
	if n := len(doc.Operations()); n < 20 || n > 500 {
		t.Errorf("expected a document of 20 to 500 operations, found %d", n)
	}
	if _, err := plan.Parse("plan.yaml", text, env); err != nil {
		t.Fatalf("not a valid plan: %v", err)
	}
	t.Logf("%s: %d operations, %d endpoints with a set-up, %d with a counter", name, len(doc.Operations()),
		having(d, func(e draft.Endpoint) bool { return len(e.Setup) > 0 }), having(d, func(e draft.Endpoint) bool { return len(e.Counters) > 0 }))
}

func having(d draft.Draft, what func(draft.Endpoint) bool) (n int) {
	for _, e := range d.Endpoints {
		if what(e) {
			n++
		}
	}
	return n
}

//go:build unix

// Processor time is asked of the system as Unix has it; the documents come from a script of the shell anyway.

package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/theory/jsonpath"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
	"retrysafe/internal/openapi/stub"
	"retrysafe/internal/plan"
)

// TestRealDocuments drafts plans from published documents and sends each endpoint's first request, without a hand edit, to a server
// made from the document by others' code.
func TestRealDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("drafts a thousand operations: run it without -short")
	}
	dir := os.Getenv("RETRYSAFE_TEST_OPENAPI")
	if dir == "" {
		t.Skip("RETRYSAFE_TEST_OPENAPI is not set: it names a folder with real documents, see .ci/services")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("expected at least 5 documents in %s, found %d", dir, len(files))
	}
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
	doc, err := openapi.Read(name, data)
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
	server, err := stub.New(data)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	doc, d, text := soon(t, name, data, web.URL)
	if n := len(doc.Operations()); n < 20 || n > 500 {
		t.Errorf("expected a document of 20 to 500 operations, found %d", n)
	}
	p, err := plan.Parse("plan.yaml", text, env)
	if err != nil {
		t.Fatalf("not a valid plan: %v", err)
	}
	for i := range p.Endpoints {
		send(t, p, &p.Endpoints[i], i)
	}
	valid, seen := 0, server.Seen()
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] == nil {
			valid++
			continue
		}
		t.Logf("%s: %.300s", name, strings.ReplaceAll(seen[name].Error(), "\n", " "))
	}
	share := 100 * valid / server.Total()
	t.Logf("%s: %d operations, %d of %d unsafe ones received a valid request (%d %%), %d endpoints with a set-up, %d with a counter",
		name, len(doc.Operations()), valid, server.Total(), share,
		having(d, func(e draft.Endpoint) bool { return len(e.Setup) > 0 }), having(d, func(e draft.Endpoint) bool { return len(e.Counters) > 0 }))
	if share < 80 {
		t.Errorf("expected valid requests for 80 %% of the operations, found %d %%", share)
	}
}

func having(d draft.Draft, what func(draft.Endpoint) bool) (n int) {
	for _, e := range d.Endpoints {
		if what(e) {
			n++
		}
	}
	return n
}

// values are those of one key.
type values struct {
	n        int
	captures map[string]string
}

// Lookup implements plan.Values.
func (v values) Lookup(name string, limit int) string {
	marker := fmt.Sprintf("rs%024d", v.n)
	switch name {
	case "marker":
		if limit > 0 {
			return marker[len(marker)-min(limit, len(marker)):]
		}
		return marker
	case "key", "uuid", "send.uuid":
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", v.n)
	case "email":
		return marker + "@example.com"
	case "now", "send.now":
		return "2026-01-01T00:00:00Z"
	}
	return v.captures[name]
}

// send sends the set-up and the request of an endpoint.
func send(t *testing.T, p *plan.Plan, e *plan.Endpoint, n int) {
	t.Helper()
	v := values{n: n, captures: map[string]string{}}
	for _, s := range e.Setup {
		answer := exchange(t, p, s.Request, s.Headers, s.Body, v, "")
		for name, where := range s.Capture {
			v.captures[name] = captured(t, answer, where)
		}
	}
	body := e.Body
	keyHeader := ""
	switch e.Key.In {
	case "json":
		var err error
		if body, err = body.WithKey(e.Key.Name, v.Lookup("key", 0)); err != nil {
			t.Fatal(err)
		}
	case "header":
		keyHeader = e.Key.Name
	}
	exchange(t, p, e.Request, e.Headers, body, v, keyHeader)
}

func exchange(t *testing.T, p *plan.Plan, r plan.RequestTemplate, headers []plan.HeaderTemplate, b plan.Body, v values, keyHeader string) []byte {
	t.Helper()
	content, err := b.Render(v)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(r.Method, r.URL(p.Target, v), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Callers) > 0 {
		headers = append(slices.Clone(p.Callers[0].Headers), headers...)
	}
	for _, h := range headers {
		value, err := h.Render(v)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(h.Name, value)
	}
	if keyHeader != "" {
		req.Header.Set(keyHeader, v.Lookup("key", 0))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func captured(t *testing.T, answer []byte, where string) string {
	var doc any
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return "none"
	}
	path, err := jsonpath.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range path.Select(doc) {
		return fmt.Sprint(found)
	}
	return "none"
}

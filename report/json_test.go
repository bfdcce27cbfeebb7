package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"retrysafe/internal/trace"
)

func TestJSONGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	w, err := NewJSON(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(fullRun()); err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "full.json", document)
	want, err := json.Marshal(fullRun())
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(compact.Bytes(), want) {
		t.Error("the document is not what encoding/json makes of the run")
	}
}

// The fields that other tools rely on; a change here breaks them.
func TestJSONFields(t *testing.T) {
	document, err := json.Marshal(fullRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"schema", "run.id", "run.started", "run.elapsed_ms", "run.target", "run.dialect", "run.seed", "run.tool", "run.plan",
		"summary.verdict", "summary.exit_code", "summary.requests", "summary.cases.pass", "summary.cases.fail", "summary.cases.warn",
		"summary.cases.inconclusive", "summary.cases.skip", "summary.cases.error",
		"endpoints.0.name", "endpoints.0.request", "endpoints.0.verdict", "endpoints.0.diagnoses.0.id", "endpoints.0.diagnoses.0.title",
		"endpoints.0.diagnoses.0.fix", "endpoints.0.diagnoses.0.rules.0", "endpoints.0.diagnoses.0.why", "endpoints.0.diagnoses.0.example",
		"endpoints.0.diagnoses.0.symptoms.0.scenario", "endpoints.0.diagnoses.0.symptoms.0.rule",
		"endpoints.0.cases.2.scenario", "endpoints.0.cases.2.verdict", "endpoints.0.cases.4.reason", "endpoints.0.cases.2.rounds",
		"endpoints.0.cases.2.findings.0.rule", "endpoints.0.cases.2.findings.0.severity", "endpoints.0.cases.2.findings.0.message",
		"endpoints.0.cases.2.findings.0.expected", "endpoints.0.cases.2.findings.0.actual", "endpoints.0.cases.2.findings.0.exchanges.0",
		"endpoints.0.cases.2.findings.0.counts.orders.before", "endpoints.0.cases.2.findings.0.counts.orders.after",
		"endpoints.0.cases.2.firing.technique", "endpoints.0.cases.2.firing.copies", "endpoints.0.cases.2.firing.connections",
		"endpoints.0.cases.2.firing.spread_us.p50", "endpoints.0.cases.2.firing.first_gap_us.p95",
	} {
		if !has(document, strings.Split(path, ".")) {
			t.Errorf("no field %s", path)
		}
	}
}

func has(document json.RawMessage, path []string) bool {
	if len(path) == 0 {
		return document != nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(document, &object) == nil {
		return has(object[path[0]], path[1:])
	}
	var list []json.RawMessage
	var index int
	if json.Unmarshal(document, &list) != nil || json.Unmarshal([]byte(path[0]), &index) != nil || index >= len(list) {
		return false
	}
	return has(list[index], path[1:])
}

func TestJSONPartialRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(path, []byte("an older document"), 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := NewJSON(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ep := brokenOrders()
	begun := passRun()
	begun.Endpoints = []trace.Endpoint{{Name: ep.Name, Request: ep.Request}, {Name: "never", Request: "POST /never"}}
	var cases []trace.Case
	for i := range ep.Cases {
		cases = append(cases, trace.Case{Scenario: ep.Cases[i].Scenario, Title: ep.Cases[i].Title})
	}
	if err := w.Begin(begun, cases); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range ep.Cases {
		group.Go(func() {
			if err := w.Case(ep.Name, &ep.Cases[i]); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	record, err := os.ReadFile(path + PartialSuffix)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(record) {
		var c PartialCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if c.Endpoint != "" {
			seen[c.Endpoint+"/"+c.Case.Scenario] = true
		}
	}
	if len(seen) != len(ep.Cases) {
		t.Errorf("%d cases in the record, want %d", len(seen), len(ep.Cases))
	}
	if old, _ := os.ReadFile(path); string(old) != "an older document" {
		t.Error("the older document was touched before the end")
	}
	readAsInterrupted(t, append(record, []byte(`{"endpoint":"cut in the mid`)...), &ep)
	if err := w.Finish(passRun()); err != nil {
		t.Fatal(err)
	}
	if names := files(t, filepath.Dir(path)); !reflect.DeepEqual(names, []string{"out.json"}) {
		t.Errorf("left behind: %v", names)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("abort after finish: %v", err)
	}
}

// readAsInterrupted reads the record of a run that died while it wrote a line.
func readAsInterrupted(t *testing.T, record []byte, ep *trace.Endpoint) {
	t.Helper()
	run, err := ReadRun(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	if !run.Info.Interrupted || run.Info.ID != passRun().Info.ID || !reflect.DeepEqual(run.Endpoints[0].Cases, ep.Cases) {
		t.Errorf("read %+v", run)
	}
	for _, c := range run.Endpoints[1].Cases {
		if c.Verdict != trace.Inconclusive || c.Reason != trace.Interrupted || c.Stop == nil {
			t.Errorf("a case that never ended: %+v", c)
		}
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestJSONAbort(t *testing.T) {
	dir := t.TempDir()
	empty, err := NewJSON(filepath.Join(dir, "empty.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := NewJSON(filepath.Join(dir, "some.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.Begin(passRun(), nil); err != nil {
		t.Fatal(err)
	}
	if err := some.Case("create order", &trace.Case{Scenario: "first-request"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(empty.Abort(), some.Abort()); err != nil {
		t.Fatal(err)
	}
	if names := files(t, dir); !reflect.DeepEqual(names, []string{"some.json.partial"}) {
		t.Errorf("want only the record that holds a case, got %v", names)
	}
	if err := some.Finish(passRun()); err == nil {
		t.Error("finish after abort must fail")
	}
}

func TestJSONPaths(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ path, want, reason string }{
		{"", "the path is empty", "json= without a file"},
		{dir, "is a folder", "a folder"},
		{filepath.Join(dir, "missing", "out.json"), "no such file", "an unwritable path fails before anything is sent"},
	} {
		if _, err := NewJSON(tt.path, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.reason, err, tt.want)
		}
	}
}

func TestJSONToStandardOutput(t *testing.T) {
	var out bytes.Buffer
	w, err := NewJSON("-", &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Case("create order", &trace.Case{}); err != nil {
		t.Fatal(err)
	}
	if out.Len() != 0 {
		t.Errorf("written before the end: %q", out.String())
	}
	if err := w.Finish(passRun()); err != nil {
		t.Fatal(err)
	}
	if run, err := ReadRun(&out); err != nil || !reflect.DeepEqual(run, passRun()) {
		t.Errorf("read %+v, %v", run, err)
	}
	broken, err := NewJSON("-", full{})
	if err != nil {
		t.Fatal(err)
	}
	if err := broken.Finish(passRun()); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}

// A device must be written to, never replaced by a file.
func TestJSONToADevice(t *testing.T) {
	w, err := NewJSON(os.DevNull, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(passRun()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s was replaced: %v, %v", os.DevNull, info, err)
	}
}

func TestJSONThroughALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	w, err := NewJSON(link, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(passRun()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if text, err := os.ReadFile(target); err != nil || len(text) == 0 {
		t.Errorf("the target holds %q, %v", text, err)
	}
}

func TestReadRun(t *testing.T) {
	for _, tt := range []struct{ text, want, reason string }{
		{"", "the file is empty", "nothing"},
		{"retrysafe", "expected JSON", "no JSON"},
		{`{"schema":"retrysafe/results/v1","run":{"id":"a"},"endp`, "cut", "half a document"},
		{`{"schema":"retrysafe/results/v1"}`, "holds no run", "a document with nothing in it"},
		{`{"began":{"run":{"schema":"retrysafe/results/v2"}}}` + "\n", `found "retrysafe/results/v2"`, "a newer partial record"},
		{`{"began":{"run":{"schema":"retrysafe/results/v1"}}}` + "\n" + `{"endpoint":"x","case":{}}` + "\n", `line 2: expected an endpoint of the run, found "x"`, "a line of another run"},
		{`{"endpoint":"x","case":{}}`, "without the line that says what was run", "a partial record that lacks its beginning"},
		{`{"a":1}`, "without a schema", "another document"},
		{`{"schema":"retrysafe/results/v9"}`, `found "retrysafe/results/v9"`, "a newer format"},
		{`{"schema":"retrysafe/results/v1"} {}`, "invalid character", "more than one document"},
		{`{"schema":"retrysafe/results/v1","endpoints":{}}`, "cannot unmarshal", "a field of another type"},
	} {
		if _, err := ReadRun(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.reason, err, tt.want)
		}
	}
	document, err := json.Marshal(passRun())
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Replace(document, []byte(`{"schema"`), []byte(`{"added_later":1,"schema"`), 1)
	if run, err := ReadRun(bytes.NewReader(newer)); err != nil || !reflect.DeepEqual(run, passRun()) {
		t.Errorf("unknown fields are ignored: got %+v, %v", run, err)
	}
}

package report

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"retrysafe/internal/trace"
)

// FuzzReadRun reads what nobody wrote: it is an error, or a run that every report can show.
func FuzzReadRun(f *testing.F) {
	document, err := json.Marshal(fullRun())
	if err != nil {
		f.Fatal(err)
	}
	partial, err := json.Marshal(PartialBegin{Began{*passRun(), []trace.Case{{Scenario: "first-request"}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Add(append(partial, '\n'))
	f.Add([]byte(`{"began":{"run":{"schema":"retrysafe/results/v1","endpoints":[{"name":"e"}]},"cases":[{"scenario":"s"}]}}` + "\n" +
		`{"endpoint":"e","case":{"scenario":"s","verdict":"fail","findings":[{"rule":"r","exchanges":[9]}]}}` + "\n"))
	f.Add([]byte(`{"schema":"retrysafe/results/v1","run":{"id":"a"},"endpoints":[{"cases":[{"verdict":"fail","reason":"needs"},{"verdict":"warn"},{}]},{"control":{}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := ReadRun(bytes.NewReader(text))
		if err != nil {
			return
		}
		if err := Terminal(io.Discard, run, Options{Rules: testRules(), Verbose: true}); err != nil {
			t.Error(err)
		}
		for _, format := range Formats() {
			if err := format.Write(io.Discard, run, testOptions()); err != nil {
				t.Errorf("%s: %v", format.Name, err)
			}
		}
		if err := Diff(io.Discard, Compare(run, run), Options{}); err != nil {
			t.Error(err)
		}
	})
}

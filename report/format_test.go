package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

// TestFormatsGolden shows one run with every verdict in every format.
func TestFormatsGolden(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			var out bytes.Buffer
			if err := f.Write(&out, fullRun(), testOptions()); err != nil {
				t.Fatal(err)
			}
			golden(t, "full."+f.Name+".txt", out.Bytes())
		})
	}
}

// TestFormatsAreWellFormed: hostile text from a server, and a run without a plan or without anything in it, must not break a reader.
func TestFormatsAreWellFormed(t *testing.T) {
	for name, run := range recordedRuns(t) {
		for _, f := range Formats() {
			var out bytes.Buffer
			if err := f.Write(&out, run, testOptions()); err != nil {
				t.Fatalf("%s, %s: %v", name, f.Name, err)
			}
			if i := strings.IndexFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
				t.Errorf("%s, %s: control character at %d: %q", name, f.Name, i, out.String()[max(0, i-40):i+1])
			}
			switch f.Name {
			case "junit":
				if strings.Contains(out.String(), `value=":`) {
					t.Errorf("%s: a line of no plan is named", name)
				}
				if err := xml.Unmarshal(out.Bytes(), new(junitSuites)); err != nil {
					t.Errorf("%s, %s: %v", name, f.Name, err)
				}
			case "sarif", "codequality", "ctrf", "har":
				if !json.Valid(out.Bytes()) {
					t.Errorf("%s, %s: not JSON", name, f.Name)
				}
			}
		}
	}
}

// TestFormatsNameThePlanInItsRepository: what annotates a repository's files finds the plan wherever the run was started.
func TestFormatsNameThePlanInItsRepository(t *testing.T) {
	run := fullRun()
	run.Info.Plan.Path, run.Info.Plan.InRepository = "/checkout/shop/retrysafe.yaml", "shop/retrysafe.yaml"
	for _, f := range Formats() {
		var out bytes.Buffer
		if err := f.Write(&out, run, testOptions()); err != nil {
			t.Fatal(err)
		}
		switch f.Name {
		case "sarif", "codequality", "github", "junit", "ctrf":
			if !strings.Contains(out.String(), "shop/retrysafe.yaml") || strings.Contains(out.String(), "/checkout") {
				t.Errorf("%s does not name the plan by its path in the repository", f.Name)
			}
		}
	}
}

// TestFormatsOfAcceptedFindings: what the baseline accepts fails no test and opens nothing where findings are tracked.
func TestFormatsOfAcceptedFindings(t *testing.T) {
	run, findings := fullRun(), 0
	for i := range run.Endpoints {
		for _, c := range tested(&run.Endpoints[i]) {
			for k := range c.Findings {
				findings++
				c.Findings[k].Accepted = &trace.Accepted{Reason: "SHOP-17"}
			}
		}
	}
	for name, check := range map[string]func(text string) bool{
		"codequality": func(text string) bool { return text == "[]\n" },
		"sarif":       func(text string) bool { return strings.Count(text, `"justification": "SHOP-17"`) == findings },
		"github":      func(text string) bool { return !strings.Contains(text, "::error") },
	} {
		var out bytes.Buffer
		formats := Formats()
		f := formats[slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })]
		if err := f.Write(&out, run, testOptions()); err != nil {
			t.Fatal(err)
		}
		if findings == 0 || !check(out.String()) {
			t.Errorf("%s of %d accepted findings:\n%s", name, findings, out.String())
		}
	}
}

// TestFormatsOfRequiredCases: a run that fails because the plan requires what was skipped says so wherever failures are told.
func TestFormatsOfRequiredCases(t *testing.T) {
	run := passRun()
	run.Summary.Verdict, run.Endpoints[0].Verdict = trace.Fail, trace.Fail
	run.Endpoints[0].Cases[0].Result = trace.Result{Verdict: trace.Fail, Reason: trace.Needs, Detail: "the plan requires this scenario"}
	for name, want := range map[string]string{
		"github":   "::error file=retrysafe.yaml,line=1,title=first-request was not tested::",
		"junit":    `<failure type="needs" message="needs: the plan requires this scenario">`,
		"sarif":    `"level": "error"`,
		"tap":      "    needs: the plan requires this scenario",
		"ctrf":     `"message": "needs: the plan requires this scenario"`,
		"markdown": "the plan requires this scenario",
		"html":     "the plan requires this scenario",
	} {
		var out bytes.Buffer
		formats := Formats()
		f := formats[slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })]
		if err := f.Write(&out, run, Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q is not in\n%.3000s", name, want, out.String())
		}
	}
}

func TestFileURI(t *testing.T) {
	for path, want := range map[string]string{
		"retrysafe.yaml":         "retrysafe.yaml",
		"a b/plän #1?.yaml":      "a%20b/pl%C3%A4n%20%231%3F.yaml",
		"50%.yaml":               "50%25.yaml",
		"a:b.yaml":               "./a:b.yaml",
		"../p.yaml":              "../p.yaml",
		"/checkout/my plan.yaml": "file:///checkout/my%20plan.yaml",
		"C:/ci/retrysafe.yaml":   "file:///C:/ci/retrysafe.yaml",
	} {
		if got := fileURI(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestFormatsReportTheWritersError: a full disk must not go unnoticed.
func TestFormatsReportTheWritersError(t *testing.T) {
	for _, f := range Formats() {
		if err := f.Write(brokenWriter{}, fullRun(), testOptions()); err == nil {
			t.Errorf("%s: the writer's error is lost", f.Name)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFingerprints: what code scanning tells findings apart by is different for each, and does not depend on lines.
func TestFingerprints(t *testing.T) {
	run, moved := fullRun(), fullRun()
	seen := map[string]string{}
	for i := range run.Endpoints {
		ep, after := &run.Endpoints[i], &moved.Endpoints[i]
		after.Line += 7
		for k, c := range ep.Cases {
			for n, f := range c.Findings {
				id := Fingerprint(ep, c.Scenario, f.Rule)
				if where, ok := seen[id]; ok {
					t.Errorf("%s and %s share a fingerprint", where, c.Scenario+" "+f.Rule)
				}
				seen[id] = c.Scenario + " " + f.Rule
				if Fingerprint(after, after.Cases[k].Scenario, after.Cases[k].Findings[n].Rule) != id {
					t.Errorf("%s: another fingerprint after lines were added", seen[id])
				}
			}
		}
	}
}

// TestGitHubEscapes: text of a server cannot begin another workflow command.
func TestGitHubEscapes(t *testing.T) {
	run := fullRun()
	run.Endpoints[0].Cases[0].Findings = []trace.Finding{{Rule: "r", Severity: trace.Critical, Message: "a\n::add-mask::x\r% b"}}
	var out bytes.Buffer
	if err := GitHub(&out, run, Options{}); err != nil {
		t.Fatal(err)
	}
	for l := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		if !strings.HasPrefix(l, "::error ") && !strings.HasPrefix(l, "::warning ") {
			t.Errorf("not one of our commands: %q", l)
		}
	}
	if !strings.Contains(out.String(), "a%0A::add-mask::x") {
		t.Errorf("the message was not escaped: %s", out.String())
	}
}

// TestGitHubKeepsToItsLimit: GitHub drops the eleventh annotation, so the tenth says how many more there are.
func TestGitHubKeepsToItsLimit(t *testing.T) {
	run := fullRun()
	c := &run.Endpoints[0].Cases[0]
	f := trace.Finding{Rule: "r", Severity: trace.Critical, Message: "m"}
	c.Findings = nil
	for range 14 {
		c.Findings = append(c.Findings, f)
	}
	for i := 1; i < len(run.Endpoints[0].Cases); i++ {
		run.Endpoints[0].Cases[i].Findings = nil
	}
	run.Endpoints = run.Endpoints[:1]
	var out bytes.Buffer
	if err := GitHub(&out, run, Options{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "::error "); n != mostAnnotations {
		t.Errorf("%d errors, want %d", n, mostAnnotations)
	}
	if !strings.Contains(out.String(), "and 5 more") {
		t.Errorf("does not say how many more: %s", out.String())
	}
}

// TestMarkdownKeepsToItsLimit: a summary above the limit would be dropped whole.
func TestMarkdownKeepsToItsLimit(t *testing.T) {
	run := fullRun()
	for len(run.Endpoints) < 2000 {
		run.Endpoints = append(run.Endpoints, run.Endpoints[0])
	}
	var out bytes.Buffer
	if err := Markdown(&out, run, testOptions()); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 1<<20 {
		t.Errorf("%d bytes, GitHub takes %d", out.Len(), 1<<20)
	}
	if !strings.Contains(out.String(), "are left out here") {
		t.Error("does not say that something was left out")
	}
}

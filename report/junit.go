package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// The elements of JUnit XML, as the schema of Jenkins' xUnit plugin (junit-10.xsd) has them: a test case has no file, line or
// properties, and a suite's time has at most three decimals.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Time     string       `xml:"time,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Time       string          `xml:"time,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		File       string          `xml:"file,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string       `xml:"name,attr"`
		Time      string       `xml:"time,attr"`
		Classname string       `xml:"classname,attr"`
		Skipped   *junitResult `xml:"skipped"`
		Error     *junitResult `xml:"error"`
		Failure   *junitResult `xml:"failure"`
		Out       string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the run as JUnit XML: a suite for each endpoint, a test for each scenario. A violation is a failure, what could not be judged
// an error, what was skipped or allowed to be inconclusive skipped with the reason; a warning passes and says so in its output.
func JUnit(w io.Writer, run *trace.Run, o Options) error {
	out := junitSuites{Name: "retrysafe", Time: seconds(time.Duration(run.Info.ElapsedMS) * time.Millisecond)}
	for i := range run.Endpoints {
		s := junitEndpoint(run, &run.Endpoints[i], o.Rules)
		out.Tests, out.Failures, out.Errors = out.Tests+s.Tests, out.Failures+s.Failures, out.Errors+s.Errors
		out.Suites = append(out.Suites, s)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("junit report: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// planLine is where the plan declares an endpoint; "none" without a plan file.
func planLine(run *trace.Run, ep *trace.Endpoint) string {
	if fileOf(run, ep) == "" {
		return "none"
	}
	return fmt.Sprintf("%s:%d", fileOf(run, ep), line(ep))
}

func junitEndpoint(run *trace.Run, ep *trace.Endpoint, rules []scenarios.Rule) junitSuite {
	s := junitSuite{Name: heading(ep), File: fileOf(run, ep), Timestamp: run.Info.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{
			{"target", run.Info.Target}, {"run", run.Info.ID}, {"seed", run.Info.Seed}, {"dialect", run.Info.Dialect},
			{"plan", planLine(run, ep)}, {"tool", run.Info.Tool.Name + " " + run.Info.Tool.Version},
		}}
	if ep.Owner != "" {
		s.Properties = append(s.Properties, junitProperty{"owner", oneLine(ep.Owner)})
	}
	var took time.Duration
	for _, c := range tested(ep) {
		spent := (c.Ended - c.Started).Duration()
		took += spent
		k := junitCase{Name: c.Scenario, Classname: heading(ep), Time: seconds(spent)}
		switch c.Verdict {
		case trace.Fail:
			s.Failures++
			k.Failure = junitFailure(ep, c, rules)
		case trace.Inconclusive, trace.Error:
			s.Errors++
			k.Error = &junitResult{Type: string(c.Reason), Message: oneLine(c.Detail), Text: howTo(c)}
		case trace.Skip:
			s.Skipped++
			k.Skipped = &junitResult{Type: string(c.Reason), Message: whyNot(c), Text: howTo(c)}
		case trace.Warn:
			k.Out = "warning: " + accounts(ep, c, rules)
		default:
			k.Out = oneLine(c.Power)
		}
		s.Cases = append(s.Cases, k)
	}
	s.Tests, s.Time = len(s.Cases), seconds(took)
	return s
}

// junitFailure is what failed a case: its worst finding, or that the plan requires what was skipped.
func junitFailure(ep *trace.Endpoint, c *trace.Case, rules []scenarios.Rule) *junitResult {
	if f := worst(c); f != nil {
		return &junitResult{Type: f.Rule, Message: oneLine(f.Message), Text: accounts(ep, c, rules)}
	}
	return &junitResult{Type: string(c.Reason), Message: whyNot(c), Text: howTo(c)}
}

// accounts are those of all findings of a case.
func accounts(ep *trace.Endpoint, c *trace.Case, rules []scenarios.Rule) string {
	var all []string
	for i := range c.Findings {
		all = append(all, account(ep, c, &c.Findings[i], rules))
	}
	return strings.Join(all, "\n")
}

// howTo says what would make a case conclusive.
func howTo(c *trace.Case) string {
	if c.Enable == "" {
		return ""
	}
	return "to test it: " + clean(c.Enable)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", max(0, d.Seconds())) }

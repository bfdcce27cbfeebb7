package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestTerminalGolden(t *testing.T) {
	tests := []struct {
		file   string
		run    *trace.Run
		opts   Options
		reason string
	}{
		{"full-100.txt", fullRun(), Options{Width: 100}, "every verdict and hostile text, without colour"},
		{"full-color.txt", fullRun(), Options{Width: 100, Color: true}, "the same in colour"},
		{"full-40.txt", fullRun(), Options{Width: 40}, "a narrow terminal"},
		{"full-verbose.txt", fullRun(), Options{Width: 120, Verbose: true}, "what was learned and the power of each pass"},
		{"pass.txt", passRun(), Options{Color: true}, "complete and green"},
		{"incomplete.txt", greenButEmpty(), Options{Color: true}, "a green run with many skips must not look green"},
		{"unreachable.txt", unreachableRun(), Options{}, "the connection is told once and first, and nothing that would not help"},
		{"untested.txt", untestedRun(), Options{}, "in one place, what enables most first, with the indentation of a plan"},
		{"interrupted.txt", interruptedRun(), Options{}, "says that it is not the whole"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			tt.opts.Rules, tt.opts.Reasons, tt.opts.Fields = testRules(), testReasons(), testFields()
			var out bytes.Buffer
			if err := Terminal(&out, tt.run, tt.opts); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.file, out.Bytes())
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s; look at the difference, then run `go test ./report -update`\ngot:\n%s", path, got)
	}
}

// A curl line may be wider when one of its arguments is, because it must stay whole to be copied; nothing else may.
func TestTerminalKeepsToTheWidth(t *testing.T) {
	for _, width := range []int{MinWidth, MinWidth + 1, 53, narrowBelow - 1, narrowBelow, narrowBelow + 1, 99, MaxWidth} {
		var out bytes.Buffer
		if err := Terminal(&out, fullRun(), Options{Width: width, Rules: testRules(), Color: true, Verbose: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if got := twwidth.Width(line); got > width && !strings.Contains(line, "'") {
				t.Errorf("width %d: a line of %d columns: %q", width, got, line)
			}
		}
	}
}

func TestTerminalHasNoControlCharacters(t *testing.T) {
	var out bytes.Buffer
	if err := Terminal(&out, fullRun(), Options{Rules: testRules(), Verbose: true}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"\x1b", "\r", "\b", "\a", "\x00", "\u202e", "\u009b", "\xff"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%q got through", bad)
		}
	}
	if !strings.Contains(out.String(), `\x1b[2J`) {
		t.Error("the escape sequence is not shown escaped")
	}
}

// Every string of a record can come from elsewhere: put the attack into all that the report shows.
func TestTerminalCleansNames(t *testing.T) {
	run := fullRun()
	run.Info.Target, run.Info.Plan.Path, run.Info.Dialect, run.Info.ID, run.Info.Seed = hostile, hostile, hostile, hostile, hostile
	for i := range run.Endpoints {
		ep := &run.Endpoints[i]
		ep.Name, ep.Request = hostile, hostile
		for j := range ep.Diagnoses {
			ep.Diagnoses[j] = trace.Diagnosis{ID: hostile, Title: hostile, Why: hostile, Fix: hostile, Example: hostile,
				Rules: []string{hostile}, Symptoms: []trace.Symptom{{Scenario: hostile, Rule: hostile}}}
		}
		for j := range ep.Cases {
			attackCase(&ep.Cases[j])
		}
	}
	for _, width := range []int{MinWidth, DefaultWidth} {
		var out bytes.Buffer
		if err := Terminal(&out, run, Options{Width: width, Verbose: true}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexAny(out.String(), "\x1b\r\b\a\x00"); i >= 0 {
			t.Errorf("width %d: a control character at %q", width, out.String()[max(0, i-60):i+1])
		}
	}
}

func attackCase(c *trace.Case) {
	c.Scenario, c.Title, c.Detail, c.Power = hostile, hostile, hostile, hostile
	if c.Enable != "" {
		c.Enable = hostile
	}
	if c.Firing != nil {
		c.Firing.Technique, c.Firing.Fallback = hostile, hostile
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		f.Rule, f.Message, f.Expected, f.Actual, f.Curl = hostile, hostile, hostile, hostile, []string{hostile}
		f.Counts = map[string]trace.CountChange{hostile: {}}
	}
	for i := range c.Trace {
		for j := range c.Trace[i].Exchanges {
			x := &c.Trace[i].Exchanges[j]
			x.Label, x.Error, x.Body = hostile, hostile, hostile
		}
	}
}

func TestHeadline(t *testing.T) {
	onlySkips := passRun()
	for i := range onlySkips.Endpoints[0].Cases {
		onlySkips.Endpoints[0].Cases[i].Result = trace.Result{Verdict: trace.Skip, Reason: trace.PlanSkip}
	}
	withFlag := greenButEmpty()
	withFlag.Endpoints[0].Cases[2].Enable = "--max-requests 600"
	required := passRun()
	required.Summary.Verdict = trace.Fail
	required.Endpoints[0].Cases[1].Result = trace.Result{Verdict: trace.Fail, Reason: trace.NotApplicable}
	tests := []struct {
		run    *trace.Run
		want   string
		reason string
	}{
		{required, "FAIL  1 of 2 behaviours proved, 1 violated\n", "what the plan requires is a behaviour, also where it does not apply"},
		{passRun(), "PASS  2 of 2 behaviours proved\n", "complete"},
		{greenButEmpty(), "PASS (INCOMPLETE)  2 of 4 behaviours proved, 2 not tested; these 2 lines of plan would enable 2\n", "skips are not proofs"},
		{withFlag, "PASS (INCOMPLETE)  2 of 4 behaviours proved, 2 not tested; this line of plan and this flag would\n", "flags are no lines of plan"},
		{fullRun(), "FAIL  5 of 14 behaviours proved (1 with warnings), 3 violated, 5 not tested, 1 lost to a tool error;\n", "what does not apply is no behaviour"},
		{onlySkips, "NOTHING TESTED  0 of 2 behaviours proved, 2 not tested\n", "a run without any verdict never says pass"},
		{&trace.Run{Summary: trace.Summary{Verdict: trace.Pass}}, "NOTHING TESTED  0 of 0 behaviours proved\n", "an empty run proves nothing"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if err := Terminal(&out, tt.run, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := firstLine(out.String()); got != tt.want {
			t.Errorf("%s:\ngot  %swant %s", tt.reason, got, tt.want)
		}
	}
}

func firstLine(s string) string { return s[:strings.Index(s, "\n")+1] }

func TestExitLine(t *testing.T) {
	tests := []struct {
		code   int
		want   string
		reason string
	}{
		{0, "exit 0: nothing failed\n", "complete pass"},
		{1, "exit 1: violations of severity major or above were found\n", "names the threshold"},
		{3, "exit 3: no violation was found, but something could not be judged\n", "inconclusive"},
		{130, "exit 130: interrupted; the report shows what was seen until then\n", "signal"},
	}
	for _, tt := range tests {
		run := passRun()
		run.Summary.ExitCode = tt.code
		var out bytes.Buffer
		if err := Terminal(&out, run, Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), "\n\n"+tt.want) {
			t.Errorf("%s: want the last line %q, got %q", tt.reason, tt.want, out.String()[out.Len()-80:])
		}
	}
}

// full is a writer on a full disk.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestTerminalReturnsTheWritersError(t *testing.T) {
	if err := Terminal(full{}, passRun(), Options{}); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}

package report

import (
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

// stormCase is a round with copies at once, a client that left, a refused connection, and a retry long after.
func stormCase() *trace.Case {
	c := &trace.Case{Scenario: "client-timeout", Trace: []trace.Round{{N: 1, Exchanges: []trace.Exchange{
		exchange(1, "burst", 0, 10*ms, 30*ms, 201, trace.ClassSuccess, "{}"),
		exchange(2, "burst", 1, 10*ms+20_000, 14*ms, 409, trace.ClassInProgress, "{}"),
		lost(3, "burst", 10*ms),
		exchange(4, "again after a very long name that nobody would choose", 0, 9000*ms, 9010*ms, 200, trace.ClassSuccess, "{}"),
	}}}}
	xs := c.Trace[0].Exchanges
	xs[2].Copy = 2
	refused := trace.Exchange{ID: 5, Label: "refused", Started: 9012 * ms, Done: 9013 * ms, Broke: trace.PhaseDial, Key: "k"}
	slow := exchange(6, "slow", 0, 9013*ms, 9014*ms, 200, trace.ClassSuccess, "{}")
	slow.Done = 9030 * ms
	earlier := exchange(7, "earlier", 0, ms, 2*ms, 200, trace.ClassSuccess, "{}")
	earlier.Planted = testInfo().Started
	c.Trace[0].Exchanges = append(xs, refused, slow, earlier)
	return c
}

func TestTimelineGolden(t *testing.T) {
	for file, width := range map[string]int{"timeline.txt": 100, "timeline-40.txt": 40} {
		p := newPrinter(Options{Width: width, Verbose: true})
		p.timeline(&trace.Endpoint{}, stormCase(), &trace.Finding{Round: 1})
		golden(t, file, p.out.Bytes())
		for line := range strings.Lines(p.out.String()) {
			if twwidth.Width(strings.TrimRight(line, "\n")) > width {
				t.Errorf("%s: wider than %d: %q", file, width, line)
			}
		}
	}
}

// TestTimelineOnce: two findings of one round are one drawing, and a report that is not verbose has none.
func TestTimelineOnce(t *testing.T) {
	p := newPrinter(Options{Verbose: true})
	for range 2 {
		p.timeline(&trace.Endpoint{}, stormCase(), &trace.Finding{Round: 1})
	}
	if n := strings.Count(p.out.String(), "timeline"); n != 1 {
		t.Errorf("drawn %d times", n)
	}
	p = newPrinter(Options{})
	if p.timeline(&trace.Endpoint{}, stormCase(), &trace.Finding{Round: 1}); p.out.Len() > 0 {
		t.Errorf("drawn without --verbose: %s", p.out.String())
	}
}

// TestTimelineIsNeverTooWide: many pauses and hardly any columns.
func TestTimelineIsNeverTooWide(t *testing.T) {
	c := &trace.Case{Trace: []trace.Round{{N: 1}}}
	for i := range 30 {
		at := trace.Nanos(i*i+1) * 1000 * ms
		c.Trace[0].Exchanges = append(c.Trace[0].Exchanges, exchange(i+1, "again", i, at, at+ms, 200, trace.ClassSuccess, "{}"))
	}
	p := newPrinter(Options{Width: MinWidth, Verbose: true})
	p.timeline(&trace.Endpoint{}, c, &trace.Finding{Round: 1})
	for line := range strings.Lines(p.out.String()) {
		if twwidth.Width(strings.TrimRight(line, "\n")) > MinWidth {
			t.Errorf("wider than %d: %q", MinWidth, line)
		}
	}
}

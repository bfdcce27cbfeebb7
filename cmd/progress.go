package cmd

import (
	"fmt"
	"io"
	"os"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/report"
)

// progress shows on standard error what runs, how far the run is and how long it will still take, in one line that is written over,
// only where that is a terminal.
type progress struct {
	w       io.Writer
	on      bool
	width   int
	started time.Time
	// large is true where endpoints are counted, which is not so for a plan of few: there each scenario on each of them is.
	large       bool
	done, total int
	failing     int
	what        string
}

func newProgress(env Env, jobs []*job, look report.Options) *progress {
	endpoints, cases := 0, 0
	for _, j := range jobs {
		endpoints, cases = endpoints+len(j.endpoints), cases+j.cases()
	}
	p := &progress{w: env.Stderr, width: look.Width, large: report.Large(endpoints), total: endpoints, started: jobs[0].start}
	if !p.large {
		p.total = cases
	}
	if f, ok := env.Stderr.(*os.File); ok && !jobs[0].opts.quiet {
		p.on = report.IsTerminal(f)
	}
	return p
}

// follow makes the job tell what it does.
func (p *progress) follow(j *job) {
	if !p.on {
		return
	}
	j.onStart = func(endpoint, scenario string) { p.show(endpoint + ": " + scenario) }
	onCase, onEndpoint := j.onCase, j.onEndpoint
	j.onCase = func(ep *trace.Endpoint, c *trace.Case) {
		if onCase != nil {
			onCase(ep, c)
		}
		if !p.large {
			p.done++
			p.show(p.what)
		}
	}
	j.onEndpoint = func(i int, ep *trace.Endpoint) {
		if onEndpoint != nil {
			onEndpoint(i, ep)
		}
		if p.large {
			p.done++
		}
		if ep.Verdict == trace.Fail {
			p.failing++
		}
		p.show(p.what)
	}
}

func (p *progress) show(what string) {
	p.what = what
	line := []rune(p.line(time.Now()))
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(line[:min(len(line), max(0, p.width-1))]))
}

// line is what is shown.
func (p *progress) line(now time.Time) string {
	counted := "scenarios"
	if p.large {
		counted = "endpoints"
	}
	text := fmt.Sprintf("%d of %d %s", p.done, p.total, counted)
	if p.failing > 0 {
		text += fmt.Sprintf(", %d failing", p.failing)
	}
	if p.done > 0 && p.done < p.total {
		left := now.Sub(p.started) / time.Duration(p.done) * time.Duration(p.total-p.done)
		text += ", about " + roughly(left) + " left"
	}
	return text + ": " + p.what
}

// cases is how many scenarios run on how many endpoints, in all.
func (j *job) cases() int {
	if j.wanted == nil {
		return len(j.endpoints) * len(j.scenarios)
	}
	n := 0
	for _, ep := range j.endpoints {
		for _, s := range j.scenarios {
			if j.wanted(ep.Name, s.ID) {
				n++
			}
		}
	}
	return n
}

// roughly is a time as people say it.
func roughly(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour).Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
}

func (p *progress) clear() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

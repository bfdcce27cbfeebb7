package cmd

import (
	"fmt"
	"io"
	"os"
	"time"

	"retrysafe/internal/trace"
	"retrysafe/report"
)

// progress shows on standard error what runs, in one line that is written over, only where that is a terminal. Of a large
// plan it shows how many endpoints are done, and how long the others will take.
type progress struct {
	w           io.Writer
	on          bool
	width       int
	started     time.Time
	done, total int
	failing     int
	what        string
}

func newProgress(env Env, j *job, look report.Options) *progress {
	p := &progress{w: env.Stderr, width: look.Width, total: len(j.endpoints), started: j.start}
	if f, ok := env.Stderr.(*os.File); ok && !j.opts.quiet {
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
	before := j.onEndpoint
	j.onEndpoint = func(i int, ep *trace.Endpoint) {
		if before != nil {
			before(i, ep)
		}
		p.done++
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
	if !report.Large(p.total) {
		return p.what
	}
	text := fmt.Sprintf("%d of %d endpoints", p.done, p.total)
	if p.failing > 0 {
		text += fmt.Sprintf(", %d failing", p.failing)
	}
	if p.done > 0 {
		left := now.Sub(p.started) / time.Duration(p.done) * time.Duration(p.total-p.done)
		text += ", about " + roughly(left) + " left"
	}
	return text + ": " + p.what
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

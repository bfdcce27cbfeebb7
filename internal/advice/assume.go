package advice

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// workPatience is how long a try waits for work that nobody promised.
const workPatience = 5 * time.Second

// Assume names what another try should take as said, because the last one could not learn more without; nil when there is nothing.
// Kinds that were tried before are left out.
func Assume(in Input, tried []string) *Assumption {
	for _, a := range []*Assumption{in.redirect(), in.rise(), in.work()} {
		if a != nil && !slices.Contains(tried, a.Kind) {
			return a
		}
	}
	return nil
}

// redirect takes a redirect to another place of the same host for success. Another scheme or a slash more is the same place, and what
// looks like a log-in has a reason of its own.
func (in Input) redirect() *Assumption {
	l := in.Lesson
	if l.Learned.Sound || l.Learned.Reason.Code != trace.ControlUnsound || l.First == nil || l.First.Response == nil || l.Location == "" {
		return nil
	}
	status := l.First.Response.Status
	asked, err := url.Parse(l.First.Request.URL)
	if err != nil || status != 302 && status != 303 || slices.Contains(in.Endpoint.SuccessStatuses, status) {
		return nil
	}
	to, err := asked.Parse(l.Location)
	if err != nil || to.Host != asked.Host || to.Scheme != asked.Scheme || strings.Trim(to.Path, "/") == strings.Trim(asked.Path, "/") {
		return nil
	}
	line := fmt.Sprintf("answers: {success: [%d]}", status)
	return &Assumption{Kind: RedirectSucceeds, Edits: []Edit{{in.Endpoint.Name, line}}, Line: line}
}

// rise takes for right by how much one request raised the counters, where every one of them rose.
func (in Input) rise() *Assumption {
	l, differs := in.Lesson, false
	if l.Learned.Sound || l.Learned.Reason.Code != trace.ControlUnsound || len(l.Counters) == 0 {
		return nil
	}
	var rises []string
	for _, c := range l.Counters {
		if c.Error != "" || c.By < 1 {
			return nil
		}
		differs = differs || c.By != c.Expected
		rises = append(rises, fmt.Sprintf("%s: %d", c.Counter, c.By))
	}
	if !differs {
		return nil
	}
	line := "counters: {" + strings.Join(rises, ", ") + "}"
	return &Assumption{Kind: RisesBy, Edits: []Edit{{in.Endpoint.Name, line}}, Line: line}
}

// work looks for the end of accepted work where the answer says to, by the names and words that such answers have.
func (in Input) work() *Assumption {
	l := in.Lesson
	if in.Endpoint.Await != nil || l.Learned.SuccessStatus != 202 || l.Location == "" {
		return nil
	}
	var words []string
	for _, w := range []string{"done", "completed", "complete", "succeeded", "success", "finished", "ready", "processed", "executed"} {
		words = append(words, w, strings.ToUpper(w), strings.ToUpper(w[:1])+w[1:])
	}
	until := fmt.Sprintf(`await: {follow: Location, until: {"$['status','state','phase']": [%s]}}`, strings.Join(words, ", "))
	return &Assumption{Kind: WorkFollows, Edits: []Edit{{in.Endpoint.Name, until}, {"", fmt.Sprintf("limits: {await: %s}", workPatience)}}}
}

package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// TrySchemaV1 names the format of a Try as JSON. It changes when a field changes its meaning or disappears.
const TrySchemaV1 = "retrysafe/try/v1"

// Try is what `retrysafe try` learned.
type Try struct {
	// Schema is TrySchemaV1.
	Schema string `json:"schema"`
	// Target is the base URL, Plan the path of the plan as it was given, Dialect the convention that answers were measured against.
	Target  string `json:"target"`
	Plan    string `json:"plan"`
	Dialect string `json:"dialect"`
	// Lessons are those of the endpoints, in the order of the plan.
	Lessons []trace.Lesson `json:"lessons"`
	// Credentials says where those of a caller come from, by caller; empty without callers.
	Credentials map[string][]string `json:"credentials,omitempty"`
}

// TryJSON writes what was learned as JSON. The error is that of the writer.
func TryJSON(w io.Writer, t *Try) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(t)
}

// TryText writes for people what was learned of each endpoint, what went wrong, and the lines of plan to paste. The error is that of the
// writer.
func TryText(w io.Writer, t *Try, o Options) error {
	p := newPrinter(o)
	for i := range t.Lessons {
		p.lesson(t, &t.Lessons[i])
	}
	p.blank()
	text, style := tryEnding(t, p.palette)
	p.para(0, style, text)
	return p.flush(w)
}

func (p *printer) lesson(t *Try, l *trace.Lesson) {
	p.blank()
	verdict := trace.Pass
	if !l.Learned.Sound || l.Unsound != nil {
		verdict = trace.Inconclusive
	}
	p.hang(0, 2, p.of(verdict), symbol(verdict)+" ", p.bold, fmt.Sprintf("%s: %s (%s)", oneLine(l.Endpoint), oneLine(l.Request), placeIn(t, l)))
	p.blank()
	if l.Unsound != nil {
		p.styled(2, "as it is", p.warn, l.Unsound.Detail)
		p.field(2, "assumed", strings.Join(l.Assumed, "\n"))
		p.blank()
	}
	if l.Learned.Sound {
		p.taught(t, l)
	} else {
		p.failed(t, l)
	}
	if p.verbose {
		p.sentAll(l)
	}
	p.planLines(t, l, l.Paste, "Paste, because of what was seen; what matters most comes first")
	p.planLines(t, l, l.Decide, "Decide, because no request can show it; values are examples or guesses")
}

// placeIn is where the endpoint of a lesson is declared.
func placeIn(t *Try, l *trace.Lesson) string {
	file := oneLine(orElse(l.File, t.Plan))
	if l.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, l.Line)
}

// taught says what a sound control and what was sent behind it taught.
func (p *printer) taught(t *Try, l *trace.Lesson) {
	p.asSent(l)
	learned := &l.Learned
	p.field(2, "success", fmt.Sprintf("%d, handled in %s", learned.SuccessStatus, span(learned.Handling.Duration())))
	p.field(2, "named by", namedBy(learned))
	p.field(2, "counted", counted(l.Counters, learned))
	if l.Work != nil && len(l.WorkDone) > 0 {
		p.field(2, "work", fmt.Sprintf("done %s after the answer: GET %s says %s", span(learned.WorkTime.Duration()), l.Work.Request.URL, answer(l.Work)))
	}
	if a := l.Again; a != nil {
		style := p.plain
		if a.Outcome != trace.AgainSame && a.Outcome != trace.AgainAllowed {
			style = p.warn
		}
		p.styled(2, "again", style, againText(l.Kind, a))
		p.broken(t, l, a)
	}
	p.field(2, "no key", keylessText(l.Keyless))
}

// broken names the rules that the second request broke, where it is not the same as the first.
func (p *printer) broken(t *Try, l *trace.Lesson, a *trace.Again) {
	if a.Outcome == trace.AgainSame || len(a.Findings) == 0 {
		return
	}
	indent := 2 + labelColumns
	if p.narrow() {
		indent = 4
	}
	for _, f := range a.Findings {
		p.para(indent, p.dim, f.Rule+": "+limit(f.Message, longValue))
	}
	p.para(indent, p.dim, "a try is no test: "+runLine(t, l))
}

// failed says what went wrong, with the raw answer and what to change.
func (p *printer) failed(t *Try, l *trace.Lesson) {
	why := l.Learned.Reason
	if why == nil {
		why = &trace.Reason{Code: trace.ControlUnsound, Detail: "nothing was learned"}
	}
	p.styled(2, "problem", p.warn, string(why.Code)+": "+limit(why.Detail, longValue))
	fix := orElse(why.Enable, p.hint(why.Code, why.Detail))
	if why.Code == trace.Auth {
		fix = credentials(t, l, fix)
	}
	p.field(2, "change", fix)
	p.blank()
	p.asSent(l)
	if l.Learned.SuccessStatus != 0 {
		for _, c := range l.Counters {
			p.field(2, "counter", counterSaid(c))
		}
	}
	if l.Located != nil {
		p.field(2, "there", fmt.Sprintf("GET %s: %s %s", l.Located.Request.URL, status(l.Located), answer(l.Located)))
	}
}

// credentials says where the credentials come from that were refused.
func credentials(t *Try, l *trace.Lesson, otherwise string) string {
	caller := ""
	if l.First != nil {
		caller = l.First.Caller
	}
	from, known := t.Credentials[caller]
	switch {
	case !known:
		return otherwise + ", since the plan has no caller"
	case len(from) == 0:
		return fmt.Sprintf("what caller %s of the plan says: no variable is in it", oneLine(caller))
	}
	return fmt.Sprintf("what caller %s is made of: ${%s}", oneLine(caller), strings.Join(from, "}, ${"))
}

// asSent shows the first request as it was written, and what came back.
func (p *printer) asSent(l *trace.Lesson) {
	if l.First != nil {
		p.exchange(l.First, l.Body)
	}
}

// exchange shows a request and its answer; body is that of the answer where it is known better than from the record.
func (p *printer) exchange(x *trace.Exchange, body string) {
	lines := []string{x.Request.Method + " " + x.Request.URL}
	for _, h := range x.Request.Headers {
		if !slices.Contains([]string{"host", "content-length", "user-agent", "traceparent", "accept", "accept-encoding", "connection"}, strings.ToLower(h.Name)) {
			lines = append(lines, h.Name+": "+h.Value)
		}
	}
	p.field(2, "sent", strings.Join(append(lines, firstLines(x.Request.Body.Text)), "\n"))
	if x.Response == nil {
		p.styled(2, "answer", p.warn, noAnswer(x))
		return
	}
	lines = []string{fmt.Sprintf("status %d", x.Response.Status)}
	for _, h := range x.Response.Headers {
		if slices.Contains([]string{"content-type", "location", "retry-after", "www-authenticate", "server"}, strings.ToLower(h.Name)) {
			lines = append(lines, h.Name+": "+h.Value)
		}
	}
	if body == "" {
		body = strings.TrimPrefix(answer(x), "Location: "+oneLine(headerOf(x.Response.Headers, "Location")))
	}
	p.field(2, "answer", strings.TrimRight(strings.Join(append(lines, firstLines(body)), "\n"), "\n"))
}

// answerLines is how many lines of a body are shown.
const answerLines = 6

func firstLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > answerLines {
		lines = append(lines[:answerLines], "...")
	}
	return limit(strings.Join(lines, "\n"), longValue)
}

// sentAll shows every exchange.
func (p *printer) sentAll(l *trace.Lesson) {
	for i := range l.Exchanges {
		x := &l.Exchanges[i]
		p.blank()
		name := "set-up"
		switch {
		case x.Label != "":
			name = x.Label
		case x.Request.Method == "GET":
			name = "question"
		}
		p.para(2, p.dim, fmt.Sprintf("#%d %s, %s", x.ID, oneLine(name), span((x.Done-x.Started).Duration())))
		p.exchange(x, "")
	}
}

func namedBy(l *trace.Learned) string {
	if len(l.CreationFields) == 0 {
		return "nothing: two answers to two requests agree, so that only counters tell a replay from a second creation"
	}
	return strings.Join(l.CreationFields, ", ") + " (they differ for every creation)"
}

// counted says what one request did to the counters.
func counted(counters []trace.Risen, l *trace.Learned) string {
	if len(counters) == 0 {
		return "nothing: the plan has no counter for this endpoint"
	}
	var parts []string
	for _, c := range counters {
		parts = append(parts, fmt.Sprintf("%s rose by %d", oneLine(c.Counter), c.By))
	}
	when := "seen at once"
	if l.CountLag > 0 {
		when = "seen " + span(l.CountLag.Duration()) + " after the answer"
	}
	return strings.Join(parts, ", ") + ", " + when
}

// counterSaid says of a counter what it did and what it answered.
func counterSaid(c trace.Risen) string {
	if c.Error != "" {
		return c.Error
	}
	text := fmt.Sprintf("%s rose by %d, expected %d", c.Counter, c.By, c.Expected)
	if c.By == 0 {
		text = fmt.Sprintf("%s did not move, expected %d", c.Counter, c.Expected)
	}
	if c.Source == "" {
		return text
	}
	return fmt.Sprintf("%s; %s answers: %s", text, c.Source, limit(oneLine(c.Raw), longValue))
}

// againText says what the second of two equal requests turned out to be.
func againText(kind string, a *trace.Again) string {
	status := status(&a.Answer)
	differs := ""
	if all := slices.Concat(a.Volatile, a.VolatileHeaders); len(all) > 0 {
		differs = "; different each time: " + strings.Join(all, ", ")
	}
	switch a.Outcome {
	case trace.AgainSame:
		return "the same answer, " + status + effectsText(a) + differs
	case trace.AgainAllowed:
		return "another answer, " + status + effectsText(a) + ", as the repeat of such a request may get"
	case trace.AgainDiffers:
		return "another answer, " + status + effectsText(a) + ", different from the first one in " + orElse(strings.Join(a.Changed, ", "), "its status") + differs
	case trace.AgainRefused:
		return "refused with " + status + effectsText(a) + ": " + limit(answer(&a.Answer), longValue)
	case trace.AgainAnother:
		text := "a second effect, " + status + effectsText(a)
		if kind == "method" {
			return text
		}
		return text + ": the key seems not to be used. Is it sent where the endpoint looks for it (`key`)? Else it is not safe to retry"
	}
	return "no answer that shows anything: " + limit(strings.TrimSpace(strings.TrimPrefix(status, "-")+" "+answer(&a.Answer)), longValue)
}

// effectsText says what both requests together did to the counters, and which states the second one left alone.
func effectsText(a *trace.Again) string {
	var parts []string
	for _, c := range a.Counters {
		if c.Error == "" {
			parts = append(parts, fmt.Sprintf("%s rose by %d", oneLine(c.Counter), c.By))
		}
	}
	text := ""
	if len(parts) > 0 {
		text = "; for both requests " + strings.Join(parts, ", ")
	}
	if len(a.Unchanged) > 0 {
		text += "; the second one left " + oneLine(strings.Join(a.Unchanged, ", ")) + " as the first one had made it"
	}
	return text
}

func keylessText(k *trace.Keyless) string {
	switch {
	case k == nil:
		return ""
	case k.Class == trace.ClassRefused:
		return "a request without a key is refused with " + status(&k.Answer) + ": " + limit(answer(&k.Answer), longValue)
	case k.Class == trace.ClassSuccess:
		return "a request without a key is carried out, " + status(&k.Answer) + ": keys are optional, or not used at all"
	}
	return "a request without a key got no answer that shows anything: " + strings.TrimPrefix(status(&k.Answer), "-") + " " + answer(&k.Answer)
}

// runLine is the command that tests what a try only saw.
func runLine(t *Try, l *trace.Lesson) string {
	scenario := map[string]string{"webhook": "webhook-redelivery", "method": "repeated-*"}[l.Kind]
	return fmt.Sprintf("retrysafe run %s --endpoint '%s' --scenario '%s'", t.Plan, l.Endpoint, orElse(scenario, "same-key-again"))
}

// tryEnding says what the exit code means.
func tryEnding(t *Try, pal palette) (string, *colour) {
	unsound := 0
	for i := range t.Lessons {
		if l := &t.Lessons[i]; !l.Learned.Sound || l.Unsound != nil {
			unsound++
		}
	}
	if unsound > 0 {
		return fmt.Sprintf("exit 3: the plan as it stands does not work on %d of %s", unsound, plural(len(t.Lessons), "endpoint")), pal.warn
	}
	return "exit 0: the plan works; retrysafe run " + t.Plan + " tests it", pal.good
}

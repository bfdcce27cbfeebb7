package report

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// shown collects the requests of a case that a page holds.
type shownCase struct {
	c  *collector
	ep *trace.Endpoint
	k  *trace.Case
	to *dataCase
	// at is the place of a request among the case's, by its id.
	at map[int]int
}

// rounds adds the rounds that show a case: those that findings name, else the first that counts; of a scenario that is judged on the
// control, the control's.
func (c *collector) rounds(to *dataCase, ep *trace.Endpoint, k *trace.Case) {
	s := shownCase{c, ep, k, to, map[int]int{}}
	all := k.Trace
	if k.OnControl && ep.Control != nil {
		all = ep.Control.Rounds
	}
	chosen := chosenRounds(all, k.Findings)
	chosen = chosen[:min(len(chosen), c.Rounds)]
	for _, r := range chosen {
		if !empty(r) {
			to.Rounds = append(to.Rounds, s.round(r))
		}
	}
	if n := k.Rounds - len(to.Rounds); n > 0 && len(to.Rounds) > 0 {
		to.More = n
	}
	if len(k.Findings) == 0 && len(chosen) > 0 {
		s.sides("answers", answered(chosen[0]))
	}
	seen := map[string]bool{}
	for i := range k.Findings {
		f := &k.Findings[i]
		if ids := fmt.Sprint(f.Exchanges); !seen[ids] {
			seen[ids] = true
			s.sides(f.Rule, lookUp(ep, k, f.Exchanges))
		}
	}
}

func empty(r *trace.Round) bool {
	return len(r.Exchanges)+len(r.Setup)+len(r.Pauses)+len(r.Arrivals) == 0
}

// chosenRounds are the rounds that the evidence is from, in order, or the first that counts.
func chosenRounds(all []trace.Round, findings []trace.Finding) []*trace.Round {
	var out []*trace.Round
	for i := range all {
		r := &all[i]
		if slices.ContainsFunc(findings, func(f trace.Finding) bool { return f.Round == r.N }) {
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		return out
	}
	for i := range all {
		if r := &all[i]; r.Void == "" && !empty(r) {
			return []*trace.Round{r}
		}
	}
	return nil
}

// answered are the requests of a round's script that were answered.
func answered(r *trace.Round) []*trace.Exchange {
	var out []*trace.Exchange
	for i := range r.Exchanges {
		if x := &r.Exchanges[i]; x.Response != nil && !x.OtherEndpoint {
			out = append(out, x)
		}
	}
	return out
}

func (s *shownCase) round(r *trace.Round) dataRound {
	origin := beginning(r)
	out := dataRound{Name: s.c.texts.of(fmt.Sprintf("Round %d", r.N)), Requests: []int{}}
	copied := map[string]bool{}
	for i := range r.Exchanges {
		copied[r.Exchanges[i].Label] = copied[r.Exchanges[i].Label] || r.Exchanges[i].Copy > 0
	}
	sent := exchangesOf(r)
	for _, x := range sent[:min(len(sent), s.c.Requests)] {
		out.Requests = append(out.Requests, s.exchange(x, copied[x.Label], origin))
	}
	for i := range r.Setup {
		if at, ok := s.at[r.Setup[i].ID]; ok {
			s.to.Requests[at].What = s.c.texts.of("set-up, " + what(&r.Setup[i], false))
		}
	}
	out.More = len(sent) - len(out.Requests)
	for i := range r.Readings {
		rd := &r.Readings[i]
		out.Readings = append(out.Readings, dataReading{s.c.texts.of(rd.Name), since(rd.At, origin), s.c.texts.of(readingText(rd))})
	}
	for _, p := range r.Pauses {
		out.Pauses = append(out.Pauses, dataPause{s.c.texts.of(p.What), since(p.Started, origin), since(p.Ended, origin), s.c.texts.of(limit(p.Error, longValue))})
	}
	for _, a := range r.Arrivals[:min(len(r.Arrivals), s.c.Requests)] {
		out.Arrivals = append(out.Arrivals, dataArrival{a.ID, since(a.At, origin), s.c.texts.of(oneLine(a.Sink)), s.c.texts.of(limit(oneLine(a.String()), longValue))})
	}
	for _, b := range r.Bursts {
		text := fmt.Sprintf("%d copies over %s, released by %s: %s from the first to the last, %s to the second", b.Copies,
			plural(b.Connections, "connection"), b.Technique, gapText(b.Spread), gapText(b.FirstGap))
		if b.Fallback != "" {
			text += "; weaker technique because " + b.Fallback
		}
		out.Fired = append(out.Fired, s.c.texts.of(text))
	}
	return out
}

func gapText(n trace.Nanos) string {
	if n < trace.Nanos(1e6) {
		return fmt.Sprintf("%.0f us", n.Micros())
	}
	return span(n.Duration())
}

// exchangesOf are the requests of a round in the order of sending: set-up, script, and questions for work.
func exchangesOf(r *trace.Round) []*trace.Exchange {
	var out []*trace.Exchange
	add := func(xs []trace.Exchange) {
		for i := range xs {
			out = append(out, &xs[i])
		}
	}
	add(r.Setup)
	add(r.Exchanges)
	for i := range r.Work {
		add(r.Work[i].Asked)
	}
	slices.SortStableFunc(out, func(a, b *trace.Exchange) int { return a.ID - b.ID })
	return out
}

// beginning is when the first thing in a round happened.
func beginning(r *trace.Round) trace.Nanos {
	var first trace.Nanos
	earlier := func(at trace.Nanos) {
		if at > 0 && (first == 0 || at < first) {
			first = at
		}
	}
	for _, x := range exchangesOf(r) {
		earlier(x.Started)
	}
	for i := range r.Readings {
		earlier(r.Readings[i].At)
	}
	for i := range r.Pauses {
		earlier(r.Pauses[i].Started)
	}
	for i := range r.Arrivals {
		earlier(r.Arrivals[i].At)
	}
	return first
}

// readingText is such as "orders 2, mails 1; balance \"17\"".
func readingText(r *trace.Reading) string {
	var parts []string
	for _, v := range r.Values {
		text := fmt.Sprintf("%s %d", oneLine(v.Counter), v.N)
		if v.Error != "" {
			text = fmt.Sprintf("%s not readable: %s", oneLine(v.Counter), limit(oneLine(v.Error), 200))
		}
		if len(r.Values) > 1 && len(v.Scopes) > 0 {
			text += " (" + oneLine(strings.Join(v.Scopes, " and ")) + ")"
		}
		parts = append(parts, text)
	}
	for _, v := range r.States {
		text := fmt.Sprintf("%s %q", oneLine(v.State), limit(oneLine(v.Value), 60))
		if v.Error != "" {
			text = fmt.Sprintf("%s not readable: %s", oneLine(v.State), limit(oneLine(v.Error), 200))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// exchange adds a request once, and gives its place among the case's.
func (s *shownCase) exchange(x *trace.Exchange, numbered bool, origin trace.Nanos) int {
	if i, ok := s.at[x.ID]; ok {
		return i
	}
	t := s.c.texts
	out := dataExchange{ID: x.ID, What: t.of(what(x, numbered)), Setup: x.Step < 0, Class: t.of(string(x.Class)), Line: t.of(oneLine(x.Request.Method) + " " + oneLine(x.Request.URL)),
		Over: t.of(over(x)), Asked: s.headers(x.Request.Headers)}
	out.Sends, _ = s.body(x.Request.Body)
	if x.Planted.IsZero() {
		out.Started, out.Sent, out.First, out.Done, out.Effect = since(x.Started, origin), since(x.Sent, origin), since(x.FirstByte, origin), since(x.Done, origin), since(x.EffectSeen, origin)
		if x.Cut != nil {
			out.Left = since(x.Cut.Done, origin)
		}
	}
	if x.Response == nil {
		out.NoAnswer = t.of(strings.Trim(noAnswer(x), "()"))
	} else {
		out.Status, out.Headers = x.Response.Status, s.headers(x.Response.Headers)
		out.Body, out.BodyNote = s.body(x.Response.Body)
	}
	i := len(s.to.Requests)
	s.at[x.ID], s.to.Requests = i, append(s.to.Requests, out)
	return i
}

// over says over which connection, and to which instance and as whom, a request went.
func over(x *trace.Exchange) string {
	var parts []string
	if x.Conn > 0 {
		parts = append(parts, fmt.Sprintf("connection %d", x.Conn))
	}
	if x.Protocol != "" {
		parts = append(parts, oneLine(x.Protocol))
	}
	if x.Replica > 0 {
		parts = append(parts, fmt.Sprintf("instance %d", x.Replica))
	}
	if x.Caller != "" {
		parts = append(parts, "caller "+oneLine(x.Caller))
	}
	return strings.Join(parts, ", ")
}

// headers are names and values in turn.
func (s *shownCase) headers(hs []trace.Header) []int {
	var out []int
	for _, h := range hs {
		out = append(out, s.c.texts.of(oneLine(h.Name)), s.c.texts.of(limit(oneLine(h.Value), longText)))
	}
	return out
}

// body lays out a body, and says what of it is not shown.
func (s *shownCase) body(b trace.Body) (text, note int) {
	var lines []string
	for _, l := range bodyLines(b) {
		lines = append(lines, oneOf(l.text))
	}
	whole := strings.Join(lines, "\n")
	short := limit(whole, s.c.Body)
	if b.Truncated {
		note = s.c.texts.of(fmt.Sprintf("the beginning of %d bytes; the SHA-256 of all is %s", b.Size, oneLine(b.SHA256)))
	}
	return s.c.texts.of(short), note
}

// oneOf is a line of a body, which has no line feed of its own.
func oneOf(line string) string { return strings.ReplaceAll(clean(line), "\n", `\n`) }

// mostDifferences is how many differences of an answer are named; the lines of the body are marked beyond that.
const mostDifferences = 12

// sides puts answers beside the first of them.
func (s *shownCase) sides(name string, xs []*trace.Exchange) {
	xs = xs[:min(len(xs), s.c.Requests, 12)]
	if len(xs) == 0 {
		return
	}
	var first *trace.Exchange
	out := dataSides{Name: s.c.texts.of(name)}
	for _, x := range xs {
		side := dataSide{Request: s.exchange(x, true, x.Started)}
		switch {
		case x.Response == nil:
		case first == nil:
			first = x
		default:
			s.compare(&side, x, first)
		}
		out.With = append(out.With, side)
	}
	s.to.Sides = append(s.to.Sides, out)
}

func (s *shownCase) compare(side *dataSide, x, first *trace.Exchange) {
	t, c := s.c.texts, compareAnswers(&s.ep.Facts, x.Response, first.Response)
	side.Headers, side.Lines = c.headers, c.lines
	for _, d := range c.differences[:min(len(c.differences), mostDifferences)] {
		side.Differences = append(side.Differences, dataDifference{t.of(d.where), t.of(limit(oneOf(d.here), 300)), t.of(limit(oneOf(d.there), 300)), d.volatile})
	}
	side.More = len(c.differences) - len(side.Differences)
}

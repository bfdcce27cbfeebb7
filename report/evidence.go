package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

// manyExchanges is how many exchanges of a finding are shown: a burst of five with the request before
// and the two after it. The JSON document has all.
const manyExchanges = 8

// longAnswer is how many bytes of a body are looked at: more than two lines of a terminal of MaxWidth can show,
// while the record may hold a mebibyte.
const longAnswer = 1024

// never stands for the time of what did not happen.
const never = "never"

// evidence writes a line for each exchange of a finding. Times count from the first of them.
func (p *printer) evidence(ep *trace.Endpoint, c *trace.Case, f *trace.Finding) {
	found := lookUp(ep, c, f.Exchanges)
	if len(found) == 0 {
		return
	}
	left := len(found) - manyExchanges
	found = telling(found, manyExchanges)
	origin := found[0].Started
	copied := map[string]bool{}
	for _, x := range found {
		origin = min(origin, x.Started)
		copied[x.Label] = copied[x.Label] || x.Copy > 0
	}
	rows := [][]string{{"id", "request", "sent at", "answered", "status", "read as", "answer"}}
	for _, x := range found {
		rows = append(rows, []string{"#" + strconv.Itoa(x.ID), what(x, copied[x.Label]), sentAt(x, x.Sent, origin), sentAt(x, x.FirstByte, origin), status(x), string(x.Class), answer(x)})
	}
	if p.narrow() {
		p.evidenceList(rows[1:])
	} else {
		p.evidenceTable(rows)
	}
	if left > 0 {
		p.para(6, p.dim, fmt.Sprintf("and %s more in the JSON document", plural(left, "exchange")))
	}
}

// telling picks so many exchanges, in their order: those whose answer none before has, then the first of the others.
func telling(found []*trace.Exchange, most int) []*trace.Exchange {
	if len(found) <= most {
		return found
	}
	chosen, seen := map[*trace.Exchange]bool{}, map[string]bool{}
	for _, x := range found {
		text := status(x) + " " + answer(x)
		if !seen[text] && len(chosen) < most {
			chosen[x] = true
		}
		seen[text] = true
	}
	for _, x := range found {
		if len(chosen) < most {
			chosen[x] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(x *trace.Exchange) bool { return !chosen[x] })
}

func (p *printer) evidenceTable(rows [][]string) {
	p.raw(4, p.label.Sprint("evidence")+p.dim.Sprint("   times in ms since the first of these requests began"))
	widths := make([]int, len(rows[0])-1)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], twwidth.Width(row[i]))
		}
	}
	for i, row := range rows {
		var b strings.Builder
		for j, w := range widths {
			cell := pad(row[j], w)
			if j == 2 || j == 3 {
				cell = padLeft(row[j], w)
			}
			b.WriteString(cell + "  ")
		}
		line := b.String()
		line += shorten(row[len(row)-1], p.width-6-twwidth.Width(line))
		if i == 0 {
			line = p.dim.Sprint(strings.TrimRight(line, " "))
		}
		p.raw(6, line)
	}
}

func (p *printer) evidenceList(rows [][]string) {
	p.raw(4, p.label.Sprint("evidence:"))
	for _, row := range rows {
		p.para(6, p.plain, fmt.Sprintf("%s %s: %s", row[0], row[1], strings.TrimPrefix(row[4]+" "+row[5], "- ")))
		p.para(8, p.dim, narrowTimes(row[2], row[3]))
		p.para(8, p.plain, shorten(row[6], 2*(p.width-8)))
	}
}

func narrowTimes(sent, answered string) string {
	switch answered {
	case earlier:
		return "sent and answered in an earlier run"
	case never:
		return fmt.Sprintf("sent at %s ms, never answered", sent)
	}
	return fmt.Sprintf("sent at %s ms, answered at %s ms", sent, answered)
}

// lookUp finds exchanges by id in the case, and in the control where findings may point as well.
func lookUp(ep *trace.Endpoint, c *trace.Case, ids []int) []*trace.Exchange {
	known := map[int]*trace.Exchange{}
	add := func(rounds []trace.Round) {
		for i := range rounds {
			for j := range rounds[i].Setup {
				known[rounds[i].Setup[j].ID] = &rounds[i].Setup[j]
			}
			for j := range rounds[i].Exchanges {
				known[rounds[i].Exchanges[j].ID] = &rounds[i].Exchanges[j]
			}
			for _, w := range rounds[i].Work {
				for j := range w.Asked {
					known[w.Asked[j].ID] = &w.Asked[j]
				}
			}
		}
	}
	if ep.Control != nil {
		add(ep.Control.Rounds)
		add(ep.Control.Variants)
		if ep.Control.Located != nil {
			known[ep.Control.Located.ID] = ep.Control.Located
		}
	}
	add(c.Trace)
	var found []*trace.Exchange
	for _, id := range ids {
		if x := known[id]; x != nil {
			found = append(found, x)
		}
	}
	return found
}

// what names a request within its script: "burst 3", "other, other body", "again 2, attempt 4". It
// is numbered where several copies have the name.
func what(x *trace.Exchange, numbered bool) string {
	name := orElse(oneLine(x.Label), oneLine(x.Request.Method))
	if numbered {
		name += fmt.Sprintf(" %d", x.Copy+1)
	}
	if x.Body != "" && x.Body != "original" {
		name += ", " + oneLine(x.Body) + " body"
	}
	if x.Key == "" && x.Step >= 0 {
		name += ", no key"
	}
	if !x.Planted.IsZero() {
		name += x.Planted.UTC().Format(" of 2006-01-02 15:04 UTC")
	}
	if x.Repeat > 0 {
		name += fmt.Sprintf(", attempt %d", x.Repeat+1)
	}
	return name
}

// earlier stands for the times of what an earlier run sent.
const earlier = "earlier"

func sentAt(x *trace.Exchange, n, origin trace.Nanos) string {
	if !x.Planted.IsZero() {
		return earlier
	}
	return moment(n, origin)
}

func moment(n, origin trace.Nanos) string {
	if n == 0 {
		return never
	}
	return millis(n - origin)
}

func status(x *trace.Exchange) string {
	if x.Response == nil {
		return "-"
	}
	return strconv.Itoa(x.Response.Status)
}

// answer is what came back, on one line: the body, else the Location, else why there is none.
func answer(x *trace.Exchange) string {
	if x.Response == nil {
		return noAnswer(x)
	}
	body := x.Response.Body
	switch {
	case body.Text != "":
		return oneLine(body.Text[:min(len(body.Text), longAnswer)])
	case len(body.Base64) > 0:
		return fmt.Sprintf("(%d bytes that are no text)", body.Size)
	}
	for _, h := range x.Response.Headers {
		if strings.EqualFold(h.Name, "Location") {
			return "Location: " + oneLine(h.Value)
		}
	}
	return "(no body)"
}

func leftAt(at string) string {
	switch at {
	case "headers":
		return "after the headers"
	case "half-body":
		return "after half of the body"
	case "sent":
		return "after the last byte was sent"
	case "answer":
		return "after the first byte of the answer"
	}
	return "at " + oneLine(at)
}

func noAnswer(x *trace.Exchange) string {
	if x.Broke == trace.PhaseCut && x.Cut != nil {
		return "(the client left " + leftAt(x.Cut.At) + ")"
	}
	return fmt.Sprintf("(no answer, broke in phase %s: %s)", x.Broke, oneLine(x.Error))
}

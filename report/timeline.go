package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"retrysafe/internal/trace"
)

// The characters of a bar: a request is being sent, its answer is waited for, and arrives; it broke off; nothing at all is under way.
const (
	barSending = '-'
	barWaiting = '='
	barAnswer  = '#'
	barBroken  = 'x'
	barIdle    = '~'
)

// manyBars is how many requests a timeline shows: a burst of five with the retries after it, and pauses between all of them in the
// narrowest terminal.
const manyBars = 12

// idleColumns is how wide a pause is drawn in which nothing is under way and that would take more than idleShare of the time otherwise;
// one column where that would be half of the room.
const (
	idleColumns = 3
	idleShare   = 0.2
)

// timeline draws the round that a finding's evidence is from, once for each case, in verbose reports.
func (p *printer) timeline(ep *trace.Endpoint, c *trace.Case, f *trace.Finding) {
	key := fmt.Sprint(ep.Name, "/", c.Scenario, "/", f.Round)
	if !p.verbose || p.drawn[key] {
		return
	}
	p.drawn[key] = true
	all := slices.DeleteFunc(roundOf(ep, c, f), func(x *trace.Exchange) bool { return !x.Planted.IsZero() || x.Started == 0 })
	if len(all) == 0 {
		return
	}
	shown := all[:min(len(all), manyBars)]
	copied := map[string]bool{}
	for _, x := range shown {
		copied[x.Label] = copied[x.Label] || x.Copy > 0
	}
	names, widest := make([]string, len(shown)), 0
	for i, x := range shown {
		names[i] = "#" + strconv.Itoa(x.ID)
		if !p.narrow() {
			names[i] += " " + shorten(what(x, copied[x.Label]), p.width/3)
		}
		widest = max(widest, twwidth.Width(names[i]))
	}
	s := scaleOf(shown, p.width-6-widest-2)
	legend := fmt.Sprintf("0 to %s ms; %c sending, %c waiting, %c answered, %c broken off", millis(s.end-s.origin), barSending, barWaiting, barAnswer, barBroken)
	if s.idle() {
		legend += fmt.Sprintf(", %c nothing under way", barIdle)
	}
	p.styled(4, "timeline", p.dim, legend)
	for i, x := range shown {
		p.raw(6, pad(names[i], widest)+"  "+s.bar(x))
	}
	if more := len(all) - len(shown); more > 0 {
		p.para(6, p.dim, fmt.Sprintf("and %s more in the HTML report", plural(more, "request")))
	}
}

// roundOf are the requests of the round that a finding's evidence is from, set-ups left out; where it is none of the case, those of the
// evidence.
func roundOf(ep *trace.Endpoint, c *trace.Case, f *trace.Finding) []*trace.Exchange {
	for i := range c.Trace {
		if r := &c.Trace[i]; r.N == f.Round && len(r.Exchanges) > 0 {
			script := *r
			script.Setup = nil
			return exchangesOf(&script)
		}
	}
	return lookUp(ep, c, f.Exchanges)
}

// scale says in which column a moment is drawn: stretches of time, each with columns of its own.
type scale struct {
	origin, end trace.Nanos
	parts       []stretch
}

// stretch is a time in which something is under way, or a long one in which nothing is.
type stretch struct {
	from, to      trace.Nanos
	column, width int
	idle          bool
}

// scaleOf divides columns between the times in which requests are under way, in proportion. A long pause gets few.
func scaleOf(xs []*trace.Exchange, columns int) scale {
	busy := underWay(xs)
	var total trace.Nanos
	for _, b := range busy {
		total += b.to - b.from
	}
	var parts []stretch
	for i, b := range busy {
		if i > 0 {
			last := &parts[len(parts)-1]
			if gap := b.from - last.to; float64(gap) <= idleShare*float64(total+gap) {
				last.to = b.to
				continue
			}
			parts = append(parts, stretch{from: last.to, to: b.from, idle: true})
		}
		parts = append(parts, b)
	}
	s := scale{origin: parts[0].from, end: parts[len(parts)-1].to, parts: parts}
	s.divide(columns)
	return s
}

// underWay are the times in which at least one request is under way, in order.
func underWay(xs []*trace.Exchange) []stretch {
	xs = slices.SortedFunc(slices.Values(xs), func(a, b *trace.Exchange) int { return cmp.Compare(a.Started, b.Started) })
	var out []stretch
	for _, x := range xs {
		to := endOf(x)
		if n := len(out); n > 0 && x.Started <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, to)
			continue
		}
		out = append(out, stretch{from: x.Started, to: to})
	}
	return out
}

func endOf(x *trace.Exchange) trace.Nanos { return max(x.Started, x.Sent, x.FirstByte, x.Done) }

// divide gives every stretch its columns, busy ones at least one.
func (s *scale) divide(columns int) {
	var busy trace.Nanos
	pauses := 0
	for _, p := range s.parts {
		if p.idle {
			pauses++
		} else {
			busy += p.to - p.from
		}
	}
	pause := idleColumns
	if 2*pause*pauses > columns {
		pause = 1
	}
	columns -= pause * pauses
	at := 0
	for i := range s.parts {
		p := &s.parts[i]
		p.column, p.width = at, pause
		if !p.idle {
			p.width = max(1, int(float64(columns)*float64(p.to-p.from)/float64(max(1, busy))))
		}
		at += p.width
	}
}

func (s *scale) idle() bool {
	return slices.ContainsFunc(s.parts, func(p stretch) bool { return p.idle })
}

// column is where a moment is drawn at which something is under way.
func (s *scale) column(t trace.Nanos) int {
	for _, p := range s.parts {
		if !p.idle && t <= p.to {
			share := float64(t-p.from) / float64(max(1, p.to-p.from))
			return p.column + min(p.width-1, int(share*float64(p.width)))
		}
	}
	last := s.parts[len(s.parts)-1]
	return last.column + last.width - 1
}

// bar draws one request. The end of it is always seen, however short it was.
func (s *scale) bar(x *trace.Exchange) string {
	last := s.parts[len(s.parts)-1]
	line := []rune(strings.Repeat(" ", last.column+last.width))
	for _, p := range s.parts {
		if p.idle {
			fill(line, p.column, p.column+p.width-1, barIdle)
		}
	}
	sent := cmp.Or(x.Sent, endOf(x))
	fill(line, s.column(x.Started), s.column(sent), barSending)
	if x.Sent > 0 {
		fill(line, s.column(x.Sent), s.column(cmp.Or(x.FirstByte, endOf(x))), barWaiting)
	}
	if x.FirstByte > 0 {
		fill(line, s.column(x.FirstByte), s.column(endOf(x)), barAnswer)
	}
	if x.Response == nil {
		line[s.column(endOf(x))] = barBroken
	}
	return string(line)
}

func fill(line []rune, from, to int, with rune) {
	for i := from; i <= to; i++ {
		line[i] = with
	}
}

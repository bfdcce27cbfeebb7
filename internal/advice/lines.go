package advice

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/trace"
)

// proposal is a line on its way into a plan.
type proposal struct {
	edit Edit
	// readable is the edit's text with files that exist in place of those that only its author can make; empty where it names none.
	readable string
	// with is a second field, of the endpoint; empty for none.
	with string
	// entry is the entry of the field that it is about, where the others stay as they are; empty for all of the field.
	entry   string
	why     string
	guess   bool
	all     bool
	enables []string
	// rank orders proposals: what is judged wrongly without it comes before what only enables something.
	rank int
}

// The ranks of proposals: nothing works without, something is judged wrongly without, more is tested with, and more with programs or
// machines that somebody must provide.
const (
	rankVital = iota
	rankTruth
	rankMore
	rankCostly
)

// Lines are the lines that a plan should have: those that follow from what was seen, and those to decide on. What every scenario needs
// comes first, then what a run would judge wrongly without, then what enables most. A line with which the plan would be wrong, or that would show
// a credential of it, is left out.
func Lines(in Input) (paste, decide []trace.PlanLine) {
	seen, guesses := in.seen(), in.guesses()
	gaps := in.gaps(seen)
	seen, gaps = credited(seen, gaps)
	guesses, gaps = credited(guesses, gaps)
	for _, g := range gaps {
		guesses = append(guesses, in.open(g)...)
	}
	seen = joined(seen)
	guesses = slices.DeleteFunc(joined(guesses), func(g proposal) bool { // the next try shows it, as a part of what is there by then
		return slices.ContainsFunc(seen, g.sameField)
	})
	return in.lines(seen), in.lines(guesses)
}

// field is the name of the field that a proposal is about.
func (p proposal) field() string {
	name, _, _ := strings.Cut(p.edit.Text, ":")
	return name
}

// sameField reports whether two proposals are about one field, or one entry of it: written down twice, it would be a mistake.
func (p proposal) sameField(other proposal) bool {
	return p.edit.Endpoint == other.edit.Endpoint && p.field() == other.field() && p.entry == other.entry
}

// joined puts proposals about one field together. A place of its own in an endpoint goes with the first of them only.
func joined(proposals []proposal) []proposal {
	var out []proposal
	for _, p := range proposals {
		i := slices.IndexFunc(out, p.sameField)
		if i < 0 {
			out = append(out, p)
			continue
		}
		_, old, errOld := parsed(out[i].edit.Text)
		field, value, err := parsed(p.edit.Text)
		text, errText := flow(field, merged(old, value))
		if err := errors.Join(errOld, err, errText); err != nil {
			continue // not reached: proposals can be read and written
		}
		out[i].edit.Text, out[i].why = text, out[i].why+"; "+p.why
		out[i].enables = append(out[i].enables, p.enables...)
		out[i].rank, out[i].with = min(out[i].rank, p.rank), cmp.Or(out[i].with, p.with)
	}
	return out
}

func (in Input) lines(proposals []proposal) []trace.PlanLine {
	slices.SortStableFunc(proposals, func(a, b proposal) int {
		return cmp.Or(a.rank-b.rank, len(b.enables)-len(a.enables))
	})
	out := []trace.PlanLine{}
	for _, p := range proposals {
		if !in.valid(p) {
			continue
		}
		line, err := locatedIn(in.Files, p.edit)
		if err != nil {
			continue // not reached: what is valid can be located
		}
		if in.shows(line.Text) {
			continue
		}
		line.Why, line.Guess, line.AllOf, line.Enables = p.why, p.guess, p.all, p.enables
		if p.with != "" {
			with, err := locatedIn(in.Files, Edit{in.Endpoint.Name, p.with})
			if err != nil {
				continue // not reached, as above
			}
			line.With = &with
		}
		out = append(out, line)
	}
	return out
}

// shows reports whether a line repeats a credential that stands in the plan, beside what it changes.
func (in Input) shows(text string) bool {
	stands := func(secret string) bool {
		return slices.ContainsFunc(in.Files, func(f File) bool { return strings.Contains(string(f.Text), secret) })
	}
	return slices.ContainsFunc(in.Plan.Secrets, func(secret string) bool { return strings.Contains(text, secret) && stands(secret) })
}

// valid reports whether the plan can be decoded with a proposal in it.
func (in Input) valid(p proposal) bool {
	edits := []Edit{{p.edit.Endpoint, cmp.Or(p.readable, p.edit.Text)}}
	if p.with != "" {
		edits = append(edits, Edit{in.Endpoint.Name, p.with})
	}
	files, err := Apply(in.Files, edits...)
	if err == nil {
		_, err = in.Parse(files)
	}
	return err == nil
}

func (in Input) here(rank int, text, why string) proposal {
	return proposal{edit: Edit{in.Endpoint.Name, text}, why: why, rank: rank}
}

// seen are the lines that follow from what was seen.
func (in Input) seen() []proposal {
	var out []proposal
	for _, a := range in.Assumed {
		if a.Kind == RedirectSucceeds {
			p := in.here(rankVital, a.Line, fmt.Sprintf("a request that was carried out is answered with %d and %s", in.Lesson.First.Response.Status, in.Lesson.Location))
			p.all = true
			out = append(out, p)
		}
	}
	if !in.Lesson.Learned.Sound {
		return out
	}
	out = append(out, in.volatile()...)
	out = append(out, in.workLine()...)
	out = append(out, in.times()...)
	if k := in.Lesson.Keyless; k != nil && k.Class == trace.ClassRefused && !in.Endpoint.Required && !turnedAway(k.Answer.Response.Status) {
		out = append(out, in.here(rankMore, "required: true", fmt.Sprintf("a request without a key was refused with %d", k.Answer.Response.Status)))
	}
	if again := in.Lesson.Again; again != nil && in.Endpoint.Kind == "create" && in.Endpoint.Key.In == "" && onceOnly(again) {
		out = append(out, in.here(rankMore, "kind: method", "the same request again had no second effect, and no key says that it is the same"))
	}
	return out
}

// turnedAway reports whether a refusal is about who asks, the place, or how often.
func turnedAway(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusTooManyRequests}, status)
}

// onceOnly reports whether counters show that a request had no second effect.
func onceOnly(a *trace.Again) bool {
	return a.Outcome == trace.AgainSame && len(a.Counters) > 0 && !slices.ContainsFunc(a.Counters, func(c trace.Risen) bool { return c.Error != "" || c.By != c.Expected })
}

// volatile says what differs in every answer.
func (in Input) volatile() []proposal {
	again := in.Lesson.Again
	if again == nil || len(again.Volatile)+len(again.VolatileHeaders) == 0 {
		return nil
	}
	value := &yaml.Node{Kind: yaml.MappingNode}
	add := func(field string, names []string) {
		if len(names) > 0 {
			list := &yaml.Node{Kind: yaml.SequenceNode}
			for _, n := range names {
				list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: n, Tag: "!!str"})
			}
			put(value, field, list)
		}
	}
	add("json", again.Volatile)
	add("headers", again.VolatileHeaders)
	text, err := flow("ignore", value)
	if err != nil {
		return nil // not reached: names can be written
	}
	return []proposal{in.here(rankTruth, text, "differs in every answer, also where nothing new was made: right only if callers need not see it again")}
}

// workLine says how to learn that the work is done, where that was seen.
func (in Input) workLine() []proposal {
	if len(in.Lesson.WorkDone) == 0 || !slices.ContainsFunc(in.Assumed, func(a Assumption) bool { return a.Kind == WorkFollows }) {
		return nil
	}
	until := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range in.Lesson.WorkDone {
		put(until, m.Path, &yaml.Node{Kind: yaml.ScalarNode, Value: m.Values[0], Tag: "!!str"})
	}
	value := &yaml.Node{Kind: yaml.MappingNode}
	put(value, "follow", &yaml.Node{Kind: yaml.ScalarNode, Value: "Location"})
	put(value, "until", until)
	text, err := flow("await", value)
	if err != nil {
		return nil // not reached: names can be written
	}
	return []proposal{in.here(rankTruth, text, fmt.Sprintf("the answer is %d, and its Location says when the work is done: %s later",
		in.Lesson.Learned.SuccessStatus, in.Lesson.Learned.WorkTime.Duration().Round(time.Millisecond)))}
}

// times says what takes longer than the plan expects.
func (in Input) times() []proposal {
	var out []proposal
	l, p := in.Lesson.Learned, in.Plan.Limits
	limit := func(name string, took trace.Nanos, now time.Duration, what string) {
		if d := took.Duration(); 2*d > now {
			out = append(out, proposal{rank: rankTruth, edit: Edit{"", fmt.Sprintf("limits: {%s: %s}", name, atLeast(4*d))},
				why: fmt.Sprintf("%s took %s, and the limit is %s", what, d.Round(time.Millisecond), now)})
		}
	}
	limit("count", l.CountLag, p.Count, "it until the counters showed the effect")
	limit("request", l.Handling, p.Request, "the answer")
	limit("in_progress", l.Handling, p.InProgress, "the answer")
	if x := in.Lesson.First; x.Response != nil && x.Response.Body.Truncated {
		out = append(out, proposal{rank: rankTruth, edit: Edit{"", fmt.Sprintf("limits: {body: %dMiB}", x.Response.Body.Size>>20+1)},
			why: fmt.Sprintf("answers are %d bytes long, and two that differ can be compared only when they are kept whole", x.Response.Body.Size)})
	}
	if lag := l.CountLag.Duration(); 2*lag > in.Endpoint.Settle {
		out = append(out, in.here(rankTruth, "settle: "+atLeast(2*lag).String(),
			fmt.Sprintf("the counters showed the effect %s after the answer: only what is still for longer than that is final", lag.Round(time.Millisecond))))
	}
	return out
}

// atLeast is a time that reads well and is no shorter.
func atLeast(d time.Duration) time.Duration {
	unit := 100 * time.Millisecond
	if d > time.Second {
		unit = time.Second
	}
	return time.Duration(math.Ceil(float64(d)/float64(unit))) * unit
}

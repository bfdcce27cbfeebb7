package scenarios

import (
	"slices"

	"retrysafe/internal/strict"
)

// The bounds of copies: 1,000 connections are what one process keeps open under the usual limit of 1,024
// files; 100 requests in a row are a third of an endpoint's default budget.
const (
	mostTogether = 1000
	mostTimes    = 100
)

// The longest waits that make sense: ten lifetimes of a key, a hundred handling times.
const (
	mostLifetimes = 10
	mostHandlings = 100
)

func (d *decoder) steps(v strict.Value) []Step {
	var steps []Step
	items := v.List()
	if v.Kind() == strict.List && len(items) == 0 {
		v.Errorf("expected at least one step, found an empty list")
	}
	for _, item := range items {
		steps = append(steps, d.step(item))
	}
	return steps
}

func (d *decoder) step(v strict.Value) Step {
	s := Step{Pos: v.Pos()}
	o := v.Object("send", "volley", "wait", "hook", "count", "join")
	switch form := o.OneOf("step", "send", "volley", "wait", "hook", "count", "join"); form {
	case "send":
		send := d.send(o.Get(form), false)
		s.Send = &send
	case "volley":
		s.Volley = d.volley(o.Get(form))
	case "wait":
		s.Wait = d.wait(o.Get(form))
	case "hook":
		s.Hook = d.hook(o.Get(form))
	case "count":
		s.Count = d.reading(o.Get(form))
	case "join":
		s.Join = d.join(o.Get(form))
	}
	return s
}

func (d *decoder) volley(v strict.Value) []Send {
	var sends []Send
	items := v.List()
	if v.Kind() == strict.List && (len(items) < 2 || len(items) > mostTogether) {
		v.Errorf("expected 2 to %d requests to release together, found %d", mostTogether, len(items))
	}
	for _, item := range items {
		sends = append(sends, d.send(item, true))
	}
	return sends
}

func (d *decoder) send(v strict.Value, inVolley bool) Send {
	fields := []string{"key", "body", "caller", "cut", "as"}
	if !inVolley {
		fields = append(fields, "together", "times", "until", "background")
	}
	o := v.Object(fields...)
	s := Send{Pos: v.Pos(), Body: BodyOriginal, Caller: "first"}
	s.Key = d.key(o.Require("key"))
	if o.Has("body") {
		s.Body = o.Get("body").Enum(BodyOriginal, BodyOther, BodyFail)
	}
	if o.Has("caller") {
		s.Caller = o.Get("caller").Enum("first")
	}
	s.Together = int(o.Get("together").Int(2, mostTogether))
	s.Times = int(o.Get("times").Int(1, mostTimes))
	s.UntilFinal = o.Get("until").Enum("final") != ""
	s.Background = o.Get("background").Bool()
	s.Cut = cut(o.Get("cut"))
	s.Label = d.label(o.Get("as"), s.Background)
	contradictions(o)
	if s.Background && s.Label == "" {
		o.Get("background").Errorf("a background send needs a label for `join`: add `as: NAME`")
	}
	return s
}

// contradictions notes fields of a send that do not go together.
func contradictions(o strict.Object) {
	for _, c := range [][3]string{
		{"together", "times", "copies are released together or sent one after another"},
		{"together", "until", "a burst is not repeated; send once more with `until: final` after it"},
		{"together", "background", "a burst is not sent in the background"},
		{"cut", "until", "a client that left sees no answer"},
		{"background", "until", "a background send is not repeated"},
		{"background", "times", "a background send is sent once"},
	} {
		if o.Has(c[0]) && o.Has(c[1]) {
			o.Get(c[1]).Errorf("`%s` and `%s` do not go together: %s", c[0], c[1], c[2])
		}
	}
}

func (d *decoder) key(v strict.Value) string {
	t := v.Text()
	switch {
	case t.Value == KeyNone:
	case t.Value == KeyFresh:
		if len(d.letters) == 0 {
			v.Errorf("`fresh` takes body, marker and set-up from the first letter, and none was sent before: send `key: A` first")
		}
	case isLetter(t.Value):
		if !slices.Contains(d.letters, t.Value) {
			d.letters = append(d.letters, t.Value)
		}
	case v.Kind() == strict.String:
		v.Errorf("expected a capital letter, none or fresh, found %s", t.Show())
	}
	return t.Value
}

func isLetter(s string) bool { return len(s) == 1 && s[0] >= 'A' && s[0] <= 'Z' }

// letter reads the letter of a key that was sent under before.
func (d *decoder) letter(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && !slices.Contains(d.letters, t.Value) {
		v.Errorf("no send before uses key %s (known: %s)", t.Show(), listed(d.letters))
	}
	return t.Value
}

func (d *decoder) label(v strict.Value, background bool) string {
	label := name(v)
	if label == "" {
		return ""
	}
	if slices.Contains(d.labels, label) {
		v.Errorf("duplicate label %q: choose another name", label)
	}
	d.labels = append(d.labels, label)
	if background {
		d.background = append(d.background, label)
	}
	return label
}

// cut reads where the client leaves. Without `by` it closes the connection, as a client does whose process ends.
func cut(v strict.Value) *Cut {
	if !v.Present() {
		return nil
	}
	o := v.Object("at", "after", "by")
	c := &Cut{By: "close"}
	c.At = o.Require("at").Enum("headers", "half-body", "sent", "answer")
	c.After = o.Get("after").Duration()
	if o.Has("by") {
		c.By = o.Get("by").Enum("close", "reset")
	}
	return c
}

func (d *decoder) wait(v strict.Value) *Wait {
	if v.Kind() != strict.Mapping {
		return &Wait{For: v.Duration()}
	}
	o := v.Object("expiry", "of", "handling")
	w := &Wait{}
	switch form := o.OneOf("share", "expiry", "handling"); form {
	case "expiry":
		w.Expiry = o.Get(form).Float(0, mostLifetimes)
		w.Of = d.letter(o.Require("of"))
	case "handling":
		w.Handling = o.Get(form).Float(0, mostHandlings)
		o.Get("of").Errorf("`of` belongs to `expiry`: remove it")
	}
	return w
}

func (d *decoder) hook(v strict.Value) *Hook {
	o := v.Object("run", "key")
	return &Hook{Run: o.Require("run").Enum("expire"), Key: d.letter(o.Require("key"))}
}

// reading reads the name of a `count`; the names of the readings that every round has are taken.
func (d *decoder) reading(v strict.Value) string {
	found := name(v)
	switch {
	case found == "":
		return ""
	case slices.Contains([]string{"before", "after", "late"}, found):
		v.Errorf("%q is a reading that every round has: choose another name", found)
	case slices.Contains(d.readings, found):
		v.Errorf("duplicate reading %q: choose another name", found)
	}
	d.readings = append(d.readings, found)
	return found
}

func (d *decoder) join(v strict.Value) string {
	label := known(v, "background send", d.background)
	d.background = slices.DeleteFunc(d.background, func(b string) bool { return b == label })
	return label
}

// unjoined notes background sends whose answer nobody waits for.
func (d *decoder) unjoined(steps strict.Value) {
	for _, label := range d.background {
		steps.Errorf("background send %q is never joined: add `join: %s`", label, label)
	}
}

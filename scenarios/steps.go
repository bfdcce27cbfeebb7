package scenarios

import (
	"slices"

	"retrysafe/internal/strict"
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

func stepForms() []string {
	return []string{"send", "volley", "wait", "hook", "count", "join", "planted"}
}

func waitFields() []string { return []string{"expiry", "of", "handling"} }

func plantedFields() []string { return []string{"key", "from", "to", "as"} }

func hookFields() []string { return []string{"run", "key"} }

func (d *decoder) step(v strict.Value) Step {
	s := Step{Pos: v.Pos()}
	o := v.Object(stepForms()...)
	switch form := o.OneOf("step", stepForms()...); form {
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
	case "planted":
		s.Planted = d.planted(o.Get(form))
	}
	return s
}

// planted reads which key of an earlier run a script goes on with. It comes first: nothing was sent under its letter in this run.
func (d *decoder) planted(v strict.Value) *Planted {
	o := v.Object(plantedFields()...)
	p := &Planted{Pos: v.Pos(), Key: o.Require("key").Text().Value}
	p.From = o.Require("from").Float(0, mostLifetimes)
	p.To = o.Get("to").Float(0, mostLifetimes)
	p.Label = d.label(o.Require("as"), false)
	switch {
	case o.Has("key") && !isLetter(p.Key):
		o.Get("key").Errorf("expected a capital letter, found %s", o.Get("key").Text().Show())
	case slices.Contains(d.letters, p.Key):
		o.Get("key").Errorf("key %s was sent under before: a planted key comes first", p.Key)
	case o.Has("to") && p.To <= p.From:
		o.Get("to").Errorf("expected a share of the lifetime above `from`, %g, found %g", p.From, p.To)
	case d.keys[p.Key].Pos.Line > 0:
		o.Get("key").Errorf("key %s has a form: a planted key is as the earlier run drew it", p.Key)
	}
	d.letters, d.plain = append(d.letters, p.Key), append(d.plain, p.Key)
	return p
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

// letter reads the letter of a key that was sent under before.
func (d *decoder) letter(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && !slices.Contains(d.letters, t.Value) {
		v.Errorf("no send before uses key %s (known: %s)", t.Show(), listed(d.letters))
	} else if d.keys[t.Value].None {
		v.Errorf("requests of %s carry no key: name another letter", t.Value)
	}
	return t.Value
}

func (d *decoder) wait(v strict.Value) *Wait {
	if v.Kind() != strict.Mapping {
		return &Wait{For: v.Duration()}
	}
	o := v.Object(waitFields()...)
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

// undoing are the hooks that must be followed by another one, which would leave the system broken or frozen.
func undoing() [][2]string { return [][2]string{{"break", "heal"}, {"hold", "release"}} }

func (d *decoder) hook(v strict.Value) *Hook {
	o := v.Object(hookFields()...)
	h := Hook{Run: o.Require("run").Enum(HookNames()...)}
	if h.Run == "expire" || o.Has("key") {
		h.Key = d.letter(o.Require("key"))
	}
	for _, pair := range undoing() {
		isOpen := slices.ContainsFunc(d.open, func(o Hook) bool { return o.Run == pair[0] })
		switch {
		case h.Run == pair[0] && isOpen:
			o.Get("run").Errorf("hook %s runs already: add `hook: {run: %s}` before", pair[0], pair[1])
		case h.Run == pair[0]:
			d.open = append(d.open, h)
		case h.Run == pair[1] && !isOpen:
			o.Get("run").Errorf("hook %s undoes %s, and no step before runs that", pair[1], pair[0])
		case h.Run == pair[1]:
			d.open = slices.DeleteFunc(d.open, func(o Hook) bool { return o.Run == pair[0] })
		}
	}
	return &h
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

// unfinished notes background sends whose answer nobody waits for, and hooks that nobody undoes.
func (d *decoder) unfinished(steps strict.Value) {
	for _, label := range d.background {
		steps.Errorf("background send %q is never joined: add `join: %s`", label, label)
	}
	for _, pair := range undoing() {
		if slices.ContainsFunc(d.open, func(h Hook) bool { return h.Run == pair[0] }) {
			steps.Errorf("hook %s is never undone: add `hook: {run: %s}`", pair[0], pair[1])
		}
	}
}

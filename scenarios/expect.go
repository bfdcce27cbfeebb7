package scenarios

import (
	"slices"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// forms are what an expectation can be about; each has exactly one.
func forms() []string {
	return []string{
		"created", "same", "distinct", "refused", "accepted", "failed", "hidden", "one_of", "alike", "answered", "consistent",
		"unchanged", "outlives", "never",
	}
}

// besideForms are the other fields of an expectation, ruleFields those that only `expect` has.
func besideForms() []string { return []string{"since", "until", "as", "of"} }

func ruleFields() []string { return []string{"rule", "below"} }

// expectations reads `expect` (with rules) or `assume` (without).
func (d *decoder) expectations(v strict.Value, withRules bool) []Expectation {
	var all []Expectation
	items := v.List()
	if v.Kind() == strict.List && len(items) == 0 {
		v.Errorf("expected at least one expectation, found an empty list")
	}
	for _, item := range items {
		all = append(all, d.expectation(item, withRules))
	}
	return all
}

func (d *decoder) expectation(v strict.Value, withRules bool) Expectation {
	fields := append(forms(), besideForms()...)
	if withRules {
		fields = append(fields, ruleFields()...)
	}
	o := v.Object(fields...)
	e := Expectation{Pos: v.Pos()}
	form := o.OneOf("expectation", forms()...)
	switch form {
	case "created":
		e.Created = d.created(o)
	case "unchanged":
		e.Unchanged = d.unchanged(o.Get(form))
	case "outlives":
		e.Outlives = o.Get(form).Enum("retry_window")
	case "never":
		e.Never = trace.Class(o.Get(form).Enum(classes()...))
		if o.Has("of") {
			e.Of = d.knownLabels(o.Get("of"))
		}
	case "refused":
		e.Refused = d.knownLabels(o.Get(form))
		e.As = o.Get("as").Enum("mismatch", "missing_key")
	case "":
	default:
		*e.labels(form) = d.knownLabels(o.Get(form))
	}
	if (form == "one_of" || form == "alike") && len(o.Get(form).List()) == 1 {
		o.Get(form).Errorf("expected at least two labels, found one: they are compared with each other")
	}
	d.rule(&e, o, form, withRules)
	misplaced(o, form)
	return e
}

// unlike warns of answers that must be distinct and may nevertheless end differently: where one is refused, nothing is left to tell
// apart, and a key that was refused is expected to have no effect.
func (d *decoder) unlike(v strict.Value, s *Scenario) {
	items := v.List()
	for i := range s.Expect {
		labels := s.Expect[i].Distinct
		covers := func(e Expectation) bool {
			return containsAll(e.Alike, labels) || containsAll(e.Accepted, labels) || containsAll(e.Refused, labels)
		}
		if len(labels) == 0 || slices.ContainsFunc(s.Expect, covers) || slices.ContainsFunc(s.Assume, covers) {
			continue
		}
		list := strings.Join(labels, ", ")
		d.doc.Warnf(items[i].Pos(), 1, "`distinct: [%s]` holds as well when one of them is refused and has no effect: "+
			"where they must be treated alike, add `{alike: [%s], rule: RULE}`, or `accepted` under `assume` (`retrysafe scenarios --language`)", list, list)
	}
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// labels is where the labels of a form go that consists of nothing else.
func (e *Expectation) labels(form string) *[]string {
	return map[string]*[]string{
		"same": &e.Same, "distinct": &e.Distinct, "accepted": &e.Accepted, "failed": &e.Failed, "hidden": &e.Hidden,
		"one_of": &e.OneOf, "alike": &e.Alike, "answered": &e.Answered, "consistent": &e.Consistent,
	}[form]
}

func classes() []string {
	return []string{
		string(trace.ClassNone), string(trace.ClassBusy), string(trace.ClassIntermediary), string(trace.ClassSuccess),
		string(trace.ClassInProgress), string(trace.ClassRefused), string(trace.ClassFailed),
	}
}

// rule reads the rule that a broken expectation breaks. `same` may leave it out and picks one by what differs, and
// `created` when only too few effects are a finding of this scenario.
func (d *decoder) rule(e *Expectation, o strict.Object, form string, withRules bool) {
	if !withRules {
		return
	}
	if o.Has("rule") {
		e.Rule = d.knownRule(o.Get("rule"))
	} else if form != "" && form != "same" && !o.Has("below") {
		o.Require("rule")
	}
}

func (d *decoder) knownRule(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && !slices.Contains(d.rules, t.Value) {
		v.Errorf("unknown rule %s%s", t.Show(), strict.DidYouMean(t.Value, d.rules))
	}
	return t.Value
}

// misplaced notes fields that belong to another form.
func misplaced(o strict.Object, form string) {
	for _, pair := range [][2]string{{"since", "created"}, {"until", "created"}, {"below", "created"}, {"as", "refused"}, {"of", "never"}} {
		if form != "" && form != pair[1] {
			o.Get(pair[0]).Errorf("`%s` belongs to `%s`: remove it", pair[0], pair[1])
		}
	}
}

func (d *decoder) created(o strict.Object) *Created {
	c := &Created{}
	v := o.Get("created")
	const most = 1000 // as many as the copies of the largest burst
	if v.Kind() == strict.String {
		c.PerKey = v.Enum("per-key") != ""
	} else {
		c.N = int(v.Int(0, most))
	}
	c.Since, c.Until = d.between(o)
	if o.Has("below") {
		c.Below = d.knownRule(o.Get("below"))
	}
	return c
}

func (d *decoder) unchanged(v strict.Value) *Unchanged {
	o := v.Object("since", "until")
	o.Require("since")
	u := &Unchanged{}
	u.Since, u.Until = d.between(o)
	return u
}

// between reads the names of two readings, of which the second must come later.
func (d *decoder) between(o strict.Object) (since, until string) {
	since = known(o.Get("since"), "reading", d.readings)
	until = known(o.Get("until"), "reading", d.readings)
	if since != "" && until != "" && slices.Index(d.readings, since) >= slices.Index(d.readings, until) {
		o.Get("until").Errorf("expected a reading after %q, found %q", since, until)
	}
	return since, until
}

// knownLabels reads labels of sends.
func (d *decoder) knownLabels(v strict.Value) []string {
	var labels []string
	items := v.List()
	if v.Kind() == strict.List && len(items) == 0 {
		v.Errorf("expected labels of sends, found an empty list")
	}
	for _, item := range items {
		if label := known(item, "label", d.labels); label != "" {
			labels = append(labels, label)
		}
	}
	return labels
}

package scenarios

import (
	"regexp"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

var (
	idForm   = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// needs is the closed list of what a scenario can need from a plan.
func needs() []string {
	return []string{
		"key", "other_body", "invalid_body", "reordered_body", "nested_body", "body", "fail", "key_lifetime", "required", "fresh_key_creates",
		"counter", "state", "credentials", "other_caller", "renewable_caller", "other_endpoint", "other_query", "replicas",
		"double_click_one", "retry_window", "stores_4xx_no", "stores_5xx_no",
		"account_scope", "lifetime_fits_wait",
		"expire", "restart", "crash", "break", "hold", "reset",
	}
}

// decoder turns the document of a scenario file into a Scenario.
type decoder struct {
	doc    *strict.Document
	rules  []string
	others []*Scenario

	keys       map[string]KeyForm
	letters    []string // key letters that were sent under, in order
	plain      []string // those of them that the first caller sent to the endpoint itself
	labels     []string // every `as`
	background []string // labels that are open in the background
	readings   []string // every `count`
	open       []Hook   // hooks whose counterpart is still to come
}

func scenarioFields() []string {
	return []string{"id", "title", "about", "control", "on", "applies", "needs", "disruptive", "keys", "rounds", "overlap",
		"steps", "expect", "assume"}
}

func (d *decoder) scenario(v strict.Value) *Scenario {
	o := v.Object(scenarioFields()...)
	s := &Scenario{Title: required(o, "title"), About: required(o, "about")}
	s.ID = d.id(o.Require("id"))
	s.Control = o.Get("control").Bool()
	d.onlyControl(o.Get("control"), s)
	d.applies(o.Get("applies"), s)
	s.Needs = d.needs(o.Get("needs"))
	s.Disruptive = o.Get("disruptive").Bool()
	s.Overlap = o.Get("overlap").Bool()
	o.Get("on").Enum("control")
	if s.OnControl = o.Has("on"); s.OnControl {
		nothingSent(o)
	} else {
		d.script(o, s)
	}
	s.Expect = d.expectations(o.Require("expect"), true)
	s.Assume = d.expectations(o.Get("assume"), false)
	d.unlike(o.Get("expect"), s)
	s.Needs = append(s.Needs, impliedNeeds(s)...)
	s.Disruptive = s.Disruptive || disturbs(s)
	return s
}

// script reads what the scenario sends.
func (d *decoder) script(o strict.Object, s *Scenario) {
	s.Adaptive, s.Rounds = rounds(o.Require("rounds"))
	if s.Control && s.Adaptive {
		o.Get("rounds").Errorf("expected a number of rounds for the control, found adaptive: it must be the same for every run")
	}
	d.keys = d.keyForms(o.Get("keys"))
	s.Keys = d.keys
	s.Steps = d.steps(o.Require("steps"))
	d.unfinished(o.Get("steps"))
	if len(d.keys) > 0 {
		d.unsentKeys(o.Get("keys"))
	}
}

// nothingSent notes what belongs to a script in a scenario that has none.
func nothingSent(o strict.Object) {
	for _, field := range []string{"control", "keys", "rounds", "overlap", "steps", "assume"} {
		o.Get(field).Errorf("`on: control` sends nothing of its own: remove `%s`", field)
	}
	for _, item := range o.Get("expect").List() {
		for _, e := range item.Entries() {
			if slices.Contains(forms(), e.Key.Value) && e.Key.Value != "outlives" {
				e.Errorf("`on: control` sends nothing of its own: expected outlives, found %s", e.Key.Value)
			}
		}
	}
}

func (d *decoder) applies(v strict.Value, s *Scenario) {
	o := v.Object("kind", "method")
	for _, kind := range o.Get("kind").List() {
		if k := kind.Enum("create", "method", "webhook"); k != "" {
			s.Kinds = append(s.Kinds, k)
		}
	}
	for _, method := range o.Get("method").List() {
		if m := method.Enum("GET", "POST", "PUT", "PATCH", "DELETE"); m != "" {
			s.Methods = append(s.Methods, m)
		}
	}
}

// required is a text that must be there and say something.
func required(o strict.Object, field string) string {
	v := o.Require(field)
	text := strings.TrimSpace(v.Text().Value)
	if text == "" && v.Kind() == strict.String {
		v.Errorf("expected text, found nothing")
	}
	return text
}

func isID(s string) bool { return idForm.MatchString(s) }

func (d *decoder) id(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && !isID(t.Value) {
		v.Errorf("expected an id of small letters, digits and -, found %s", t.Show())
	}
	for _, other := range d.others {
		if other.ID == t.Value {
			v.Errorf("scenario %q exists already, in %s: choose another id", t.Value, other.File)
		}
	}
	return t.Value
}

// onlyControl notes a second control scenario: everything is measured against the one that there is.
func (d *decoder) onlyControl(v strict.Value, s *Scenario) {
	for _, other := range d.others {
		if other.Control && s.Control {
			v.Errorf("only one scenario can be the control, and %s is: remove `control`", other.ID)
		}
	}
}

func (d *decoder) needs(v strict.Value) [][]string {
	var all [][]string
	for _, item := range v.List() {
		alternatives := []strict.Value{item}
		if item.Kind() == strict.List {
			alternatives = item.List()
			if len(alternatives) == 0 {
				item.Errorf("expected one of %s, found an empty list", strings.Join(needs(), ", "))
			}
		}
		var either []string
		for _, a := range alternatives {
			if need := a.Enum(needs()...); need != "" {
				either = append(either, need)
			}
		}
		all = append(all, either)
	}
	return all
}

// mostRounds bounds a scenario that wants a number of rounds; at three requests a round it is the default budget
// of 300 requests for an endpoint.
const mostRounds = 100

func rounds(v strict.Value) (adaptive bool, n int) {
	if v.Kind() == strict.String {
		if t := v.Text(); t.Value != "adaptive" {
			v.Errorf("expected adaptive or a number of rounds from 1 to %d, found %s", mostRounds, t.Show())
		}
		return true, 0
	}
	return false, int(v.Int(1, mostRounds))
}

// name reads a label or the name of a reading; empty when it is absent.
func name(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && !nameForm.MatchString(t.Value) {
		v.Errorf("expected a name of letters, digits, _ and -, found %s", t.Show())
		return ""
	}
	return t.Value
}

// known is name that must be one of a list.
func known(v strict.Value, what string, names []string) string {
	found := name(v)
	if found != "" && !slices.Contains(names, found) {
		v.Errorf("unknown %s %q%s (known: %s)", what, found, strict.DidYouMean(found, names), listed(names))
		return ""
	}
	return found
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

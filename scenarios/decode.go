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
	return []string{"key", "other_body", "key_lifetime", "required", "fail", "fresh_key_creates", "counter"}
}

// decoder turns the document of a scenario file into a Scenario.
type decoder struct {
	doc    *strict.Document
	rules  []string
	others []*Scenario

	letters    []string // key letters that were sent under, in order
	labels     []string // every `as`
	background []string // labels that are open in the background
	readings   []string // every `count`
}

func (d *decoder) scenario(v strict.Value) *Scenario {
	o := v.Object("id", "title", "about", "control", "applies", "needs", "rounds", "overlap", "steps", "expect", "assume")
	s := &Scenario{Title: required(o, "title"), About: required(o, "about")}
	s.ID = d.id(o.Require("id"))
	s.Control = o.Get("control").Bool()
	d.onlyControl(o.Get("control"), s)
	for _, kind := range o.Get("applies").Object("kind").Get("kind").List() {
		if k := kind.Enum("create", "method", "webhook"); k != "" {
			s.Kinds = append(s.Kinds, k)
		}
	}
	s.Needs = d.needs(o.Get("needs"))
	s.Adaptive, s.Rounds = rounds(o.Require("rounds"))
	if s.Control && s.Adaptive {
		o.Get("rounds").Errorf("expected a number of rounds for the control, found adaptive: it must be the same for every run")
	}
	s.Overlap = o.Get("overlap").Bool()
	s.Steps = d.steps(o.Require("steps"))
	d.unjoined(o.Get("steps"))
	s.Expect = d.expectations(o.Require("expect"), true)
	s.Assume = d.expectations(o.Get("assume"), false)
	return s
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

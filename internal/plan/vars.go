package plan

import (
	"maps"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// vars are the names that callers give values to, and where they are used. A nil *vars has none.
type vars struct {
	known []string
	used  []varUse
}

// varUse is the first place at which a var is used.
type varUse struct {
	name  string
	pos   strict.Pos
	width int
}

func (v *vars) names() []string {
	if v == nil {
		return nil
	}
	return v.known
}

func (v *vars) has(name string) bool { return slices.Contains(v.names(), name) }

// add takes over the names of a caller.
func (v *vars) add(c Caller) {
	for _, name := range slices.Sorted(maps.Keys(c.Vars)) {
		if !v.has(name) {
			v.known = append(v.known, name)
		}
	}
}

func (v *vars) use(name string, pos strict.Pos, width int) {
	if !slices.ContainsFunc(v.used, func(u varUse) bool { return u.name == name }) {
		v.used = append(v.used, varUse{name, pos, width})
	}
}

// callerVars reads what placeholders mean for one caller.
func callerVars(v strict.Value) map[string]string {
	var found map[string]string
	for _, e := range v.Entries() {
		if !checkName(e.Key) {
			continue
		}
		name := e.Key.Value
		if slices.Contains(builtins, name) {
			e.Key.Errorf(0, len(name), "%q is a placeholder of its own: give the var another name", name)
			continue
		}
		t := e.Value.Scalar()
		switch {
		case strings.ContainsFunc(t.Value, isHeaderControl):
			e.Value.Errorf("expected the value of %s in one line: remove line breaks and control characters", name)
		case t.Value == "" && e.Value.Kind() == strict.String:
			e.Value.Errorf("expected the value of %s, found an empty text", name)
		case nextOpen(t, 0) >= 0:
			e.Value.Errorf("expected the value of %s, found a placeholder in it: a var is the same in every request of its caller", name)
		}
		if found == nil {
			found = map[string]string{}
		}
		found[name] = t.Value
	}
	return found
}

// callersAtWork are how many callers send requests of endpoints: the first, and the second as the other one. Others read counters.
const callersAtWork = 2

// missingVars notes a var that is used and that a caller at work does not have.
func (d *decoder) missingVars() {
	for _, u := range d.vars.used {
		for _, c := range d.plan.Callers[:min(callersAtWork, len(d.plan.Callers))] {
			if _, has := c.Vars[u.name]; !has {
				d.doc.Errorf(u.pos, u.width, "{{%s}} is a var that caller %q does not have (%s): add `vars: {%s: ...}` to it", u.name, c.Name, c.Pos, u.name)
			}
		}
	}
}

// VarsOf is what placeholders mean in the requests of the first caller, or of the second one for other; nil without vars.
func (p *Plan) VarsOf(other bool) map[string]string {
	i := 0
	if other {
		i = 1
	}
	if i >= len(p.Callers) {
		return nil
	}
	return p.Callers[i].Vars
}

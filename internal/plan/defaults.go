package plan

import (
	"maps"
	"path"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// DefaultFields are the fields of `defaults`: those of an endpoint that say how an API treats keys and answers, how hard it is judged, and
// whose it is. What one operation does is said by each endpoint.
func DefaultFields() []string {
	return []string{
		"headers", "key", "required", "key_lifetime", "retry_window", "fresh_key", "double_click", "stores", "statuses", "answers", "ignore",
		"replay_headers", "settle", "skip", "require", "fail_on", "tags", "owner",
	}
}

// layers say the same fields, the nearest first: an endpoint, the `defaults` of its file, those of the plan.
type layers []strict.Object

// get is the nearest value of a field, absent when no layer has it.
func (l layers) get(field string) strict.Value {
	for _, o := range l {
		if o.Has(field) {
			return o.Get(field)
		}
	}
	return strict.Value{}
}

// object is a field that is a mapping, each field of it from the nearest layer that has it.
func (l layers) object(field string, fields ...string) strict.Object {
	var out strict.Object
	for _, o := range l {
		out = out.Or(o.Get(field).Object(fields...))
	}
	return out
}

// defaults reads what holds for all endpoints, and notes its mistakes once, whether an endpoint takes it or not.
func (d *decoder) defaults(v strict.Value) {
	d.base = v.Object(DefaultFields()...)
	d.ownBase = map[string]strict.Object{}
	all := []strict.Object{d.base}
	for _, file := range slices.Sorted(maps.Keys(d.own)) {
		d.ownBase[file] = d.own[file].Object(DefaultFields()...)
		all = append(all, d.ownBase[file])
	}
	for _, o := range all {
		var unused Endpoint
		in := layers{o}
		parseHeaders(o.Get("headers"), names{vars: d.vars})
		d.keyPlace(o.Get("key"))
		d.shared(&unused, in)
		d.selection(&unused, in)
	}
}

// layersOf are an endpoint and the defaults that hold for it.
func (d *decoder) layersOf(v strict.Value, o strict.Object) layers {
	in := layers{o}
	if own, has := d.ownBase[v.Pos().File]; has {
		in = append(in, own)
	}
	return append(in, d.base)
}

// headers are those of all layers, the nearest one's value of each.
func (d *decoder) headers(in layers, allowed names) []HeaderTemplate {
	var merged []HeaderTemplate
	for i, o := range slices.Backward(in) {
		of := names{vars: d.vars}
		if i == 0 {
			of = allowed
		}
		merged = mergeHeaders(merged, parseHeaders(o.Get("headers"), of))
	}
	return merged
}

// shared reads what `defaults` can say too, but for headers, key and selection.
func (d *decoder) shared(e *Endpoint, in layers) {
	required := in.get("required")
	e.RequiredSet, e.Required = required.Present(), required.Bool()
	e.requiredByDefault = e.RequiredSet && !in[0].Has("required")
	e.Settle = in.get("settle").Duration()
	e.KeyLifetime, e.lifetimePos = in.get("key_lifetime").Duration(), in.get("key_lifetime").Pos()
	e.RetryWindow = in.get("retry_window").Duration()
	e.FreshKey = in.get("fresh_key").Enum("creates", "returns-existing")
	e.DoubleClick = in.get("double_click").Enum("one", "two")
	d.answers(e, in)
}

// skips reads which scenarios are skipped and why. What a layer requires by name, one behind it cannot skip.
func (d *decoder) skips(in layers) map[string]string {
	found := map[string]string{}
	var required []string
	for _, o := range in {
		for _, entry := range skipEntries(o.Get("skip")) {
			_, nearer := found[entry.Key.Value]
			reason := entry.Value.Text()
			if entry.Value.Kind() == strict.String && strings.TrimSpace(reason.Value) == "" {
				entry.Value.Errorf("expected the reason for skipping, found nothing")
			}
			d.plan.scenarioRefs = append(d.plan.scenarioRefs, scenarioRef{id: entry.Key})
			if !nearer && !slices.Contains(required, entry.Key.Value) {
				found[entry.Key.Value] = reason.Value
			}
		}
		for _, t := range o.Get("require").Texts() {
			required = append(required, t.Value)
		}
	}
	return found
}

func skipEntries(v strict.Value) []strict.Entry {
	if v.Present() && v.Kind() != strict.Mapping {
		v.Expected("scenarios with the reason for each, such as {restart-between: staging cannot be restarted}")
		return nil
	}
	return v.Entries()
}

// requires reads which scenarios, ids or patterns, must not be skipped. A scenario that a nearer layer skips is not required by a default.
func (d *decoder) requires(in layers, skipped map[string]string) []string {
	from := slices.IndexFunc(in, func(o strict.Object) bool { return o.Has("require") })
	if from < 0 {
		return nil
	}
	var found []string
	for _, t := range in[from].Get("require").Texts() {
		width := len([]rune(t.Value))
		if isPattern(t.Value) {
			if _, err := path.Match(t.Value, ""); err != nil {
				t.Errorf(0, width, "expected a scenario or a pattern such as same-key-*, found %s: %v", t.Show(), err)
				continue
			}
		}
		if _, skips := skipped[t.Value]; skips {
			if field(in[from].Get("skip"), t.Value).Present() {
				t.Errorf(0, width, "scenario %s is both skipped and required: remove one", t.Show())
			}
			continue
		}
		found = append(found, t.Value)
		d.plan.scenarioRefs = append(d.plan.scenarioRefs, scenarioRef{id: t, pattern: isPattern(t.Value)})
	}
	return found
}

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// EndpointFields are the names of an endpoint's fields, in the order in which they are best written.
func EndpointFields() []string {
	return []string{
		"name", "kind", "setup", "request", "key", "required", "headers", "body", "text", "form", "file",
		"other_body", "invalid_body", "other_query", "other_endpoint", "fail", "webhook", "counters", "states", "settle",
		"key_lifetime", "retry_window", "fresh_key", "double_click", "stores", "statuses", "answers", "await", "ignore",
		"replay_headers", "cleanup", "skip", "require", "fail_on", "tags", "owner",
	}
}

var bodyFields = []string{"body", "text", "form", "file"}

func (d *decoder) endpoints(v strict.Value) {
	items := v.List()
	if v.Kind() == strict.List && len(items) == 0 {
		v.Errorf("expected at least one endpoint, found an empty list")
	}
	places := map[string]strict.Pos{}
	for _, item := range items {
		e := d.endpoint(item)
		name := field(item, "name")
		if first, dup := places[e.Name]; dup && e.Name != "" {
			where := fmt.Sprintf("in line %d", first.Line)
			if first.File != name.Pos().File {
				where = "at " + first.String()
			}
			name.Errorf("duplicate endpoint %q, the first one is %s: give it another name", e.Name, where)
		} else {
			places[e.Name] = name.Pos()
		}
		d.plan.Endpoints = append(d.plan.Endpoints, e)
	}
}

func (d *decoder) endpoint(v strict.Value) Endpoint {
	o := v.Object(EndpointFields()...)
	e, sound := Endpoint{Pos: v.Pos()}, len(d.doc.Errors())
	in := d.layersOf(v, o)
	e.Name = d.endpointName(o.Require("name"))
	e.Kind = o.Get("kind").Enum("create", "method", "webhook")
	e.Webhook = d.webhook(o)
	var captures []string
	e.Setup, captures = d.setup(o.Get("setup"))
	allowed := names{captures: captures, vars: d.vars}
	e.Request = d.request(o.Require("request"), allowed)
	e.Headers = d.headers(in, allowed)
	e.Key, e.keySet = d.endpointKey(in, e.Webhook)
	d.shared(&e, in)
	e.Body = d.body(o, allowed)
	d.bodies(&e, o, allowed)
	e.OtherQuery = otherQuery(o.Get("other_query"), &e, allowed)
	d.others = append(d.others, o.Get("other_endpoint").Text())
	e.Counters = d.rises(o.Get("counters"), captures)
	e.States = d.stateNames(o.Get("states"), captures)
	e.Await = await(o.Get("await"))
	e.Cleanup = d.cleanup(o.Get("cleanup"))
	d.selection(&e, in)
	if len(d.doc.Errors()) == sound { // else what seems to contradict may be what is misspelt
		d.contradictions(in, &e)
	}
	return e
}

func (d *decoder) endpointName(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && strings.TrimSpace(t.Value) == "" || strings.Contains(t.Value, "\n") {
		v.Errorf("expected a name in one line, found %s", t.Show())
	}
	return t.Value
}

// endpointKey is the endpoint's own `key`, else that of `defaults`, which does not hold for webhooks whose scheme
// says where the event's id is.
func (d *decoder) endpointKey(in layers, hook *Webhook) (trace.KeyPlace, bool) {
	if hook != nil {
		in = in[:1]
	}
	return d.keyPlace(in.get("key"))
}

// setup reads the set-up requests and the names that they capture. Each may use what those before it captured.
func (d *decoder) setup(v strict.Value) (setups []Setup, captures []string) {
	for _, item := range v.List() {
		o := item.Object("request", "headers", "body", "text", "form", "file", "capture")
		allowed := names{captures: slices.Clone(captures), vars: d.vars}
		s := d.setupRequest(o, item.Pos(), allowed)
		s.Capture = d.capture(o.Get("capture"), &captures)
		setups = append(setups, s)
	}
	return setups, captures
}

// setupRequest is a set-up without its captures.
func (d *decoder) setupRequest(o strict.Object, pos strict.Pos, allowed names) Setup {
	return Setup{
		Pos:     pos,
		Request: d.request(o.Require("request"), allowed),
		Headers: parseHeaders(o.Get("headers"), allowed),
		Body:    d.body(o, allowed),
	}
}

// capture reads names and where their values are, and adds the names to known.
func (d *decoder) capture(v strict.Value, known *[]string) map[string]string {
	found := map[string]string{}
	for _, e := range v.Entries() {
		if !checkName(e.Key) {
			continue
		}
		name := e.Key.Value
		switch {
		case slices.Contains(builtins, name):
			e.Key.Errorf(0, len(name), "%q is a placeholder of its own: capture under another name", name)
		case d.vars.has(name):
			e.Key.Errorf(0, len(name), "%q is one of the vars of `callers`: capture under another name", name)
		case slices.Contains(*known, name):
			e.Key.Errorf(0, len(name), "%q is captured already: capture under another name", name)
		}
		*known = append(*known, name)
		found[name] = capturePlace(e.Value)
	}
	return found
}

func capturePlace(v strict.Value) string {
	t := v.Text()
	if header, ok := strings.CutPrefix(t.Value, "header "); ok {
		if !isToken(header) {
			v.Errorf("expected the name of a header after `header`, found %s", t.Show())
		}
		return t.Value
	}
	if v.Kind() == strict.String && !strings.HasPrefix(t.Value, "$") {
		v.Errorf("expected a JSONPath such as $.id, or `header Location`, found %s", t.Show())
		return ""
	}
	return jsonPath(v)
}

// allCaptures are the names that any endpoint's set-up captures, without noting mistakes.
func allCaptures(endpoints strict.Value) []string {
	var found []string
	if endpoints.Kind() != strict.List {
		return nil
	}
	for _, e := range endpoints.List() {
		setup := field(e, "setup")
		if setup.Kind() != strict.List {
			continue
		}
		for _, s := range setup.List() {
			if capture := field(s, "capture"); capture.Kind() == strict.Mapping {
				for _, c := range capture.Entries() {
					found = append(found, c.Key.Value)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// field is a field of a mapping, absent for anything else.
func field(v strict.Value, name string) strict.Value {
	if v.Kind() != strict.Mapping {
		return strict.Value{}
	}
	for _, e := range v.Entries() {
		if e.Key.Value == name {
			return e.Value
		}
	}
	return strict.Value{}
}

// body reads the body of an endpoint or a set-up: one of four fields, or none.
func (d *decoder) body(o strict.Object, allowed names) Body {
	if !slices.ContainsFunc(bodyFields, o.Has) {
		return Body{}
	}
	switch kind := o.OneOf("body", bodyFields...); kind {
	case "body":
		return Body{Kind: BodyJSON, tree: yamlTree(o.Get(kind), allowed), media: "application/json"}
	case "text":
		return Body{Kind: BodyText, text: parseTemplate(o.Get(kind).Scalar(), allowed), media: "text/plain; charset=utf-8"}
	case "form":
		return Body{Kind: BodyForm, tree: d.form(o.Get(kind), allowed, false), media: "application/x-www-form-urlencoded"}
	case "file":
		return Body{Kind: BodyFile, bytes: d.file(o.Get(kind)), media: mediaOf(o.Get(kind).Text().Value)}
	}
	return Body{}
}

// form reads fields, all of them text. In a patch, a field without a value takes the field away.
func (d *decoder) form(v strict.Value, allowed names, patch bool) *node {
	out := mapping()
	for _, e := range v.Entries() {
		if patch && e.Value.Kind() == strict.Nothing {
			out.add(e.Key.Value, &node{kind: strict.Nothing, word: "null"})
			continue
		}
		out.add(e.Key.Value, &node{kind: strict.String, text: parseTemplate(e.Value.Scalar(), allowed)})
	}
	return out
}

// bodies reads what other_body, invalid_body and fail change.
func (d *decoder) bodies(e *Endpoint, o strict.Object, allowed names) {
	sent := e.Body
	if sent.Empty() && e.Key.In == "json" {
		sent = Body{Kind: BodyJSON, tree: mapping()} // what completion makes of it
	}
	if v := o.Get("other_body"); v.Present() {
		e.OtherBody, e.HasOther = d.patched(e.Body, v, allowed), true
		e.OtherWhy = "other_body of the plan"
		if sent.sameAs(e.OtherBody) {
			v.Errorf("expected other_body to change the body, found the same body: change a value")
		}
	}
	if v := o.Get("invalid_body"); v.Present() {
		e.InvalidBody, e.HasInvalid = d.patched(e.Body, v, allowed), true
		switch {
		case sent.sameAs(e.InvalidBody):
			v.Errorf("expected invalid_body to change the body, found the same body: change a value to one that must be refused")
		case e.HasOther && e.OtherBody.sameAs(e.InvalidBody):
			v.Errorf("expected invalid_body to differ from other_body, found the same body: one must be refused, the other accepted")
		}
	}
	v := o.Get("fail")
	if !v.Present() {
		return
	}
	f := v.Object("headers", "body", "sink")
	e.Fail = &Fail{Headers: parseHeaders(f.Get("headers"), allowed), Body: e.Body, Sinks: d.sinkFailures(f.Get("sink"))}
	if patch := f.Get("body"); patch.Present() {
		e.Fail.Body = d.patched(e.Body, patch, allowed)
	}
	if v.Kind() == strict.Mapping && !f.Has("headers") && !f.Has("body") && !f.Has("sink") {
		v.Errorf("expected headers, a body or a sink that make the endpoint fail once, found none of them")
	}
}

// patched is the body with a field's value merged in, read as the kind of the body.
func (d *decoder) patched(b Body, v strict.Value, allowed names) Body {
	patch := Body{Kind: b.Kind, media: b.media}
	switch b.Kind {
	case BodyText:
		patch.text = parseTemplate(v.Scalar(), allowed)
	case BodyForm:
		patch.tree = d.form(v, allowed, true)
	case BodyFile:
	default:
		patch = Body{Kind: BodyJSON, tree: yamlTree(v, allowed), media: "application/json"}
	}
	out, err := b.patched(patch)
	if err != nil {
		v.Errorf("%v", err)
	}
	return out
}

// rises reads the expected rise of counters: a mapping, or a list of names with a rise of 1 each.
func (d *decoder) rises(v strict.Value, captures []string) []CounterRise {
	var rises []CounterRise
	if v.Kind() == strict.List {
		for _, t := range v.Texts() {
			if slices.ContainsFunc(rises, func(r CounterRise) bool { return r.Name == t.Value }) {
				t.Errorf(0, len([]rune(t.Value)), "duplicate counter %s: remove one", t.Show())
				continue
			}
			d.checkCounter(t, captures)
			rises = append(rises, CounterRise{Name: t.Value, Rise: 1})
		}
		return rises
	}
	if v.Present() && v.Kind() != strict.Mapping {
		v.Expected("names of counters such as [orders], or how much each rises such as {orders: 1}")
		return nil
	}
	const most = 1000 // one request that raises a count further is no usual effect but a typing error
	for _, e := range v.Entries() {
		d.checkCounter(e.Key, captures)
		rises = append(rises, CounterRise{Name: e.Key.Value, Rise: e.Value.Int(1, most)})
	}
	return rises
}

// checkCounter notes a counter that is not declared, or that needs a capture which the endpoint does not make.
func (d *decoder) checkCounter(t strict.Text, captures []string) {
	c, ok := d.plan.Counters[t.Value]
	if !ok {
		known := slices.Sorted(maps.Keys(d.plan.Counters))
		t.Errorf(0, len([]rune(t.Value)), "unknown counter %s%s (declare it under `counters` or `sinks`)", t.Show(), strict.DidYouMean(t.Value, known))
		return
	}
	d.checkCaptures(t, "counter", c.templates(), captures)
}

// checkCaptures notes a counter or state that needs a capture which the endpoint does not make.
func (d *decoder) checkCaptures(t strict.Text, what string, templates []Template, captures []string) {
	for _, template := range templates {
		for _, name := range template.Placeholders() {
			if slices.Contains(d.captures, name) && !slices.Contains(captures, name) {
				t.Errorf(0, len([]rune(t.Value)), "%s %s uses {{%s}}, which this endpoint does not capture: capture it in `setup`", what, t.Show(), name)
				return
			}
		}
	}
}

// Uses is true when the placeholder occurs in what the counter asks.
func (c Counter) Uses(name string) bool {
	return slices.ContainsFunc(c.templates(), func(t Template) bool { return t.Uses(name) })
}

// templates are all templates of a counter.
func (c Counter) templates() []Template {
	found := slices.Clone(c.Exec)
	if c.Sink != nil {
		found = append(found, c.Sink.Match)
	}
	if c.HTTP != nil {
		found = append(found, c.HTTP.Request.Path)
		for _, h := range c.HTTP.Headers {
			found = append(found, h.Value)
		}
	}
	if c.SQL != nil {
		found = append(found, c.SQL.Query)
	}
	return found
}

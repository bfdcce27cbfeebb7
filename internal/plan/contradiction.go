package plan

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/webhook"
)

// methods are those that requests usually have: of RFC 9110 section 9.3, without CONNECT and TRACE, and PATCH of RFC 5789. Any other
// token in capital letters is sent as it stands, unless it looks like one of these misspelt.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// misspelt ends the message about a method that is nearly one of the usual ones; empty for one of them, and for a method of its own.
func misspelt(method string) string {
	if slices.Contains(methods, method) {
		return ""
	}
	return strict.DidYouMean(method, methods)
}

// contradictions notes what an endpoint says twice in different ways, and what cannot work together.
func (d *decoder) contradictions(in layers, e *Endpoint) {
	o := in[0]
	d.keyOfWebhook(o.Get("key"), e)
	none := isNone(o.Get("key")) || !o.Has("key") && !d.documentsKey(in[1:].get("key"), e)
	if e.Required && !e.requiredByDefault && e.Webhook == nil && e.Key.In == "" && none {
		o.Get("required").Errorf("a key is required, and this endpoint has none: say where it travels with `key`, or remove `required`")
	}
	if e.Cleanup != nil && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, e.Cleanup.Request.Method) {
		field(o.Get("cleanup"), "request").Errorf("a %s request removes nothing: expected one such as DELETE /orders/{{id}}", e.Cleanup.Request.Method)
	}
	d.unsentMarker(o.Get("counters"), e)
}

// isNone is true for `key: none`.
func isNone(v strict.Value) bool { return v.Kind() == strict.String && v.Text().Value == "none" }

// documentsKey is true when the dialect gives the endpoint a key, or `defaults` do.
func (d *decoder) documentsKey(byDefault strict.Value, e *Endpoint) bool {
	return byDefault.Present() && !isNone(byDefault) || d.plan.Dialect.Key.In != "" && e.Request.Method == http.MethodPost
}

// keyOfWebhook notes a key that no delivery carries: the sender's scheme says where the event's id is. Another place in the body may
// be what the receiver goes by.
func (d *decoder) keyOfWebhook(own strict.Value, e *Endpoint) {
	if e.Webhook == nil || e.Key.In != "header" && e.Key.In != "query" {
		return
	}
	scheme, known := webhook.Find(e.Webhook.Scheme)
	same := func(name string) bool { return e.Key.In == "header" && strings.EqualFold(name, e.Key.Name) }
	if !known || slices.ContainsFunc(scheme.IDHeaders, same) {
		return
	}
	place := eventPlace(scheme.Name)
	own.Errorf("key contradicts webhook: deliveries of %s name their event in %s %s: remove `key`", scheme.Name, place.In, place.Name)
}

// unsentMarker notes a counter that asks for a marker which no request carries: it would never see an effect.
func (d *decoder) unsentMarker(counters strict.Value, e *Endpoint) {
	if e.sendsMarker() {
		return
	}
	for _, rise := range e.Counters {
		if c := d.plan.Counters[rise.Name]; c.Uses("marker") {
			counters.Errorf("counter %q asks for {{marker}}, which no request of this endpoint carries: put \"{{marker}}\" into a field of the body that it counts by", rise.Name)
			return
		}
	}
}

// sendsMarker is true when a request of the endpoint, or of its set-up, holds {{marker}}.
func (e *Endpoint) sendsMarker() bool {
	return e.uses("marker") || slices.ContainsFunc(e.Setup, func(s Setup) bool {
		return s.Request.Path.Uses("marker") || s.Body.Uses("marker") ||
			slices.ContainsFunc(s.Headers, func(h HeaderTemplate) bool { return h.Value.Uses("marker") })
	})
}

// undoneBy are the hooks that take another one back, by that one's name.
var undoneBy = map[string]string{"hold": "release", "break": "heal"}

// loneHooks notes a hook without the one that takes it back, or the other way round: no scenario runs either alone.
func loneHooks(entries []strict.Entry) {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e strict.Entry) bool { return e.Key.Value == name })
	}
	for _, e := range entries {
		for _, hook := range slices.Sorted(maps.Keys(undoneBy)) {
			switch undo := undoneBy[hook]; {
			case e.Key.Value == hook && !has(undo):
				e.Errorf("hook %s needs hook %s, which takes it back: add it", hook, undo)
			case e.Key.Value == undo && !has(hook):
				e.Errorf("hook %s takes hook %s back, which is missing: add that, or remove this", undo, hook)
			}
		}
	}
}

// unused warns of counters and states that no endpoint names: nothing reads them.
func (d *decoder) unused() {
	var read []string
	for _, e := range d.plan.Endpoints {
		for _, r := range e.Counters {
			read = append(read, "counter "+r.Name)
		}
		for _, name := range e.States {
			read = append(read, "state "+name)
		}
	}
	warn := func(kind, name string, pos strict.Pos) {
		if pos.File == d.doc.File() && !slices.Contains(read, kind+" "+name) { // what several plans include, not each of them needs
			d.doc.Warnf(pos, len([]rune(name)), "no endpoint reads the %s %q: name it in `%ss` of those that it belongs to", kind, name, kind)
		}
	}
	for _, c := range d.plan.Counters {
		warn("counter", c.Name, c.Pos)
	}
	for _, s := range d.plan.States {
		warn("state", s.Name, s.Pos)
	}
}

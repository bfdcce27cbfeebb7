package plan

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/dialect"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// The defaults of `limits` and `settle`. They are choices, not measurements: a key that stays in progress for
// 10 s has outlasted the retries of most clients; 30 s is a common time-out of gateways; a count that is right
// is seen within 5 s; work that is done behind an answer may take what a request may, or it is late for whoever waits for
// it; a wait of 60 s still fits a pull request's run; a service that is not back 30 s after a restart has
// a fault of its own; few answers that people read exceed 1
// MiB; and counters that stood still for 100 ms have been polled several times.
const (
	defaultInProgress = 10 * time.Second
	defaultRequest    = 30 * time.Second
	defaultCount      = 5 * time.Second
	defaultAwait      = defaultRequest
	defaultWait       = 60 * time.Second
	defaultReady      = 30 * time.Second
	defaultBody       = 1 << 20
	defaultSettle     = 100 * time.Millisecond
)

// completion fills in what the plan leaves open, once everything in it was read.
type completion struct {
	plan        *Plan
	doc         *strict.Document
	targetWidth int
	replicas    []strict.Text
	others      []strict.Text // the `other_endpoint` of each endpoint
	listening   []strict.Text // the addresses of sinks
}

func (c *completion) run() {
	p := c.plan
	setDefault(&p.Limits.InProgress, defaultInProgress)
	setDefault(&p.Limits.Request, defaultRequest)
	setDefault(&p.Limits.Count, defaultCount)
	setDefault(&p.Limits.Await, defaultAwait)
	setDefault(&p.Limits.Wait, defaultWait)
	setDefault(&p.Limits.Ready, defaultReady)
	setDefault(&p.Limits.Body, defaultBody)
	c.checkTargets()
	c.checkReads()
	c.checkSinks()
	c.checkHooks()
	c.checkDatabases()
	c.callers()
	for i := range p.Endpoints {
		c.endpoint(&p.Endpoints[i])
	}
	for i, name := range c.others {
		c.otherEndpoint(&p.Endpoints[i], name)
	}
}

// setDefault fills in what is not stated.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// checkReads checks where counters and states are read.
func (c *completion) checkReads() {
	for _, counter := range c.plan.Counters {
		if counter.HTTP != nil {
			c.checkRequest(counter.HTTP.Request)
		}
	}
	for _, state := range c.plan.States {
		c.checkRequest(state.Request) // one that is read by SQL has none
	}
}

func (c *completion) checkHooks() {
	for _, hook := range c.plan.Hooks {
		for _, r := range []*RequestTemplate{hook.HTTP, hook.Ready} {
			if r != nil {
				c.checkRequest(*r)
			}
		}
	}
}

func (c *completion) callers() {
	for _, caller := range c.plan.Callers {
		c.checkCertificate(caller)
		if s := caller.Login; s != nil {
			c.checkRequest(s.Request)
			c.checkBody(s.Request, s.Body)
			s.Headers = withContentType(s.Headers, s.Body)
		}
	}
}

func (c *completion) endpoint(e *Endpoint) {
	e.Stated = stated(e)
	c.key(e)
	if e.requiredByDefault && (e.Key.In == "" || e.Webhook != nil) {
		e.Required, e.RequiredSet = false, false
	}
	setDefault(&e.Kind, kindOf(e))
	c.dialectFacts(e)
	setDefault(&e.FreshKey, "creates")
	setDefault(&e.DoubleClick, "two")
	setDefault(&e.Settle, defaultSettle)
	if e.Await != nil {
		e.Await.Limit = trace.Nanos(c.plan.Limits.Await)
	}
	c.checkRequest(e.Request)
	c.checkBody(e.Request, e.Body)
	for _, s := range e.Setup {
		c.checkRequest(s.Request)
		c.checkBody(s.Request, s.Body)
	}
	if e.Cleanup != nil {
		c.checkRequest(e.Cleanup.Request)
	}
	c.checkKey(e)
	if e.Key.In == "json" && e.Body.Empty() {
		e.Body = Body{Kind: BodyJSON, tree: mapping(), media: "application/json"}
	}
	e.Headers = withContentType(e.Headers, e.Body)
	for i, s := range e.Setup {
		e.Setup[i].Headers = withContentType(s.Headers, s.Body)
	}
	c.otherBodies(e)
	e.Reordered, e.HasReordered = reordered(e.Body, e.Key)
}

// otherBodies fills in the bodies that differ from the endpoint's own where the plan does not say.
func (c *completion) otherBodies(e *Endpoint) {
	if !e.HasOther {
		e.OtherBody, e.OtherWhy, e.HasOther = otherBody(e.Body, e.Key)
	}
	if e.HasOther && e.HasInvalid && e.OtherBody.sameAs(e.InvalidBody) {
		e.OtherBody, e.OtherWhy, e.HasOther = Body{}, "the change at hand is the invalid_body: say `other_body`", false
	}
	if e.HasOther {
		e.OtherPlaces = changedPlaces(e.Body, e.OtherBody)
	}
	e.Nested = nil
	if c.plan.Dialect.Fingerprint != dialect.Fields {
		e.Nested = nested(e.Body, e.Key, e.OtherPlaces)
	}
}

// stated are the facts that the plan says, before anything else was filled in.
func stated(e *Endpoint) []string {
	out := []string{}
	for _, f := range []struct {
		name string
		said bool
	}{
		{trace.StatedKey, e.keySet || e.Webhook != nil},
		{trace.StatedKeyFormat, e.Key.Format != ""},
		{trace.StatedRequired, e.RequiredSet},
		{trace.StatedMismatch, len(e.Statuses.Mismatch) > 0},
		{trace.StatedMissingKey, len(e.Statuses.MissingKey) > 0},
		{trace.StatedInProgress, len(e.Statuses.InProgress) > 0},
		{trace.StatedStores4xx, e.Stores4xx != ""},
		{trace.StatedStores5xx, e.Stores5xx != ""},
	} {
		if f.said {
			out = append(out, f.name)
		}
	}
	return out
}

// kindOf is the kind of an endpoint whose plan does not say.
func kindOf(e *Endpoint) string {
	switch {
	case e.Webhook != nil:
		return "webhook"
	case e.Key.In != "" || e.Request.Method == http.MethodPost:
		return "create"
	}
	return "method"
}

// key fills the dialect's place and format of the key in, where the plan says nothing. Under "any" an endpoint
// without `key:` has none.
func (c *completion) key(e *Endpoint) {
	documented := c.plan.Dialect.Key
	if !e.keySet && e.Webhook != nil {
		e.Key = eventPlace(e.Webhook.Scheme)
		return
	}
	if !e.keySet && e.Key.In == "" && e.Request.Method == http.MethodPost && e.Kind != "webhook" {
		e.Key = documented
	}
	if e.Key.In == "header" && e.Key.Format == "" && documented.In == "header" {
		e.Key.Format = documented.Format
	}
}

// dialectFacts fills in what the dialect documents and the plan does not override.
func (c *completion) dialectFacts(e *Endpoint) {
	d := c.plan.Dialect
	if !e.RequiredSet && d.MissingKey != "" && e.Key.In != "" {
		e.Required, e.RequiredSet = d.MissingKey == dialect.Refused, true
	}
	inherit := func(codes *[]int, documented []int) {
		if len(*codes) == 0 {
			*codes = documented
		}
	}
	inherit(&e.Statuses.Mismatch, d.Statuses.Mismatch)
	inherit(&e.Statuses.MissingKey, d.Statuses.MissingKey)
	inherit(&e.Statuses.InProgress, d.Statuses.InProgress)
	setDefault(&e.Stores4xx, d.Stores4xx)
	setDefault(&e.Stores5xx, d.Stores5xx)
}

// checkBody notes a body with a method that has none (RFC 9110, section 9.3.1).
func (c *completion) checkBody(r RequestTemplate, b Body) {
	if !b.Empty() && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		c.doc.Errorf(r.Path.Pos, len([]rune(r.Path.source)), "a %s request has no body: remove the body, or write another method", r.Method)
	}
}

// checkKey notes a key that the request cannot carry, or that is set twice.
func (c *completion) checkKey(e *Endpoint) {
	width := len([]rune(e.Request.Path.source))
	switch e.Key.In {
	case "json":
		if e.Key.Name == "" {
			return // noted where it was read
		}
		for _, b := range e.bodies() {
			if _, err := b.WithKey(e.Key.Name, "x"); err != nil {
				c.doc.Errorf(e.Request.Path.Pos, width, "%v", err)
			}
		}
	case "header":
		for _, h := range e.Headers {
			if strings.EqualFold(h.Name, e.Key.Name) {
				c.doc.Errorf(h.Value.Pos, len([]rune(h.Value.source)), "header %s carries the key, which `key` sets: remove it from `headers`", h.Name)
			}
		}
	case "":
		if e.uses("key") {
			c.doc.Errorf(e.Request.Path.Pos, width, "the endpoint uses {{key}} and has no key: say where it travels with `key`, or use {{uuid}}")
		}
	}
}

// bodies are the body and those that the plan makes of it.
func (e *Endpoint) bodies() []Body {
	found := []Body{e.Body}
	if e.HasOther {
		found = append(found, e.OtherBody)
	}
	if e.HasInvalid {
		found = append(found, e.InvalidBody)
	}
	if e.Fail != nil {
		found = append(found, e.Fail.Body)
	}
	return found
}

// uses is true when request, headers or body hold the placeholder.
func (e *Endpoint) uses(name string) bool {
	return e.Request.Path.Uses(name) || e.Body.Uses(name) ||
		slices.ContainsFunc(e.Headers, func(h HeaderTemplate) bool { return h.Value.Uses(name) })
}

// withContentType adds the body's media type where the plan gives none.
func withContentType(headers []HeaderTemplate, b Body) []HeaderTemplate {
	has := func(h HeaderTemplate) bool { return strings.EqualFold(h.Name, "Content-Type") }
	if b.Empty() || slices.ContainsFunc(headers, has) {
		return headers
	}
	return append(slices.Clone(headers), HeaderTemplate{Name: "Content-Type", Value: literal(b.ContentType())})
}

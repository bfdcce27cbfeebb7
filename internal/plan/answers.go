package plan

import (
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// answers reads what the endpoint's answers look like.
func (d *decoder) answers(e *Endpoint, o strict.Object) {
	stores := o.Get("stores").Object("4xx", "5xx")
	e.Stores4xx, e.Stores5xx = yesNo(stores.Get("4xx")), yesNo(stores.Get("5xx"))
	statuses := o.Get("statuses").Object("mismatch", "missing_key", "in_progress")
	e.Statuses.Mismatch = statusCodes(statuses.Get("mismatch"))
	e.Statuses.MissingKey = statusCodes(statuses.Get("missing_key"))
	e.Statuses.InProgress = statusCodes(statuses.Get("in_progress"))
	if answers := o.Get("answers"); answers.Present() {
		said := answers.Object("refused", "success")
		if refused := said.Get("refused"); refused.Present() {
			e.RefusedWhere = jsonPath(refused.Object("json").Require("json"))
		}
		e.SuccessStatuses = redirects(said.Get("success"))
		if !said.Has("refused") && !said.Has("success") {
			answers.Errorf("expected refused or success, found neither")
		}
	}
	ignore := o.Get("ignore").Object("json", "headers")
	e.IgnoreJSON = jsonPaths(ignore.Get("json"))
	e.IgnoreHeaders = headerNames(ignore.Get("headers"))
	e.ReplayHeaders = headerNames(o.Get("replay_headers"))
	for _, t := range o.Get("replay_headers").Texts() {
		if slices.ContainsFunc(e.IgnoreHeaders, func(h string) bool { return strings.EqualFold(h, t.Value) }) {
			t.Errorf(0, len(t.Value), "header %s cannot be both ignored and replayed: remove it from one list", t.Value)
		}
	}
}

func yesNo(v strict.Value) string {
	switch {
	case !v.Present():
		return ""
	case v.Bool():
		return "yes"
	}
	return "no"
}

func statusCodes(v strict.Value) []int {
	var codes []int
	for _, item := range v.List() {
		if code := item.Int(100, 599); code != 0 {
			codes = append(codes, int(code))
		}
	}
	if v.Kind() == strict.List && len(v.List()) == 0 {
		v.Errorf("expected status codes such as [422], found an empty list")
	}
	return codes
}

// redirects reads the statuses with which an endpoint that redirects behind a POST says success.
func redirects(v strict.Value) []int {
	codes, items := statusCodes(v), v.List()
	for i, code := range codes {
		if len(codes) == len(items) && !slices.Contains([]int{301, 302, 303}, code) {
			items[i].Errorf("expected 301, 302 or 303, found %d: 2xx is success anyway, and no other status says that the request was carried out", code)
		}
	}
	return codes
}

// cleanup reads the request that removes what answers named.
func (d *decoder) cleanup(v strict.Value) *Cleanup {
	if !v.Present() {
		return nil
	}
	o := v.Object("request", "headers", "capture")
	c := &Cleanup{Pos: v.Pos()}
	var captures []string
	c.Capture = d.capture(o.Require("capture"), &captures)
	allowed := names{captures: captures, capturesOnly: true}
	c.Request = d.request(o.Require("request"), allowed)
	c.Headers = parseHeaders(o.Get("headers"), allowed)
	if len(captures) > 0 && !c.Request.Path.Empty() && !strings.Contains(c.Request.Path.source, "{{") {
		o.Get("request").Errorf("expected a captured name in the request, found none: it would be the same for everything that was created; write {{%s}}", captures[0])
	}
	return c
}

// selection reads which scenarios are skipped and required, and whom the endpoint belongs to.
func (d *decoder) selection(e *Endpoint, o strict.Object) {
	e.Skip = map[string]string{}
	skip := o.Get("skip")
	if skip.Present() && skip.Kind() != strict.Mapping {
		skip.Expected("scenarios with the reason for each, such as {restart-between: staging cannot be restarted}")
		skip = strict.Value{}
	}
	for _, entry := range skip.Entries() {
		reason := entry.Value.Text()
		if entry.Value.Kind() == strict.String && strings.TrimSpace(reason.Value) == "" {
			entry.Value.Errorf("expected the reason for skipping, found nothing")
		}
		e.Skip[entry.Key.Value] = reason.Value
		d.plan.scenarioRefs = append(d.plan.scenarioRefs, scenarioRef{entry.Key})
	}
	for _, t := range o.Get("require").Texts() {
		if _, skipped := e.Skip[t.Value]; skipped {
			t.Errorf(0, len([]rune(t.Value)), "scenario %s is both skipped and required: remove one", t.Show())
		}
		e.Require = append(e.Require, t.Value)
		d.plan.scenarioRefs = append(d.plan.scenarioRefs, scenarioRef{t})
	}
	for _, t := range o.Get("tags").Texts() {
		e.Tags = append(e.Tags, t.Value)
	}
	e.Owner = o.Get("owner").Text().Value
}

package plan

import (
	"slices"
	"strings"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// answers reads what the endpoint's answers look like.
func (d *decoder) answers(e *Endpoint, in layers) {
	stores := in.object("stores", "4xx", "5xx")
	e.Stores4xx, e.Stores5xx = yesNo(stores.Get("4xx")), yesNo(stores.Get("5xx"))
	statuses := in.object("statuses", "mismatch", "missing_key", "in_progress")
	e.Statuses.Mismatch = statusCodes(statuses.Get("mismatch"))
	e.Statuses.MissingKey = statusCodes(statuses.Get("missing_key"))
	e.Statuses.InProgress = statusCodes(statuses.Get("in_progress"))
	if answers := in.get("answers"); answers.Present() {
		said := in.object("answers", "refused", "success")
		if refused := said.Get("refused"); refused.Present() {
			e.RefusedWhere = jsonPath(refused.Object("json").Require("json"))
		}
		e.SuccessStatuses = redirects(said.Get("success"))
		if !said.Has("refused") && !said.Has("success") {
			answers.Errorf("expected refused or success, found neither")
		}
	}
	ignore := in.object("ignore", "json", "headers")
	e.IgnoreJSON = jsonPaths(ignore.Get("json"))
	e.IgnoreHeaders = headerNames(ignore.Get("headers"))
	replay := in.get("replay_headers")
	e.ReplayHeaders = headerNames(replay)
	for _, t := range replay.Texts() {
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
	allowed := names{captures: captures, capturesOnly: true, vars: d.vars}
	c.Request = d.request(o.Require("request"), allowed)
	c.Headers = parseHeaders(o.Get("headers"), allowed)
	if len(captures) > 0 && !c.Request.Path.Empty() && c.Request.Path.sameForAll() {
		o.Get("request").Errorf("expected a captured name in the request, found none: it would be the same for everything that was created; write {{%s}}", captures[0])
	}
	return c
}

// selection reads which scenarios are skipped and required, what fails, and whom the endpoint belongs to.
func (d *decoder) selection(e *Endpoint, in layers) {
	e.Skip = d.skips(in)
	e.Require = d.requires(in, e.Skip)
	e.FailOn = trace.Severity(in.get("fail_on").Enum(string(trace.Critical), string(trace.Major), string(trace.Minor), string(trace.Never)))
	for _, t := range in.get("tags").Texts() {
		e.Tags = append(e.Tags, t.Value)
	}
	owner := in.get("owner")
	e.Owner = strings.TrimSpace(owner.Text().Value)
	if strings.ContainsFunc(e.Owner, isHeaderControl) || e.Owner == "" && owner.Kind() == strict.String {
		owner.Errorf("expected an owner in one line, such as payments or @org/payments, found %s", owner.Text().Show())
	}
}

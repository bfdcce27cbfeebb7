package engine

import (
	"fmt"
	"net/url"
	"strings"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// sendShot renders a request of the endpoint under test: the same scope, key and body give the same bytes,
// but for the placeholders that change with every send.
func (rd *round) sendShot(s *scenarios.Send, sc *scope, key string) (fire.Shot, error) {
	ep := rd.e.plan
	body, headers := ep.Body, ep.Headers
	switch s.Body {
	case scenarios.BodyOther:
		body = ep.OtherBody
	case scenarios.BodyFail:
		body, headers = ep.Fail.Body, append(headers[:len(headers):len(headers)], ep.Fail.Headers...)
	}
	v := values{scope: sc, key: key, nonce: fmt.Sprint(rd.e.Seed, rd.e.ids.Load())}
	shot, err := rd.e.request(ep.Request, headers, rd.e.caller(""), body, ep.Key, v)
	if err == nil && s.Cut != nil {
		shot.Cut = &trace.Cut{At: s.Cut.At, After: trace.Nanos(s.Cut.After), By: s.Cut.By}
	}
	return shot, err
}

// request renders one request. A header that is given twice is sent once, as the last one says.
func (r *run) request(req plan.RequestTemplate, headers, credentials []plan.HeaderTemplate, body plan.Body, place trace.KeyPlace, v values) (fire.Shot, error) {
	target := req.URL(r.Plan.Target, v)
	if place.In == "query" {
		target = plan.WithQuery(target, place.Name, v.key)
	}
	if place.In == "json" {
		var err error
		if body, err = body.WithKey(place.Name, v.key); err != nil {
			return fire.Shot{}, err
		}
	}
	text, err := body.Render(v)
	if err != nil {
		return fire.Shot{}, err
	}
	h := headerList{}
	h.set("User-Agent", r.UserAgent)
	h.set("Accept", "*/*")
	if t := body.ContentType(); t != "" {
		h.set("Content-Type", t)
	}
	for _, list := range [][]plan.HeaderTemplate{headers, credentials} {
		for _, t := range list {
			value, err := t.Render(v)
			if err != nil {
				return fire.Shot{}, err
			}
			h.set(t.Name, value)
		}
	}
	if place.In == "header" && v.key != "" {
		h.set(place.Name, keyText(place.Format, v.key))
	}
	h.set("traceparent", "00-"+r.RunID+"-"+v.span+"-01")
	return fire.Shot{Method: req.Method, URL: target, Header: h, Body: text}, r.allowed(target)
}

// allowed is the last guard before anything is sent: the plan was checked when it was read, but a
// placeholder could still name another host.
func (r *run) allowed(target string) error {
	if r.Plan.HostAllowed(target) {
		return nil
	}
	host := target
	if u, err := url.Parse(target); err == nil {
		host = u.Host
	}
	return fmt.Errorf("host %s is not allowed: add it to allow_hosts, or pass --allow-host %s", host, host)
}

func (r *run) caller(name string) []plan.HeaderTemplate {
	for _, c := range r.Plan.Callers {
		if name == "" || c.Name == name {
			return c.Headers
		}
	}
	return nil
}

// callerName is the caller that requests of scenarios are sent as; empty when the plan has none.
func (r *run) callerName() string {
	if len(r.Plan.Callers) == 0 {
		return ""
	}
	return r.Plan.Callers[0].Name
}

// keyText is the key as the header carries it; sf-string is RFC 9651 section 3.3.3, whose escapes a UUID never needs.
func keyText(format, key string) string {
	if format == "sf-string" {
		return `"` + key + `"`
	}
	return key
}

// headerList keeps the order in which headers were first set.
type headerList []trace.Header

func (h *headerList) set(name, value string) {
	for i := range *h {
		if strings.EqualFold((*h)[i].Name, name) {
			(*h)[i] = trace.Header{Name: name, Value: value}
			return
		}
	}
	*h = append(*h, trace.Header{Name: name, Value: value})
}

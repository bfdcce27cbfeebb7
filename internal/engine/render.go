package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/internal/webhook"
	"retrysafe/scenarios"
)

// sendShot renders a request of a script: the same scope, key and body give the same bytes, but for the placeholders
// that change with every send, and signatures.
func (rd *round) sendShot(ctx context.Context, s *scenarios.Send, sc *scope) (fire.Shot, error) {
	if shot, ready := rd.signed[s]; ready {
		delete(rd.signed, s)
		return shot, nil
	}
	made, err := rd.unsigned(ctx, s, sc)
	if err != nil {
		return fire.Shot{}, err
	}
	return made.sign(ctx)
}

// unsigned is a request of a script before its caller signs it.
func (rd *round) unsigned(ctx context.Context, s *scenarios.Send, sc *scope) (unsignedShot, error) {
	caller := rd.e.callerFor(s.Caller)
	obtain := func() (credential, error) { return rd.e.credential(ctx, caller, false) }
	if s.Caller == scenarios.CallerRenewed {
		obtain = func() (credential, error) { return rd.e.anew(ctx, caller) }
	}
	cred, err := obtain()
	if err != nil {
		return unsignedShot{}, err
	}
	ep, body, headers := rd.e.plan, rd.e.plan.Body, rd.e.plan.Headers
	if i := slices.Index(scenarios.NestedBodies(len(ep.Nested)), s.Body); i >= 0 {
		body = ep.Nested[i].Body
	}
	switch s.Body {
	case scenarios.BodyOther:
		body = ep.OtherBody
	case scenarios.BodyInvalid:
		body = ep.InvalidBody
	case scenarios.BodyReordered:
		body = ep.Reordered
	case scenarios.BodyFail:
		body, headers = ep.Fail.Body, append(headers[:len(headers):len(headers)], ep.Fail.Headers...)
	}
	if s.Other {
		ep = rd.e.other
		body, headers = ep.Body, ep.Headers
	}
	v := values{scope: sc, key: sc.Key, nonce: rd.e.nonce()}
	t := rd.e.template(ep.Request, headers, body, ep.Key)
	t.credential, t.webhook = cred, ep.Webhook
	if s.Replica > 0 {
		t.target = rd.e.Plan.Replicas[s.Replica-1]
	}
	if s.OtherQuery {
		t.query = ep.OtherQuery
	}
	t.noise = s.Noise
	shot, err := t.render(v)
	if err == nil && s.Cut != nil {
		shot.Cut = &trace.Cut{At: s.Cut.At, After: trace.Nanos(s.Cut.After), By: s.Cut.By}
	}
	return unsignedShot{r: rd.e.run, shot: shot, caller: cred.caller, key: ep.Key}, err
}

// template is everything that one request is made from.
type template struct {
	r          *run
	request    plan.RequestTemplate
	target     string
	query      []plan.QueryParameter
	headers    []plan.HeaderTemplate
	credential credential
	body       plan.Body
	place      trace.KeyPlace
	webhook    *plan.Webhook
	// noise changes what must not matter.
	noise bool
}

func (r *run) template(req plan.RequestTemplate, headers []plan.HeaderTemplate, body plan.Body, place trace.KeyPlace) template {
	return template{r: r, request: req, target: r.Plan.Target, headers: headers, body: body, place: place}
}

// request renders one request without anything special, and has it signed where the caller does that.
func (r *run) request(ctx context.Context, req plan.RequestTemplate, headers []plan.HeaderTemplate, cred credential, body plan.Body, place trace.KeyPlace, v values) (fire.Shot, error) {
	t := r.template(req, headers, body, place)
	t.credential = cred
	shot, err := t.render(v)
	if err != nil {
		return fire.Shot{}, err
	}
	return unsignedShot{r: r, shot: shot, caller: cred.caller, key: place}.sign(ctx)
}

// render fills everything in. A header that is given twice is sent once, as the last one says.
func (t template) render(v values) (fire.Shot, error) {
	target := t.request.URL(t.target, v)
	for _, q := range t.query {
		target = plan.WithQuery(target, q.Name, q.Value.Render(v))
	}
	if t.place.In == "query" {
		target = plan.WithQuery(target, t.place.Name, v.key)
	}
	body := t.body
	if t.place.In == "json" {
		var err error
		if body, err = body.WithKey(t.place.Name, v.key); err != nil {
			return fire.Shot{}, err
		}
	}
	text, err := body.Render(v)
	if err != nil {
		return fire.Shot{}, err
	}
	h, err := t.headerLines(body.ContentType(), text, v)
	if err != nil {
		return fire.Shot{}, err
	}
	return fire.Shot{Method: t.request.Method, URL: target, Header: h, Body: text, Certificate: t.credential.certificate()}, t.r.allowed(target)
}

func (t template) headerLines(contentType string, body []byte, v values) (headerList, error) {
	h := headerList{}
	h.set("User-Agent", t.r.UserAgent)
	h.set("Accept", "*/*")
	if contentType != "" {
		h.set("Content-Type", contentType)
	}
	for _, header := range t.headers {
		value, err := header.Render(v)
		if err != nil {
			return nil, err
		}
		h.set(header.Name, value)
	}
	if err := t.credential.apply(&h, v); err != nil {
		return nil, err
	}
	if t.place.In == "header" && v.keyed {
		h.drop(t.place.Name)
		for _, line := range v.lines {
			h = append(h, trace.Header{Name: t.place.Name, Value: keyText(t.place.Format, v.quoted, line)})
		}
	}
	if v.keyed && t.place.In != "" {
		for _, with := range t.r.Plan.Dialect.With {
			h.set(with.Header, v.date) // the only kind there is
		}
	}
	if err := sign(t.webhook, &h, body, v.key); err != nil {
		return nil, err
	}
	h.set("traceparent", "00-"+t.r.RunID+"-"+v.span+"-01")
	if t.noise {
		h.noise(v)
	}
	return h, nil
}

// noise changes the headers that intermediaries and clients change between two attempts.
func (h *headerList) noise(v values) {
	drawn := draw(v.nonce, "noise")
	h.set("User-Agent", "retrysafe-again/1 (another client)")
	h.set("traceparent", "00-"+hex.EncodeToString(drawn[:16])+"-"+hex.EncodeToString(drawn[16:24])+"-01")
	h.set("X-Request-Id", uuid(drawn))
	h.set("Accept-Language", "eo")
}

// sign adds the headers with which a provider signs a delivery, made anew for each.
func sign(w *plan.Webhook, h *headerList, body []byte, event string) error {
	if w == nil {
		return nil
	}
	scheme, _ := webhook.Find(w.Scheme)
	signed, err := scheme.Sign(w.Secret, webhook.Delivery{ID: event, At: time.Now(), Body: body})
	if err != nil {
		return err
	}
	for _, line := range signed {
		h.set(line.Name, line.Value)
	}
	return nil
}

// allowed is the last guard before anything is sent: the plan was checked when it was read, but a
// placeholder could still name another host.
func (r *run) allowed(target string) error {
	if r.Plan.HostAllowed(target) {
		return nil
	}
	u, err := url.Parse(target)
	switch {
	case err != nil || u.Hostname() == "":
		return fmt.Errorf("expected a URL or a path, found %q", target)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("expected an http or https URL, found one of scheme %q", u.Scheme)
	case u.User != nil:
		return errors.New("expected a URL without user and password, found one with both: what is sent to it goes without")
	}
	return fmt.Errorf("host %s is not allowed: add it to allow_hosts, or pass --allow-host %s", u.Host, u.Host)
}

// keyText is the key as the header carries it. The quotes of sf-string are those of RFC 9651 section 3.3.3, whose escapes
// a UUID never needs.
func keyText(format string, quoted bool, key string) string {
	if (format == "sf-string") != quoted {
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

// drop removes a header.
func (h *headerList) drop(name string) {
	*h = slices.DeleteFunc(*h, func(l trace.Header) bool { return strings.EqualFold(l.Name, name) })
}

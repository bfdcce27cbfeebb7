package draft

import (
	"net/url"
	"slices"
	"strings"
)

// baseOf is the base URL of a plan or a source, variables replaced by their defaults; nil when it names no host.
func baseOf(target string) *url.URL {
	u, err := url.Parse(withDefaults(target))
	if err != nil || u.Host == "" {
		return nil
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u
}

// behindTarget is an operation as one behind the target, where it names the target's host.
func behindTarget(o Operation, target string) Operation {
	base := baseOf(target)
	if base == nil || o.Host == "" || o.Host != strings.ToLower(base.Host) {
		return o
	}
	if rest, ok := strings.CutPrefix(o.Path, base.Path+"/"); ok {
		o.Host, o.Path = "", "/"+rest
	}
	return o
}

// behind is the draft with its requests behind another target of the same host: a path /v1/orders is /orders behind https://host/v1. The
// draft itself stays as it is, and so does one of another host: there the plan's target says where it is.
func (d Draft) behind(target string) Draft {
	to, from := baseOf(target), baseOf(d.Target.Value)
	if to == nil || from == nil || !strings.EqualFold(to.Host, from.Host) || to.Path == from.Path {
		return d
	}
	move := func(path string) string {
		if !strings.HasPrefix(path, "/") {
			return path
		}
		whole := from.Path + path
		if rest := strings.TrimPrefix(whole, to.Path); len(rest) < len(whole) && strings.HasPrefix(rest, "/") {
			return rest
		}
		if to.Path == "" {
			return whole
		}
		return from.Scheme + "://" + from.Host + whole
	}
	request := func(r string) string {
		method, path, _ := strings.Cut(strings.TrimSpace(r), " ")
		return method + " " + move(strings.TrimSpace(path))
	}
	d.Endpoints, d.Counters, d.States = slices.Clone(d.Endpoints), slices.Clone(d.Counters), slices.Clone(d.States)
	for i := range d.Counters {
		d.Counters[i].Request = request(d.Counters[i].Request)
	}
	for i := range d.States {
		d.States[i].Request = request(d.States[i].Request)
	}
	for i := range d.Endpoints {
		e := &d.Endpoints[i]
		e.Request = request(e.Request)
		if e.Template != "" {
			e.Template = move(e.Template)
		}
		e.Setup = slices.Clone(e.Setup)
		for j := range e.Setup {
			e.Setup[j].Request = request(e.Setup[j].Request)
		}
		if e.Cleanup != nil {
			c := *e.Cleanup
			c.Request = request(c.Request)
			e.Cleanup = &c
		}
	}
	return d
}

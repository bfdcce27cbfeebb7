package plan

import (
	"slices"

	"retrysafe/internal/strict"
)

func (d *decoder) callers(v strict.Value) []Caller {
	var callers []Caller
	for _, e := range v.Entries() {
		checkName(e.Key)
		c := d.readCaller(e)
		callers = append(callers, c)
		d.vars.add(c)
	}
	return callers
}

func (d *decoder) readCaller(e strict.Entry) Caller {
	o := e.Value.Object("headers", "exec", "login", "refresh", "cert", "key", "sign", "vars")
	c := Caller{Pos: e.Key.Pos(), Name: e.Key.Value, Refresh: o.Get("refresh").Duration(), Vars: callerVars(o.Get("vars")), Variables: e.Value.Variables(), source: e.Value}
	own := &vars{}
	own.add(c)
	var captures []string
	switch {
	case o.Has("exec") && o.Has("login"):
		o.OneOf("source of credentials", "exec", "login")
	case o.Has("exec"):
		c.Exec = d.command(o.Get("exec"), names{capturesOnly: true, vars: own})
	case o.Has("login"):
		c.Login, captures = d.login(o.Get("login"), own)
	case o.Has("headers"):
		o.Get("refresh").Errorf("refresh belongs to a caller with `exec` or `login`, headers stay the same: remove it")
	case o.Has("refresh"):
		o.Get("refresh").Errorf("refresh belongs to a caller with `exec` or `login`: remove it")
	case e.Value.Kind() == strict.Mapping && !o.Has("vars") && !o.Has("cert") && !o.Has("key") && !o.Has("sign"):
		e.Value.Errorf("expected headers, exec, login, cert or sign that identify the caller, found none of them")
	}
	d.certificate(&c, o)
	c.Sign = d.sign(o.Get("sign"), own)
	c.Headers = parseHeaders(o.Get("headers"), names{captures: captures, vars: own})
	for _, capture := range captureEntries(o.Get("login")) {
		name := capture.Key.Value
		if !slices.ContainsFunc(c.Headers, func(h HeaderTemplate) bool { return h.Value.Uses(name) }) {
			capture.Errorf("login captures %s, which no header of the caller uses: add it, such as `headers: {Authorization: \"Bearer {{%s}}\"}`", capture.Key.Show(), name)
		}
	}
	return c
}

// login reads a log-in and the names that it captures. It is sent once for many rounds, so that nothing is drawn for it.
func (d *decoder) login(v strict.Value, own *vars) (*Setup, []string) {
	var captures []string
	o := v.Object("request", "headers", "body", "text", "form", "file", "capture")
	s := d.setupRequest(o, v.Pos(), names{capturesOnly: true, vars: own})
	s.Capture = d.capture(o.Require("capture"), &captures)
	if c := o.Get("capture"); c.Kind() == strict.Mapping && len(c.Entries()) == 0 {
		c.Errorf("expected what the log-in yields, such as {token: $.token}, found nothing")
	}
	return &s, captures
}

// captureEntries are the captures of a log-in that have a usable name, without noting mistakes.
func captureEntries(login strict.Value) []strict.Entry {
	capture := field(login, "capture")
	if capture.Kind() != strict.Mapping {
		return nil
	}
	return slices.DeleteFunc(capture.Entries(), func(e strict.Entry) bool {
		return !isName(e.Key.Value) || slices.Contains(builtins, e.Key.Value)
	})
}

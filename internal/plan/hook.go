package plan

import "retrysafe/internal/strict"

// hookExpire is the only hook that is about one key, so that placeholders mean something in it.
const hookExpire = "expire"

// hookNames are the hooks that a plan can have, as in scenarios.HookNames.
var hookNames = []string{hookExpire, "restart", "crash", "break", "heal", "hold", "release", "reset"}

func (d *decoder) hooks(v strict.Value) map[string]Hook {
	hooks := map[string]Hook{}
	entries := v.Object(hookNames...).Entries()
	for _, e := range entries {
		hooks[e.Key.Value] = d.hook(e)
	}
	loneHooks(entries)
	return hooks
}

func (d *decoder) hook(e strict.Entry) Hook {
	o := e.Value.Object("exec", "http", "sql", "then", "ready")
	h := Hook{Pos: e.Key.Pos(), Name: e.Key.Value}
	allowed := names{capturesOnly: h.Name != hookExpire}
	if h.Name == hookExpire {
		allowed.vars = d.vars
	}
	switch o.OneOf("way to run the hook", "exec", "http", "sql") {
	case "exec":
		h.Exec = d.command(o.Get("exec"), allowed)
		if then := o.Get("then"); then.Present() {
			h.Then = d.command(then, allowed)
		}
	case "http":
		r := d.request(o.Get("http"), allowed)
		h.HTTP = &r
	case "sql":
		h.SQL = d.sql(o.Get("sql"), allowed, false)
	}
	if !o.Has("exec") {
		o.Get("then").Errorf("then belongs to a hook with `exec`: remove it")
	}
	if ready := o.Get("ready"); ready.Present() {
		r := d.get(ready, names{capturesOnly: true}, "ready", "it is repeated until it answers 2xx")
		h.Ready = &r
	}
	return h
}

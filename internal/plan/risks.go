package plan

import (
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// risky is what a plan may say and better would not: what it proves little by, whom it may hurt, and what it shows.
type risky struct {
	plan  *Plan
	doc   *strict.Document
	found strict.Errors
	// used are the hosts that the plan contacts, without loopback.
	used []string
}

// risks are the risks of a plan that has no mistakes, file after file.
func (d *decoder) risks() strict.Errors {
	r := &risky{plan: d.plan, doc: d.doc, found: d.risksNoted}
	for i := range d.plan.Endpoints {
		r.endpoint(&d.plan.Endpoints[i])
	}
	r.unmarked()
	r.hosts(d)
	r.credentials()
	return slices.CompactFunc(r.found.Sorted(), func(a, b *strict.Error) bool { return a.Pos == b.Pos && a.Message == b.Message })
}

func (r *risky) note(pos strict.Pos, width int, format string, args ...any) {
	r.found = append(r.found, r.doc.Mistake(pos, width, format, args...))
}

// endpoint notes what keeps the effects of an endpoint from being seen. The messages name no endpoint: of many alike one is told.
func (r *risky) endpoint(e *Endpoint) {
	at := func(format string, args ...any) {
		r.note(e.Request.Path.Pos, len([]rune(e.Request.Path.source)), format, args...)
	}
	marked := slices.ContainsFunc(e.Counters, func(c CounterRise) bool { return r.plan.Counters[c.Name].Marked })
	creates, counted := e.Kind != "method", len(e.Counters) > 0
	switch sent := e.sendsMarker(); {
	case creates && !counted && sent:
		at("no counter sees the effects of this endpoint: a duplicate shows only in what its answers say; add `counters`")
	case creates && !counted:
		at("no counter sees the effects of this endpoint, and none could tell them from those of others: put \"{{marker}}\" into a field of its body, such as a reference, and add `counters` that ask for it")
	case creates && !marked && !sent:
		at("no request of this endpoint carries {{marker}}: what it makes cannot be told from what others make; put \"{{marker}}\" into a field that a counter can ask for, such as a reference")
	case !creates && !counted && len(e.States) == 0:
		at("no counter and no state sees what this endpoint does: a repeat that changes more shows only in what its answers say; add `states` or `counters`")
	}
	_, expires := r.plan.Hooks[hookExpire]
	if most := e.KeyLifetime * 12 / 10; most > r.plan.Limits.Wait && !expires {
		r.note(e.lifetimePos, 1, "a key_lifetime of %s cannot be waited for (limits.wait is %s), and no hook `expire` stands in for it: that keys are forgotten in time is tested by `run --ledger FILE` alone; add the hook",
			e.KeyLifetime, r.plan.Limits.Wait)
	}
}

// unmarked notes counters that count what others do too.
func (r *risky) unmarked() {
	for _, e := range r.plan.Endpoints {
		for _, rise := range e.Counters {
			if c := r.plan.Counters[rise.Name]; !c.Marked {
				r.note(c.Pos, len([]rune(c.Name)), "this counter counts for everybody: endpoints that it is read for run alone, and what others do meanwhile makes them inconclusive; put {{marker}} into what it asks")
			}
		}
	}
}

// hosts notes hosts that look like those of a live system, and allowed ones that nothing is sent to.
func (r *risky) hosts(d *decoder) {
	if d.plan.Target != "" {
		r.contact(d.plan.targetPos, d.targetWidth, d.plan.Target)
	}
	for i, t := range d.replicas {
		r.contact(t.Pos(), len([]rune(t.Source())), d.plan.Replicas[i])
	}
	for _, q := range d.plan.requests() {
		if q.absolute() {
			r.contact(q.Path.Pos, len([]rune(q.Path.source)), q.URL("", placeholderX{}))
		}
	}
	for _, s := range d.plan.sqls() {
		for _, h := range s.Database.Hosts {
			r.host(s.dsn.Pos(), len([]rune(s.dsn.Source())), h.Name)
		}
	}
	for _, t := range d.listening {
		host, _, _ := net.SplitHostPort(t.Value)
		r.used = append(r.used, strings.ToLower(host))
	}
	follows := slices.ContainsFunc(d.plan.Endpoints, func(e Endpoint) bool { return e.Await != nil })
	for _, t := range d.allowed {
		if host, _, err := splitHost(t.Value); err == nil && !follows && !slices.Contains(r.used, host) {
			r.found = append(r.found, t.Mistake(0, len([]rune(t.Source())), "nothing in the plan is sent to %s: remove it from `allow_hosts`, which is what keeps a mistake from other systems", t.Show()))
		}
	}
}

func (r *risky) contact(pos strict.Pos, width int, rawURL string) {
	if u, err := url.Parse(rawURL); err == nil {
		r.host(pos, width, u.Hostname())
	}
}

func (r *risky) host(pos strict.Pos, width int, host string) {
	host = strings.ToLower(host)
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return
	}
	r.used = append(r.used, host)
	switch word, how := looksLive(host); {
	case !how:
	case word != "":
		r.note(pos, width, "host %s may be a live system (%q in its name): requests of a run create real things there", host, word)
	default:
		r.note(pos, width, "host %s may be a live system (nothing in its name says test, staging, dev or the like): requests of a run create real things there", host)
	}
}

// What names of hosts say of the system behind them.
var (
	liveWords = []string{"prod", "production", "prd", "live", "www"}
	testWords = []string{"test", "tests", "testing", "staging", "stage", "stg", "dev", "devel", "development", "local", "localhost", "localdomain", "qa", "uat",
		"sandbox", "preview", "demo", "ci", "int", "integration", "internal", "example", "invalid", "review", "beta", "preprod", "canary", "svc", "docker", "lan"}
)

// looksLive reports whether a host looks like a live system, and the word that says so; empty where it is that no word says otherwise.
// Addresses and names without a dot, as in a network of containers, do not.
func looksLive(host string) (word string, live bool) {
	words := strings.FieldsFunc(host, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range words {
		if slices.Contains(liveWords, w) {
			return w, true
		}
	}
	said := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(testWords, w) })
	return "", !said && strings.Contains(host, ".") && net.ParseIP(host) == nil
}

// requests are all requests of the plan.
func (p *Plan) requests() []RequestTemplate {
	var found []RequestTemplate
	for _, c := range p.Callers {
		if c.Login != nil {
			found = append(found, c.Login.Request)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Counters)) {
		if h := p.Counters[name].HTTP; h != nil {
			found = append(found, h.Request)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.States)) {
		found = append(found, p.States[name].Request)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Hooks)) {
		for _, q := range []*RequestTemplate{p.Hooks[name].HTTP, p.Hooks[name].Ready} {
			if q != nil {
				found = append(found, *q)
			}
		}
	}
	for _, e := range p.Endpoints {
		found = append(found, e.Request)
		for _, s := range e.Setup {
			found = append(found, s.Request)
		}
		if e.Cleanup != nil {
			found = append(found, e.Cleanup.Request)
		}
	}
	return found
}

// credentials notes credentials that stand in the plan itself.
func (r *risky) credentials() {
	for _, c := range r.plan.Callers {
		for _, h := range c.Headers {
			r.header(h)
		}
		if c.Login != nil {
			c.Login.Body.tree.members(func(name string, value *node) {
				if value.kind == strict.String && slices.Contains(secretNames, snake(name)) {
					r.literal(value.text)
				}
			})
			for _, h := range c.Login.Headers {
				r.header(h)
			}
		}
	}
	for _, e := range r.plan.Endpoints {
		for _, h := range e.Headers {
			r.header(h)
		}
	}
	for _, s := range r.plan.sqls() {
		if len(s.Database.Secrets) > 0 && len(s.dsn.Variables()) == 0 {
			r.secret(s.dsn.Pos(), s.dsn.Value)
		}
	}
}

func (r *risky) header(h HeaderTemplate) {
	if trace.CarriesCredential(h.Name) {
		r.literal(h.Value)
	}
}

// literal notes a text with neither a variable of the environment nor a placeholder in it that is long enough for a secret.
func (r *risky) literal(t Template) {
	_, secret, scheme := strings.Cut(t.source, " ")
	if !scheme {
		secret = t.source
	}
	if len([]rune(secret)) >= leastSecret && len(t.Placeholders()) == 0 && !strings.Contains(t.source, "${") {
		r.secret(t.Pos, t.source)
	}
}

// secret notes a secret at a place. The source line is shown without it.
func (r *risky) secret(pos strict.Pos, text string) {
	r.note(pos, len([]rune(text)), "a credential stands in the plan: write ${VARIABLE}, so that it stays out of the repository")
	e := r.found[len(r.found)-1]
	e.Source = strings.ReplaceAll(e.Source, text, strings.Repeat("*", len([]rune(text))))
}

// noteSecret is secret for what is read while no plan is there yet.
func (d *decoder) noteSecret(v strict.Value) {
	if t := secretText(v); v.Kind() == strict.String && t.Value != "" && len(t.Variables()) == 0 {
		r := &risky{doc: d.doc}
		r.secret(v.Pos(), t.Source())
		d.risksNoted = append(d.risksNoted, r.found...)
	}
}

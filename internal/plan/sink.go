package plan

import (
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"

	"retrysafe/internal/strict"
)

// defaultKeyHeader is where most services take the idempotency key (draft-ietf-httpapi-idempotency-key-header-07).
const defaultKeyHeader = "Idempotency-Key"

// inAnswer are the placeholders of what a sink answers: no round is under way there.
var inAnswer = names{captures: []string{"uuid", "now", "key"}, capturesOnly: true}

// sinks reads the sinks. Each is a counter of its name.
func (d *decoder) sinks(v strict.Value) {
	for _, e := range v.Entries() {
		if !checkName(e.Key) {
			continue
		}
		name := e.Key.Value
		if _, taken := d.plan.Counters[name]; taken {
			e.Key.Errorf(0, len(name), "%s is the name of a counter already: a sink is a counter too, give it another name", e.Key.Show())
			continue
		}
		s := d.sink(e)
		d.plan.Counters[name] = Counter{Pos: e.Key.Pos(), Name: name, Sink: s, Marked: true}
	}
}

func (d *decoder) sink(e strict.Entry) *Sink {
	o := e.Value.Object("smtp", "http", "match", "key", "key_lifetime", "answer", "first", "ignore")
	s := &Sink{Name: e.Key.Value, Match: Template{source: "{{marker}}", parts: []part{{name: "marker"}}}}
	kind := o.OneOf("kind of sink", "smtp", "http")
	if match := o.Get("match"); match.Present() {
		s.Match = parseTemplate(match.Text(), names{captures: d.captures})
		if match.Kind() == strict.String && !s.Match.marked() {
			match.Errorf("expected a text that is another one for each key, found none of {{marker}}, {{key}} and captures in it")
		}
	}
	if kind == "smtp" {
		s.SMTP = d.listen(o.Get("smtp"))
		for _, field := range []string{"key", "key_lifetime", "answer", "first", "ignore"} {
			o.Get(field).Errorf("%s belongs to a sink with `http:`, a mail is always taken: remove it", field)
		}
		return s
	}
	s.HTTP = d.listen(o.Get("http"))
	s.Key = sinkKey(o.Get("key"))
	s.KeyLifetime = o.Get("key_lifetime").Duration()
	s.Answer = d.sinkAnswer(o.Get("answer"))
	if first := o.Get("first"); first.Present() {
		f := failure(first)
		s.First = &f
	}
	s.IgnoreJSON = jsonPaths(o.Get("ignore"))
	return s
}

// listen reads an address to listen on; completion checks that it may be, once all allowed hosts are known.
func (d *decoder) listen(v strict.Value) string {
	d.public = append(d.public, v.Variables()...)
	t := v.Text()
	host, port, err := net.SplitHostPort(t.Value)
	n, notNumber := strconv.Atoi(port)
	switch {
	case v.Kind() != strict.String || t.Value == "" && len(v.Variables()) == 0:
		return ""
	case err != nil || host == "" || notNumber != nil || n < 0 || n > 65535:
		v.Errorf("expected an address such as 127.0.0.1:2525, found %s", t.Show())
		return ""
	case n == 0:
		v.Errorf("expected a port, found 0: the endpoint must know where to send to, so choose one, or say ${VAR:-127.0.0.1:2525}")
		return ""
	case slices.ContainsFunc(d.listening, func(other strict.Text) bool { return other.Value == t.Value }):
		v.Errorf("duplicate address %s: every sink needs one of its own", t.Show())
		return ""
	}
	d.listening = append(d.listening, t)
	return t.Value
}

// sinkKey is the header of the key; `none` is a service without keys.
func sinkKey(v strict.Value) string {
	if !v.Present() {
		return defaultKeyHeader
	}
	if v.Kind() == strict.String && v.Text().Value == "none" {
		return ""
	}
	return headerName(v.Object("header").Require("header"))
}

func (d *decoder) sinkAnswer(v strict.Value) SinkAnswer {
	o := v.Object("status", "headers", "body", "text", "form", "file")
	a := SinkAnswer{Status: int(o.Get("status").Int(200, 599)), Headers: parseHeaders(o.Get("headers"), inAnswer), Body: d.body(o, inAnswer)}
	setDefault(&a.Status, http.StatusOK)
	a.Headers = withContentType(a.Headers, a.Body)
	return a
}

// failure reads `drop`, `timeout` or {status: 503, retry_after: 1s}.
func failure(v strict.Value) Failure {
	if v.Kind() == strict.String {
		how := v.Enum("drop", "timeout")
		return Failure{Drop: how == "drop", Hang: how == "timeout"}
	}
	if v.Kind() != strict.Mapping {
		v.Expected("drop, timeout or {status: 503}")
		return Failure{}
	}
	o := v.Object("status", "retry_after")
	return Failure{Status: int(o.Require("status").Int(400, 599)), RetryAfter: o.Get("retry_after").Duration()}
}

// sinkFailures reads which sinks fail the endpoint's next call: a name, or a mapping of names to failures.
func (d *decoder) sinkFailures(v strict.Value) []SinkFailure {
	var out []SinkFailure
	if v.Kind() == strict.String {
		d.checkSink(v.Text())
		return append(out, SinkFailure{Sink: v.Text().Value})
	}
	for _, e := range v.Entries() {
		d.checkSink(e.Key)
		out = append(out, SinkFailure{Sink: e.Key.Value, Failure: failure(e.Value)})
	}
	return out
}

func (d *decoder) checkSink(t strict.Text) {
	c := d.plan.Counters[t.Value]
	var known []string
	for _, name := range slices.Sorted(maps.Keys(d.plan.Counters)) {
		if s := d.plan.Counters[name].Sink; s != nil && s.HTTP != "" {
			known = append(known, name)
		}
	}
	switch {
	case c.Sink == nil:
		t.Errorf(0, len([]rune(t.Value)), "unknown sink %s%s (declare it under `sinks`)", t.Show(), strict.DidYouMean(t.Value, known))
	case c.Sink.HTTP == "":
		t.Errorf(0, len([]rune(t.Value)), "expected a sink with `http:`, found %s, which takes mails", t.Show())
	}
}

// checkSinks notes addresses that others could reach without consent.
func (c *completion) checkSinks() {
	for _, t := range c.listening {
		if c.plan.HostAllowed("http://" + t.Value) {
			continue
		}
		host, _, _ := net.SplitHostPort(t.Value)
		t.Errorf(0, len([]rune(t.Source())), "a sink at %s could be reached by others: only loopback is listened on, and hosts that are named; if it may, add `allow_hosts: [%q]` or --allow-host %s", t.Value, host, host)
	}
}

// Sinks are the counters that are sinks, in the order of their names. All of them listen: an endpoint may need what one
// stands for without being judged by it.
func (p *Plan) Sinks() []*Sink {
	var out []*Sink
	for _, name := range slices.Sorted(maps.Keys(p.Counters)) {
		if s := p.Counters[name].Sink; s != nil {
			out = append(out, s)
		}
	}
	return out
}

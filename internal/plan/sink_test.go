package plan

import (
	"strings"
	"testing"
	"time"
)

// withSinks makes a plan of sinks and of lines of its endpoint.
func withSinks(sinks string, lines ...string) string {
	return strings.Replace(endpoint(lines...), head, head+sinks+"\n", 1)
}

func TestSinkMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"nothing", withTop("sinks: {m: {}}"), "p:3:12: expected a kind of sink: smtp or http"},
		{"both", withTop("sinks: {m: {smtp: \"127.0.0.1:1\", http: \"127.0.0.1:2\"}}"), "p:3:34: expected one kind of sink, found both smtp and http"},
		{"unknown field", withTop("sinks: {m: {stmp: \"127.0.0.1:1\", http: \"127.0.0.1:2\"}}"), "p:3:13: unknown field \"stmp\"; did you mean \"smtp\"?"},
		{"no port", withTop("sinks: {m: {smtp: 127.0.0.1}}"), "p:3:19: expected an address such as 127.0.0.1:2525, found \"127.0.0.1\""},
		{"port 0", withTop("sinks: {m: {smtp: \"127.0.0.1:0\"}}"), "p:3:19: expected a port, found 0: the endpoint must know where to send to"},
		{"a URL", withTop("sinks: {m: {http: \"http://127.0.0.1:1\"}}"), "p:3:19: expected an address such as 127.0.0.1:2525"},
		{"no host", withTop("sinks: {m: {http: \":80\"}}"), "p:3:19: expected an address such as 127.0.0.1:2525"},
		{"reachable", withTop("sinks: {m: {smtp: \"0.0.0.0:2525\"}}"), "p:3:20: a sink at 0.0.0.0:2525 could be reached by others: only loopback is listened on, and hosts that are named; if it may, add `allow_hosts: [\"0.0.0.0\"]` or --allow-host 0.0.0.0"},
		{"twice", withTop("sinks: {a: {smtp: \"127.0.0.1:1\"}, b: {http: \"127.0.0.1:1\"}}"), "p:3:45: duplicate address \"127.0.0.1:1\": every sink needs one of its own"},
		{"name of a counter", withTop("counters: {m: {exec: [x]}}", "sinks: {m: {smtp: \"127.0.0.1:1\"}}"), "p:4:9: \"m\" is the name of a counter already"},
		{"answer of a mail", withTop("sinks: {m: {smtp: \"127.0.0.1:1\", first: drop}}"), "p:3:41: first belongs to a sink with `http:`, a mail is always taken: remove it"},
		{"match everything", withTop("sinks: {m: {smtp: \"127.0.0.1:1\", match: order}}"), "p:3:41: expected a text that is another one for each key"},
		{"unknown failure", withTop("sinks: {m: {http: \"127.0.0.1:1\", first: drpo}}"), "p:3:41: expected drop or timeout, found \"drpo\"; did you mean \"drop\"?"},
		{"failure of success", withTop("sinks: {m: {http: \"127.0.0.1:1\", first: {status: 200}}}"), "p:3:50: expected a number from 400 to 599, found \"200\""},
		{"failure without status", withTop("sinks: {m: {http: \"127.0.0.1:1\", first: {}}}"), "p:3:41: missing field \"status\""},
		{"marker in an answer", withTop("sinks: {m: {http: \"127.0.0.1:1\", answer: {body: {id: \"{{marker}}\"}}}}"), "p:3:55: unknown placeholder \"marker\" (known: uuid, now, key)"},
		{"fail of no sink", withSinks("sinks: {pay: {http: \"127.0.0.1:1\"}}", "fail: {sink: pya}"), "p:7:18: unknown sink \"pya\"; did you mean \"pay\"? (declare it under `sinks`)"},
		{"fail of mails", withSinks("sinks: {mails: {smtp: \"127.0.0.1:1\"}}", "fail: {sink: {mails: drop}}"), "p:7:19: expected a sink with `http:`, found \"mails\", which takes mails"},
	} {
		t.Run(c.reason, c.test)
	}
}

func TestSinks(t *testing.T) {
	vars := map[string]string{"MAILS": "127.0.0.1:2525"}
	p, err := Parse("p", []byte(withSinks(`sinks:
  mails: {smtp: "${MAILS}", match: "order-{{marker:20}}"}
  pay: {http: "[::1]:${PORT:-8099}", key: {header: X-Key}, key_lifetime: 24h, first: {status: 429, retry_after: 2s}, answer: {status: 201, body: {id: "{{uuid}}"}}, ignore: [$.at]}
  log: {http: "127.0.0.1:81", key: none, first: timeout}
allow_hosts: ["0.0.0.0"]`, "body: {reference: \"{{marker}}\"}", "fail: {sink: {pay: drop, log: {status: 500}}}", "counters: {pay: 2, mails: 1}")),
		func(n string) (string, bool) { v, ok := vars[n]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	mails, pay, log := p.Counters["mails"].Sink, p.Counters["pay"].Sink, p.Counters["log"].Sink
	if mails.Address() != "127.0.0.1:2525" || mails.Kind() != "smtp" || mails.Match.Render(values{"marker": "rs0123456789012345678901"}) != "order-rs012345678901234567" {
		t.Errorf("mails %+v", mails)
	}
	if pay.HTTP != "[::1]:8099" || pay.Key != "X-Key" || pay.Answer.Status != 201 || *pay.First != (Failure{Status: 429, RetryAfter: 2 * time.Second}) ||
		pay.KeyLifetime != 24*time.Hour || pay.IgnoreJSON[0] != "$.at" || pay.Match.String() != "{{marker}}" {
		t.Errorf("pay %+v", pay)
	}
	if log.Key != "" || !log.First.Hang || log.Answer.Status != 200 {
		t.Errorf("log %+v", log)
	}
	if f := p.Endpoints[0].Fail; len(f.Sinks) != 2 || f.Sinks[0] != (SinkFailure{"pay", Failure{Drop: true}}) || f.Sinks[1].Failure.Status != 500 {
		t.Errorf("fail %+v", f)
	}
	if len(p.Sinks()) != 3 || len(p.Secrets) != 0 || p.Endpoints[0].Counters[0].Rise != 2 || !p.Counters["pay"].Marked {
		t.Errorf("sinks %v, secrets %q", p.Sinks(), p.Secrets)
	}
}

package judge

import (
	"testing"

	"retrysafe/internal/trace"
)

func TestClassify(t *testing.T) {
	plain := func(a answer) func(*recorder) { return func(r *recorder) { r.send("first", a) } }
	server := func(a answer, contentType, server string) answer {
		a.response.Headers = []trace.Header{{Name: "Content-Type", Value: contentType}, {Name: "Server", Value: server}}
		return a
	}
	tests := []struct {
		name   string
		round  func(*recorder) // the last exchange is classified
		fresh  bool            // no control yet
		want   trace.Class
		reason string
	}{
		{"no answer", plain(lost(trace.PhaseAnswer, "EOF")), false, trace.ClassNone, "the server may have acted"},
		{"502", plain(reply(502, "")), false, trace.ClassNone, "a gateway lost the answer: ambiguous"},
		{"504", plain(html(504)), false, trace.ClassNone, "ambiguous before it is anything else"},
		{"429", plain(reply(429, `{}`)), false, trace.ClassBusy, "turned away, with or without Retry-After"},
		{"503 with Retry-After", plain(reply(503, "", "Retry-After: 1")), false, trace.ClassBusy, "turned away"},
		{"503", plain(reply(503, `{}`)), false, trace.ClassIntermediary, "cannot be told from a gateway's"},
		{"HTML page", plain(html(200)), false, trace.ClassIntermediary, "a login page where the control had JSON"},
		{"HTML before the control", plain(html(200)), true, trace.ClassIntermediary, "HTML for a JSON request"},
		{"redirect", plain(reply(302, "", "Location: /login")), false, trace.ClassIntermediary, "the control was 2xx"},
		{"redirect before the control", plain(reply(302, "")), true, trace.ClassRefused, "nothing to compare with; Learn names it"},
		{"error page of a proxy", plain(server(reply(403, `{}`), "text/plain", "cloud")), false, trace.ClassIntermediary, "content type and Server both unlike the control's"},
		{"own error page", plain(server(reply(403, `{}`), "text/plain", "shop")), false, trace.ClassRefused, "same Server: the endpoint's own"},
		{"JSON from another Server", plain(server(reply(403, `{}`), "application/json", "cloud")), false, trace.ClassRefused, "one unlikeness proves nothing"},
		{"problem+json", plain(server(reply(422, `{}`), "application/problem+json", "shop")), false, trace.ClassRefused, "errors often have another type"},
		{"success of another type", plain(server(reply(200, `x`), "text/plain", "cloud")), false, trace.ClassSuccess, "the rule about type and Server is for errors"},
		{"201", plain(order(1)), false, trace.ClassSuccess, "as in the control"},
		{"204", plain(reply(204, "")), false, trace.ClassSuccess, "any 2xx"},
		{"202 alone", plain(reply(202, `{}`)), true, trace.ClassSuccess, "nothing else is under way: it is the normal answer"},
		{"404", plain(reply(404, `{}`)), false, trace.ClassRefused, "an ordinary refusal"},
		{"500", plain(broken), false, trace.ClassFailed, "5xx"},
		{"409 alone", plain(conflict), false, trace.ClassRefused, "no other copy can be under way"},
		{"409 beside a copy", func(r *recorder) { r.burst("burst", order(1), conflict) }, false, trace.ClassInProgress, "copies sent together do not conclude each other"},
		{"202 beside a copy", func(r *recorder) { r.burst("burst", order(1), reply(202, `{}`)) }, false, trace.ClassInProgress, "2xx of the in-progress set, unlike the control's 201"},
		{"409 after success", func(r *recorder) { r.send("first", order(1)).send("again", conflict) }, false, trace.ClassRefused, "the operation had concluded"},
		{"202 after success", func(r *recorder) { r.send("first", order(1)).send("again", reply(202, `{}`)) }, false, trace.ClassSuccess, "concluded, so it is an answer like any other"},
		{"409 after 5xx", func(r *recorder) { r.send("first", broken).send("again", conflict) }, false, trace.ClassInProgress, "a 5xx concludes nothing"},
		{"409 after a lost copy", func(r *recorder) { r.send("first", lost(trace.PhaseCut, "")).send("again", conflict) }, false, trace.ClassInProgress, "it may still run"},
		{"409 once the effect was seen", func(r *recorder) { r.send("first", lost(trace.PhaseCut, "").shown()).send("again", conflict) }, false, trace.ClassRefused, "the lost copy counts as finished"},
		{"409 under another key", func(r *recorder) { r.burst("burst", order(1)).fresh("fresh", conflict) }, false, trace.ClassRefused, "copies are those of the same key"},
		{"423 beside a copy", func(r *recorder) { r.burst("burst", order(1), reply(423, `{}`)) }, false, trace.ClassRefused, "not in the dialect's set"},
		{"409 sent while the first ran", func(r *recorder) {
			r.send("first", order(1)).send("again", conflict)
			r.last().Started = r.round.Exchanges[0].Done - 1
		}, false, trace.ClassInProgress, "its head was out before the first was over"},
	}
	l := control(t, facts()).Learned
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := record(builtin(t, "same-key-again"), 3)
			tt.round(r)
			learned := l
			if tt.fresh {
				learned = trace.Learned{}
			}
			if got := Classify(facts(), learned, &r.round, len(r.round.Exchanges)-1); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.reason, got, tt.want)
			}
		})
	}
}

func TestClassifyAcceptedAsNormal(t *testing.T) {
	r := record(builtin(t, "same-key-concurrent"), 3).burst("burst", reply(202, `{"id":1}`), reply(202, `{"id":1}`))
	l := control(t, facts()).Learned
	l.SuccessStatus = 202
	if got := Classify(facts(), l, &r.round, 1); got != trace.ClassSuccess {
		t.Errorf("202 is this endpoint's success, got %s", got)
	}
}

package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestRedirectsThatSaySuccess(t *testing.T) {
	f := facts()
	f.SuccessStatuses = []int{302, 303}
	learned := control(t, facts()).Learned
	learned.Redirect = placeOf("/orders/ord_1?new=1", "/orders/ord_2?new=1")
	for _, c := range []struct {
		name   string
		answer answer
		fresh  bool // no control yet
		want   trace.Class
	}{
		{"a place like the control's", reply(303, "", "Location: /orders/ord_9?new=1"), false, trace.ClassSuccess},
		{"the other status", reply(302, "", "Location: /orders/ord_9?new=1"), false, trace.ClassSuccess},
		{"with a page about it", reply(303, "<a href=x>see</a>", "Location: /orders/ord_9?new=1", "Content-Type: text/html"), false, trace.ClassSuccess},
		{"without a place: a replay lost it", reply(303, ""), false, trace.ClassSuccess},
		{"the form again", reply(303, "", "Location: /orders/new"), false, trace.ClassRefused},
		{"another page of the same length", reply(303, "", "Location: /errors/ord_9?new=1"), false, trace.ClassRefused},
		{"a log-in", reply(302, "", "Location: /login?next=/orders"), false, trace.ClassRefused},
		{"a status that the plan does not name", reply(307, "", "Location: /orders/ord_9?new=1"), false, trace.ClassIntermediary},
		{"anywhere, before the control", reply(303, "", "Location: /orders/ord_9"), true, trace.ClassSuccess},
		{"a log-in, before the control", reply(302, "", "Location: https://sso.example.com/sign-in"), true, trace.ClassRefused},
		{"nowhere, before the control", reply(303, ""), true, trace.ClassRefused},
		{"2xx as ever", order(1), false, trace.ClassSuccess},
	} {
		r := record(builtin(t, "same-key-again"), 1).send("first", c.answer)
		l := learned
		if c.fresh {
			l = trace.Learned{}
		}
		if got := Classify(f, l, &r.round, 0); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	x := trace.Exchange{OtherEndpoint: true, Response: reply(303, "", "Location: /refunds/1").response}
	if saysSuccess(f, learned, &x) {
		t.Error("the other endpoint has statuses of its own")
	}
	if f.OtherSuccessStatuses = []int{303}; !saysSuccess(f, learned, &x) {
		t.Error("the other endpoint creates elsewhere")
	}
}

func TestLearnRedirects(t *testing.T) {
	two := func(a, b string, counted bool) (*trace.Control, trace.Facts) {
		f := facts()
		f.SuccessStatuses = []int{303}
		rise := int64(1)
		if !counted {
			f.Counters, rise = nil, 0
		}
		c := &trace.Control{}
		for _, place := range []string{a, b} {
			c.Rounds = append(c.Rounds, record(builtin(t, "first-request"), 1).send("first", reply(303, "", "Location: "+place)).read("after", rise, rise).round)
		}
		return c, f
	}
	for _, c := range []struct {
		name, a, b, redirect, detail string
		counted                      bool
	}{
		{"what was made", "/orders/1", "/orders/2", "/orders/*", "", true},
		{"uncounted", "/orders/1", "/orders/2", "/orders/*", "", false},
		{"the list", "/orders", "/orders", "/orders", "", true},
		{"built differently", "/orders/1", "https://x/orders/2", "", "", true},
		{"the list, uncounted", "/orders", "/orders", "/orders", "and nothing is counted", false},
		{"a log-in", "/login", "/login", "", "credentials", true},
	} {
		ctl, f := two(c.a, c.b, c.counted)
		l := Learn(f, ctl)
		switch {
		case c.detail == "" && !l.Sound:
			t.Errorf("%s: %+v", c.name, l.Reason)
		case c.detail != "" && (l.Sound || !strings.Contains(l.Reason.Detail, c.detail)):
			t.Errorf("%s: sound %v, reason %+v", c.name, l.Sound, l.Reason)
		case l.Redirect != c.redirect:
			t.Errorf("%s: redirect %q, want %q", c.name, l.Redirect, c.redirect)
		}
	}
}

func TestRedirectReason(t *testing.T) {
	for status, want := range map[int]string{303: "answers: {success: [303]}, if success looks so", 302: "answers: {success: [302]}", 307: "request: the method"} {
		x := trace.Exchange{Response: reply(status, "", "Location: /x").response}
		if r := redirected(&x); !strings.HasPrefix(r.Enable, want) {
			t.Errorf("%d: %s", status, r.Enable)
		}
	}
}

package engine

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

func letter(name string) scenarios.ScopeUse { return scenarios.ScopeUse{Name: name, Letter: name} }

func TestIdentity(t *testing.T) {
	a := newScope("seed", letter("A"), nil, "create order", "1")
	again := newScope("seed", letter("A"), nil, "create order", "1")
	if a.Key != again.Key || a.Marker != again.Marker || a.uuid != again.uuid {
		t.Error("the same seed and place must draw the same identity")
	}
	seen := map[string]string{}
	for _, c := range []struct {
		s      *scope
		reason string
	}{
		{a, "the first"},
		{newScope("seed", letter("B"), nil, "create order", "1"), "another letter"},
		{newScope("seed", letter("A"), nil, "create order", "2"), "another round"},
		{newScope("seed", letter("A"), nil, "create payment", "1"), "another endpoint"},
		{newScope("deed", letter("A"), nil, "create order", "1"), "another seed"},
		{newScope("seed", letter("A"), nil, "create ", "order1"), "the same letters cut elsewhere"},
	} {
		for _, v := range []string{c.s.Key, c.s.Marker, c.s.uuid} {
			if before, ok := seen[v]; ok {
				t.Errorf("%s drew the same as %s: %s", c.reason, before, v)
			}
			seen[v] = c.reason
		}
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(a.Key) {
		t.Errorf("the key %q is no version 4 UUID", a.Key)
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9]{25}$`).MatchString(a.Marker) {
		t.Errorf("the marker %q is not 26 letters and digits", a.Marker)
	}
	if k := newScope("seed", scenarios.ScopeUse{Name: "none", Letter: "none"}, nil, "x").Key; k != "" {
		t.Errorf("requests without a key have the key %q", k)
	}
}

func TestValues(t *testing.T) {
	sc := newScope("seed", letter("A"), nil, "x")
	sc.captures["cart"] = "c-1"
	v := values{scope: sc, key: sc.Key, nonce: "1"}
	for _, c := range []struct {
		name   string
		limit  int
		want   string
		reason string
	}{
		{"marker", 0, sc.Marker, "whole"},
		{"marker", 8, sc.Marker[:8], "cut to its limit"},
		{"key", 0, sc.Key, "the key"},
		{"email", 0, sc.Marker + "@example.com", "an address that nobody has"},
		{"cart", 0, "c-1", "a capture"},
		{"uuid", 0, sc.uuid, "constant in the scope"},
	} {
		if got := v.Lookup(c.name, c.limit); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
	if w := (values{scope: sc, nonce: "2"}); v.Lookup("send.uuid", 0) == w.Lookup("send.uuid", 0) {
		t.Error("send.uuid must differ between sends")
	}
}

func answerWith(status int, headers ...trace.Header) *trace.Exchange {
	return &trace.Exchange{Response: &trace.Response{Status: status, Headers: headers}}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := time.Now().Add(3 * time.Second).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
		for _, c := range []struct {
			value, reason string
			want          time.Duration
		}{
			{"2", "seconds", 2 * time.Second},
			{"0", "at once", 0},
			{date, "a date", 3 * time.Second},
			{"Sun, 06 Nov 1994 08:49:37 GMT", "a date that has passed", 0},
			{"soon", "nonsense", time.Minute},
			{"-1", "negative", time.Minute},
			{"99999999", "bounded", (1 << 20) * time.Second},
		} {
			if got := retryAfter(answerWith(429, trace.Header{Name: "retry-after", Value: c.value}), time.Minute); got != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
			}
		}
	})
	if got := retryAfter(&trace.Exchange{}, time.Minute); got != time.Minute {
		t.Errorf("no answer: got %s", got)
	}
	if a, b, c := backOff(0), backOff(1), backOff(1000); a != backOffFirst || b != 2*backOffFirst || c != backOffMost {
		t.Errorf("back-off %s %s %s", a, b, c)
	}
}

func TestCapture(t *testing.T) {
	x := answerWith(201, trace.Header{Name: "Location", Value: "/orders/7"})
	x.Response.Body.Text = `{"id": 12345678901234567890, "name": "n", "tags": [], "ok": true}`
	for _, c := range []struct{ where, want, err, reason string }{
		{"$.id", "12345678901234567890", "", "a number keeps its digits"},
		{"$.name", "n", "", "a text"},
		{"$.ok", "true", "", "a boolean"},
		{"header location", "/orders/7", "", "a header in any spelling"},
		{"header X-No", "", "expected a header X-No", "a missing header"},
		{"$.none", "", "found 0", "a miss"},
		{"$.tags", "", "expected a text", "a list"},
	} {
		got, err := capture(x, map[string]string{"v": c.where})
		if got["v"] != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %q, %v", c.reason, got["v"], err)
		}
	}
}

func TestHeaderList(t *testing.T) {
	h := headerList{}
	h.set("Accept", "*/*")
	h.set("X-A", "1")
	h.set("accept", "application/json")
	if len(h) != 2 || h[0] != (trace.Header{Name: "accept", Value: "application/json"}) {
		t.Errorf("the later spelling and value win in the earlier place: %v", h)
	}
}

func TestLocated(t *testing.T) {
	round := func(status int, location string, before, after int64) *trace.Round {
		x := *answerWith(status, trace.Header{Name: "Location", Value: location})
		x.Request.URL = "http://127.0.0.1:1/api/orders"
		return &trace.Round{Exchanges: []trace.Exchange{x}, Readings: []trace.Reading{
			{Name: "before", Values: []trace.Value{{N: before}}}, {Name: "after", Values: []trace.Value{{N: after}}}}}
	}
	for _, c := range []struct {
		r            *trace.Round
		want, reason string
	}{
		{round(201, "/orders/7", 0, 0), "http://127.0.0.1:1/orders/7", "nothing rose: worth a look"},
		{round(201, "orders/7", 0, 0), "http://127.0.0.1:1/api/orders/7", "relative"},
		{round(201, "/orders/7", 0, 1), "", "it rose: no question"},
		{round(409, "/orders/7", 0, 0), "", "no success"},
		{&trace.Round{}, "", "nothing was sent"},
	} {
		if got := located(c.r); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestUnmet(t *testing.T) {
	ep := &plan.Endpoint{Kind: "create", Key: trace.KeyPlace{In: "header"}, Skip: map[string]string{"skipped": "broken here"}}
	p := &plan.Plan{Limits: plan.Limits{Wait: time.Minute}}
	wait := []scenarios.Step{{Wait: &scenarios.Wait{Expiry: 1.2, Of: "A"}}}
	for _, c := range []struct {
		s      scenarios.Scenario
		life   time.Duration
		want   trace.Code
		reason string
	}{
		{scenarios.Scenario{ID: "plain", Needs: [][]string{{"key"}}}, 0, "", "everything is there"},
		{scenarios.Scenario{ID: "skipped"}, 0, trace.PlanSkip, "the plan says so"},
		{scenarios.Scenario{ID: "hook", Kinds: []string{"webhook"}}, 0, trace.NotApplicable, "another kind"},
		{scenarios.Scenario{ID: "other", Needs: [][]string{{"other_body"}}}, 0, trace.Needs, "no other body"},
		{scenarios.Scenario{ID: "either", Needs: [][]string{{"other_body", "key"}}}, 0, "", "one of two is enough"},
		{scenarios.Scenario{ID: "fresh", Needs: [][]string{{"fresh_key_creates"}}}, 0, "", "the default"},
		{scenarios.Scenario{ID: "expiry", Needs: [][]string{{"key_lifetime"}}, Steps: wait}, 0, trace.Needs, "no lifetime"},
		{scenarios.Scenario{ID: "expiry", Needs: [][]string{{"key_lifetime"}}, Steps: wait}, 3 * time.Second, "", "a short wait"},
		{scenarios.Scenario{ID: "expiry", Needs: [][]string{{"key_lifetime"}}, Steps: wait}, 24 * time.Hour, trace.WaitTooLong, "a day"},
	} {
		ep.KeyLifetime = c.life
		var got trace.Code
		if r := Unmet(p, ep, &c.s, Efforts()[1], false); r != nil {
			got = r.Code
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

// TestTurnKeepsMoments shows that whoever slept until a moment goes before those who only wait to begin.
func TestTurnKeepsMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tn := &turn{}
		tn.take()
		order := make(chan string, 2)
		go func() { tn.take(); order <- "usual"; tn.give() }()
		synctest.Wait()
		go func() { tn.takeSoon(); order <- "soon"; tn.give() }()
		synctest.Wait()
		tn.give()
		if a, b := <-order, <-order; a != "soon" || b != "usual" {
			t.Errorf("got %s before %s", a, b)
		}
		tn.take() // free again
	})
}

func TestTurnIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tn := &turn{}
		tn.take()
		var order []int
		for i := range 3 {
			go func() {
				tn.take()
				order = append(order, i)
				tn.give()
			}()
			synctest.Wait()
		}
		tn.give()
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("the turn went round as %v", order)
		}
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if !pause(ctx, 500*time.Millisecond) {
			t.Error("the pause was shorter than the context")
		}
		if pause(ctx, time.Hour) {
			t.Error("the context ended the pause")
		}
	})
}

// TestLetAlone: after three hangs only what judges hangs is run; an endpoint that asks for silence gets it from all.
func TestLetAlone(t *testing.T) {
	judges := &scenarios.Scenario{Expect: []scenarios.Expectation{{Answered: []string{"copy"}}}}
	other := &scenarios.Scenario{Expect: []scenarios.Expectation{{Same: []string{"first", "copy"}}}}
	asked := &trace.Reason{Code: trace.StillBusy}
	for _, c := range []struct {
		hangs        int
		asked        *trace.Reason
		judge, other trace.Code
	}{
		{0, nil, "", ""},
		{hangsMost - 1, nil, "", ""},
		{hangsMost, nil, "", trace.Timeout},
		{hangsMost + 1, nil, "", trace.Timeout},
		{0, asked, trace.StillBusy, trace.StillBusy},
		{hangsMost, asked, trace.StillBusy, trace.StillBusy},
	} {
		e := &endpointRun{hangs: c.hangs, leftAlone: c.asked}
		for s, want := range map[*scenarios.Scenario]trace.Code{judges: c.judge, other: c.other} {
			var got trace.Code
			if why := e.letAlone(s); why != nil {
				got = why.Code
			}
			if got != want {
				t.Errorf("%d hangs, asked %v, judges hangs %v: got %q, want %q", c.hangs, c.asked != nil, s == judges, got, want)
			}
		}
	}
}

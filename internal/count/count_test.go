package count

import (
	"context"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

func answer(status int, header, body string) Get {
	return func(context.Context, *plan.HTTPCounter, plan.Values) trace.Exchange {
		x := trace.Exchange{Request: trace.Request{URL: "http://127.0.0.1/count"}}
		if status == 0 {
			x.Error = "connection refused"
			return x
		}
		x.Response = &trace.Response{Status: status, Body: trace.Body{Text: body}}
		if header != "" {
			x.Response.Headers = []trace.Header{{Name: "X-Total", Value: header}}
		}
		return x
	}
}

func TestHTTP(t *testing.T) {
	for _, c := range []struct {
		get    Get
		how    plan.HTTPCounter
		want   int64
		err    string
		reason string
	}{
		{answer(200, "", `{"count": 3}`), plan.HTTPCounter{Value: "$.count"}, 3, "", "a number"},
		{answer(200, "", `{"count": "3"}`), plan.HTTPCounter{Value: "$.count"}, 3, "", "many APIs print counts as strings"},
		{answer(200, "", `{"count": 3.0}`), plan.HTTPCounter{Value: "$.count"}, 3, "", "a whole number in another spelling"},
		{answer(200, "", `{"count": 3.5}`), plan.HTTPCounter{Value: "$.count"}, 0, "whole number", "no count has a fraction"},
		{answer(200, "", `{"count": 1e999999999}`), plan.HTTPCounter{Value: "$.count"}, 0, "whole number", "a hostile exponent is not expanded"},
		{answer(200, "", `{"count": null}`), plan.HTTPCounter{Value: "$.count"}, 0, "found null", "null is no number"},
		{answer(200, "", `{"total": 3}`), plan.HTTPCounter{Value: "$.count"}, 0, "matches 0 places", "the path misses"},
		{answer(200, "", `[{"n":1},{"n":2}]`), plan.HTTPCounter{Value: "$[*].n"}, 0, "matches 2 places", "an ambiguous path is no count"},
		{answer(200, "", `{"items": [1, 2]}`), plan.HTTPCounter{Length: "$.items"}, 2, "", "length of a list"},
		{answer(200, "", `[]`), plan.HTTPCounter{Length: "$"}, 0, "", "an empty list counts nothing"},
		{answer(200, "", `{"items": {}}`), plan.HTTPCounter{Length: "$.items"}, 0, "expected a list", "an object has no length"},
		{answer(200, "7", ``), plan.HTTPCounter{Header: "x-total"}, 7, "", "a header, in any spelling"},
		{answer(200, "", ``), plan.HTTPCounter{Header: "X-Total"}, 0, "no header X-Total", "the header is missing"},
		{answer(200, "", `<html>login</html>`), plan.HTTPCounter{Value: "$.count"}, 0, "expected JSON", "a login page"},
		{answer(404, "", `{"count": 3}`), plan.HTTPCounter{Value: "$.count"}, 0, "status 404", "a number in an error is no count"},
		{answer(0, "", ``), plan.HTTPCounter{Value: "$.count"}, 0, "connection refused", "no answer"},
	} {
		r := &Reader{Get: c.get, Timeout: time.Second}
		v := r.Read(t.Context(), plan.Counter{Name: "orders", HTTP: &c.how}, nil)
		if v.N != c.want || (v.Error == "") != (c.err == "") || !strings.Contains(v.Error, c.err) {
			t.Errorf("%s: got %d, %q; want %d, %q", c.reason, v.N, v.Error, c.want, c.err)
		}
		if v.Source == "" {
			t.Errorf("%s: no source", c.reason)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		argv   []string
		want   int64
		err    string
		reason string
	}{
		{[]string{"echo", "4"}, 4, "", "a number and a line end"},
		{[]string{"printf", "four"}, 0, `found "four"`, "not a number"},
		{[]string{"sh", "-c", "echo broken >&2; exit 3"}, 0, "exit status 3: broken", "what it said is shown"},
		{[]string{"/no/such/command"}, 0, "no such file", "not there"},
		{[]string{"sleep", "60"}, 0, "did not end within", "bounded in time"},
		{[]string{"yes"}, 0, "did not end within", "bounded in size"},
	} {
		limit := 30 * time.Second // far more than a busy machine takes to start a process
		if strings.HasPrefix(c.err, "did not end") {
			limit = 300 * time.Millisecond
		}
		text, err := Command(t.Context(), "", limit, c.argv)
		var n int64
		if err == nil {
			n, err = wholeNumber(strings.TrimSpace(text))
		}
		if c.err == "" && (err != nil || n != c.want) {
			t.Errorf("%s: got %d, %v; want %d", c.reason, n, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got error %v, want %q", c.reason, err, c.err)
		}
	}
}

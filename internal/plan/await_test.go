package plan

import (
	"reflect"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

func TestAwait(t *testing.T) {
	e := mustParse(t, endpoint("await:", "  follow: $.links.status", "  until: {$.status: [done, 2], $.ready: true}", "  failed: {$.status: failed}")).Endpoints[0]
	want := &trace.Await{Follow: "$.links.status", Limit: trace.Nanos(defaultAwait),
		Until:  []trace.Match{{Path: "$.status", Values: []string{"done", "2"}}, {Path: "$.ready", Values: []string{"true"}}},
		Failed: []trace.Match{{Path: "$.status", Values: []string{"failed"}}}}
	if !reflect.DeepEqual(e.Await, want) {
		t.Errorf("got %+v", e.Await)
	}
	if e := mustParse(t, "limits: {await: 2s}\n"+endpoint("await: {follow: Location, until: {$.status: done}}")).Endpoints[0]; e.Await.Follow != "Location" || e.Await.Limit.Duration() != 2*time.Second {
		t.Errorf("got %+v", e.Await)
	}
	if e := mustParse(t, endpoint()).Endpoints[0]; e.Await != nil {
		t.Errorf("nothing stated: got %+v", e.Await)
	}
}

func TestAwaitMistakes(t *testing.T) {
	for _, c := range []mistake{
		{"unknown field", endpoint("await: {folow: Location, follow: Location, until: {$.s: d}}"), "p:6:13: unknown field \"folow\"; did you mean \"follow\"?"},
		{"nothing to follow", endpoint("await: {until: {$.s: d}}"), "p:6:12: missing field \"follow\""},
		{"no end", endpoint("await: {follow: Location}"), "p:6:12: missing field \"until\""},
		{"empty end", endpoint("await: {follow: Location, until: {}}"), "p:6:38: expected a JSONPath and its value, such as {$.status: done}, found an empty mapping"},
		{"no JSONPath", endpoint("await: {follow: Location, until: {status: done}}"), "p:6:39: expected a JSONPath such as $.count, found"},
		{"no value", endpoint("await: {follow: Location, until: {$.s: }}"), "p:6:44: expected text or a number, found nothing"},
		{"no values", endpoint("await: {follow: Location, until: {$.s: []}}"), "p:6:44: expected a value such as done, or several, found an empty list"},
		{"a mapping as value", endpoint("await: {follow: Location, until: {$.s: {a: b}}}"), "p:6:44: expected text or a number, found a mapping"},
		{"end as text", endpoint("await: {follow: Location, until: done}"), "p:6:38: expected a mapping, found the text \"done\""},
		{"failure without JSONPath", endpoint("await: {follow: Location, until: {$.s: d}, failed: {\"$.s[\": f}}"), "p:6:62: expected a JSONPath such as $.count, found unexpected end of the path"},
		{"follow no header", endpoint("await: {follow: \"the Location\", until: {$.s: d}}"), "p:6:21: expected a header such as Location, or a JSONPath such as $.links.status, found \"the Location\""},
		{"follow a wrong JSONPath", endpoint("await: {follow: $.a.b.., until: {$.s: d}}"), "p:6:2"},
		{"follow nothing", endpoint("await: {follow: \"\", until: {$.s: d}}"), "p:6:21: expected a header such as Location"},
		{"follow a number", endpoint("await: {follow: 1, until: {$.s: d}}"), "p:6:21: expected text, found the number 1: quote it"},
		{"await of nothing", endpoint("await: Location"), "p:6:12: expected a mapping, found the text \"Location\""},
	} {
		t.Run(c.reason, c.test)
	}
}

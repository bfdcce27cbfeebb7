package judge

import (
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestHeadersDiffer(t *testing.T) {
	tests := []struct {
		name, was, is string // header lines, separated by "|"
		facts         trace.Facts
		differs       string
		reason        string
	}{
		{"same type, other spelling", "Content-Type: application/json; charset=utf-8", "Content-Type: Application/JSON;charset=UTF-8", trace.Facts{}, "", "equal in meaning"},
		{"other type", "Content-Type: application/json", "Content-Type: text/plain", trace.Facts{}, "Content-Type", "a reader parses it otherwise"},
		{"etag gone", `ETag: "a"`, "", trace.Facts{}, "ETag", "conditional requests break"},
		{"etag new", "", `ETag: "a"`, trace.Facts{}, "", "a replay may carry more"},
		{"location new", "", "Location: /x", trace.Facts{}, "Location", "it was not part of the answer"},
		{"cookie rolled", "Set-Cookie: s=1; Path=/", "Set-Cookie: s=2; Path=/", trace.Facts{}, "", "sessions roll their values"},
		{"cookie gone", "Set-Cookie: s=1", "", trace.Facts{}, "Set-Cookie", "missing"},
		{"repeated cookies in another order", "Set-Cookie: a=1|Set-Cookie: b=1", "Set-Cookie: b=1|Set-Cookie: a=1", trace.Facts{}, "", "names only"},
		{"other header", "X-A: 1", "X-A: 2", trace.Facts{}, "", "not asked for"},
		{"named header", "X-A: 1", "X-A: 2", trace.Facts{ReplayHeaders: []string{"x-a"}}, "x-a", "the plan asks for it"},
		{"ignored", "Location: /a", "Location: /b", trace.Facts{IgnoreHeaders: []string{"location"}}, "", "the plan ignores it"},
		{"volatile", "Date: a|Age: 1", "Date: b|Age: 2", trace.Facts{}, "", "never compared"},
	}
	lines := func(s string) *trace.Response {
		r := &trace.Response{Body: trace.Body{Text: "x", Size: 1}}
		for _, l := range strings.Split(s, "|") {
			if name, value, ok := strings.Cut(l, ": "); ok {
				r.Headers = append(r.Headers, trace.Header{Name: name, Value: value})
			}
		}
		return r
	}
	v := &view{in: &Input{Control: answeredWith(lines("X-A: 1"))}}
	if expected, _ := v.headersDiffer(lines("Link: </a>|Location: /a"), lines("")); headerNames(expected) != "Location" {
		t.Errorf("what a replay may add is missing in what was the first: got %q", expected)
	}
	typed := &trace.Response{Headers: []trace.Header{{Name: "Content-Type", Value: "text/plain"}}}
	if expected, _ := v.headersDiffer(typed, &trace.Response{}); len(expected) > 0 {
		t.Errorf("the type of no body does not matter: got %q", expected)
	}
	for _, tt := range tests {
		v := &view{in: &Input{Facts: tt.facts, Control: answeredWith(lines(tt.was))}}
		expected, _ := v.headersDiffer(lines(tt.was), lines(tt.is))
		if got := headerNames(expected); got != tt.differs {
			t.Errorf("%s (%s): got %q, want %q", tt.name, tt.reason, got, tt.differs)
		}
	}
}

// answeredWith is a control whose request got this answer.
func answeredWith(r *trace.Response) *trace.Control {
	return &trace.Control{Rounds: []trace.Round{{Exchanges: []trace.Exchange{{Response: r}}}}}
}

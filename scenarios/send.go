package scenarios

import (
	"slices"

	"retrysafe/internal/strict"
)

// The bounds of copies: 1,000 connections are what one process keeps open under the usual limit of 1,024
// files; 100 requests in a row are a third of an endpoint's default budget.
const (
	mostTogether = 1000
	mostTimes    = 100
)

// mostReplicas bounds the number of an instance: a digit.
const mostReplicas = 9

func sendFields(inVolley bool) []string {
	fields := []string{"key", "body", "caller", "endpoint", "query", "replica", "noise", "cut", "as"}
	if !inVolley {
		fields = append(fields, "together", "times", "every", "jitter", "retry_after", "until", "background")
	}
	return fields
}

func cutFields() []string { return []string{"at", "after", "by"} }

func (d *decoder) send(v strict.Value, inVolley bool) Send {
	o := v.Object(sendFields(inVolley)...)
	s := Send{Pos: v.Pos(), Body: BodyOriginal, Caller: CallerFirst}
	s.Key = key(o.Require("key"))
	if o.Has("body") {
		s.Body = o.Get("body").Enum(BodyOriginal, BodyOther, BodyFail, BodyInvalid, BodyReordered, BodyNested)
	}
	if o.Has("caller") {
		s.Caller = o.Get("caller").Enum(CallerFirst, CallerOther, CallerAnonymous, CallerRenewed, CallerImpostor, CallerStripped)
	}
	s.Other = o.Get("endpoint").Enum("other") != ""
	s.OtherQuery = o.Get("query").Enum("other") != ""
	s.Replica = int(o.Get("replica").Int(1, mostReplicas))
	s.Noise = o.Get("noise").Bool()
	s.Together = int(o.Get("together").Int(2, mostTogether))
	s.Times = int(o.Get("times").Int(1, mostTimes))
	s.Every = o.Get("every").Duration()
	s.Jitter = o.Get("jitter").Float(0, 1)
	s.RetryAfter = o.Get("retry_after").Enum("honoured") != ""
	s.UntilFinal = o.Get("until").Enum("final") != ""
	s.Background = o.Get("background").Bool()
	s.Cut = cut(o.Get("cut"))
	s.Label = d.label(o.Get("as"), s.Background)
	d.keyUsed(o, s)
	contradictions(o)
	if s.Body == BodyNested && (inVolley || s.Together > 0 || s.Times > 0 || s.Background || s.Cut != nil) {
		o.Get("body").Errorf("`body: nested` stands for several bodies, of which one request each is sent: send it by itself")
	}
	if s.Background && s.Label == "" {
		o.Get("background").Errorf("a background send needs a label for `join`: add `as: NAME`")
	}
	if !inVolley && s.Every > 0 && s.Times < 2 {
		o.Get("every").Errorf("`every` is the time from one copy to the next: add `times: N` with N of 2 or more")
	}
	for _, field := range []string{"jitter", "retry_after"} {
		if o.Has(field) && s.Every == 0 {
			o.Get(field).Errorf("`%s` is for copies on schedule: add `times: N` and `every: 10ms`", field)
		}
	}
	return s
}

// contradictions notes fields of a send that do not go together.
func contradictions(o strict.Object) {
	for _, c := range [][3]string{
		{"together", "times", "copies are released together or sent one after another"},
		{"together", "every", "copies are released together or on schedule"},
		{"together", "until", "a burst is not repeated; send once more with `until: final` after it"},
		{"together", "background", "a burst is not sent in the background"},
		{"cut", "until", "a client that left sees no answer"},
		{"every", "until", "copies on schedule come back as `retry_after: honoured` says; send once more with `until: final` after them"},
		{"background", "until", "a background send is not repeated"},
		{"background", "times", "a background send is sent once"},
		{"background", "every", "a background send is sent once"},
		{"endpoint", "query", "the other query belongs to the endpoint itself"},
	} {
		if o.Has(c[0]) && o.Has(c[1]) {
			o.Get(c[1]).Errorf("`%s` and `%s` do not go together: %s", c[0], c[1], c[2])
		}
	}
	if o.Has("endpoint") && o.Has("body") && o.Get("body").Text().Value != BodyOriginal {
		o.Get("body").Errorf("the other endpoint is sent its own body: remove `body`")
	}
}

// key reads a letter, none or fresh.
func key(v strict.Value) string {
	t := v.Text()
	if v.Kind() == strict.String && t.Value != KeyNone && t.Value != KeyFresh && !isLetter(t.Value) {
		v.Errorf("expected a capital letter, none or fresh, found %s", t.Show())
	}
	return t.Value
}

// keyUsed remembers under which scope a send goes, and notes a fresh key that has none to take the rest from.
func (d *decoder) keyUsed(o strict.Object, s Send) {
	itself := !s.Other && (s.Caller == CallerFirst || s.Caller == CallerRenewed)
	switch {
	case s.Key == KeyFresh && len(d.letters) == 0:
		o.Get("key").Errorf("`fresh` takes body, marker and set-up from the first letter, and none was sent before: send `key: A` first")
	case s.Key == KeyFresh && !itself:
		o.Get("key").Errorf("`fresh` is for the first caller and the endpoint itself: name a letter")
	case s.Key == KeyFresh && !slices.Contains(d.plain, d.letters[0]):
		o.Get("key").Errorf("`fresh` takes body, marker and set-up from the first letter, %s, which the first caller did not send to the endpoint itself before",
			d.letters[0])
	case !isLetter(s.Key):
	default:
		if !slices.Contains(d.letters, s.Key) {
			d.letters = append(d.letters, s.Key)
		}
		if itself {
			d.plain = append(d.plain, s.Key)
		}
	}
}

func isLetter(s string) bool { return len(s) == 1 && s[0] >= 'A' && s[0] <= 'Z' }

func (d *decoder) label(v strict.Value, background bool) string {
	label := name(v)
	if label == "" {
		return ""
	}
	if slices.Contains(d.labels, label) {
		v.Errorf("duplicate label %q: choose another name", label)
	}
	d.labels = append(d.labels, label)
	if background {
		d.background = append(d.background, label)
	}
	return label
}

// cut reads where the client leaves. Without `by` it closes the connection, as a client does whose process ends.
func cut(v strict.Value) *Cut {
	if !v.Present() {
		return nil
	}
	o := v.Object(cutFields()...)
	c := &Cut{By: "close"}
	c.At = o.Require("at").Enum("headers", "half-body", "sent", "answer")
	c.After = o.Get("after").Duration()
	if o.Has("by") {
		c.By = o.Get("by").Enum("close", "reset")
	}
	return c
}

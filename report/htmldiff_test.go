package report

import (
	"fmt"
	"strings"
	"testing"

	"retrysafe/internal/trace"
)

func TestJSONLines(t *testing.T) {
	for _, c := range []struct{ text, want, reason string }{
		{`{"id":17,"n":12345678901234567890.10,"a":[1,{"b":"<x>"}],"e":{},"l":[]}`,
			"$ {|$.id   \"id\": 17,|$.n   \"n\": 12345678901234567890.10,|$.a   \"a\": [|$.a[0]     1,|$.a[1]     {|$.a[1].b       \"b\": \"<x>\"|     }|   ],|$.e   \"e\": {},|$.l   \"l\": []| }", "numbers keep their digits"},
		{`{"odd key":null}`, "$ {|$[\"odd key\"]   \"odd key\": null| }", "a name that is no identifier"},
		{`{"a":1} x`, "", "something follows"},
		{`{"a":`, "", "ends early"},
		{strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "", "nested to bring a reader down"},
		{`plain`, "", "text"},
		{`17`, "", "a single value is shown as it is"},
	} {
		lines, ok := jsonLines(c.text)
		var got []string
		for _, l := range lines {
			got = append(got, l.place+" "+l.text)
		}
		if text := strings.Join(got, "|"); text != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q gives %q, expected %q", c.reason, c.text, text, c.want)
		}
	}
}

func TestCompareAnswers(t *testing.T) {
	type answer = trace.Response
	body := func(s string) trace.Body { return trace.Body{Text: s, Size: int64(len(s))} }
	with := func(pairs ...string) (hs []trace.Header) {
		for i := 0; i < len(pairs); i += 2 {
			hs = append(hs, trace.Header{Name: pairs[i], Value: pairs[i+1]})
		}
		return hs
	}
	for _, c := range []struct {
		here, there  answer
		want, reason string
	}{
		{answer{Status: 200, Body: body(`{"a":1}`)}, answer{Status: 200, Body: body(`{"a":1}`)}, "", "equal"},
		{answer{Status: 200}, answer{Status: 201}, "status=200/201", "status"},
		{answer{Body: body(`{"id":"b","n":1}`)}, answer{Body: body(`{"id":"a","n":1}`)}, `$.id="b"/"a" lines [1]`, "a field"},
		{answer{Body: body(`{"n":1,"id":"a"}`)}, answer{Body: body(`{"id":"a","n":1}`)}, `bytes (the same JSON)={"n":1,"id":"a"}/{"id":"a","n":1}`, "order"},
		{answer{Body: body(`{"n":1.0}`)}, answer{Body: body(`{"n":1}`)}, `$.n=1.0/1 lines [1]`, "a number that is written otherwise"},
		{answer{Body: body(`{"x":{"y":[1]}}`)}, answer{Body: body(`{"z":0}`)}, `$.x={…}/ $.z=/0 lines [1 2 3]`, "only the outermost is named"},
		{answer{Body: body("a\nb")}, answer{Body: body("a\nc\nd")}, "line 2=b/c line 3=/d lines [1]", "text"},
		{answer{Body: trace.Body{Base64: []byte{0xff}, Size: 1}}, answer{Body: trace.Body{Base64: []byte{0xfe}, Size: 1}}, "body=\xff/\xfe lines [0]", "bytes"},
		{answer{Headers: with("Location", "b", "date", "x")}, answer{Headers: with("location", "a", "Date", "y", "ETag", "e")},
			"header Location=b/a header date=x/y may differ header ETag=/e headers [0 1]", "headers"},
	} {
		out := compareAnswers(&trace.Facts{}, &c.here, &c.there)
		var got []string
		for _, d := range out.differences {
			text := fmt.Sprintf("%s=%s/%s", d.where, d.here, d.there)
			if d.volatile {
				text += " may differ"
			}
			got = append(got, text)
		}
		if len(out.headers) > 0 {
			got = append(got, fmt.Sprint("headers ", out.headers))
		}
		if len(out.lines) > 0 {
			got = append(got, fmt.Sprint("lines ", out.lines))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, expected %s", c.reason, text, c.want)
		}
	}
}

package requests

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/draft"
	"retrysafe/internal/strict"
)

func TestMistakesSayWhere(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"curl", "curl -X POST http://h/a -d '", "curl:1:28: expected a curl command as bash reads it: reached EOF without closing quote `'`"},
		{"curl", "curl http://h/a \\\n --hedaer 'A: b'", `curl:2:2: unknown flag --hedaer of curl; did you mean "--header"?: remove it, or say in the plan what it means`},
		{"curl", "curl http://h/a -sß", "curl:1:17: unknown flag -ß of curl: remove it, or say in the plan what it means"},
		{"curl", "curl http://h/a -X", "curl:1:17: expected a value behind --request, found the end of the command"},
		{"curl", "curl -d a=`id` http://h/a", "curl:1:11: expected a value, found a command: it is not run; write a variable, such as $TOKEN, in its place"},
		{"curl", "curl -d ${A:-b} http://h/a", "curl:1:9: expected a variable as ${NAME}, found one that a shell computes: set another variable to it before"},
		{"curl", "curl -d $((1+1)) -H $1 http://h/a", "curl:1:9: expected a value, found something that a shell computes: write a variable in its place\ncurl:1:21: expected a variable as ${NAME}, found one that a shell computes: set another variable to it before"},
		{"curl", "curl -X POST", "curl:1:1: expected a URL in the curl command, found none"},
		{"curl", "wget http://h/a", "curl:1:1: expected a curl command, such as curl -X POST https://api.example.com/orders, found none"},
		{"curl", "curl http://h/a -H token", "curl:1:17: expected a header as 'Name: value', found one without a colon"},
		{"curl", "curl http://h/a -H @headers", "curl:1:17: expected a header, found the file headers: write the headers out"},
		{"curl", "curl 'http://h/{a,b}' -d x", "curl:1:6: expected one URL, found brackets with which curl makes several: write one, or put --globoff in front"},
		{"curl", "curl http://h/a -F x", "curl:1:17: expected a field as name=value, found one without ="},
		{"curl", "curl http://h/a -K f", "curl:1:17: --config of curl cannot be taken over: write down what it does with other flags"},
		{"curl", "curl http://h/a -d @-", "curl:1:17: expected the body in the command, found standard input: write it out, or in a here-document"},
		{"curl", "for i in 1 2; do curl http://h/a; done", "curl:1:1: expected curl commands one after the other, found a compound command: write the curl commands alone"},
		{"curl", "curl \"http://h/a\" ^\n  -X POST", "curl:1:1: expected a command as bash reads it, found one for cmd.exe (lines end with ^): copy it as cURL (bash)"},
		{"curl", "curl http://h/a --silent=x", "curl:1:17: --silent takes no value: remove what stands behind ="},
		{"h.har", `{"log": {`, "h.har:1:9: expected JSON: unexpected end of JSON input"},
		{"h.har", "{\"log\": {\n \"entries\": [x]}}", "h.har:2:14: expected JSON: invalid character 'x' looking for beginning of value"},
		{"h.har", `{"log": {"version": "1.2"}}`, "h.har:1:1: expected an HTTP archive with a list of entries at log.entries, found an object"},
		{"h.har", "{\"log\": {\"entries\": [\n  {\"request\": 5}]}}", "h.har:2:3: expected an entry with a request, found an object"},
		{"h.har", `{"log": {"entries": [{"request": {"method": "POST"}}]}}`, "h.har:1:34: expected a request with a url, found an object"},
		{"p.json", `{"info": {"_postman_id": "", "schema": ""}, "item": 1}`, "p.json:1:1: expected a Postman collection with a list of items at item, found an object"},
		{"p.json", `{"info": {"_postman_id": ""}, "item": [` + "\n" + `{"name": "x"}]}`, "p.json:2:1: expected an item with a request or with items, found an object"},
		{"p.json", `{"info": {"_postman_id": ""}, "item": [{"request": []}]}`, "p.json:1:52: expected a request, found a list"},
		{"a.http", "", "a.http:1:1: expected a request such as POST https://api.example.com/orders, found none"},
		{"a.http", "POST http://h/a\nnot a header\n", "a.http:2:1: expected a header as Name: value, or an empty line in front of the body, found a line without a name"},
		{"a.http", "### x\nwhatever\n###\nPOST http://h/a b\n", "a.http:2:1: expected a request such as POST https://api.example.com/orders, or ### in front of the next one, found another line\na.http:4:1: expected a method and a URL without blanks, found blanks: write them as %20"},
	} {
		_, err := read(c.file, []byte(c.text))
		var errs strict.Errors
		if err == nil || !errors.As(err, &errs) || err.Error() != c.want {
			t.Errorf("%s %q\ngot  %v\nwant %s", c.file, c.text, err, c.want)
		}
	}
}

// oneCurl is the endpoint of one command.
func oneCurl(t *testing.T, line string) draft.Endpoint {
	t.Helper()
	d, err := Curl("curl", line)
	if err != nil || len(d.Endpoints) != 1 {
		t.Fatalf("%s: %d endpoints, %v", line, len(d.Endpoints), err)
	}
	return d.Endpoints[0]
}

func TestShellWords(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`curl h/a -d 'a"b'`, `a"b`},
		{`curl h/a -d "a\"b\\c\$d\e"`, `a"b\c$d\e`},
		{`curl h/a -d a\ b\"`, `a b"`},
		{`curl h/a -d $'it\'s\tx\u00e9\x21\\'`, "it's\txé!\\"},
		{`curl h/a -d "x"'y'z`, "xyz"},
		{"curl h/a -d 'a\\\nb'", "a\\\nb"},
		{"curl h/a -d \"a\\\nb\"", "ab"},
		{`curl h/a -d "$A${B}c"`, "${A}${B}c"},
		{"curl h/a --data-binary @- <<E\nx $A \\$B\ny\nE", "x ${A} $B\ny\n"},
		{"curl h/a --data-binary @- <<'E'\nx $A\nE", "x $A\n"},
		{"curl h/a -d @- <<< 'x y'", "x y"},
		{"/usr/bin/curl.exe h/a -d x > out 2>&1", "x"},
	} {
		if got := oneCurl(t, strings.Replace(c.line, "h/a", "-H 'Content-Type: text/x' h/a", 1)).Body.Text; got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
}

func TestCurlFlags(t *testing.T) {
	for _, c := range []struct{ line, request, text string }{
		{"curl h/a -XPUT -dx", "PUT /a", ""},
		{"curl -sSLiXPATCH h/a", "PATCH /a", ""},
		{"curl --request=DELETE --url h/a", "DELETE /a", ""},
		{"curl -T f h/a", "PUT /a", ""},
		{"curl -XPOST 'h/a?x=1' --url-query y=2 --url-query +z=3", "POST /a?x=1&y=2&z=3", ""},
		{"curl -XPOST -G h/a -d b=c -d d=e", "POST /a?b=c&d=e", ""},
		{"curl -XPOST -- h/a", "POST /a", ""},
		{`curl -XPOST 'h/a?f\[x\]=1'`, "POST /a?f[x]=1", ""},
		{`curl -XPOST -g 'h/a?f={x}'`, "POST /a?f=%7Bx%7D", ""},
		{`curl -H 'Content-Type: text/x' h/a -d a -d b`, "POST /a", "a&b"},
		{`curl -H 'Content-Type: text/x' h/a --data-urlencode 'n=a b' --data-urlencode '=c&' --data-urlencode d`, "POST /a", "n=a+b&c%26&d"},
		{`curl -H 'Content-Type: text/x' h/a --data-raw @x`, "POST /a", "@x"},
		{"curl --no-compressed --no-keepalive -XPOST h/a", "POST /a", ""},
	} {
		e := oneCurl(t, c.line)
		if e.Request != c.request || c.text != "" && e.Body.Text != c.text {
			t.Errorf("%s: got %s %q, want %s %q", c.line, e.Request, e.Body.Text, c.request, c.text)
		}
	}
	d, err := Curl("curl", "curl -XPOST h/a --next -I h/b h/c -L --cacert x")
	if err != nil || len(d.Endpoints) != 1 {
		t.Fatal(d, err)
	}
	want := []string{"curl:1:38: --cacert says how requests travel: see the flags of `retrysafe run`", "curl:1:6: --location: how curl behaves is not part of a plan", "curl:1:27: HEAD /b is safe", "curl:1:31: HEAD /c is safe"}
	if !slices.Equal(d.Left, want) {
		t.Errorf("got %q, want %q", d.Left, want)
	}
	if e := oneCurl(t, "curl h/a -d @order.json"); !slices.Contains(e.Comments, "the command sends the file order.json: say `file: order.json` here, beside the plan") {
		t.Errorf("a file: %q", e.Comments)
	}
}

func TestEveryFlagHasOneName(t *testing.T) {
	long, short := map[string]bool{}, map[byte]bool{}
	for _, f := range flags {
		if long[f.long] || f.short != 0 && short[f.short] {
			t.Errorf("%s or -%c stands twice", f.long, f.short)
		}
		long[f.long], short[f.short] = true, true
	}
}

func TestCurlWords(t *testing.T) {
	for _, words := range [][]string{
		{"curl", "-d", `{"reference": "$HOME {{x}}", "n": 1}`, "http://127.0.0.1/orders"},
		{"-d", `{"reference": "$HOME {{x}}", "n": 1}`, "http://127.0.0.1/orders"},
	} {
		d, err := CurlWords(words)
		if err != nil || len(d.Endpoints) != 1 || d.Endpoints[0].Request != "POST /orders" || d.Endpoints[0].Place != "curl" {
			t.Errorf("%q: %+v, %v", words, d, err)
		}
	}
	if _, err := CurlWords([]string{"--nope"}); err == nil || err.Error() != "curl: unknown flag --nope of curl: remove it, or say in the plan what it means\ncurl: expected a URL in the curl command, found none" {
		t.Error(err)
	}
}

func TestFormatsAreTold(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string
	}{
		{"x", `{"log": {"version": "1.2", "entries": []}}`, "har"},
		{"x", "\ufeff{ \"log\" : {", "har"},
		{"x", `{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.0.0/collection.json"}, "item": []}`, "postman"},
		{"x", `{"collection": {"info": {"_postman_id": "1"}, "item": []}}`, "postman"},
		{"a.http", "", "http"}, {"A.REST", "x", "http"},
		{"x", "# c\n@a = b\n\nPOST http://h/a", "http"}, {"x", "### t\n", "http"},
		{"x", `{"openapi": "3.1.0", "paths": {}}`, ""}, {"x", "openapi: 3.1.0", ""}, {"x", "curl http://h", ""}, {"x", "", ""},
		{"x", `{"swagger": "2.0", "info": {}, "tags": [{"log": {}}]}`, ""},
	} {
		got := ""
		for _, k := range []struct {
			name string
			is   bool
		}{{"har", IsHAR([]byte(c.text))}, {"postman", IsPostman([]byte(c.text))}, {"http", IsHTTP(c.name, []byte(c.text))}} {
			if k.is {
				got += k.name
			}
		}
		if got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestJSONKeepsOrderDigitsAndPlaces(t *testing.T) {
	tree, err := parseJSON("f", []byte("{\"b\": 1.10,\n  \"a\": [12345678901234567890, null, true], \"b\": \"\\u00e4\"}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(get(tree, "b")); got != "ä" {
		t.Errorf("b is %q: the last one counts", got)
	}
	a := get(tree, "a")
	if a.Line != 2 || a.Column != 8 || textOf(a.Content[0]) != "12345678901234567890" || tree.Content[0].Value != "b" {
		t.Errorf("a at %d:%d holds %q", a.Line, a.Column, textOf(a.Content[0]))
	}
	if _, err := parseJSON("f", []byte(strings.Repeat("[", 1000)+strings.Repeat("]", 1000))); err == nil || !strings.Contains(err.Error(), "at most 200 levels") {
		t.Error(err)
	}
	for _, text := range []string{`{"n": ` + hole("N") + `, "s": "` + hole("S") + `", "q": "\"` + hole("Q") + `"}`} {
		tree, ok := bodyJSON(text)
		if !ok || textOf(get(tree, "n")) != hole(bare+"N") || textOf(get(tree, "s")) != hole("S") || textOf(get(tree, "q")) != `"`+hole("Q") {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

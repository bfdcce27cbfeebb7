package requests

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"retrysafe/internal/draft"
	"retrysafe/internal/strict"
)

// seeds are the examples of a format, and the secretive one.
func seeds(f *testing.F, extension string) {
	f.Helper()
	files, _ := filepath.Glob("testdata/*.txtar")
	found := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if in := archive.Files[0]; strings.HasSuffix(in.Name, extension) {
			f.Add(in.Data)
			found++
		}
	}
	for name, source := range secretive {
		if strings.HasSuffix(name, extension) {
			text, _ := canaries(source)
			f.Add([]byte(text))
			found++
		}
	}
	if found < 2 {
		f.Fatalf("%d seeds end with %s", found, extension)
	}
}

// sound holds what is made of any text: an error with a place, or a draft whose texts can stand in a plan.
func sound(t *testing.T, d draft.Draft, err error) {
	t.Helper()
	if err != nil {
		var errs strict.Errors
		if !errors.As(err, &errs) || len(errs) == 0 {
			t.Fatalf("an error without a place: %v", err)
		}
		for _, e := range errs {
			if e.Line < 1 || e.Col < 1 {
				t.Errorf("an error without a place: %v", e)
			}
		}
		return
	}
	names := map[string]bool{}
	for _, e := range d.Endpoints {
		if names[e.Name] || e.Name == "" {
			t.Errorf("endpoint %q: the name is empty or another one's", e.Name)
		}
		names[e.Name] = true
	}
	if text := show(t, d); strings.ContainsAny(text, "\uFDD0\uFDD1\uFDD2") {
		t.Errorf("holes are left:\n%s", text)
	}
	acceptable(t, d)
}

func FuzzCurl(f *testing.F) {
	seeds(f, ".txt")
	seeds(f, ".sh")
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Curl("f", string(data))
		sound(t, d, err)
	})
}

func FuzzHAR(f *testing.F) {
	seeds(f, ".har")
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := HAR("f", data)
		sound(t, d, err)
	})
}

func FuzzPostman(f *testing.F) {
	seeds(f, ".json")
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Postman("f", data)
		sound(t, d, err)
	})
}

func FuzzHTTP(f *testing.F) {
	seeds(f, ".http")
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := HTTP("f.http", data)
		sound(t, d, err)
	})
}

// Large sources end, before the test's own time is over: ten megabytes of what programs write, and one megabyte of what people
// write, or of what is as unkind as can be.
func TestLargeSourcesEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 40 MB, which takes a while")
	}
	const large, unkind = 10 << 20, 1 << 20
	fill := func(size int, head, piece, tail string) []byte {
		return []byte(head + strings.TrimSuffix(strings.Repeat(piece, size/len(piece)), ",") + tail)
	}
	entry := `{"request":{"method":"POST","url":"http://h/a/17/b","headers":[{"name":"Authorization","value":"Bearer abc123def"}],"postData":{"text":"{\"a_id\":\"x17\"}"}},"response":{"status":201,"content":{"text":"{\"id\":\"x17\",\"n\":17}"}}},`
	item := `{"name":"a","request":{"method":"POST","url":"{{b}}/a/:id/b","body":{"mode":"raw","raw":"{\"a\":{{c}}}"}}},`
	bomb := "@e=aaaaaaaaaaaaaaaa\n"
	for _, name := range "dcba" {
		bomb += fmt.Sprintf("@%c=%s\n", name, strings.Repeat(fmt.Sprintf("{{%c}}", name+1), 8))
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"entries.har", fill(large, `{"log":{"entries":[`, entry, `]}}`)},
		{"items.json", fill(large, `{"info":{"_postman_id":"1"},"item":[`, item, `]}`)},
		{"requests.http", fill(unkind, "", "POST http://h/a\nA: b\n\n{\"a\": 1}\n###\n", "")},
		{"curl.sh", fill(unkind, "", "curl -X POST http://h/a/b -H 'A: b' -d '{\"a\": \"b\"}'\n", "")},
		{"brackets.har", fill(large, `{"log":`, "[", "")},
		{"body.har", fill(unkind, `{"log":{"entries":[{"request":{"method":"POST","url":"http://h/a","postData":{"mimeType":"application/json","text":"{\"a\":\"`, "{{x$", `\"}"}}}]}}`)},
		{"folders.json", fill(unkind, `{"info":{"_postman_id":"1"},"item":[`, `{"item":[`, ``)},
		{"names.http", fill(unkind, "", "# @name x\nPOST http://h/{{x.response.body.$.id}}\n###\n", "")},
		{"bombs.http", fill(unkind, bomb+"POST http://h/a\n\n", "{{a}}", "")},
		{"braces.http", fill(unkind, "POST http://h/a\n\n", "{{", "")},
		{"line.http", fill(unkind, "POST http://h/", "a/", "")},
		{"curl-quotes.sh", fill(unkind, "curl -X POST http://h/a -d ", "\"a\"'b'$C", "")},
		{"curl-dashes.sh", fill(unkind, "curl ", "-", "")},
		{"curl-form.sh", fill(unkind, "curl http://h/a -d '", "a=b&", "'")},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			_, _ = read(c.name, c.data) // what it says of it is not the point
			t.Logf("%d bytes took %s", len(c.data), time.Since(start))
		})
	}
}

// What fuzzing found once.
func TestOddSources(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"curl", "curl"},
		{"curl", "curl ' ' -X00"},
		{"curl", "curl -XPOST http:///x"},
		{"curl", "curl --json x 0 1"},
		{"a.http", "UT 0/"},
		{"a.http", "$.\n###\nPOST #"},
		{"a.http", "POST {{$x}}/a\n###\nGET {{$x}}"},
		{"a.http", "# @name a\nPOST http://h\n###\nPOST http://{{a.response.body.$.b}}/x?y={{a.response.body.$['c/d']}}"},
		{"a.json", ""},
	} {
		d, err := read(c.name, []byte(c.text))
		sound(t, d, err)
	}
}

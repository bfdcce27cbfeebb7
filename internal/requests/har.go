package requests

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
	"retrysafe/internal/strict"
)

// start is how much of a file tells its format.
const start = 64 << 10

var harStart = regexp.MustCompile(`^\s*\{[^\[]*"log"\s*:\s*\{`)

// IsHAR is true for a text that looks like an HTTP archive (HAR 1.1 or 1.2).
func IsHAR(data []byte) bool {
	return harStart.Match(bytes.TrimPrefix(data[:min(len(data), start)], []byte("\ufeff")))
}

// HAR makes a draft of the requests that a browser or a proxy recorded. Name is the file's, for messages. Errors are
// strict.Errors with line and column.
func HAR(name string, data []byte) (draft.Draft, error) {
	root, err := parseJSON(name, data)
	if err != nil {
		return draft.Draft{}, err
	}
	entries := get(root, "log", "entries")
	if entries == nil || entries.Kind != yaml.SequenceNode {
		return draft.Draft{}, expected(name, root, `an HTTP archive with a list of entries at log.entries`)
	}
	s := source{name: name, session: true}
	pages := 0
	for _, n := range entries.Content {
		r, page, err := harEntry(name, n)
		switch {
		case err != nil:
			return draft.Draft{}, err
		case page:
			pages++
		default:
			s.requests = append(s.requests, r)
		}
	}
	if pages > 0 {
		s.left = append(s.left, fmt.Sprintf("%s: %s for pages, scripts, styles and pictures", name, several(pages, "safe request")))
	}
	return infer(s), nil
}

// expected says what a node should have been, where it stands.
func expected(file string, n *yaml.Node, what string) error {
	found := "nothing"
	switch {
	case n == nil:
		return fileError(file, 1, 1, "expected %s, found nothing", what)
	case n.Kind == yaml.MappingNode:
		found = "an object"
	case n.Kind == yaml.SequenceNode:
		found = "a list"
	case n.Tag == "!!str":
		found = "a text"
	case n.Tag != "!!null":
		found = n.Value
	}
	return fileError(file, n.Line, n.Column, "expected %s, found %s", what, found)
}

// harEntry reads one entry; page is true for one that fetches what a browser shows.
func harEntry(file string, n *yaml.Node) (r request, page bool, err error) {
	in, out := get(n, "request"), get(n, "response")
	r = request{method: textOf(get(in, "method")), url: textOf(get(in, "url"))}
	r.at = strict.Pos{File: file, Line: n.Line, Col: n.Column}
	switch {
	case in == nil || in.Kind != yaml.MappingNode:
		return r, false, expected(file, n, "an entry with a request")
	case r.method == "":
		return r, false, expected(file, in, "a request with a method")
	case r.url == "":
		return r, false, expected(file, in, "a request with a url")
	}
	r.headers = pairsOf(get(in, "headers"))
	if cookies := pairsOf(get(in, "cookies")); len(cookies) > 0 && r.header("Cookie") == "" {
		var lines []string
		for _, c := range cookies {
			lines = append(lines, c.name+"="+c.value)
		}
		r.headers = append(r.headers, pair{"Cookie", strings.Join(lines, "; ")})
	}
	if host := r.header(":authority"); !strings.Contains(r.url, "://") && host != "" {
		r.url = "https://" + host + "/" + strings.TrimLeft(r.url, "/")
	}
	r.readPostData(get(in, "postData"))
	r.answer = harAnswer(out)
	return r, r.answer.json == nil && slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, strings.ToUpper(r.method)), nil
}

func pairsOf(list *yaml.Node) []pair {
	var pairs []pair
	for _, n := range itemsOf(list) {
		if name := textOf(get(n, "name")); name != "" {
			pairs = append(pairs, pair{name, textOf(get(n, "value"))})
		}
	}
	return pairs
}

func (r *request) readPostData(n *yaml.Node) {
	if n == nil {
		return
	}
	r.body.media, r.body.text = textOf(get(n, "mimeType")), textOf(get(n, "text"))
	if textOf(get(n, "encoding")) == "base64" {
		text, err := base64.StdEncoding.DecodeString(r.body.text)
		if err != nil || strings.ContainsRune(string(text), 0) {
			r.note("the body is no text, and is left out: `file:` can send one")
			text = nil
		}
		r.body.text = clean(string(text))
	}
	params := itemsOf(get(n, "params"))
	if len(params) == 0 {
		return
	}
	media := mediaType(r.header("Content-Type"))
	if media == "" {
		media = mediaType(r.body.media)
	}
	switch {
	case media == multipartType:
		r.body.text = ""
		for _, p := range params {
			r.body.parts = append(r.body.parts, part{
				name: textOf(get(p, "name")), value: textOf(get(p, "value")), file: textOf(get(p, "fileName")), media: textOf(get(p, "contentType")),
			})
		}
	case r.body.text == "":
		for _, p := range pairsOf(get(n, "params")) {
			// Browsers write the names and values of a form as they are encoded.
			r.body.form = append(r.body.form, pair{unescape(p.name), unescape(p.value)})
		}
	}
}

func harAnswer(n *yaml.Node) *answer {
	a := &answer{}
	fmt.Sscan(textOf(get(n, "status")), &a.status)
	content := get(n, "content")
	text := textOf(get(content, "text"))
	if textOf(get(content, "encoding")) == "base64" {
		decoded, _ := base64.StdEncoding.DecodeString(text) // what is no base64 is no JSON either
		text = string(decoded)
	}
	a.json, _ = parseJSON("", []byte(text)) // what is no JSON tells nothing
	return a
}

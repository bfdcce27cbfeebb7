package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"retrysafe/internal/draft"
	"retrysafe/internal/openapi"
	"retrysafe/internal/requests"
	"retrysafe/internal/strict"
)

// format is a kind of file that plans are drafted from.
type format struct {
	name string
	// is tells the format by a file's name and content.
	is func(name string, text []byte) bool
	// read drafts from a text; what it refers to is looked for in beside, which may be nil.
	read func(name string, text []byte, beside fs.FS) (draft.Draft, error)
	// whole is true for a format that describes an API, so that what it lacks is not there.
	whole bool
}

// formats in the order in which they are tried.
func formats() []format {
	unnamed := func(is func([]byte) bool) func(string, []byte) bool {
		return func(_ string, text []byte) bool { return is(text) }
	}
	alone := func(read func(string, []byte) (draft.Draft, error)) func(string, []byte, fs.FS) (draft.Draft, error) {
		return func(name string, text []byte, _ fs.FS) (draft.Draft, error) { return read(name, text) }
	}
	curl := func(name string, text []byte) (draft.Draft, error) { return requests.Curl(name, string(text)) }
	return []format{
		{name: "openapi", is: unnamed(openapi.Is), read: readOpenAPI, whole: true},
		{name: "har", is: unnamed(requests.IsHAR), read: alone(requests.HAR)},
		{name: "postman", is: unnamed(requests.IsPostman), read: alone(requests.Postman), whole: true},
		{name: "curl", is: isCurl, read: alone(curl)},
		{name: "http", is: requests.IsHTTP, read: alone(requests.HTTP)},
	}
}

func readOpenAPI(name string, text []byte, beside fs.FS) (draft.Draft, error) {
	doc, err := openapi.Read(name, text, beside)
	if err != nil {
		return draft.Draft{}, err
	}
	return doc.Draft(), nil
}

// isCurl is true for a text whose first word is curl, as it is copied from a browser or a page.
func isCurl(_ string, text []byte) bool {
	for line := range bytes.Lines(text) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(line)), "$ "))
		if len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			return words[0] == "curl"
		}
	}
	return false
}

func formatNamesOf(list []format) []string {
	var names []string
	for _, f := range list {
		names = append(names, f.name)
	}
	return names
}

// source is something that was read, and what came of it.
type source struct {
	draft.Draft
	whole bool
}

// readSource reads a file, or standard input for "-". From is the name of its format; empty: it is told by the content.
func readSource(env Env, file, from string) (source, error) {
	text, name, err := readInput(env, file)
	if err != nil {
		return source{}, err
	}
	f, err := formatOf(name, text, from)
	if err != nil {
		return source{}, err
	}
	d, err := f.read(name, text, beside(file))
	if err != nil {
		return source{}, sourceError(err)
	}
	return source{d, f.whole}, nil
}

// beside is the folder of a source; nil for standard input, which has none.
func beside(file string) fs.FS {
	if file == "-" {
		return nil
	}
	return os.DirFS(filepath.Dir(file))
}

// readInput is the text of a source, and its name in messages.
func readInput(env Env, file string) (text []byte, name string, err error) {
	if file == "-" {
		text, err = readAll(env.Stdin, "standard input")
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			err = errors.New("expected a document on standard input, found nothing")
		}
		return text, "stdin", asUsage(err)
	}
	if u, err := url.Parse(file); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return nil, "", usagef("curl -fsS "+file+" | retrysafe init -", "expected a file, found the URL %s: nothing is fetched here", file)
	}
	text, err = readFile(file)
	if errors.Is(err, os.ErrNotExist) && file == "curl" {
		return nil, "", usagef("retrysafe init -- curl ...", "a curl command stands behind --, so that its flags are not taken for those of retrysafe")
	}
	return text, file, asUsage(err)
}

// asUsage makes a mistake of the user of an error.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usagef("", "%s", err)
}

// sourceError keeps the mistakes in a source apart from other errors; all are the user's to mend.
func sourceError(err error) error {
	var found strict.Errors
	var one *strict.Error
	switch {
	case errors.As(err, &found):
		return found
	case errors.As(err, &one):
		return strict.Errors{one}
	}
	return usagef("", "%s", err)
}

// noText is why a file of no known format holds no text at all; nil where it does.
func noText(name string, text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return usagef("", "%s: expected a document, found nothing", name)
	}
	at := bytes.IndexFunc(text, func(r rune) bool { return r == 0 || r == utf8.RuneError })
	if at < 0 {
		return nil
	}
	before := text[:at]
	pos := strict.Pos{File: name, Line: 1 + bytes.Count(before, []byte("\n")), Col: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])}
	return strict.Errors{{Pos: pos, Width: 1, Message: fmt.Sprintf("expected text in UTF-8, found the byte 0x%02x, as UTF-16 and binary files have: save the file as UTF-8", text[at])}}
}

// formatOf is the format that a name says, or that the content has.
func formatOf(name string, text []byte, from string) (format, error) {
	list := formats()
	if from != "" {
		i := slices.IndexFunc(list, func(f format) bool { return f.name == from })
		if i < 0 {
			return format{}, usagef("", "--from: expected %s, found %q%s", strings.Join(formatNamesOf(list), ", "), from, strict.DidYouMean(from, formatNamesOf(list)))
		}
		return list[i], nil
	}
	for _, f := range list {
		if f.is(name, text) {
			return f, nil
		}
	}
	if err := noText(name, text); err != nil {
		return format{}, err
	}
	if known, _, err := draft.ReadStated(name, text); err == nil && len(known) > 0 {
		return format{}, usagef("retrysafe validate "+name, "%s is a plan already: expected what one can be made from", name)
	}
	return format{}, usagef("", "cannot tell what %s is: expected an OpenAPI document, an HTTP archive (HAR), a Postman collection, a .http file or a curl command; --from %s insists on one",
		name, strings.Join(formatNamesOf(list), "|"))
}

// curlSource is the draft of a curl command.
func curlSource(read func() (draft.Draft, error)) (source, error) {
	d, err := read()
	if err != nil {
		return source{}, sourceError(err)
	}
	return source{Draft: d}, nil
}

// told is a number of things and what they are, as "3 guesses".
func told(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

package requests

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/draft"
	"retrysafe/internal/strict"
)

// Curl makes a draft of the curl commands in a text, such as what browsers copy "as cURL", with bash's quotes. Nothing is
// executed: $VAR stays a variable. Name stands in messages. Errors are strict.Errors with line and column.
func Curl(name, text string) (draft.Draft, error) {
	if at := strings.Index(text, "^\n"); at >= 0 || strings.Contains(text, "^\r\n") {
		return draft.Draft{}, fileError(name, 1, 1, "expected a command as bash reads it, found one for cmd.exe (lines end with ^): copy it as cURL (bash)")
	}
	sh, err := readShell(name, strings.ReplaceAll(text, "\r\n", "\n"))
	if err != nil {
		return draft.Draft{}, err
	}
	return curl(name, sh)
}

// CurlWords is Curl for a command that a shell has taken apart already, with or without the word curl in front. Errors have
// no place.
func CurlWords(words []string) (draft.Draft, error) {
	const name = "curl"
	c := command{at: strict.Pos{File: name}}
	for i, text := range words {
		if i > 0 || programName(text) != "curl" {
			c.words = append(c.words, word{clean(text), strict.Pos{File: name}})
		}
	}
	return curl(name, &shell{file: name, commands: []command{c}})
}

func curl(name string, sh *shell) (draft.Draft, error) {
	s := source{name: name, command: true, left: sh.notes}
	if len(sh.commands) == 0 {
		return draft.Draft{}, fileError(name, 1, 1, "expected a curl command, such as curl -X POST https://api.example.com/orders, found none")
	}
	var errs strict.Errors
	for _, c := range sh.commands {
		r := &curlReader{source: &s, stdin: c.stdin, curlOptions: curlOptions{at: c.at}}
		r.read(c.words)
		errs = append(errs, r.errs...)
	}
	if len(errs) > 0 {
		return draft.Draft{}, errs.Sorted()
	}
	return infer(s), nil
}

// curlReader reads the words of one command.
type curlReader struct {
	*source
	stdin string
	curlOptions
	dropped []string
	errs    strict.Errors
}

// curlOptions are those between two --next.
type curlOptions struct {
	at        strict.Pos
	urls      []word
	method    string
	headers   []pair
	data      []string // pieces, joined by &
	json      bool
	multipart []part
	query     []string
	user      string
	head, get bool
	globOff   bool
	file      string // sent as the body; empty for none
	upload    bool
	notes     []string
}

func (r *curlReader) errorf(at strict.Pos, format string, args ...any) {
	r.errs = append(r.errs, &strict.Error{Pos: at, Message: fmt.Sprintf(format, args...), Width: 1})
}

func (r *curlReader) read(words []word) {
	operands := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case operands || !strings.HasPrefix(w.text, "-") || w.text == "-":
			r.urls = append(r.urls, w)
		case w.text == "--":
			operands = true
		case strings.HasPrefix(w.text, "--"):
			i += r.long(w, words[i+1:])
		default:
			i += r.short(w, words[i+1:])
		}
	}
	r.finish()
	if len(r.dropped) > 0 && len(words) > 0 {
		r.leave(words[0].at, "%s: how curl behaves is not part of a plan", strings.Join(r.dropped, ", "))
	}
}

// long reads --name, --name value or --name=value, and returns how many of the next words it took.
func (r *curlReader) long(w word, next []word) int {
	name, value, inside := strings.Cut(w.text[2:], "=")
	f := findLong(name)
	if f == nil && strings.HasPrefix(name, "no-") {
		if f = findLong(name[3:]); f != nil && !f.value {
			return 0 // off is what it is anyway
		}
		f = nil
	}
	switch {
	case f == nil:
		r.unknown(w.at, "--"+literalOf(name))
		return 0
	case !f.value:
		if inside {
			r.errorf(w.at, "--%s takes no value: remove what stands behind =", f.long)
		}
		r.apply(f, w.at, "")
		return 0
	case inside:
		r.apply(f, w.at, value)
		return 0
	}
	return r.withNext(f, w.at, next)
}

func (r *curlReader) unknown(at strict.Pos, name string) {
	r.errorf(at, "unknown flag %s of curl%s: remove it, or say in the plan what it means", name, strict.DidYouMean(name, longNames()))
}

func (r *curlReader) withNext(f *option, at strict.Pos, next []word) int {
	if len(next) == 0 {
		r.errorf(at, "expected a value behind --%s, found the end of the command", f.long)
		return 0
	}
	r.apply(f, at, next[0].text)
	return 1
}

// short reads -sSX POST and -XPOST.
func (r *curlReader) short(w word, next []word) int {
	for i := 1; i < len(w.text); i++ {
		f := findShort(w.text[i])
		if f == nil {
			r.unknown(w.at, "-"+string([]rune(literalOf(w.text[i:]) + " ")[:1]))
			return 0
		}
		if !f.value {
			r.apply(f, w.at, "")
			continue
		}
		if value := w.text[i+1:]; value != "" {
			r.apply(f, w.at, value)
			return 0
		}
		return r.withNext(f, w.at, next)
	}
	return 0
}

func (r *curlReader) apply(f *option, at strict.Pos, value string) {
	switch f.does {
	case setMethod:
		r.method = literalOf(value)
	case addHeader:
		r.addHeader(at, value)
	case addData, addBinary, addJSON:
		r.json = r.json || f.does == addJSON
		r.addData(at, value, f.does)
	case addRawData:
		r.data = append(r.data, value)
	case addEncoded:
		r.addEncoded(value)
	case addField, addFieldString:
		r.addField(at, value, f.does == addFieldString)
	case addQuery:
		r.query = append(r.query, strings.TrimPrefix(value, "+"))
	case setUser:
		r.user = value
	case setBearer:
		r.headers = append(r.headers, pair{"Authorization", "Bearer " + value})
	case setCookie:
		if strings.Contains(value, "=") || hasHole(value) {
			r.headers = append(r.headers, pair{"Cookie", value})
		} else {
			r.headers = append(r.headers, pair{"Cookie", variable("COOKIE")})
		}
	case setHead:
		r.head = true
	case setGet:
		r.get = true
	case setURL:
		r.urls = append(r.urls, word{value, at})
	case setUpload:
		r.upload, r.file = true, value
	case setGlobOff:
		r.globOff = true
	case setNext:
		r.finish()
		r.at = at
	case setSigned:
		r.leave(at, "--%s computes credentials for each request, which the plan does not say", f.long)
	case toRun:
		r.leave(at, "--%s says how requests travel: see the flags of `retrysafe run`", f.long)
	case unfit:
		r.errorf(at, "--%s of curl cannot be taken over: write down what it does with other flags", f.long)
	case nothing:
		if name := "--" + f.long; !slices.Contains(r.dropped, name) {
			r.dropped = append(r.dropped, name)
		}
	}
}

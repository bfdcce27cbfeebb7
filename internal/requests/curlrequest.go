package requests

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// addHeader reads "Name: value", and "Name;" for one without a value. "Name:" takes away what curl would send.
func (r *curlReader) addHeader(at strict.Pos, line string) {
	if strings.HasPrefix(line, "@") {
		r.errorf(at, "expected a header, found the file %s: write the headers out", shown(line[1:]))
		return
	}
	name, value, found := strings.Cut(line, ":")
	name = strings.TrimSpace(name)
	switch {
	case found && strings.HasPrefix(line, ":"): // HTTP/2's own, as browsers copy them
	case !found && strings.HasSuffix(strings.TrimSpace(line), ";"):
	case !found && hasHole(line):
		r.notes = append(r.notes, "a header that is a variable is left out")
	case !found:
		r.errorf(at, "expected a header as 'Name: value', found one without a colon")
	default:
		r.headers = append(r.headers, pair{name, strings.TrimSpace(value)})
	}
}

func (r *curlReader) addData(at strict.Pos, value string, does effect) {
	file, isFile := strings.CutPrefix(value, "@")
	switch {
	case !isFile:
		r.data = append(r.data, value)
	case file == "-" && r.stdin != "":
		text := r.stdin
		if does == addData { // which takes line ends out
			text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
		}
		r.data = append(r.data, text)
	case file == "-":
		r.errorf(at, "expected the body in the command, found standard input: write it out, or in a here-document")
	default:
		r.file = file
	}
}

// addEncoded reads content, =content, name=content, and files as @file and name@file.
func (r *curlReader) addEncoded(value string) {
	name, content, isPair := strings.Cut(value, "=")
	if at := strings.IndexByte(name, '@'); at >= 0 {
		r.notes = append(r.notes, "what the file "+shown(value[at+1:])+" holds is not in the source: the field holds a text instead")
		name, content, isPair = name[:at], "the contents of "+value[at+1:], at > 0
	}
	if !isPair {
		name, content = "", value
	}
	piece := mapLiterals(content, url.QueryEscape)
	if name != "" {
		piece = name + "=" + piece
	}
	r.data = append(r.data, piece)
}

// addField reads name=value, name=@file and name=<file, each with ;type= and ;filename= behind it.
func (r *curlReader) addField(at strict.Pos, value string, asIs bool) {
	name, content, found := strings.Cut(value, "=")
	if !found {
		r.errorf(at, "expected a field as name=value, found one without =")
		return
	}
	p := part{name: name, value: content}
	if !asIs {
		for _, setting := range []struct {
			before string
			into   *string
		}{{";type=", &p.media}, {";filename=", &p.file}} {
			before, behind, has := strings.Cut(p.value, setting.before)
			if has {
				text, rest, more := strings.Cut(behind, ";")
				*setting.into = strings.Trim(text, `"`)
				if p.value = before; more {
					p.value += ";" + rest
				}
			}
		}
		if file := strings.TrimLeft(p.value, "@<"); len(file) < len(p.value) {
			p.value = ""
			if p.file == "" {
				p.file = file[strings.LastIndexAny(file, `/\`)+1:]
			}
		}
	}
	r.multipart = append(r.multipart, p)
}

// glob matches what curl takes for several URLs.
var glob = regexp.MustCompile(`\{[^{}]*\}|\[[^\[\]]+-[^\[\]]+\]`)

// globEscape is how a URL says that it means a bracket.
var globEscape = regexp.MustCompile(`\\([\[\]{}])`)

// finish makes requests of the options so far, one for each URL.
func (r *curlReader) finish() {
	o := r.curlOptions
	r.curlOptions = curlOptions{}
	if len(o.urls) == 0 {
		r.errorf(o.at, "expected a URL in the curl command, found none")
	}
	for _, u := range o.urls {
		req := request{at: u.at, method: o.methodOf(), url: u.text, user: o.user, headers: o.headers, notes: slices.Clone(o.notes)}
		if !o.globOff {
			if glob.MatchString(literalOf(globEscape.ReplaceAllString(u.text, ""))) {
				r.errorf(u.at, "expected one URL, found brackets with which curl makes several: write one, or put --globoff in front")
				continue
			}
			req.url = globEscape.ReplaceAllString(u.text, "$1")
		}
		if o.json && req.header("Accept") == "" {
			req.headers = append(req.headers[:len(req.headers):len(req.headers)], pair{"Accept", jsonType})
		}
		o.fill(&req)
		r.requests = append(r.requests, req)
	}
}

func (o *curlOptions) methodOf() string {
	switch {
	case o.method != "":
		return o.method
	case o.upload:
		return "PUT"
	case o.head:
		return "HEAD"
	case o.get || o.data == nil && o.multipart == nil && o.file == "":
		return "GET"
	}
	return "POST"
}

// fill puts the data where it goes.
func (o *curlOptions) fill(req *request) {
	query := o.query
	switch separator := "&"; {
	case o.get:
		query = append(query, o.data...)
	case o.multipart != nil:
		req.body.parts = o.multipart
	case o.file != "":
		req.note("the command sends the file %s: say `file: %[1]s` here, beside the plan", shown(o.file))
	case o.data != nil:
		if o.json {
			separator, req.body.media = "", jsonType
		} else if req.header("Content-Type") == "" {
			req.body.media = formType
		}
		req.body.text = strings.Join(o.data, separator)
	}
	if len(query) > 0 {
		base, _, _ := strings.Cut(req.url, "#")
		mark := "?"
		if strings.Contains(base, "?") {
			mark = "&"
		}
		req.url = base + mark + strings.Join(query, "&")
	}
}

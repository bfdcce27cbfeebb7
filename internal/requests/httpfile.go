package requests

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"retrysafe/internal/draft"
	"retrysafe/internal/strict"
)

var methodLine = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|GRAPHQL) +\S`)

// IsHTTP is true for a file of requests of an editor: by its name (.http, .rest), or by a first line that is a request.
func IsHTTP(name string, data []byte) bool {
	if ext := strings.ToLower(path.Ext(name)); ext == ".http" || ext == ".rest" {
		return true
	}
	for line := range bytes.Lines(bytes.TrimPrefix(data[:min(len(data), start)], []byte("\ufeff"))) {
		text := strings.TrimSpace(string(line))
		switch {
		case text == "" || isComment(text) && !strings.HasPrefix(text, "###"), httpVariable.MatchString(text):
		default:
			return strings.HasPrefix(text, "###") || methodLine.MatchString(text)
		}
	}
	return false
}

// HTTP makes a draft of a file of requests, as the HTTP client of JetBrains and the REST Client of VS Code have them. Scripts are
// not executed, and files are not read. Name is the file's, for messages. Errors are strict.Errors with line and column.
func HTTP(name string, data []byte) (draft.Draft, error) {
	p := &httpReader{source: source{name: name}, vars: newVariables()}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(clean(string(data)), "\ufeff"))
	p.lines = strings.Split(text, "\n")
	p.read()
	if len(p.errs) > 0 {
		return draft.Draft{}, p.errs.Sorted()
	}
	if len(p.requests) == 0 && len(p.left) == 0 {
		return draft.Draft{}, fileError(name, 1, 1, "expected a request such as POST https://api.example.com/orders, found none")
	}
	for i := range p.requests {
		p.fill(&p.requests[i])
	}
	p.secrets = p.vars.hidden()
	return infer(p.source), nil
}

// httpReader goes through the lines.
type httpReader struct {
	source
	lines []string
	next  int // index of the next line
	vars  *variables
	errs  strict.Errors
	// title is what stands behind the last ###, named the last @name.
	title, named string
}

var (
	httpVariable = regexp.MustCompile(`^@([A-Za-z_][\w.-]*)\s*=\s*(.*)$`)
	httpName     = regexp.MustCompile(`^(?:#|//)\s*@name\s*=?\s*(\S+)`)
	httpVersion  = regexp.MustCompile(`\s+HTTP/[0-9.]+\s*$`)
	methodWord   = regexp.MustCompile(`^[A-Za-z]+$`)
)

func isComment(line string) bool {
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//")
}

func (p *httpReader) at(line int) strict.Pos { return strict.Pos{File: p.name, Line: line + 1, Col: 1} }

func (p *httpReader) errorf(line int, format string, args ...any) {
	e := fileError(p.name, line+1, 1, format, args...).(strict.Errors)
	p.errs = append(p.errs, e...)
}

// read parts the file into requests.
func (p *httpReader) read() {
	for p.next < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.next])
		switch {
		case strings.HasPrefix(line, "###"):
			p.title, p.named = strings.TrimSpace(strings.TrimLeft(line, "#")), ""
		case httpName.MatchString(line):
			p.named = httpName.FindStringSubmatch(line)[1]
		case line == "" || isComment(line):
		case p.variable(line) || p.script(line):
		case strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "run "):
			p.leave(p.at(p.next), "other files are not read: give them one by one")
		default:
			p.request()
			continue
		}
		p.next++
	}
}

func (p *httpReader) variable(line string) bool {
	m := httpVariable.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	p.vars.values[m[1]] = strings.TrimSpace(m[2])
	return true
}

// script goes over a script, in one line or until the line that ends it, and over what is done with an answer.
func (p *httpReader) script(line string) bool {
	switch {
	case strings.HasPrefix(line, "< {%"), strings.HasPrefix(line, "> {%"), strings.HasPrefix(line, ">{%"), strings.HasPrefix(line, "<{%"):
		p.leave(p.at(p.next), "the script is not executed")
		for !strings.Contains(p.lines[p.next], "%}") && p.next+1 < len(p.lines) && !strings.HasPrefix(p.lines[p.next+1], "###") {
			p.next++
		}
		return true
	case strings.HasPrefix(line, "<> "), strings.HasPrefix(line, ">> "), strings.HasPrefix(line, ">>! "), strings.HasPrefix(line, "> ") && strings.HasSuffix(line, ".js"):
		p.leave(p.at(p.next), "the file that belongs to the answer is not read")
		return true
	}
	return false
}

// request reads one request, up to the next separator.
func (p *httpReader) request() {
	r := request{at: p.at(p.next), name: p.named}
	if r.name == "" {
		r.name = p.title
	}
	if p.named != "" {
		p.vars.references[p.named] = true
	}
	p.named = ""
	known := p.requestLine(&r)
	p.headers(&r)
	p.body(&r)
	if known {
		p.requests = append(p.requests, r)
	}
}

// requestLine reads the method, the URL and its continuation.
func (p *httpReader) requestLine(r *request) (known bool) {
	start := p.next
	line := httpVersion.ReplaceAllString(strings.TrimSpace(p.lines[p.next]), "")
	r.method, r.url = "GET", line
	if word, rest, found := strings.Cut(line, " "); found && methodWord.MatchString(word) {
		r.method, r.url = strings.ToUpper(word), strings.TrimSpace(rest)
	}
	for p.next++; p.next < len(p.lines); p.next++ {
		line, more := p.lines[p.next], strings.TrimSpace(p.lines[p.next])
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		continues := strings.HasPrefix(more, "?") || strings.HasPrefix(more, "&") || indented && strings.HasPrefix(more, "/") && !strings.HasPrefix(more, "//")
		if !continues {
			break
		}
		r.url += httpVersion.ReplaceAllString(more, "")
	}
	switch {
	case slices.Contains([]string{"WEBSOCKET", "GRPC", "RSOCKET"}, r.method):
		p.leave(r.at, "%s is no HTTP request", r.method)
		return false
	case r.method == "GET" && !strings.Contains(r.url, "/") && !strings.Contains(r.url, "{{") && !strings.Contains(r.url, "."):
		p.errorf(start, "expected a request such as POST https://api.example.com/orders, or ### in front of the next one, found another line")
		return false
	case strings.ContainsAny(braced.ReplaceAllString(r.url, ""), " \t"):
		p.errorf(start, "expected a method and a URL without blanks, found blanks: write them as %%20")
		return false
	}
	return true
}

func (p *httpReader) headers(r *request) {
	for ; p.next < len(p.lines); p.next++ {
		line := strings.TrimSpace(p.lines[p.next])
		switch name, value, found := strings.Cut(line, ":"); {
		case line == "":
			return
		case strings.HasPrefix(line, "###"):
			return
		case isComment(line):
		case strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "< "):
			return
		case !found || !token.MatchString(strings.TrimSpace(name)) && !strings.Contains(name, "{{"):
			p.errorf(p.next, "expected a header as Name: value, or an empty line in front of the body, found a line without a name")
		default:
			r.headers = append(r.headers, pair{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
}

// body reads lines up to the next separator. What is done with the answer is no part of it.
func (p *httpReader) body(r *request) {
	var text []string
	multipart := mediaType(r.header("Content-Type")) == multipartType
	for ; p.next < len(p.lines); p.next++ {
		raw := p.lines[p.next]
		line := strings.TrimSpace(raw)
		if strings.HasPrefix(raw, "###") {
			break
		}
		if p.script(line) {
			continue
		}
		file, isFile := strings.CutPrefix(line, "<")
		file = strings.TrimSpace(strings.TrimPrefix(file, "@"))
		switch {
		case isFile && multipart && file != "":
			text = append(text, "the contents of "+file)
			r.note("what the file %s holds is not in the source: its part of the form holds a text instead", shown(file))
		case isFile && (strings.HasPrefix(line, "< ") || strings.HasPrefix(line, "<@")) && len(strings.TrimSpace(strings.Join(text, ""))) == 0:
			r.note("the request sends the file %s: say `file: %[1]s` here, beside the plan", shown(file))
		case !multipart && isComment(line) && (httpName.MatchString(line) || strings.HasPrefix(line, "# @")):
		default:
			text = append(text, raw)
		}
	}
	r.body.text = strings.Trim(strings.Join(text, "\n"), "\n")
	if multipart {
		r.body.text += "\n"
	}
	if strings.TrimSpace(r.body.text) == "" {
		r.body.text = ""
	}
}

// fill puts in the values of variables, once all are known.
func (p *httpReader) fill(r *request) {
	r.url = p.vars.fill(r.url)
	for i, h := range r.headers {
		r.headers[i] = pair{h.name, p.vars.fill(h.value)}
	}
	r.body.text = p.vars.fill(r.body.text)
	if strings.HasPrefix(r.url, "/") {
		if host := r.header("Host"); host != "" {
			r.url = "http://" + host + r.url
		}
	}
	switch {
	case r.method == "GRAPHQL" || equalFold(r.header("X-Request-Type"), "graphql"):
		r.graphql()
	case mediaType(r.header("Content-Type")) == formType:
		r.body.text = joinLines(r.body.text)
	}
	p.basic(r)
}

func joinLines(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		out.WriteString(strings.TrimSpace(line))
	}
	return out.String()
}

// graphql makes JSON of a document and, behind an empty line, its variables.
func (r *request) graphql() {
	document, values, _ := strings.Cut(r.body.text, "\n\n")
	r.method = "POST"
	r.headers = slices.DeleteFunc(r.headers, func(h pair) bool { return equalFold(h.name, "X-Request-Type") || equalFold(h.name, "Content-Type") })
	r.body.media = jsonType
	r.body.text = graphqlBody(document, "", values, func() {
		r.note("the variables of the GraphQL operation are no JSON object, and are left out")
	})
}

// basic reads "Basic user:password" and "Basic user password", which the editors encode by themselves.
func (p *httpReader) basic(r *request) {
	for i, h := range r.headers {
		if !equalFold(h.name, "Authorization") {
			continue
		}
		scheme, rest, _ := strings.Cut(h.value, " ")
		user, password, apart := strings.Cut(strings.TrimSpace(rest), " ")
		if equalFold(scheme, "basic") && (apart || strings.Contains(rest, ":")) {
			if apart {
				user += ":" + strings.TrimSpace(password)
			}
			r.user = user
			r.headers = slices.Delete(r.headers, i, i+1)
		}
		return
	}
}

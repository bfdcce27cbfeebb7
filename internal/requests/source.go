// Package requests makes drafts of plans from requests that somebody has already sent: a curl command, the recording of a
// browser (HAR), a Postman collection, or a file of requests of an editor (.http, .rest).
//
// The readers of the four formats only say what was sent, and what was answered where the source tells it. One inference for
// all of them (infer.go and what it calls) makes the draft: which requests are worth a test, where the key travels, what must
// differ for each request, what must exist first, and how effects can be counted. Credentials never get into a draft: they
// are replaced by variables.
package requests

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// source is what was read of a file or a command.
type source struct {
	name  string
	title string
	// requests in the order of the source.
	requests []request
	// left are parts that are told to the user: the draft's Left begins with them.
	left []string
	// secrets are values that are hidden wherever they occur.
	secrets []string
	// session is true for a recording of one client: other credentials in it are renewed ones, and what goes to other
	// hosts is none of the API's.
	session bool
	// command is true when the user named the requests one by one, so that none is left out for what it seems to be.
	command bool
}

// leave notes a part of the source that does not get into the draft.
func (s *source) leave(at strict.Pos, format string, args ...any) {
	s.left = append(s.left, at.String()+": "+fmt.Sprintf(format, args...))
}

// request is one request as it was sent. Its texts may have holes.
type request struct {
	at      strict.Pos
	name    string // given by the source; empty for none
	method  string
	url     string
	user    string // "user:password" for basic authentication; empty for none
	headers []pair
	// credential is a header that says who asks although its name does not tell; empty for none.
	credential string
	// secrets are values of this request that are hidden wherever they occur.
	secrets []string
	body    payload
	answer  *answer // nil when the source does not say
	notes   []string
}

type pair struct{ name, value string }

// payload is a body in the form in which the source has it; at most one of text, form and parts is set.
type payload struct {
	// media is the content type that the source states beside the headers; empty for none.
	media string
	text  string
	form  []pair
	parts []part
}

// part is a field of multipart/form-data.
type part struct {
	name, value string
	// file is the name of the file whose contents it sends; empty for a plain field.
	file  string
	media string
}

// answer is what a request was answered with.
type answer struct {
	status int // 0 when not known
	json   *yaml.Node
}

func (r *request) header(name string) string {
	for _, h := range r.headers {
		if equalFold(h.name, name) {
			return h.value
		}
	}
	return ""
}

func (r *request) note(format string, args ...any) {
	r.notes = append(r.notes, oneLine(fmt.Sprintf(format, args...)))
}

// succeeded is false for a request whose answer says so.
func (r *request) succeeded() bool {
	return r.answer == nil || r.answer.status == 0 || r.answer.status >= 200 && r.answer.status < 400
}

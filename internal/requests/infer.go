package requests

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// sent is a request with what was learned of it.
type sent struct {
	request
	index    int
	addr     address
	segments []segment
	// template is the path with "{name}" for each id.
	template string
	media    string
	json     *yaml.Node // the body, when it is JSON
	form     []pair     // the body, when it is a form
	// operation is the name of a GraphQL operation, and query is true when it only reads.
	operation string
	query     bool
	// credentials are header lines that say who asks; headers what is left of the others.
	credentials, plain []pair
	callerOf           int
}

// builder makes a draft of a source.
type builder struct {
	*source
	vault  *vault
	sent   []*sent
	byName map[string]*sent
	base   string
	// keyHeader is the first header of the source that carries a key; empty for none.
	keyHeader string
	produced  map[string][]product
	// creations are POSTs by where they go, removals DELETEs by the collection, reads GETs by the collection they are about.
	creations, removals map[string]*sent
	// things are creations by what they make: order for /orders.
	things map[string][]*sent
	reads  map[string][]*sent
	draft  draft.Draft
	names  map[string]int // how often each was given to an endpoint
	taken  map[string]bool
}

// infer makes the draft: one endpoint for each unsafe method and path.
func infer(s source) draft.Draft {
	b := &builder{source: &s, vault: newVault(), byName: map[string]*sent{}, names: map[string]int{}, taken: map[string]bool{}}
	b.draft = draft.Draft{Source: s.name, Title: oneLine(s.title)}
	b.prepare()
	b.chooseBase()
	b.callers()
	b.products()
	b.paths()
	b.endpoints()
	b.draft.Left = s.left
	b.scrub()
	return b.draft
}

func (b *builder) prepare() {
	for _, secret := range b.secrets {
		b.vault.remember(secret)
	}
	for i := range b.requests {
		b.reserve(&b.requests[i])
		for _, secret := range b.requests[i].secrets {
			b.vault.remember(secret)
		}
	}
	for i := range b.requests {
		s := &sent{request: b.requests[i], index: i, callerOf: -1}
		s.method = strings.ToUpper(s.method)
		s.addr = parseAddress(s.url)
		s.readBody()
		s.readOperation()
		b.splitHeaders(s)
		b.sent = append(b.sent, s)
		if s.name != "" && b.byName[s.name] == nil {
			b.byName[s.name] = s
		}
	}
}

// reserve keeps variables of the source from being given to secrets.
func (b *builder) reserve(r *request) {
	texts := []string{r.url, r.user, r.body.text}
	for _, list := range [][]pair{r.headers, r.body.form} {
		for _, p := range list {
			texts = append(texts, p.value)
		}
	}
	for _, text := range texts {
		for _, m := range holes.FindAllStringSubmatch(text, -1) {
			name := strings.TrimPrefix(m[1], bare)
			b.vault.taken[name] = max(b.vault.taken[name], 1)
		}
	}
}

func (s *sent) readBody() {
	s.media = s.header("Content-Type")
	if s.media == "" {
		s.media = s.body.media
	}
	text := s.body.text
	switch media := mediaType(s.media); {
	case s.body.parts != nil:
	case media == multipartType && text != "":
		if s.body.parts = readParts(s.media, text); s.body.parts != nil {
			s.body.text = ""
		}
	case s.body.form != nil:
		s.form = s.body.form
	case isJSONType(media):
		tree, ok := bodyJSON(text)
		if s.json = tree; !ok && strings.TrimSpace(text) != "" {
			s.note("the body is no JSON object or list, and stands here as text")
		}
	case media == formType || media == "" || media == "text/plain":
		if tree, ok := bodyJSON(text); ok {
			s.json = tree
			if media != "" {
				s.note("guess: the source sends the body as %s; it is JSON, and is sent as such", media)
			}
			s.media = ""
		} else if media == formType {
			s.form = parseForm(text)
		}
	}
	if repeated(s.form) {
		s.body.text, s.form = encodeForm(s.form), nil
		s.media = formType
		s.note("the form has a field twice, and stands here as text")
	}
}

func repeated(pairs []pair) bool {
	seen := map[string]bool{}
	for _, p := range pairs {
		if seen[p.name] {
			return true
		}
		seen[p.name] = true
	}
	return false
}

// safe says why a request creates nothing that could be created twice; empty when it might.
func (b *builder) safe(s *sent) string {
	switch {
	case slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY"}, s.method):
		return "is safe"
	case s.method == "CONNECT":
		return "is about a connection"
	case s.query:
		return "only asks (a GraphQL query)"
	case b.command || s.method != "POST":
		return ""
	}
	last := snake(s.segments[len(s.segments)-1].text)
	if last == "token" && (strings.Contains(s.addr.path, "/oauth") || hasName(s.form, "grant_type")) || slices.Contains([]string{"login", "signin", "sign_in", "logout", "signout", "sign_out"}, last) {
		return "is about credentials: a caller may have it as its `login`"
	}
	if slices.Contains([]string{"search", "query", "_search"}, last) || last == "graphql" && s.operation == "" && s.json == nil {
		return "seems to search only"
	}
	return ""
}

// group are requests that are one endpoint: of the same method, path and GraphQL operation.
type group struct {
	first *sent
	again int
}

func (b *builder) endpoints() {
	var order []string
	groups, safe := map[string]*group{}, map[string]*group{}
	for _, s := range b.sent {
		if b.session && s.addr.base != b.base {
			continue
		}
		why := b.safe(s)
		id := strings.Join([]string{s.method, s.addr.base, s.template, s.operation}, " ")
		among := groups
		if why != "" {
			among = safe
		}
		g := among[id]
		if g == nil {
			g = &group{first: s}
			among[id] = g
			order = append(order, id)
			continue
		}
		g.again++
		if why == "" && !g.first.succeeded() && s.succeeded() {
			g.first = s
		}
	}
	for _, id := range order {
		if g := safe[id]; g != nil {
			b.leaveSafe(g)
			delete(safe, id)
			continue
		}
		b.endpoint(groups[id])
	}
	b.leaveOthers()
}

func (b *builder) leaveSafe(g *group) {
	times := ""
	if g.again > 0 {
		times = fmt.Sprintf(" (sent %d times)", g.again+1)
	}
	b.leave(g.first.at, "%s %s%s%s %s%s", g.first.method, b.foreign(g.first), g.first.template, operationText(g.first), b.safe(g.first), times)
}

func operationText(s *sent) string {
	if s.operation == "" {
		return ""
	}
	return " " + s.operation
}

// foreign is the base of a request that does not go to the target; empty for one that does.
func (b *builder) foreign(s *sent) string {
	if s.addr.base == b.base || s.addr.base == "" {
		return ""
	}
	return planText(s.addr.base)
}

func (b *builder) endpoint(g *group) {
	s := g.first
	if why := s.unusable(); why != "" {
		b.leave(s.at, "%s %s %s", oneLine(s.method), oneLine(planText(s.addr.base))+s.template, why)
		return
	}
	l := &linker{b: b, of: s, named: map[string]string{}, taken: map[string]bool{}}
	e := draft.Endpoint{Place: s.at.String(), Template: s.template}
	if s.name != "" {
		e.Place += " " + oneLine(s.name)
	}
	e.Name = b.uniqueName(s)
	e.Comments = append(e.Comments, s.notes...)
	if !s.succeeded() {
		e.Comments = append(e.Comments, fmt.Sprintf("the source was answered with %d here: a test needs a request that works", s.answer.status))
	}
	if g.again > 0 {
		e.Comments = append(e.Comments, fmt.Sprintf("the source sends this %d times; this is one of them", g.again+1))
	}
	made := l.make(s, &e.Key)
	e.Request, e.Body = made.request, made.body
	e.Headers = append(b.otherCredentials(s, &e), made.headers...)
	if e.Key == (draft.Key{}) && s.method == "POST" {
		e.Key = b.guessedKey()
	}
	e.Setup = l.setup()
	e.Comments = append(e.Comments, l.comments...)
	if s.method == "POST" {
		b.count(&e, s, l)
		b.cleanup(&e, s, l)
		if !l.marked && len(e.Counters) == 0 {
			e.Comments = append(e.Comments, `no field was found that may hold any text: with "{{marker}}" in one, effects can be told apart`)
		}
	}
	b.draft.Endpoints = append(b.draft.Endpoints, e)
}

// guessedKey is the header that other requests of the source send, else the usual one.
func (b *builder) guessedKey() draft.Key {
	if b.keyHeader != "" {
		return draft.Key{Header: b.keyHeader, Guess: "the source sends no key here, but this one elsewhere"}
	}
	return draft.Key{Header: "Idempotency-Key", Guess: "the source sends no key; this is the header that most conventions have"}
}

func (b *builder) uniqueName(s *sent) string {
	name := oneLine(s.name)
	if name == "" {
		name = s.method + " " + strings.NewReplacer("{{", "{", "}}", "}").Replace(s.template) + operationText(s)
	}
	again := name
	for b.taken[again] {
		b.names[name]++
		again = fmt.Sprintf("%s (%d)", name, b.names[name]+1)
	}
	b.taken[again] = true
	return again
}

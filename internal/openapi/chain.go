package openapi

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"retrysafe/internal/draft"
)

// mostSteps and mostDepth bound a set-up; a longer one is better written by somebody who knows the API.
const (
	mostSteps = 6
	mostDepth = 4
	// mostCandidates is how many operations are looked at that may make a thing.
	mostCandidates = 10
)

var paramName = regexp.MustCompile(`\{[^{}]*\}`)

func isParam(segment string) bool {
	return strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}")
}

// route is the first n segments of a path, parameters without their names.
func (o *operation) route(n int) string {
	return paramName.ReplaceAllString(strings.Join(o.segments[:n], "/"), "{}")
}

// makers are last segments of paths that say what is done and not what with.
var makers = []string{"create", "new", "add"}

// resource is what an operation's path is about, in the singular.
func (o *operation) resource() string {
	for i := len(o.segments) - 1; i >= 0; i-- {
		if s := o.segments[i]; !isParam(s) && !(slices.Contains(makers, s) && i > 0) {
			return singular(s)
		}
	}
	return ""
}

// noun is the last part of an operation's path that says what it is about, as the document has it.
func (o *operation) noun() string {
	for _, s := range slices.Backward(o.segments) {
		if !isParam(s) {
			return s
		}
	}
	return ""
}

// singular is a word of a path in the singular, in small letters, parts joined by _.
func singular(s string) string {
	s = strings.Join(words(s), "_")
	switch {
	case strings.HasSuffix(s, "ies") && len(s) > 4:
		return s[:len(s)-3] + "y"
	case strings.HasSuffix(s, "ses"), strings.HasSuffix(s, "xes"), strings.HasSuffix(s, "ches"), strings.HasSuffix(s, "shes"):
		return strings.TrimSuffix(s[:len(s)-2], "_")
	case strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !strings.HasSuffix(s, "us"):
		return s[:len(s)-1]
	}
	return s
}

// chain is what must be made before a request, and the values that it gives.
type chain struct {
	b     *drafter
	steps []draft.Step
	// values are placeholders or plain values of parameters by their route and name.
	values map[string]string
	// captured are the placeholders by the resource that they name.
	captured map[string]string
	names    []string
	// strangers are members that refer to nothing that can be made.
	strangers map[string]bool
	comments  []string
	making    []*operation
}

func (b *drafter) newChain(o *operation) *chain {
	return &chain{b: b, values: map[string]string{}, captured: map[string]string{}, strangers: map[string]bool{}, making: []*operation{o}}
}

// request is a request as it was drafted.
type request struct {
	line    string
	headers []draft.Header
	made    made
}

// request drafts the request of an operation, with what it needs in front.
func (c *chain) request(o *operation) request {
	var notes []string
	line := o.Method + " " + c.path(o, &notes)
	body, comment := c.b.makeBody(o, c.refer)
	security := c.b.security(o)
	query := append(c.b.query(o, &notes), security.query...)
	if len(query) > 0 {
		separator := "?"
		if strings.Contains(line, "?") {
			separator = "&"
		}
		line += separator + strings.Join(query, "&")
	}
	r := request{line: line, headers: c.b.headers(o, security), made: body}
	if body.contentType != "" {
		r.headers = append(r.headers, draft.Header{Name: "Content-Type", Value: draft.Text{Value: body.contentType}})
	}
	if comment != "" {
		notes = append(notes, comment)
	}
	if len(c.making) == 1 { // notes on a set-up would stand beside the wrong request
		c.comments = append(c.comments, notes...)
	}
	return r
}

// path is the path of an operation with its parameters filled in.
func (c *chain) path(o *operation, notes *[]string) string {
	route, query, _ := strings.Cut(o.Path, "?")
	route, _, _ = strings.Cut(route, "#") // documents tell operations of one path apart by a fragment, which is never sent
	var out strings.Builder
	for i, segment := range strings.Split(strings.Trim(route, "/"), "/") {
		out.WriteByte('/')
		last := 0
		for _, found := range paramName.FindAllStringIndex(segment, -1) {
			out.WriteString(plainSegment(segment[last:found[0]]))
			out.WriteString(c.pathValue(o, i, segment[found[0]+1:found[1]-1], notes))
			last = found[1]
		}
		out.WriteString(plainSegment(segment[last:]))
	}
	if strings.HasSuffix(route, "/") && len(route) > 1 {
		out.WriteByte('/')
	}
	if query != "" {
		out.WriteString("?" + paramName.ReplaceAllStringFunc(query, func(found string) string {
			return url.QueryEscape(c.b.paramValue(o.param("query", strings.Trim(found, "{}"))).Value)
		}))
	}
	return out.String()
}

// plainSegment is text of a path that can stand in a plan.
func plainSegment(s string) string {
	if decoded, err := url.PathUnescape(s); err == nil {
		s = decoded
	}
	return strings.ReplaceAll(url.PathEscape(s), "%3A", ":")
}

// param is a declared parameter, or a made-up one where the document declares none of that name.
func (o *operation) param(in, name string) param {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, p := range o.params {
			if p.in == in && same(p.name, name) {
				return p
			}
		}
	}
	return param{name: name, in: in}
}

// pathValue is the value of a parameter in segment i.
func (c *chain) pathValue(o *operation, i int, name string, notes *[]string) string {
	name, _, _ = strings.Cut(strings.TrimLeft(name, "+#./;?&*"), ":") // routers write {id:[0-9]+}
	key := o.route(min(i+1, len(o.segments))) + " " + name
	if i < len(o.segments) {
		key = o.route(i+1) + " " + fmt.Sprint(strings.Index(o.segments[i], name))
	}
	if value, known := c.values[key]; known {
		return value
	}
	value, made := c.create(o, i, name)
	if !made {
		given := c.b.paramValue(o.param("path", name))
		value = strings.ReplaceAll(url.PathEscape(given.Value), "%3A", ":")
		if value == "" || strings.Trim(value, ".") == "" {
			value = fallbackText
		}
		if given.Guess != "" {
			*notes = append(*notes, fmt.Sprintf("guess: %s in the path is made up, and nothing in the document creates one: put in one that exists", name))
		}
	}
	c.values[key] = value
	return value
}

// create puts a set-up in front that makes what the parameter names, and is the placeholder for it.
func (c *chain) create(o *operation, i int, name string) (string, bool) {
	if i == 0 || i >= len(o.segments) || !isParam(o.segments[i]) || isParam(o.segments[i-1]) {
		return "", false
	}
	links := c.b.links[o]
	for _, l := range links[:min(len(links), mostCandidates)] {
		if l.param == name && c.mayMake(l.from) && c.fits(l.from, o, i) {
			return c.add(l.from, name, l.where, fmt.Sprintf("a link of the document leads from %s %s to here", l.from.Method, l.from.Path))
		}
	}
	collection := o.route(i)
	for _, route := range append([]string{collection}, under(collection)...) {
		maker := c.b.routes[route]["POST"]
		if maker == nil || !c.mayMake(maker) {
			continue
		}
		where, known, ok := c.b.idPath(maker, name)
		if !ok {
			continue
		}
		why := fmt.Sprintf("%s %s looks like what makes {%s}", maker.Method, maker.Path, name)
		if !known {
			why += ", and the document does not say where its answer has it"
		}
		return c.add(maker, name, where, why)
	}
	return "", false
}

func under(collection string) []string {
	var out []string
	for _, m := range makers {
		out = append(out, collection+"/"+m)
	}
	return out
}

func (c *chain) mayMake(o *operation) bool {
	return !slices.Contains(c.making, o) && len(c.making) < mostDepth && len(c.steps) < mostSteps
}

// fits is true when all parameters in the path of the maker are those of the other path before segment i.
func (c *chain) fits(maker, o *operation, i int) bool {
	for at, segment := range maker.segments {
		if paramName.MatchString(segment) && (at >= i || maker.route(at+1) != o.route(at+1)) {
			return false
		}
	}
	return true
}

// add puts the request of an operation in front, and is the placeholder for what it captures.
func (c *chain) add(maker *operation, name, where, why string) (string, bool) {
	c.making = append(c.making, maker)
	r := c.request(maker)
	c.making = c.making[:len(c.making)-1]
	step := draft.Step{Request: r.line, Headers: r.headers, Body: r.made.body, Guess: why}
	if key := keyOf(maker, r.made.key); key.Required && key.Header != "" {
		step.Headers = append(step.Headers, draft.Header{Name: key.Header, Value: draft.Text{Value: "{{uuid}}", Guess: "a key of the set-up's own"}})
	} else if key.Required && key.JSON != "" && step.Body.JSON != nil {
		setMember(step.Body.JSON, strings.TrimPrefix(key.JSON, "$."), guessed("{{uuid}}", "a key of the set-up's own"))
	}
	capture := c.captureName(name, maker.resource())
	step.Capture = []draft.Capture{{Name: capture, From: where}}
	c.steps = append(c.steps, step)
	c.captured[maker.resource()] = "{{" + capture + "}}"
	return "{{" + capture + "}}", true
}

var idWords = []string{"id", "ids", "uuid", "guid", "gid", "identifier", "key", "name", "slug", "code"}

// captureName is a name of its own for a captured value: the parameter's without "id", else the resource's.
func (c *chain) captureName(param, resource string) string {
	w := words(param)
	for len(w) > 0 && slices.Contains(idWords, w[len(w)-1]) {
		w = w[:len(w)-1]
	}
	name := strings.Join(w, "_")
	if name == "" {
		name = resource
	}
	if name == "" || slices.Contains([]string{"marker", "key", "uuid", "email", "now"}, name) {
		name = strings.TrimPrefix(name+"_id", "_")
	}
	for i, base := 2, name; slices.Contains(c.names, name); i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	c.names = append(c.names, name)
	return name
}

// refer is the placeholder of what a member such as customer_id refers to, made before where something in the API makes one.
func (c *chain) refer(member string) (placeholder, guess string) {
	if c.strangers[member] {
		return "", ""
	}
	if placeholder, guess = c.referTo(member); placeholder == "" {
		c.strangers[member] = true
	}
	return placeholder, guess
}

func (c *chain) referTo(member string) (placeholder, guess string) {
	w := words(member)
	if len(w) < 2 || w[len(w)-1] != "id" && w[len(w)-1] != "uuid" {
		return "", ""
	}
	resource := singular(strings.Join(w[:len(w)-1], "_"))
	why := fmt.Sprintf("%s looks like the id of a %s", member, resource)
	if known := c.captured[resource]; known != "" {
		return known, why
	}
	candidates := c.b.creators[resource]
	for _, maker := range candidates[:min(len(candidates), mostCandidates)] {
		if !c.mayMake(maker) || paramName.MatchString(maker.Path) {
			continue
		}
		if where, _, ok := c.b.idPath(maker, member); ok {
			placeholder, _ = c.add(maker, member, where, why)
			return placeholder, why
		}
	}
	return "", ""
}

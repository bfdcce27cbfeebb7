package requests

import (
	"regexp"
	"slices"
	"strings"
)

// segment is a part of a path between slashes.
type segment struct {
	text string
	// name is that of the parameter when the segment is an id; empty for fixed text.
	name string
}

var (
	numeric = regexp.MustCompile(`^\d+$`)
	// idForms are ULIDs, ids of document stores, prefixed ones such as ord_1, and others that are long and have digits.
	idForms = regexp.MustCompile(`^([0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}|[0-9a-f]{24}|[0-9a-f]{32}|[A-Za-z]{1,12}_[A-Za-z0-9]*\d[A-Za-z0-9]*|[A-Z]{1,6}-[0-9-]*\d[0-9-]*)$`)
	long    = regexp.MustCompile(`^[A-Za-z0-9_-]{16,}$`)
	version = regexp.MustCompile(`^v\d`)
)

// looksID is true for a text that hardly anybody gives to a resource as its name.
func looksID(text string) bool {
	switch {
	case numeric.MatchString(text), uuidForm.MatchString(text), idForms.MatchString(text):
		return true
	case looksSecret(text):
		return true
	}
	return long.MatchString(text) && strings.ContainsAny(text, "0123456789") && !version.MatchString(text)
}

// paths tells ids from names in the paths of all requests, and notes what is created where.
func (b *builder) paths() {
	b.creations, b.removals, b.reads = map[string]*sent{}, map[string]*sent{}, map[string][]*sent{}
	b.things = map[string][]*sent{}
	for _, s := range b.sent {
		s.segments = nil
		var template []string
		for i, text := range s.addr.segments() {
			seg := segment{text: text}
			before := ""
			if i > 0 {
				before = s.segments[i-1].text
			}
			switch {
			case hasHole(text):
				seg.name = parameterName(before, text)
			case numeric.MatchString(text) && (i == 0 || before == "api" || before == "v"):
			case looksID(text), i > 0 && b.isProduct(text):
				seg.name = parameterName(before, "")
			}
			s.segments = append(s.segments, seg)
			if seg.name != "" {
				template = append(template, "{"+seg.name+"}")
			} else {
				template = append(template, text)
			}
		}
		s.template = "/" + strings.Join(template, "/")
		b.index(s)
	}
}

// index notes what is created, listed, counted and removed where.
func (b *builder) index(s *sent) {
	switch last := s.segments[len(s.segments)-1]; {
	case !s.succeeded():
	case s.method == "POST" && b.creations[s.place()] == nil:
		b.creations[s.place()] = s
		about := thing(last.text)
		b.things[about] = append(b.things[about], s)
	case s.method == "GET":
		place := strings.TrimSuffix(s.place(), "/count")
		b.reads[place] = append(b.reads[place], s)
	case s.method == "DELETE" && last.name != "" && len(s.segments) > 1:
		if place := s.prefix(len(s.segments) - 1); b.removals[place] == nil {
			b.removals[place] = s
		}
	}
}

// place is where a request goes, ids left open.
func (s *sent) place() string { return s.addr.base + s.template }

// prefix is the place of the first n segments.
func (s *sent) prefix(n int) string {
	parts := strings.Split(strings.TrimPrefix(s.template, "/"), "/")
	return s.addr.base + "/" + strings.Join(parts[:n], "/")
}

// builtins are placeholders of the plan, whose names no capture can have.
var builtins = []string{"marker", "key", "uuid", "email", "now"}

// parameterName is what an id behind a collection is called: behind orders it is "order". Where nothing stands before it, its own
// name does.
func parameterName(collection, text string) string {
	name := snake(singular(collection))
	if name == "" || hasHole(collection) || looksID(collection) {
		name = "id"
		if content, ok := onlyHole(text); ok && !strings.ContainsAny(content, "<{") {
			name = snake(content)
		}
	}
	if slices.Contains(builtins, name) {
		name += "_id"
	}
	return name
}

// singular is a guess at the English singular of the name of a collection.
func singular(word string) string {
	lower := strings.ToLower(word)
	for _, end := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(lower, end) {
			return word
		}
	}
	if strings.HasSuffix(lower, "ies") && len(word) > 4 {
		return word[:len(word)-3] + "y"
	}
	for _, end := range []string{"sses", "xes", "ches", "shes"} {
		if strings.HasSuffix(lower, end) {
			return word[:len(word)-2]
		}
	}
	return strings.TrimSuffix(word, "s")
}

package requests

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/draft"
)

// mostSteps is how many requests a set-up may have: a longer chain is most likely a misunderstanding.
const mostSteps = 10

// linker makes one endpoint, and the set-up that its request needs.
type linker struct {
	b        *builder
	of       *sent
	steps    []*step
	making   []*sent
	named    map[string]string // captures by request and path
	taken    map[string]bool   // names of captures
	comments []string
	// uuidTaken is true when a step has {{uuid}} for its key.
	uuidTaken bool
	// marked is true when the body of the endpoint holds {{marker}}; markers are the placeholders of its fields by name.
	marked  bool
	markers map[string]marked
}

// marked is a field whose value is replaced by a placeholder.
type marked struct{ literal, placeholder string }

type step struct {
	of *sent
	draft.Step
}

// made is a request as the plan has it.
type made struct {
	request string
	headers []draft.Header
	body    draft.Body
}

func (l *linker) setup() []draft.Step {
	var out []draft.Step
	for _, s := range l.steps {
		out = append(out, s.Step)
	}
	return out
}

// make renders a request: of the endpoint, with the place of its key in key, or of the set-up, with a key of its own and a
// nil key.
func (l *linker) make(s *sent, key *draft.Key) made {
	l.making = append(l.making, s)
	defer func() { l.making = l.making[:len(l.making)-1] }()
	m := made{request: s.method + " " + l.b.foreign(s) + l.path(s)}
	if query := l.query(s, key); query != "" {
		m.request += "?" + query
	}
	m.headers = l.headers(s, key)
	m.body = l.body(s, key, &m.headers)
	return m
}

func (l *linker) path(s *sent) string {
	var out []string
	for i, seg := range s.segments {
		out = append(out, planText(l.segment(s, i, seg)))
	}
	return "/" + strings.Join(out, "/")
}

func (l *linker) segment(s *sent, i int, seg segment) string {
	if seg.name == "" {
		return seg.text
	}
	content, isHole := onlyHole(seg.text)
	if text, done := l.reference(s, seg.text, seg.name); done {
		return text
	}
	if !isHole && !hasHole(seg.text) {
		if p, ok := l.b.maker(s, seg.text, seg.name); ok {
			if text, ok := l.capture(p.by, p.path, seg.name, fmt.Sprintf("its answer had the id that %s %s is sent to", s.method, s.template)); ok {
				return text
			}
		}
	}
	if creation := l.b.creations[s.prefix(i)]; i > 0 && creation != nil && creation != s && !answered(creation) && (isHole || looksID(seg.text)) {
		if text, ok := l.capture(creation, "$.id", seg.name, "its answer is not in the source; $.id is where most APIs have the id"); ok {
			return text
		}
	}
	switch {
	case isHole:
		l.comment(s, "${%s} in the path must exist: export it, or capture it in a set-up", content)
		return seg.text
	case looksSecret(seg.text):
		text := l.b.vault.hide(seg.name+"_id", seg.text)
		l.comment(s, "%s in the path looks like a secret: export it, or capture it in a set-up", planText(text))
		return text
	case !hasHole(seg.text):
		l.comment(s, "guess: %s in the path is an id, and must exist; better capture it in a set-up", shown(seg.text))
	}
	return seg.text
}

// answered is true when the source has the answer, so that its id can be told.
func answered(s *sent) bool { return s.answer != nil && s.answer.json != nil }

func (l *linker) comment(s *sent, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s != l.of {
		text = s.method + " " + s.template + " of the set-up: " + text
	}
	if !slices.Contains(l.comments, text) {
		l.comments = append(l.comments, text)
	}
}

// reference fills in the holes that stand for what an earlier request of the source was answered with.
func (l *linker) reference(s *sent, text, name string) (filled string, done bool) {
	if !strings.Contains(text, string(open)+"<") && !strings.Contains(text, bare+"<") {
		return text, false
	}
	filled = holes.ReplaceAllStringFunc(text, func(whole string) string {
		ref := referenceTo(holes.FindStringSubmatch(whole)[1])
		if ref == (reference{}) {
			return whole
		}
		if by := l.b.byName[ref.of]; by != nil {
			if text, ok := l.capture(by, ref.from, name, ""); ok {
				return text
			}
		}
		l.comment(s, "%s stands for what %q was answered with: export it, or capture it in a set-up", planText(whole), oneLine(ref.of))
		return variable(ref.String())
	})
	return filled, true
}

// capture is the placeholder for a value that a request of the set-up is answered with. False when the request cannot be one.
func (l *linker) capture(by *sent, from, name, guess string) (string, bool) {
	if by == l.of || slices.Contains(l.making, by) {
		return "", false
	}
	id := fmt.Sprint(by.index, " ", from)
	if name, known := l.named[id]; known {
		return placeholder(name), true
	}
	st := l.stepOf(by, guess)
	if st == nil {
		return "", false
	}
	name = l.free(name, by)
	l.named[id] = name
	st.Capture = append(st.Capture, draft.Capture{Name: name, From: from})
	return placeholder(name), true
}

func (l *linker) stepOf(by *sent, guess string) *step {
	for _, st := range l.steps {
		if st.of == by {
			return st
		}
	}
	if len(l.steps)+len(l.making) > mostSteps {
		return nil
	}
	m := l.make(by, nil)
	st := &step{of: by, Step: draft.Step{Request: m.request, Headers: m.headers, Body: m.body, Guess: guess}}
	l.steps = append(l.steps, st)
	return st
}

// free is a name for a capture that no other has.
func (l *linker) free(name string, by *sent) string {
	name = snake(name)
	if name == "" || slices.Contains(builtins, name) || name == "id" {
		name = parameterName(by.segments[len(by.segments)-1].text, "")
	}
	out := name
	for n := 2; l.taken[out] || slices.Contains(builtins, out); n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	l.taken[out] = true
	return out
}

// query renders the query, and takes a key out of it.
func (l *linker) query(s *sent, key *draft.Key) string {
	if s.addr.query == "" {
		return ""
	}
	var out []pair
	changed := false
	for _, p := range s.addr.parameters() {
		if isKeyParameter(p.name, p.value) {
			changed = true
			if key != nil && *key == (draft.Key{}) {
				key.Query = literalOf(p.name)
			}
			continue
		}
		value, hidden := l.b.vault.value(p.name, p.value)
		if !hidden && snake(p.name) == "key" {
			value, hidden = l.b.vault.hide("API_KEY", p.value), true
		}
		if filled, done := l.reference(s, value, p.name); done {
			value, hidden = filled, true
		}
		changed = changed || hidden
		out = append(out, pair{p.name, value})
	}
	if !changed {
		return planText(mapLiterals(s.addr.query, encoded))
	}
	return planText(encodeForm(out))
}

// headers renders what is no credential. A step of a set-up has a key of its own.
func (l *linker) headers(s *sent, key *draft.Key) []draft.Header {
	var out []draft.Header
	for _, h := range s.plain {
		value := h.value
		switch {
		case isKeyHeader(h.name):
			if key == nil {
				out = append(out, draft.Header{Name: h.name, Value: draft.Text{Value: l.stepKey(s, value), Guess: "a key for this step alone"}})
			} else if key.Header == "" {
				*key = draft.Key{Header: h.name}
			}
			continue
		case equalFold(h.name, "accept") && !strings.Contains(value, "json") || strings.Contains(value, "*/*") && equalFold(h.name, "accept"):
			continue
		case equalFold(h.name, "if-match"), equalFold(h.name, "if-unmodified-since"):
			l.comment(s, "header %s holds what was true when the source was made", h.name)
		}
		if filled, done := l.reference(s, value, h.name); done {
			value = filled
		}
		out = append(out, draft.Header{Name: h.name, Value: draft.Text{Value: planText(value)}})
	}
	if key == nil && s.callerOf < 0 && len(l.b.draft.Callers) > 0 {
		for _, h := range s.credentials {
			if !slices.ContainsFunc(l.b.draft.Callers[0].Headers, func(c draft.Header) bool { return equalFold(c.Name, h.name) }) {
				out = append(out, draft.Header{Name: h.name, Value: draft.Text{Value: planText(h.value)}})
			}
		}
	}
	return out
}

// stepKey is a key for a step: one of a set-up may have the form of a UUID, where the source has it too.
func (l *linker) stepKey(s *sent, value string) string {
	drawn, _ := onlyHole(value)
	if (uuidForm.MatchString(value) || drawn == "{uuid") && !l.uuidTaken {
		l.uuidTaken = true
		return "{{uuid}}"
	}
	return "{{marker}}-" + fmt.Sprint(s.index+1)
}

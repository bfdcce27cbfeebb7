package plan

import (
	"slices"
	"strconv"
	"strings"

	"retrysafe/internal/strict"
)

// Values yields what stands for a placeholder.
type Values interface {
	// Lookup is the value of a placeholder ("marker", "key", "uuid", "email", "now", "send.uuid", "send.now" or a
	// capture), at most limit characters long; 0 is no limit.
	Lookup(name string, limit int) string
}

// Template is a text with placeholders such as {{marker}}. The zero value renders as empty text.
type Template struct {
	// Pos is where the text stands in the plan; the zero Pos for text from elsewhere.
	Pos    strict.Pos
	source string
	parts  []part
}

// part is either text or a placeholder.
type part struct {
	text  string
	name  string
	limit int
	// number is true for one that is written as a number, without quotes.
	number bool
	// ofCaller is true for one of a caller's vars.
	ofCaller bool
}

// A marker of fewer than 8 letters and digits could be drawn twice in a run: of 10,000 markers two would
// agree with a probability of 2 % at 8 characters and of 98 % at 6 (36 characters, birthday bound).
// 255 is what fields that hold a reference rarely exceed.
const (
	leastMarker = 8
	mostMarker  = 255
)

// numberWord stands behind a placeholder that is to be a number: {{user:number}}.
const numberWord = "number"

var (
	builtins   = []string{"marker", "key", "uuid", "email", "now"}
	perRequest = []string{"send.uuid", "send.now"}
)

// names says which placeholders a template may use.
type names struct {
	// captures are those that are declared for the place.
	captures []string
	// header is true where placeholders that change with every request are allowed.
	header bool
	// vars are those of callers; nil where no caller is at work.
	vars *vars
	// json is true for the texts of a JSON body, where a placeholder can stand for a number.
	json bool
	// capturesOnly is true where no round is under way, so that nothing is drawn: clean-up, log-ins, hooks that are about
	// no key.
	capturesOnly bool
}

func (n names) known() []string {
	var known []string
	if !n.capturesOnly {
		known = append(known, builtins...)
	}
	known = append(known, n.captures...)
	known = append(known, n.vars.names()...)
	if n.header {
		known = append(known, perRequest...)
	}
	return known
}

// inHeader is n for the value of a header.
func (n names) inHeader() names {
	n.header = true
	return n
}

// inJSON is n for the texts of a JSON body.
func (n names) inJSON() names {
	n.json = true
	return n
}

// literal is a template without placeholders.
func literal(s string) Template {
	return Template{source: s, parts: []part{{text: s}}}
}

// parseTemplate reads the placeholders of a text. What a variable of the environment contributed is data:
// braces in it mean nothing.
func parseTemplate(t strict.Text, allowed names) Template {
	out := Template{Pos: t.Pos(), source: t.Source()}
	for at := 0; at < len(t.Value); {
		open := nextOpen(t, at)
		if open < 0 {
			out.parts = append(out.parts, part{text: t.Value[at:]})
			break
		}
		if open > at {
			out.parts = append(out.parts, part{text: t.Value[at:open]})
		}
		end := strings.Index(t.Value[open:], "}}")
		if end < 0 {
			t.Errorf(open, 2, "expected }} after {{, found the end of the text: close the placeholder")
			break
		}
		end += open + 2
		if p, ok := parsePlaceholder(t, open, end, allowed); ok {
			out.parts = append(out.parts, p)
		}
		at = end
	}
	if len(out.parts) > 1 && slices.ContainsFunc(out.parts, func(p part) bool { return p.number }) {
		t.Errorf(0, len([]rune(t.Value)), "{{NAME:number}} is a number of its own: expected nothing beside it, found %s", t.Show())
	}
	return out
}

func nextOpen(t strict.Text, at int) int {
	for {
		i := strings.Index(t.Value[at:], "{{")
		if i < 0 {
			return -1
		}
		if !t.Literal(at + i) {
			return at + i
		}
		at += i + 1
	}
}

func parsePlaceholder(t strict.Text, open, end int, allowed names) (part, bool) {
	whole := t.Value[open:end]
	width := len([]rune(whole))
	name, limit, limited := strings.Cut(strings.TrimSpace(whole[2:len(whole)-2]), ":")
	known := allowed.known()
	switch {
	case len(known) == 0:
		t.Errorf(open, width, "expected no placeholder here, found %s: this belongs to no key or round, write the value itself", whole)
	case slices.Contains(perRequest, name) && !allowed.header:
		t.Errorf(open, width, "%s changes with every request and is allowed in headers only, so that retries stay the same: use {{%s}}", whole, strings.TrimPrefix(name, "send."))
	case !slices.Contains(known, name):
		t.Errorf(open, width, "unknown placeholder %q%s (known: %s)", name, strict.DidYouMean(name, known), strings.Join(known, ", "))
	case limited && name != "marker" && limit == numberWord && allowed.json && !slices.Contains(builtins, name):
		p := allowed.use(t, open, width, name)
		p.number = true
		return p, true
	case limited && name != "marker" && limit == numberWord:
		t.Errorf(open, width, "only captures and vars in a `body` can be numbers, found %s: write {{%s}}", whole, name)
	case limited && name != "marker":
		t.Errorf(open, width, "only {{marker:N}} takes a length, found %s: write {{%s}}", whole, name)
	case limited:
		size, err := strconv.Atoi(limit)
		if err != nil || size < leastMarker || size > mostMarker {
			t.Errorf(open, width, "expected a length from %d to %d, found %s: shorter markers could meet by chance", leastMarker, mostMarker, whole)
			return part{}, false
		}
		return part{name: name, limit: size}, true
	default:
		return allowed.use(t, open, width, name), true
	}
	return part{}, false
}

// use is a placeholder that is known and has nothing behind its name.
func (n names) use(t strict.Text, open, width int, name string) part {
	ofCaller := n.vars.has(name) && !slices.Contains(n.captures, name)
	if ofCaller {
		n.vars.use(name, t.At(open), width)
	}
	return part{name: name, ofCaller: ofCaller}
}

// number is true for a text that is one placeholder to be written as a number.
func (t Template) number() bool { return len(t.parts) == 1 && t.parts[0].number }

// String is the text as it stands in the plan, placeholders and ${VAR} not filled in.
func (t Template) String() string { return t.source }

// Empty is true for a text without a character.
func (t Template) Empty() bool { return len(t.parts) == 0 }

// Render fills the placeholders in, nothing escaped: for bodies, and for arguments, which no shell sees.
func (t Template) Render(v Values) string {
	var out strings.Builder
	for _, p := range t.parts {
		out.WriteString(p.value(v))
	}
	return out.String()
}

func (p part) value(v Values) string {
	if p.name == "" {
		return p.text
	}
	return v.Lookup(p.name, p.limit)
}

// Uses is true when the placeholder occurs, whatever its length.
func (t Template) Uses(name string) bool { return slices.Contains(t.Placeholders(), name) }

// Placeholders are the names of all placeholders, in order, repeated ones too.
func (t Template) Placeholders() []string {
	var found []string
	for _, p := range t.parts {
		if p.name != "" {
			found = append(found, p.name)
		}
	}
	return found
}

// marked is true when the text differs for every scope of a round.
func (t Template) marked() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool {
		return p.name != "" && !p.ofCaller && p.name != "uuid" && p.name != "now" && p.name != "email" && !slices.Contains(perRequest, p.name)
	})
}

// sameForAll is true when the text holds no placeholder, or vars of callers alone.
func (t Template) sameForAll() bool {
	return !strings.Contains(t.source, "{{") ||
		len(t.Placeholders()) > 0 && !slices.ContainsFunc(t.parts, func(p part) bool { return p.name != "" && !p.ofCaller })
}

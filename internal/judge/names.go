package judge

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/trace"
)

// creationName is one value that names a creation in an answer.
type creationName struct {
	field, text string
	// telling is true when the value hardly occurs by accident: a short number, or a word without digits, does.
	telling bool
}

const (
	// tellingLength is from how many characters on a value with a digit tells one creation from another.
	tellingLength = 4
	// tellingNumber is the same for values of digits alone: shorter ones are counted up from 1 everywhere, and may be
	// years, prices or quantities.
	tellingNumber = 9
	// tellingWord is the same for values without a digit.
	tellingWord = 12
)

func isTelling(text string) bool {
	digits := strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0
	number := strings.Trim(text, "0123456789") == ""
	switch {
	case number:
		return len(text) >= tellingNumber
	case strings.Contains(text, "/"): // a Location is as telling as its last part
		return isTelling(text[strings.LastIndex(text, "/")+1:])
	case digits:
		return len(text) >= tellingLength
	}
	return len(text) >= tellingWord
}

// names are the values by which a success answer names its creation; text is that answer.
func (v *view) names(i int, text written) []creationName {
	var out []creationName
	for k, f := range v.learned.CreationFields {
		if isIdentity(f) && v.ids[i] != nil && v.ids[i][k] != "" && text.fields[f] != "" {
			out = append(out, creationName{f, text.fields[f], isTelling(text.fields[f])})
		}
	}
	return out
}

// written is an answer as it was written: the fields by their places, and every text that may hold a name.
type written struct {
	fields map[string]string
	texts  []string
}

func writtenIn(r *trace.Response) written {
	w := written{fields: map[string]string{}, texts: []string{string(content(r))}}
	if doc := bodyJSON(r); doc != nil {
		for _, l := range doc.leaves("$", "", nil) {
			if l.value.kind != isNull {
				w.fields[l.path] = l.value.text
			}
			if l.value.kind == isString {
				w.texts = append(w.texts, l.value.text) // without the escapes of JSON
			}
		}
	} else {
		for i, word := range words(wholeText(r), nil) {
			w.fields[fmt.Sprintf("%s%d", fieldWord, i+1)] = word
		}
	}
	if loc := firstHeader(r.Headers, "Location"); loc != "" {
		w.fields[fieldLocation] = loc
	}
	for _, h := range r.Headers {
		w.texts = append(w.texts, h.Value)
	}
	return w
}

// holds reports whether a text stands somewhere in an answer, on its own.
func (w written) holds(text string) bool {
	return slices.ContainsFunc(w.texts, func(s string) bool { return standsIn(s, text) })
}

func standsIn(s, text string) bool {
	return strings.Contains(s, text) && replaceWord(s, text, "\x00") != s
}

// holdsRequest reports whether a request carried a text itself.
func holdsRequest(x *trace.Exchange, text string) bool {
	if standsIn(x.Request.URL, text) || standsIn(string(x.Request.Body.Bytes()), text) {
		return true
	}
	return slices.ContainsFunc(x.Request.Headers, func(h trace.Header) bool { return standsIn(h.Value, text) })
}

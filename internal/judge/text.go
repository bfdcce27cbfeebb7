package judge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"retrysafe/internal/trace"
)

// excerptLimit is how many characters of a body are shown: about two lines of a terminal.
const excerptLimit = 200

// shorten puts s on one line and cuts it to limit characters.
func shorten(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

func bodyExcerpt(r *trace.Response) string {
	b, text := r.Body, content(r)
	switch {
	case isEmpty(r):
		return "no body"
	case !utf8.Valid(text):
		return fmt.Sprintf("%d bytes that are no text", max(b.Size, int64(len(b.Bytes()))))
	}
	return shorten(string(text), excerptLimit)
}

// answerText shows what an exchange was answered on one line.
func answerText(x *trace.Exchange) string {
	if x.Response == nil {
		return fmt.Sprintf("no answer (%s: %s)", x.Broke, x.Error)
	}
	if x.Response.Status/100 == 3 {
		return fmt.Sprintf("status %d, Location %q, %s", x.Response.Status, location(x), bodyExcerpt(x.Response))
	}
	return fmt.Sprintf("status %d, %s", x.Response.Status, bodyExcerpt(x.Response))
}

// classText says in words what a class of answers is.
func classText(c trace.Class) string {
	switch c {
	case trace.ClassNone:
		return "no complete answer"
	case trace.ClassBusy:
		return "turned away"
	case trace.ClassIntermediary:
		return "answered by something in between"
	case trace.ClassInProgress:
		return "still in progress"
	case trace.ClassFailed:
		return "server error (5xx)"
	}
	return string(c)
}

// plural gives "1 effect", "2 effects".
func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// header gives all values of a header in the order of arrival.
func header(hs []trace.Header, name string) []string {
	var out []string
	for _, h := range hs {
		if strings.EqualFold(h.Name, name) {
			out = append(out, h.Value)
		}
	}
	return out
}

func firstHeader(hs []trace.Header, name string) string {
	if all := header(hs, name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// either lists statuses as "400, 409 or 422".
func either(statuses []int) string {
	var out strings.Builder
	for i, s := range statuses {
		switch {
		case i == 0:
		case i == len(statuses)-1:
			out.WriteString(" or ")
		default:
			out.WriteString(", ")
		}
		fmt.Fprint(&out, s)
	}
	return out.String()
}

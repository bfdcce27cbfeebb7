package judge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"retrysafe/internal/trace"
)

// isVolatile reports whether members of that name change with every answer whatever was created: ids of the
// request or its trace, and marks of a replay. Names are compared without case, "_" and "-".
func isVolatile(name string) bool {
	switch plainName(name) {
	case "requestid", "xrequestid", "traceid", "spanid", "traceparent", "correlationid", "xcorrelationid",
		"replayed", "idempotentreplayed", "idempotencyreplayed":
		return true
	}
	return false
}

// isDurationName reports whether members of that name say how long something took. They differ between two creations
// without identifying either, so they are no creation fields; a replay must still repeat them.
func isDurationName(name string) bool {
	switch plainName(name) {
	case "duration", "durationms", "elapsed", "elapsedms", "took", "tookms", "latency", "latencyms",
		"processingtime", "processingtimems", "responsetime", "responsetimems", "uptime":
		return true
	}
	return false
}

func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// layouts are the ways in which answers write moments, beside numbers.
func layouts() []string {
	return []string{
		time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04",
		"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 Z07:00", "2006-01-02 15:04:05.999999999 -0700",
		"2006-01-02 15:04:05.999999999 MST", "2006-01-02 15:04:05.999999999", "2006-01-02", "20060102T150405Z",
		time.RFC1123, time.RFC1123Z, time.RFC850, time.RFC822, time.RFC822Z, time.ANSIC, time.UnixDate,
		"02/01/2006 15:04:05", "01/02/2006 15:04:05", "15:04:05.999999999",
	}
}

// Moments between 2001 and 2100 in seconds since 1970; by thousands up to nanoseconds.
const (
	epochFrom = 978307200
	epochTo   = 4102444800
)

// isTime reports whether a leaf can be a moment.
func isTime(v *value) bool {
	switch v.kind {
	case isString:
		return slices.ContainsFunc(layouts(), func(layout string) bool {
			_, err := time.Parse(layout, v.text)
			return err == nil
		})
	case isNumber:
		n, err := strconv.ParseFloat(v.text, 64)
		for unit := 1.0; err == nil && unit <= 1e9; unit *= 1e3 {
			if n >= epochFrom*unit && n < epochTo*unit {
				return true
			}
		}
	}
	return false
}

// momentsInText finds dates with a time of day within text: RFC 3339 and the like, and HTTP dates.
var momentsInText = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d:?\d\d))?` +
	`|(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT`)

// echo is a value that the request carried and the answer may repeat.
type echo struct {
	text string
	// as stands for it, the same in every round.
	as string
}

// echoesOf are what the answer of x may repeat, longest first.
func echoesOf(r *trace.Round, x *trace.Exchange) []echo {
	out := []echo{{x.Key, "{key}"}}
	for _, s := range r.Scopes {
		if s.Name != x.Scope {
			continue
		}
		out = append(out, echo{s.Marker, "{marker}"})
		for name, text := range s.Captures {
			out = append(out, echo{text, "{" + name + "}"})
		}
	}
	out = slices.DeleteFunc(out, func(e echo) bool { return e.text == "" })
	slices.SortFunc(out, func(a, b echo) int {
		if d := len(b.text) - len(a.text); d != 0 {
			return d
		}
		return strings.Compare(a.as, b.as)
	})
	return out
}

// anywhere is the length from which an echo is recognised inside a longer word; a shorter one, such as the
// capture "7", only where it stands alone ("/carts/7", not "17").
const anywhere = 6

// withoutEchoes replaces what a text repeats of its request.
func withoutEchoes(s string, echoes []echo) string {
	for _, e := range echoes {
		if len(e.text) >= anywhere {
			s = strings.ReplaceAll(s, e.text, e.as)
			continue
		}
		s = replaceWord(s, e.text, e.as)
	}
	return s
}

func replaceWord(s, word, by string) string {
	var out strings.Builder
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			out.WriteString(s[from:])
			return out.String()
		}
		i += from
		end := i + len(word)
		alone := (i == 0 || !wordByte(s[i-1])) && (end == len(s) || !wordByte(s[end]))
		if !alone {
			out.WriteString(s[from : i+1])
			from = i + 1
			continue
		}
		out.WriteString(s[from:i] + by)
		from = end
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// leafText is a leaf as text to compare, without echoes.
func leafText(v *value, echoes []echo) string {
	if v.kind != isNumber {
		return withoutEchoes(v.text, echoes)
	}
	text := canonicalNumber(v.text)
	for _, e := range echoes {
		if json := parseJSON([]byte(e.text)); json != nil && json.kind == isNumber && canonicalNumber(e.text) == text {
			return e.as
		}
	}
	return text
}

// plainText is a body that is no JSON, without echoes and moments.
func plainText(s string, echoes []echo) string {
	return momentsInText.ReplaceAllString(withoutEchoes(s, echoes), "{time}")
}

package judge

import (
	"math"
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
	case "requestid", "xrequestid", "trace", "traceid", "spanid", "traceparent", "correlationid", "xcorrelationid",
		"rid", "reqid", "nonce", "csrftoken", "replayed", "idempotentreplayed", "idempotencyreplayed":
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
		"02/01/2006 15:04:05", "01/02/2006 15:04:05", "01/02/2006 03:04:05 PM", "1/2/2006 3:04:05 PM", "15:04:05.999999999", "3:04:05 PM",
	}
}

// nearNow is how far a number may be from the answer's own Date to be taken for a moment, in seconds: a day. Ids
// are numbers too, and many are as large as an epoch.
const nearNow = 86400

// isTime reports whether a leaf of an answer can be a moment.
func isTime(v *value, a *trace.Response) bool {
	switch v.kind {
	case isString:
		inner := strings.TrimSuffix(strings.TrimPrefix(v.text, "/Date("), ")/") // the form of old .NET services
		return isEpoch(inner, a) || slices.ContainsFunc(layouts(), func(layout string) bool {
			_, err := time.Parse(layout, v.text)
			return err == nil
		})
	case isNumber:
		return isEpoch(v.text, a)
	}
	return false
}

// isEpoch reports whether a number counts seconds since 1970, or thousandths, millionths or billionths of them,
// near the Date of the answer. Without a Date (RFC 9110 section 6.6.1 lets only servers without a clock leave it
// out) no number is taken for a moment.
func isEpoch(text string, a *trace.Response) bool {
	date, err := time.Parse(time.RFC1123, firstHeader(a.Headers, "Date"))
	n, bad := strconv.ParseFloat(text, 64)
	if err != nil || bad != nil {
		return false
	}
	for unit := 1.0; unit <= 1e9; unit *= 1e3 {
		if math.Abs(n/unit-float64(date.Unix())) <= nearNow {
			return true
		}
	}
	return false
}

// isIdentity reports whether a member of that name, or a place such as "header Location", names a thing. What
// differs under other names may differ with every answer.
func isIdentity(path string) bool {
	return strings.HasPrefix(path, fieldWord) || path == fieldLocation || identityName.MatchString(path)
}

// identityName matches the end of a path to a member that names a thing: id, order_id, orderId, number and the like.
var identityName = regexp.MustCompile(`(^|[^A-Za-z0-9])(id|ID|Id|uuid|guid|no|nr|ref|key|self|location|slug|code)'?\]?(\[\d+\])*$` +
	`|[a-z0-9](Id|ID|Uuid|UUID|Guid|No|Nr|Ref|Key|Code)'?\]?(\[\d+\])*$|(?i)(number|reference)'?\]?(\[\d+\])*$`)

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

// replaceWord replaces a word where it stands alone; the empty word stands nowhere.
func replaceWord(s, word, by string) string {
	if word == "" {
		return s
	}
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
	return trace.WithoutMoments(withoutEchoes(s, echoes))
}

// words are the parts of a body that is no JSON, without echoes and moments; nil for one that is too long to be
// compared word by word.
func words(s string, echoes []echo) []string {
	if len(s) > wordsMost {
		return nil
	}
	return strings.FieldsFunc(plainText(s, echoes), func(r rune) bool {
		return r < 0x80 && !wordByte(byte(r)) && r != '-' && r != '{' && r != '}'
	})
}

// wordsMost is the length in bytes of the longest body that is compared word by word: beyond it answers are documents,
// not acknowledgements.
const wordsMost = 64 << 10

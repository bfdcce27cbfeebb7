package strict

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	days  = regexp.MustCompile(`^\d+d$`)
	sizes = regexp.MustCompile(`^(\d+) ?(B|kB|KB|KiB|MB|MiB|GB|GiB)?$`)
	// numbers are those of RFC 8259, section 6.
	numbers = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// Text is a text. Numbers and truth values must be quoted to be texts.
func (v Value) Text() Text {
	switch v.Kind() {
	case Absent:
		return Text{}
	case String:
		return v.text()
	case Number, Boolean:
		if len(v.text().Variables()) > 0 {
			return v.text() // a text field whose variable happens to look like a number
		}
		v.Errorf("expected text, found %s: quote it", describe(v.node))
		return Text{}
	}
	v.Expected("text")
	return Text{}
}

// Scalar is a text, number or truth value as it is written; for headers and forms, where all are text.
func (v Value) Scalar() Text {
	switch v.Kind() {
	case Absent:
		return Text{}
	case String, Number, Boolean:
		return v.text()
	}
	v.Expected("text or a number")
	return Text{}
}

// Bool is true or false; yes and no are accepted too. False when absent.
func (v Value) Bool() bool {
	if !v.Present() {
		return false
	}
	switch strings.ToLower(v.text().Value) {
	case "true", "yes":
		return true
	case "false", "no":
		return false
	}
	v.Expected("true or false")
	return false
}

// Int is a whole number between least and most; 0 when absent or wrong.
func (v Value) Int(least, most int64) int64 {
	if !v.Present() {
		return 0
	}
	n, err := strconv.ParseInt(v.text().Value, 10, 64)
	if err != nil || v.Kind() != Number {
		v.Expected("a whole number")
		return 0
	}
	if n < least || n > most {
		v.Errorf("expected a number from %d to %d, found %s", least, most, v.text().Show())
		return 0
	}
	return n
}

// Float is a decimal number above least and up to most; 0 when absent or wrong.
func (v Value) Float(above, most float64) float64 {
	if !v.Present() {
		return 0
	}
	f, err := strconv.ParseFloat(v.text().Value, 64)
	if v.Kind() != Number {
		v.Expected("a number")
		return 0
	}
	if err != nil || f <= above || f > most {
		v.Errorf("expected a number above %g and up to %g, found %s", above, most, v.text().Show())
		return 0
	}
	return f
}

// Duration is a positive span of time in Go's syntax (300ms, 30s, 24h); 0 when absent or wrong.
func (v Value) Duration() time.Duration {
	if !v.Present() {
		return 0
	}
	t := v.text()
	d, err := time.ParseDuration(t.Value)
	switch {
	case v.Kind() == List || v.Kind() == Mapping || v.Kind() == Nothing:
		v.Expected("a duration such as 30s")
	case IsNumber(t.Value):
		v.Errorf("expected a duration with a unit, found %s: write %[2]ss, %[2]sms or %[2]sm", t.Show(), t.Source())
	case err != nil && days.MatchString(t.Value):
		v.Errorf("expected a duration such as 30s, 15m or 24h, found %s: write days as hours", t.Show())
	case err != nil:
		v.Errorf("expected a duration such as 30s, 15m or 24h, found %s", t.Show())
	case d <= 0:
		v.Errorf("expected a duration above zero, found %s", t.Show())
	default:
		return d
	}
	return 0
}

// Size is a number of bytes, 1 or more: 1MiB, 64KiB, 500kB or a plain number; 0 when absent or wrong.
func (v Value) Size() int64 {
	if !v.Present() {
		return 0
	}
	t := v.text()
	m := sizes.FindStringSubmatch(t.Value)
	if m == nil {
		if k := v.Kind(); k == String || k == Number {
			v.Errorf("expected a size such as 64KiB or 1MiB, found %s", t.Show())
		} else {
			v.Expected("a size such as 64KiB or 1MiB")
		}
		return 0
	}
	units := map[string]int64{"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "KiB": 1 << 10, "MB": 1e6, "MiB": 1 << 20, "GB": 1e9, "GiB": 1 << 30}
	n, ok := new(big.Int).SetString(m[1], 10)
	if !ok {
		return 0
	}
	n.Mul(n, big.NewInt(units[m[2]]))
	if most := int64(1 << 40); !n.IsInt64() || n.Int64() < 1 || n.Int64() > most {
		v.Errorf("expected a size from 1 byte to 1024GiB, found %s", t.Show())
		return 0
	}
	return n.Int64()
}

// Enum is one of the values; empty when absent or wrong.
func (v Value) Enum(values ...string) string {
	if !v.Present() {
		return ""
	}
	switch v.Kind() {
	case List, Mapping, Nothing:
		v.Expected(oneOf(values))
		return ""
	}
	t := v.text()
	if slices.Contains(values, t.Value) {
		return t.Value
	}
	v.Errorf("expected %s, found %s%s", oneOf(values), t.Show(), DidYouMean(t.Value, values))
	return ""
}

// oneOf is a list of alternatives in a message.
func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}

// IsNumber is true for a number as JSON writes it (RFC 8259, section 6).
func IsNumber(s string) bool {
	return numbers.MatchString(s)
}

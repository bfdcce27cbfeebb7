package judge

import (
	"strconv"
	"strings"
)

// canonicalNumber gives one text for all spellings of a JSON number: 1, 1.0, 10e-1 and 1E0 are "1e0". It is exact
// for any number of digits. An exponent beyond 18 digits is left as it is written.
func canonicalNumber(s string) string {
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.ParseInt(s[i+1:], 10, 64)
		if err != nil || e > 1e17 || e < -1e17 {
			return s
		}
		mantissa, exponent = s[:i], e
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0e0"
	}
	exponent += int64(len(digits) - len(trimmed))
	if negative {
		trimmed = "-" + trimmed
	}
	return trimmed + "e" + strconv.FormatInt(exponent, 10)
}

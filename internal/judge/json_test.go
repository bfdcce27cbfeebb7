package judge

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       string // the places, "~" before a changed value
		reason     string
	}{
		{"order of members", `{"a":1,"b":2}`, `{"b":2,"a":1}`, "", "objects have no order"},
		{"spelling of numbers", `[1,1.0,100,-0]`, `[1.0,10e-1,1E2,0]`, "", "compared by value"},
		{"spelling of strings", `"\u0041/"`, `"A\/"`, "", "escapes are spelling"},
		{"large integers", `12345678901234567890`, `12345678901234567891`, "~$", "exact beyond float64"},
		{"tiny fractions", `0.1`, `0.10000000000000000001`, "~$", "exact below float64"},
		{"huge exponents", `1e999999999`, `1e999999998`, "~$", "without expanding them"},
		{"changed", `{"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, "~$.a.b[1]", "the place is named"},
		{"missing", `{"a":1,"b":2}`, `{"a":1}`, "$.b", "a field is gone"},
		{"extra", `{"a":1}`, `{"a":1,"b":null}`, "$.b", "null is a value"},
		{"type", `{"a":1}`, `{"a":"1"}`, "$.a", "a number is no string"},
		{"null and absent", `{"a":null}`, `{"a":1}`, "$.a", "another type"},
		{"booleans", `true`, `false`, "~$", "changed"},
		{"longer list", `[1]`, `[1,2]`, "$[1]", "an element more"},
		{"order of elements", `[1,2]`, `[2,1]`, "~$[0] ~$[1]", "lists have an order"},
		{"double encoded", `{"a":1}`, `"{\"a\":1}"`, "$", "a string that holds JSON is no object"},
		{"twice the same member", `{"a":1,"a":2}`, `{"a":2}`, "$.a", "readers disagree which one counts"},
		{"twice on both sides", `{"a":1,"a":2}`, `{"a":1,"a":2}`, "", "equal in order"},
		{"twice in another order", `{"a":1,"a":2}`, `{"a":2,"a":1}`, "~$.a ~$.a", "the order of equal names counts"},
		{"odd names", `{"a b":1,"":2,"ü":3}`, `{"a b":2,"":3,"ü":4}`, "~$['a b'] ~$[''] ~$.ü", "quoted where RFC 9535 wants it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range diff(parseJSON([]byte(tt.a)), parseJSON([]byte(tt.b)), skipNothing) {
				if d.changed {
					d.path = "~" + d.path
				}
				got = append(got, d.path)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}

func TestParseJSONRefuses(t *testing.T) {
	for reason, text := range map[string]string{
		"empty":           "",
		"trailing text":   "{} x",
		"two documents":   "1 2",
		"not valid UTF-8": "\"\xff\"",
		"too deep":        strings.Repeat("[", jsonDepth+2) + strings.Repeat("]", jsonDepth+2),
		"cut off":         `{"a":`,
	} {
		if v := parseJSON([]byte(text)); v != nil {
			t.Errorf("%s: got a document", reason)
		}
	}
}

func TestSelected(t *testing.T) {
	got := map[string]bool{}
	selected([]byte(`{"a":[{"at":1},{"at":2}],"b c":{"at":3}}`), []string{"$..at", "$['b c']", "$.none", "not a path"}, got)
	for _, want := range []string{"$.a[0].at", "$.a[1].at", "$['b c'].at", "$['b c']"} {
		if !got[want] {
			t.Errorf("%s is not selected", want)
		}
	}
	if len(got) != 4 {
		t.Errorf("got %v", got)
	}
}

func TestCanonicalNumber(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{"1", "1e0", "plain"}, {"1.0", "1e0", "trailing zero"}, {"10e-1", "1e0", "exponent"}, {"0.001", "1e-3", "leading zeros"},
		{"-0", "0e0", "no negative zero"}, {"0e99999999999999999999", "0e99999999999999999999", "an exponent beyond all bounds stays as written"},
		{"1200", "12e2", "zeros go to the exponent"}, {"-1.50E+3", "-15e2", "sign and capital E"},
	} {
		if got := canonicalNumber(tt.in); got != tt.want {
			t.Errorf("%s: %s became %s, want %s", tt.reason, tt.in, got, tt.want)
		}
	}
}

// FuzzDiff holds the comparer against encoding/json: it accepts the same documents, finds nothing between a
// document and itself or its compact form, and differs in both directions alike.
func FuzzDiff(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x"],"a":null}`, `[]`, `"\ud800"`, `-1e-7`, `{"":{"":[[]]}}`, `x`, "\xff", `1E400`} {
		f.Add(s, `{"a":[1,2.5,"y"]}`)
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		a, b := parseJSON([]byte(s)), parseJSON([]byte(other))
		if a != nil && !json.Valid([]byte(s)) {
			t.Fatalf("%q is no JSON and was read as such", s)
		}
		if a == nil {
			return
		}
		if d := diff(a, a, skipNothing); len(d) > 0 {
			t.Fatalf("%q differs from itself at %v", s, d)
		}
		spaced := parseJSON([]byte(" " + s + "\n"))
		if spaced == nil || len(diff(a, spaced, skipNothing)) > 0 {
			t.Fatalf("white space around %q changes it", s)
		}
		if b == nil {
			return
		}
		if x, y := diff(a, b, skipNothing), diff(b, a, skipNothing); len(x) != len(y) {
			t.Fatalf("%q and %q differ in %d places one way and %d the other", s, other, len(x), len(y))
		}
	})
}

// FuzzNumber holds canonicalNumber against big.Rat.
func FuzzNumber(f *testing.F) {
	f.Add("1.0", "10e-1")
	f.Add("0.5", "5e-2")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 20 || len(b) > 20 || !json.Valid([]byte(a)) || !json.Valid([]byte(b)) || strings.Trim(a+b, "0123456789+-.eE") != "" {
			return
		}
		if i := strings.IndexAny(a, "eE"); i >= 0 && len(a)-i > 4 {
			return // big.Rat would expand it
		}
		if i := strings.IndexAny(b, "eE"); i >= 0 && len(b)-i > 4 {
			return
		}
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			return
		}
		if equal := canonicalNumber(a) == canonicalNumber(b); equal != (x.Cmp(y) == 0) {
			t.Fatalf("%s and %s: equal is %v", a, b, equal)
		}
	})
}

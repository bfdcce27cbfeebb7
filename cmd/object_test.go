package cmd

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestPlainJSON(t *testing.T) {
	for _, c := range []struct{ in, want, reason string }{
		{`{"a": 1.10, "b": [true, null]}`, `{"a": 1.10, "b": [true, null]}`, "numbers keep their spelling"},
		{`{"face": "\ud83d\ude00"}`, `{"face": "😀"}`, "surrogate escapes become characters"},
		{`"a\"b\\"`, `"a\"b\\"`, "escaped quotes and backslashes stay"},
		{`"<&>"`, `"<&>"`, "nothing is escaped for HTML"},
	} {
		if got := string(plainJSON([]byte(c.in))); got != c.want {
			t.Errorf("plainJSON(%s) = %s, want %s: %s", c.in, got, c.want, c.reason)
		}
	}
}

func FuzzPlainJSON(f *testing.F) {
	f.Add(`{"face": "\ud83d\ude00", "n": [1, 2.50, "\""]}`)
	f.Fuzz(func(t *testing.T, in string) {
		var before, after any
		if json.Unmarshal([]byte(in), &before) != nil {
			return
		}
		if err := json.Unmarshal(plainJSON([]byte(in)), &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q: %v", in, plainJSON([]byte(in)), err)
		}
	})
}

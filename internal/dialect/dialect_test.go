package dialect

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

func TestFind(t *testing.T) {
	for _, name := range Names() {
		if d, ok := Find(name); !ok || d.Name != name {
			t.Errorf("%s: found %+v", name, d)
		}
	}
	if d, ok := Find("none"); ok || d.Name != "" {
		t.Errorf("found %+v", d)
	}
	names := Names()
	slices.Sort(names)
	if names[0] == "" || len(slices.Compact(names)) != len(All()) || Names()[0] != "any" {
		t.Errorf("names %v", Names())
	}
}

func TestDataIsDecodedStrictly(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"unknown field", "a: {about: x, ttl: 1h}", `dialects.yaml:1:15: unknown field "ttl"`},
		{"no source", "a: {statuses: {}}", `dialects.yaml:1:4: missing field "about"`},
		{"status", "a: {about: x, statuses: {mismatch: [4]}}", `dialects.yaml:1:37: expected a number from 100 to 599, found "4"`},
		{"in progress", "a: {about: x, statuses: {in_progress: [409, later]}}", `dialects.yaml:1:45: expected wait, found "later"`},
		{"two places", "a: {about: x, key: {header: A, json: $.a}}", `dialects.yaml:1:32: expected one place of the key, found both header and json`},
		{"lengths", "a: {about: x, key: {header: A, min: 5, max: 4}}", `dialects.yaml:1:37: expected at most max, 4, found 5`},
		{"pattern", `a: {about: x, key: {header: A, pattern: "["}}`, "dialects.yaml:1:41: expected a regular expression, found \"[\": error parsing regexp: missing closing ]: `[`"},
		{"companion", "a: {about: x, key: {header: A, with: {B: now}}}", `dialects.yaml:1:42: expected imf-fixdate, found "now"`},
		{"replayed with a status", "a: {about: x, mismatch: replayed, statuses: {mismatch: [400]}}", `dialects.yaml:1:25: expected no status of a mismatch, which is replayed, found [400]`},
		{"marker without value", "a: {about: x, replay: {marker: {header: A}}}", `dialects.yaml:1:32: missing field "value"`},
		{"pointer", "a: {about: x, pointer: id}", `dialects.yaml:1:24: expected a JSONPath such as $.id, found "id"`},
		{"lifetime", "a: {about: x, lifetime: {min: 1d}}", `dialects.yaml:1:31: expected a duration such as 30s, 15m or 24h, found "1d": write days as hours`},
	} {
		if _, err := parse([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.reason, err, c.want)
		}
	}
}

func TestCheckKey(t *testing.T) {
	const uuid1, uuid4 = "c232ab00-9414-11ec-b3c8-9f6bdeced846", "919108f7-52d1-4320-9bac-f847db4148a8"
	for _, c := range []struct{ reason, dialect, key, want string }{
		{"nothing documented", "any", strings.Repeat("k", 9000), ""},
		{"as long as may be", "stripe", strings.Repeat("k", 255), ""},
		{"characters, not bytes", "adyen", strings.Repeat("é", 64), ""},
		{"too long", "adyen", strings.Repeat("k", 65), "expected a key of at most 64 characters (adyen), found 65"},
		{"too short", "razorpay", "abc", "expected a key of at least 4 characters (razorpay), found 3"},
		{"space is allowed", "razorpay", "a_b-c 1", ""},
		{"other characters", "telnyx", "a/b", `expected a key that matches [A-Za-z0-9_:-]+ (telnyx), found "a/b"`},
		{"the whole key counts", "telnyx", "ab\n", `expected a key that matches [A-Za-z0-9_:-]+ (telnyx), found "ab\n"`},
		{"any version", "azure", uuid1, ""},
		{"no UUID", "azure", "k-1", `expected a key that is a UUID (azure), found "k-1"`},
		{"version 4", "aip-155", strings.ToUpper(uuid4), ""},
		{"another version", "aip-155", uuid1, `expected a key that is a UUID of version 4 (aip-155), found "` + uuid1 + `"`},
	} {
		d, _ := Find(c.dialect)
		got := ""
		if err := d.CheckKey(c.key); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(string(source))
	f.Add("a: {about: x, key: {json: $.k, min: 1, pattern: '[a-z]', syntax: uuid4}, statuses: {in_progress: [wait, 409]}}")
	f.Add("a: {about: x, replay: {status: [1], body: fields, marker: {header: , value: 1}}, scope: {endpoint: }, errors: []}")
	f.Fuzz(func(t *testing.T, text string) {
		dialects, err := parse([]byte(text))
		var mistakes strict.Errors
		if err != nil && !errors.As(err, &mistakes) {
			t.Fatalf("no strict.Errors: %v", err)
		}
		for _, d := range dialects {
			lines := d.Describe()
			if err == nil && slices.Contains(lines, "") {
				t.Errorf("an empty line in %q", lines)
			}
			if err == nil && d.KeyPattern != "" {
				_ = d.CheckKey("k")
			}
			if err == nil && d.Key.In == "" && d.Key != (trace.KeyPlace{}) {
				t.Errorf("a key without a place: %+v", d.Key)
			}
		}
	})
}

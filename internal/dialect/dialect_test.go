package dialect

import (
	"slices"
	"testing"
)

func TestDialects(t *testing.T) {
	if got, want := Names(), []string{"any", "ietf", "stripe"}; !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	for _, c := range []struct {
		reason, name, key, missing string
		mismatch                   []int
		lenient                    bool
		max                        int
	}{
		{"asserts only what all accept", "any", "", "", []int{400, 409, 422}, true, 0},
		{"structured-field key, missing key refused", "ietf", "Idempotency-Key sf-string", Refused, []int{422}, false, 0},
		{"bare key of 255, missing key accepted", "stripe", "Idempotency-Key bare", Accepted, []int{400}, false, 255},
	} {
		d, ok := Find(c.name)
		key := ""
		if d.Key.In != "" {
			key = d.Key.Name + " " + d.Key.Format
		}
		if !ok || d.About == "" || key != c.key || d.MissingKey != c.missing || !slices.Equal(d.Statuses.Mismatch, c.mismatch) || d.Lenient != c.lenient || d.MaxKey != c.max {
			t.Errorf("%s: got %+v", c.reason, d)
		}
	}
	if d, ok := Find("none"); ok || d.Name != "" {
		t.Errorf("found %+v", d)
	}
}

func TestDataIsDecodedStrictly(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"unknown field", "a: {about: x, statuses: {}, ttl: 1h}", `dialects.yaml:1:29: unknown field "ttl" (known: about, key, missing_key, statuses, lenient, stores)`},
		{"no source", "a: {statuses: {}}", `dialects.yaml:1:4: missing field "about"`},
		{"status", "a: {about: x, statuses: {mismatch: [4]}}", `dialects.yaml:1:37: expected a number from 100 to 599, found "4"`},
	} {
		if _, err := parse([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.reason, err, c.want)
		}
	}
}

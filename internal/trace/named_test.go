package trace

import "testing"

func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		word, name string
		want       bool
		reason     string
	}{
		{"create order", "create order", true, "the name"},
		{"create order", "create orders", false, "another name"},
		{"create *", "create order", true, "a pattern"},
		{"*", "POST /orders", true, "everything"},
		{"POST *", "POST /orders/{id}/lines", true, "a slash is a character"},
		{"POST /admin/*", "POST /admin/orders/bulk", true, "as many parts as there are"},
		{"POST /admin/*", "POST /orders", false, "not below it"},
		{"POST ?orders", "POST /orders", true, "one character"},
		{"a[/:]b", "a/b", true, "one of these"},
		{"PUT /orders/{id}", "PUT /orders/{id}", true, "braces mean themselves"},
		{"sum [", "sum [", true, "the name, though it is no pattern"},
		{"sum [", "sum x", false, "no pattern matches nothing"},
	} {
		if Named(tt.word, tt.name) != tt.want {
			t.Errorf("%s: %q means %q: %v", tt.reason, tt.word, tt.name, !tt.want)
		}
	}
}

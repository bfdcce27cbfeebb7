package cmd

import (
	"slices"
	"testing"
)

// TestPick takes names that are patterns too for names.
func TestPick(t *testing.T) {
	items := []string{"a", "a*", "ab", "x[", "POST /orders"}
	for _, tt := range []struct {
		patterns, want []string
	}{
		{nil, items},
		{[]string{"a*"}, []string{"a*"}},
		{[]string{"a?"}, []string{"a*", "ab"}},
		{[]string{"x[", "ab"}, []string{"ab", "x["}},
		{[]string{"POST /*"}, []string{"POST /orders"}},
	} {
		got, err := pick(items, tt.patterns, "item", "", func(s string) []string { return []string{s} })
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v", tt.patterns, got, err)
		}
	}
	for _, wrong := range []string{"y[", "b", ""} {
		if got, err := pick(items, []string{wrong}, "item", "", func(s string) []string { return []string{s} }); err == nil {
			t.Errorf("%q matches %q", wrong, got)
		}
	}
}

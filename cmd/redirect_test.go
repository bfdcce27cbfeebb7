package cmd

import (
	"strings"
	"testing"

	"retrysafe/fixtures"
)

// Faults are caught where success is a redirect, as they are elsewhere; nothing follows one.
func TestFaultsBehindRedirects(t *testing.T) {
	t.Parallel()
	text, err := fixtures.Plans.ReadFile("plans/redirect.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ fault, scenario, rules string }{
		{"waits-and-returns", "same-key-again", ""},
		{"no-dedupe", "same-key-again", "key-ignored"},
		{"status-200-on-replay", "same-key-again", "status-not-replayed headers-not-replayed body-not-replayed"},
		{"headers-dropped", "same-key-again", "headers-not-replayed"},
		{"dedupe-answer-only", "same-key-again", "silent-duplicate"},
		{"claim-after-effect", "in-progress-copy", "in-progress-executed"},
		{"key-shared-across-callers", "other-caller-same-body", "key-shared-across-callers"},
		{"body-not-checked", "same-key-different-body", "different-body-replayed"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			shop, err := fixtures.NewShop(fixtures.Options{Faults: []string{c.fault, "redirects-after-post"}})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			r := judged(t, shop, strings.Replace(string(text), "${RETRYSAFE_TARGET}", "${TARGET}", 1), runOptions{scenarios: []string{c.scenario}, endpoints: []string{"create order"}})
			for _, f := range only(t, r).Findings {
				found = append(found, f.Rule)
			}
			if strings.Join(found, " ") != c.rules {
				t.Errorf("reported %q, want %q: %s", found, c.rules, only(t, r).Detail)
			}
		})
	}
}

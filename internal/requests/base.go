package requests

import (
	"fmt"
	"maps"
	"slices"

	"retrysafe/internal/draft"
)

// chooseBase makes the target of the base URL that most unsafe requests have, of two the first.
func (b *builder) chooseBase() {
	count, most := map[string]int{}, 0
	for _, unsafeOnly := range []bool{true, false} {
		for _, s := range b.sent {
			safe := slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, s.method)
			if !s.addr.canBeAsked() || unsafeOnly && (safe || s.unusable() != "") {
				continue
			}
			weight := 1
			if s.answer != nil && s.answer.json != nil { // what answers so is an API, and no page or counter of visitors
				weight = 10
			}
			count[s.addr.base] += weight
		}
		if len(count) > 0 {
			break
		}
	}
	for _, s := range b.sent {
		if n := count[s.addr.base]; n > most {
			b.base, most = s.addr.base, n
		}
	}
	b.draft.Target = draft.Text{Value: planText(b.base)}
	if len(count) > 1 {
		b.draft.Target.Guess = fmt.Sprintf("most of the requests go there; the source has %d hosts", len(count))
	}
}

// leaveOthers tells what a session sent to other hosts.
func (b *builder) leaveOthers() {
	if !b.session {
		return
	}
	others := map[string]int{}
	for _, s := range b.sent {
		if s.addr.base != b.base {
			others[s.addr.base]++
		}
	}
	for _, base := range slices.Sorted(maps.Keys(others)) {
		b.left = append(b.left, fmt.Sprintf("%s: %s to %s, which is not %s", b.name, several(others[base], "request"), base, b.base))
	}
}

// several is a number of things.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

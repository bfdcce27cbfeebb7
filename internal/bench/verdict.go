package main

import (
	"fmt"
	"strings"
)

// verdicts say for each of our tools where it stands among the others.
func verdicts(tools []tool, scores []score) (lines []string) {
	for i, t := range tools {
		if t.ours {
			lines = append(lines, verdict(t.name, scores[i].found, tools, scores))
		}
	}
	return lines
}

// verdict says which peers find the race more often and which less often, as far as their 95 % intervals do not overlap.
func verdict(name string, found rate, tools []tool, scores []score) string {
	var better, worse []string
	others := 0
	for i, t := range tools {
		if t.ours || scores[i].found.of == 0 {
			continue
		}
		others++
		switch other := scores[i].found; {
		case found.below(other):
			better = append(better, t.name)
		case other.below(found):
			worse = append(worse, t.name)
		}
	}
	if found.of == 0 || others == 0 {
		return name + ": nothing to compare"
	}
	below := "not below any peer"
	if len(better) > 0 {
		below = "BELOW " + strings.Join(better, ", ")
	}
	above := "not above any peer"
	switch {
	case len(worse) == others:
		above = "above every peer"
	case len(worse) > 0:
		above = fmt.Sprintf("above %d of %d (%s)", len(worse), others, strings.Join(worse, ", "))
	}
	return name + ": " + below + ", " + above
}

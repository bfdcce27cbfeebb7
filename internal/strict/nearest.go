package strict

import (
	"fmt"
	"strings"
)

// DidYouMean ends a message about a name that matches nothing: `; did you mean "x"?` with the nearest known
// name, or nothing when none is near. At equal distance the first one wins.
func DidYouMean(name string, known []string) string {
	// One mistake for every three characters, but one in a name of two as well.
	best, limit := "", max(len(name)/3, min(1, len(name)/2))
	for _, k := range known {
		if d := distance(name, k); d <= limit {
			best, limit = k, d-1
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// Suggestion ends a message about an unknown name: DidYouMean, and all known names where they fit a line.
func Suggestion(name string, known []string) string {
	const short = 100 // characters; a longer list hides the message
	near := DidYouMean(name, known)
	if list := strings.Join(known, ", "); list != "" && len(list) <= short {
		return fmt.Sprintf("%s (known: %s)", near, list)
	}
	return near
}

// distance counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
// Names longer than 100 bytes are as far as can be: nobody misspells those, and the cost is quadratic.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return len(a) + len(b)
	}
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			replace := rows[i-1][j-1]
			if x[i-1] != y[j-1] {
				replace++
			}
			d := min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(x)][len(y)]
}

package cmd

import (
	"fmt"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// placesShown is how many places are named of mistakes that say the same.
const placesShown = 8

// grouped tells mistakes or warnings, the first of those that say the same in full, with its source line where pretty is true, and where
// the others are. A place counts once: several plans may include the file that it is in.
func grouped(all strict.Errors, pretty bool) []string {
	var out []string
	told := map[string]bool{}
	for i, e := range all {
		if told[e.Message] {
			continue
		}
		told[e.Message] = true
		text := e.Error()
		if pretty {
			text = e.Pretty()
		}
		var same strict.Errors
		for _, o := range all[i+1:] {
			known := o.Pos == e.Pos || slices.ContainsFunc(same, func(s *strict.Error) bool { return s.Pos == o.Pos })
			if o.Message == e.Message && !known {
				same = append(same, o)
			}
		}
		if len(same) > 0 {
			text += "\n" + andMore(e, same)
		}
		out = append(out, text)
	}
	return out
}

// andMore says where a mistake is again: lines and columns in the same file, and whole places in others.
func andMore(first *strict.Error, same strict.Errors) string {
	var places []string
	for _, e := range same {
		place := fmt.Sprintf("%d:%d", e.Line, e.Col)
		if e.File != first.File {
			place = e.Pos.String()
		}
		places = append(places, place)
	}
	more := ""
	if n := len(places); n > placesShown {
		places, more = places[:placesShown], fmt.Sprintf(" and %d more", n-placesShown)
	}
	return fmt.Sprintf("  and %d more like it: %s%s", len(same), strings.Join(places, ", "), more)
}

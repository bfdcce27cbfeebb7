package baseline

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// edit changes the text of a baseline line by line, as far as its list is written with an item on lines of its own. The caller
// reads what comes of it.
func edit(text string, b *Baseline, drop, renew map[int]bool, add []Entry, expires time.Time) string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	starts := make([]int, len(b.Entries)+1)
	for i := range b.Entries {
		starts[i] = itemStart(lines, b.Entries[i].pos.Line-1)
	}
	starts[len(b.Entries)] = len(lines)
	if n := len(b.Entries); n > 0 {
		starts[n] = itemEnd(lines, starts[n-1])
	}
	indent := "  "
	if len(b.Entries) > 0 {
		dash := lines[b.Entries[0].pos.Line-1]
		indent = dash[:len(dash)-len(strings.TrimLeft(dash, " "))]
	}
	var out strings.Builder
	out.WriteString(strings.Join(lines[:starts[0]], ""))
	for i := range b.Entries {
		item := lines[starts[i]:starts[i+1]]
		switch {
		case drop[i]:
		case renew[i]:
			out.WriteString(withDay(item, expires))
		default:
			out.WriteString(strings.Join(item, ""))
		}
	}
	for i := range add {
		out.WriteString(block(&add[i], indent))
	}
	out.WriteString(strings.Join(lines[starts[len(b.Entries)]:], ""))
	return listed(out.String(), len(b.Entries)-len(drop)+len(add))
}

// listed has `accepted:` fit the number of entries behind it.
func listed(text string, n int) string {
	if n == 0 {
		return regexp.MustCompile(`(?m)^accepted:[ ]*$`).ReplaceAllString(text, "accepted: []")
	}
	return regexp.MustCompile(`(?m)^accepted:[ ]*\[[ ]*\][ ]*$`).ReplaceAllString(text, "accepted:")
}

// itemStart is the first line of the item whose fields begin at a line: its dash, and the comments right above it.
func itemStart(lines []string, at int) int {
	for at > 0 && !strings.HasPrefix(strings.TrimSpace(lines[at]), "-") {
		at--
	}
	for at > 0 && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "#") {
		at--
	}
	return at
}

// itemEnd is the line behind the last item, which starts at a line: the first one further left than its fields.
func itemEnd(lines []string, start int) int {
	for strings.HasPrefix(strings.TrimSpace(lines[start]), "#") {
		start++
	}
	column := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	dash, end := column(lines[start]), start+1
	for at := start + 1; at < len(lines); at++ {
		text := strings.TrimSpace(lines[at])
		if text == "" {
			continue
		}
		if column(lines[at]) <= dash {
			break
		}
		end = at + 1
	}
	return end
}

// withDay is an item that expires on another day.
func withDay(item []string, day time.Time) string {
	expires := regexp.MustCompile(`(expires:[ ]*)["']?\d{4}-\d\d-\d\d["']?`)
	var out strings.Builder
	for _, line := range item {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			line = expires.ReplaceAllString(line, "${1}"+day.Format(dayLayout))
		}
		out.WriteString(line)
	}
	return out.String()
}

// jsonText is a text as JSON writes it, without escapes for HTML.
func jsonText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text always encodes
	return strings.TrimSpace(b.String())
}

package report

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"retrysafe/internal/trace"
)

func TestClean(t *testing.T) {
	tests := []struct{ in, want, reason string }{
		{"plain: ünï 日本 é", "plain: ünï 日本 é", "letters of all scripts stay"},
		{"a\nb\tc", "a\nb c", "line feeds stay, tabs become a space"},
		{"\x1b[31mred", `\x1b[31mred`, "escape sequences lose their power"},
		{"a\rb", `a\rb`, "carriage returns cannot overwrite the line"},
		{"\u009b31m", `\u009b31m`, "C1 controls are escapes in one character"},
		{"\u202eabc", `\u202eabc`, "text direction cannot be reversed"},
		{"a\u200bb\u00a0c", `a\u200bb\u00a0c`, "what one cannot see is shown"},
		{"\xffa\ufffd", `\xffa` + "\ufffd", "broken UTF-8 is told from the replacement character"},
		{"it's \"quoted\" `x`", "it's \"quoted\" `x`", "quotes need no escape"},
		{"\x00\x7f", `\x00\x7f`, "NUL and DEL"},
	}
	for _, tt := range tests {
		if got := clean(tt.in); got != tt.want {
			t.Errorf("%s: clean(%q) = %q, want %q", tt.reason, tt.in, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add(hostile)
	f.Add("a\tb\nc")
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q is no UTF-8", got)
		}
		for _, r := range got {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%q got through in %q", r, got)
			}
		}
	})
}

func TestWrap(t *testing.T) {
	tests := []struct {
		text           string
		first, columns int
		want           []string
		reason         string
	}{
		{"one two three", 9, 9, []string{"one two", "three"}, "between words"},
		{"abcdefghijkl", 10, 10, []string{"abcdefghij", "kl"}, "a word that is too long is cut"},
		{"日本語日本", 6, 6, []string{"日本語", "日本"}, "wide characters take two columns"},
		{"a:\n  b: 1", 20, 20, []string{"a:", "  b: 1"}, "lines of plan keep their indentation"},
		{"one two three", 8, 20, []string{"one two", "three"}, "the first line has less room"},
		{"one two three", 2, 20, []string{"", "one two three"}, "no room behind the head"},
		{"", 10, 10, []string{""}, "nothing is one empty line"},
		{"one two", 3, 3, []string{"one", "two"}, "exactly as wide as the room"},
	}
	for _, tt := range tests {
		if got := wrapBehind(tt.text, tt.first, tt.columns); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
		}
	}
}

func TestShortenAndLimit(t *testing.T) {
	if got := shorten("日本語", 5); got != "日本…" {
		t.Errorf("shorten counts columns: got %q", got)
	}
	if got := shorten("short", 5); got != "short" {
		t.Errorf("what fits stays: got %q", got)
	}
	if got := limit(strings.Repeat("é", 12), 10); got != strings.Repeat("é", 10)+"… (2 characters more)" {
		t.Errorf("limit says how much is missing: got %q", got)
	}
	if got := limit("éé", 2); got != "éé" {
		t.Errorf("limit counts characters, not bytes: got %q", got)
	}
}

func TestSpanAndMillis(t *testing.T) {
	spans := map[time.Duration]string{
		0: "0.0 ms", 3 * time.Millisecond: "3.0 ms", 412 * time.Millisecond: "412 ms",
		8412 * time.Millisecond: "8.4 s", 125 * time.Second: "2 min 5 s",
	}
	for d, want := range spans {
		if got := span(d); got != want {
			t.Errorf("span(%d) = %q, want %q", d, got, want)
		}
	}
	moments := map[trace.Nanos]string{0: "0.0", 21_000: "0.021", 21 * ms: "21.0", -200_000: "-0.200"}
	for n, want := range moments {
		if got := millis(n); got != want {
			t.Errorf("millis(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShellWrap(t *testing.T) {
	tests := []struct{ command, reason string }{
		{`curl -sS -X POST http://127.0.0.1:8080/orders -H 'Content-Type: application/json' -d '{"a": 1}'`, "an ordinary line"},
		{`curl -d '{"name": "it'\''s here"}' -H "X: \"a b\"" http://example.test/a\ b`, "quotes in quotes"},
		{`curl -d 'no end`, "an open quote"},
		{`curl`, "one word"},
	}
	for _, tt := range tests {
		got := shellWrap(tt.command, 30)
		if joined := strings.ReplaceAll(strings.Join(got, "\n"), " \\\n  ", " "); joined != tt.command {
			t.Errorf("%s: the lines do not make up the command:\ngot  %s\nwant %s", tt.reason, joined, tt.command)
		}
		for _, line := range got[:len(got)-1] {
			if strings.Count(line, `'`)%2 != strings.Count(line, `\'`)%2 {
				t.Errorf("%s: broken within quotes: %q", tt.reason, line)
			}
		}
	}
	if got := shellWrap(tests[0].command, 30); len(got) < 3 {
		t.Errorf("not broken: %q", got)
	}
}

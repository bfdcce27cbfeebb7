package draft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// plain are texts that may stand without quotes where YAML reads them as text. What starts otherwise is quoted, although some of it need
// not be: numbers, dates and signs that other readers of YAML take for something else.
var plain = regexp.MustCompile(`^[A-Za-z/$_][^\x00-\x1f\x7f-\x{a0}\x{2028}\x{2029}\x{feff}]*$`)

// words are texts that some version of YAML reads as a truth value or as nothing.
var words = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)

// bare are texts that YAML reads as text wherever they stand, unless they are among words, so that no parser is asked about them. Nearly all
// names and many values of a plan are.
var bare = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// context is where a scalar stands: inside [...] and {...} more must be quoted.
type context int

const (
	inBlock context = iota
	inFlow
	asKey
)

// text is a text as YAML that reads as the same text: plain where that is safe, else in double quotes.
func text(s string, where context) string {
	if isPlain(s, where) {
		return s
	}
	return quoted(s)
}

func isPlain(s string, where context) bool {
	if !plain.MatchString(s) || words.MatchString(s) {
		return false
	}
	if bare.MatchString(s) {
		return true
	}
	frame := map[context]string{inBlock: "a: %s\n", inFlow: "{a: %s}\n", asKey: "{%s: 1}\n"}[where]
	var doc yaml.Node
	if err := yaml.Unmarshal(fmt.Appendf(nil, frame, s), &doc); err != nil {
		return false
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode || len(m.Content) != 2 {
		return false
	}
	n := m.Content[1]
	if where == asKey {
		n = m.Content[0]
	}
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == s
}

// quoted is a text in double quotes: as JSON has it, and with escapes for what YAML takes for no text or for a line end.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text always encodes
	var out strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if r >= 0x7f && r <= 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// scalar is a scalar node as YAML that the plan reads as the same value. A text with ${VAR} is quoted in a body, since the plan takes a
// plain one for what the variable's value looks like.
func scalar(n *yaml.Node, where context) string {
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool":
		if strings.EqualFold(n.Value, "true") {
			return "true"
		}
		return "false"
	case "!!int", "!!float":
		if number, ok := jsonNumber(n.Value); ok {
			return number
		}
	}
	if n.Style&yaml.DoubleQuotedStyle != 0 || strings.Contains(n.Value, "${") && n.Style&yaml.LiteralStyle == 0 {
		return quoted(n.Value)
	}
	return text(n.Value, where)
}

// jsonNumber is a number of YAML as JSON writes it, which is the only form that a body of a plan takes: 0x1F is 31, .5 is 0.5. False for
// what JSON has no number for, and for what the YAML library reads as text.
func jsonNumber(s string) (string, bool) {
	if !strict.IsNumber(s) {
		plainer := strings.ReplaceAll(s, "_", "")
		if i, ok := new(big.Int).SetString(strings.TrimPrefix(plainer, "+"), 0); ok {
			return i.String(), true
		}
		d := strings.TrimPrefix(plainer, "+")
		sign := ""
		if rest, negative := strings.CutPrefix(d, "-"); negative {
			sign, d = "-", rest
		}
		if strings.HasPrefix(d, ".") {
			d = "0" + d
		}
		d = regexp.MustCompile(`\.(?:$|([eE]))`).ReplaceAllString(d, "$1")
		s = sign + d
	}
	if !strict.IsNumber(s) {
		return "", false
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte("a: "+s), &n); err != nil {
		return "", false
	}
	if tag := n.Content[0].Content[1].ShortTag(); tag != "!!int" && tag != "!!float" {
		return "", false
	}
	return s, true
}

// literal is a text of several lines as a block scalar behind "|", each line with the indentation; false when it would read otherwise.
func literal(s, indent string) (string, bool) {
	if !strings.Contains(s, "\n") || strings.ContainsAny(s, "\r") {
		return "", false
	}
	head := "|"
	switch {
	case !strings.HasSuffix(s, "\n"):
		head = "|-"
	case strings.HasSuffix(s, "\n\n"):
		return "", false // blank lines at its end would be lost when something is added below
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	out := head + "\n" + strings.Join(lines, "\n")
	// The frame has the same depth that the text will have.
	var doc struct{ A map[string]string }
	frame := "a:\n" + indent[:len(indent)-2] + "b: " + out + "\n"
	if len(indent) < 4 || yaml.Unmarshal([]byte(frame), &doc) != nil || doc.A["b"] != s {
		return "", false
	}
	if strict.Parse("", []byte(frame), nil).Err() != nil {
		return "", false
	}
	return out, true
}

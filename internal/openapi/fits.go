package openapi

import (
	"encoding/base64"
	"net/netip"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// fits is true for a value that the schema allows, as far as can be told from the value alone: its members are looked at when they are
// filled in.
func (t *schema) fits(n *yaml.Node) bool {
	switch {
	case n == nil || isNull(n):
		return false
	case t.enum != nil:
		return within(t.enum, n)
	}
	kinds := []string{"object", "array", "string", "integer", "number", "boolean"}
	known := false
	for _, kind := range kinds {
		if !t.is(kind) {
			continue
		}
		known = true
		if fitsKind(n, kind) && t.fitsBounds(n, kind) {
			return true
		}
	}
	return !known
}

func fitsKind(n *yaml.Node, kind string) bool {
	switch kind {
	case "object":
		return n.Kind == yaml.MappingNode
	case "array":
		return n.Kind == yaml.SequenceNode
	case "string":
		return n.Kind == yaml.ScalarNode
	case "boolean":
		return n.Kind == yaml.ScalarNode && (strings.EqualFold(n.Value, "true") || strings.EqualFold(n.Value, "false"))
	case "integer":
		value := rational(n)
		return value != nil && value.IsInt()
	}
	return rational(n) != nil
}

func (t *schema) fitsBounds(n *yaml.Node, kind string) bool {
	switch kind {
	case "string":
		return t.fitsText(n.Value)
	case "integer", "number":
		return t.holds(rational(n))
	case "array":
		return t.maxItems < 0 || len(n.Content) <= t.maxItems
	}
	return true
}

// fitsText is true for a text that the schema allows.
func (t *schema) fitsText(s string) bool {
	length := utf8.RuneCountInString(s)
	if t.minLength > length || t.maxLength >= 0 && t.maxLength < length {
		return false
	}
	for _, p := range t.patterns {
		if re := compiled(p); re != nil && !re.MatchString(s) {
			return false
		}
	}
	return fitsFormat(t.format, s)
}

// unicodeEscape is how ECMAScript writes a character in a pattern.
var unicodeEscape = regexp.MustCompile(`\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]+)\}`)

// mostPattern bounds the patterns that are looked at, in bytes.
const mostPattern = 1000

// compiled is a pattern of ECMAScript as Go has it, nil where Go has no such thing.
func compiled(pattern string) *regexp.Regexp {
	if len(pattern) > mostPattern {
		return nil
	}
	re, err := regexp.Compile(unicodeEscape.ReplaceAllString(pattern, `\x{$1$2}`))
	if err != nil {
		return nil
	}
	return re
}

var uuids = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func fitsFormat(format, s string) bool {
	var err error
	switch format {
	case "date-time":
		_, err = time.Parse(time.RFC3339, s)
	case "date":
		_, err = time.Parse(time.DateOnly, s)
	case "uuid":
		return uuids.MatchString(s)
	case "email":
		return strings.Contains(s, "@")
	case "ipv4", "ipv6":
		_, err = netip.ParseAddr(s)
	case "uri", "url":
		return strings.Contains(s, ":")
	case "byte":
		_, err = base64.StdEncoding.DecodeString(s)
	}
	return err == nil
}

// within is true when a value is one of the list.
func within(list []*yaml.Node, n *yaml.Node) bool {
	for _, v := range list {
		if same(v, n, mostLevels) {
			return true
		}
	}
	return false
}

func same(a, b *yaml.Node, levels int) bool {
	a, b = plain(a), plain(b)
	if a == nil || b == nil || levels == 0 || a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode {
		return a.Value == b.Value
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i], levels-1) {
			return false
		}
	}
	return true
}

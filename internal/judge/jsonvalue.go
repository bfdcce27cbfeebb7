package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"retrysafe/internal/trace"
)

// jsonDepth is how deep a document may nest to be read as JSON: RFC 8259 section 9 lets a reader set a limit,
// and no answer of an endpoint comes near it.
const jsonDepth = 500

// kind is the JSON type of a value.
type kind string

const (
	isNull   kind = "null"
	isBool   kind = "boolean"
	isNumber kind = "number"
	isString kind = "string"
	isArray  kind = "list"
	isObject kind = "object"
)

// value is a JSON value. Other than encoding/json's, it keeps numbers exactly and members that occur twice.
type value struct {
	kind kind
	// text is the string, or the number, boolean or null as written.
	text    string
	items   []*value
	members []member
}

type member struct {
	name  string
	value *value
}

// parseJSON reads a whole document; nil when b is no JSON, not valid UTF-8, or nested too deep.
func parseJSON(b []byte) *value {
	if !utf8.Valid(b) || !json.Valid(b) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return parseValue(dec, 0)
}

func parseValue(dec *json.Decoder, depth int) *value {
	tok, err := dec.Token()
	if err != nil || depth > jsonDepth {
		return nil
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '[' {
			return parseArray(dec, depth)
		}
		return parseObject(dec, depth)
	case string:
		return &value{kind: isString, text: t}
	case json.Number:
		return &value{kind: isNumber, text: t.String()}
	case bool:
		return &value{kind: isBool, text: strconv.FormatBool(t)}
	}
	return &value{kind: isNull, text: "null"}
}

func parseArray(dec *json.Decoder, depth int) *value {
	v := &value{kind: isArray}
	for dec.More() {
		item := parseValue(dec, depth+1)
		if item == nil {
			return nil
		}
		v.items = append(v.items, item)
	}
	dec.Token() // the closing bracket, known to be there
	return v
}

func parseObject(dec *json.Decoder, depth int) *value {
	v := &value{kind: isObject}
	for dec.More() {
		tok, err := dec.Token()
		name, ok := tok.(string)
		if err != nil || !ok {
			return nil
		}
		item := parseValue(dec, depth+1)
		if item == nil {
			return nil
		}
		v.members = append(v.members, member{name, item})
	}
	dec.Token() // the closing brace, known to be there
	return v
}

// bodyJSON is an answer's body as JSON; nil when it is none. The content type is not asked: many endpoints
// send JSON under another name, and text that happens to be JSON loses nothing by being read as such.
func bodyJSON(r *trace.Response) *value {
	if r == nil || r.Body.Truncated {
		return nil
	}
	return parseJSON(content(r))
}

// show gives a value as short text for people.
func (v *value) show() string {
	switch v.kind {
	case isString:
		return strconv.Quote(shorten(v.text, 60))
	case isArray:
		return fmt.Sprintf("a list of %d", len(v.items))
	case isObject:
		return fmt.Sprintf("an object of %d", len(v.members))
	}
	return shorten(v.text, 60)
}

// byName gives the values of each name, in the order of writing, and the names in the order of their first use.
func (v *value) byName() (names []string, values map[string][]*value) {
	values = map[string][]*value{}
	for _, m := range v.members {
		if values[m.name] == nil {
			names = append(names, m.name)
		}
		values[m.name] = append(values[m.name], m.value)
	}
	return names, values
}

// childName extends a JSONPath by a name, quoted where the short form of RFC 9535 section 2.5.1.1 does not allow it.
func childName(path, name string) string {
	if shortName(name) {
		return path + "." + name
	}
	quoted := []byte{'\''}
	for _, r := range name {
		switch {
		case r == '\'' || r == '\\':
			quoted = append(quoted, '\\', byte(r))
		case r < 0x20:
			quoted = fmt.Appendf(quoted, `\u%04x`, r)
		default:
			quoted = utf8.AppendRune(quoted, r)
		}
	}
	return path + "[" + string(quoted) + "']"
}

func shortName(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

func childIndex(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// leaf is a value that is neither list nor object, with its place.
type leaf struct {
	path string
	// name is that of the nearest enclosing member.
	name  string
	value *value
}

// leaves lists all leaves of v below path. Of members that occur twice the last one counts, as for most readers.
func (v *value) leaves(path, name string, out []leaf) []leaf {
	switch v.kind {
	case isArray:
		for i, item := range v.items {
			out = item.leaves(childIndex(path, i), name, out)
		}
	case isObject:
		names, values := v.byName()
		for _, n := range names {
			all := values[n]
			out = all[len(all)-1].leaves(childName(path, n), n, out)
		}
	default:
		out = append(out, leaf{path, name, v})
	}
	return out
}

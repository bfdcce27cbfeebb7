package cmd

import (
	"bytes"
	"encoding/json"
	"strings"
)

// object is a JSON object whose members keep their order.
type object struct {
	names []string
	text  []json.RawMessage
}

func (o *object) set(name string, value any) { o.raw(name, encode(value)) }

func (o *object) raw(name string, text []byte) {
	o.names, o.text = append(o.names, name), append(o.text, text)
}

func (o *object) index(name string) int {
	for i, n := range o.names {
		if strings.EqualFold(n, name) {
			return i
		}
	}
	return -1
}

func (o *object) has(name string) bool { return o.index(name) >= 0 }

func (o *object) get(name string) (value string, ok bool) {
	i := o.index(name)
	if i < 0 {
		return "", false
	}
	return value, json.Unmarshal(o.text[i], &value) == nil
}

func (o *object) take(name string) (string, bool) {
	value, ok := o.get(name)
	if ok {
		i := o.index(name)
		o.names, o.text = append(o.names[:i], o.names[i+1:]...), append(o.text[:i], o.text[i+1:]...)
	}
	return value, ok
}

func (o *object) bytes() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, n := range o.names {
		if i > 0 {
			b.WriteString(", ")
		}
		name, _ := json.Marshal(n)
		b.Write(name)
		b.WriteString(": ")
		b.Write(o.text[i])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// plainJSON is valid JSON with its strings in plain UTF-8 and everything else as it was: YAML, as which it is read
// again, has no surrogate escapes.
func plainJSON(text []byte) []byte {
	var out bytes.Buffer
	for i := 0; i < len(text); {
		if text[i] != '"' {
			out.WriteByte(text[i])
			i++
			continue
		}
		end := i + 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		var s string
		_ = json.Unmarshal(text[i:end+1], &s) // a string of valid JSON
		out.Write(encode(s))
		i = end + 1
	}
	return out.Bytes()
}

// encode is JSON as json.Marshal makes it, without its escapes for HTML.
func encode(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // strings, numbers and booleans always encode
	return bytes.TrimSpace(b.Bytes())
}

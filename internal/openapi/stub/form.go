package stub

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
)

func init() { openapi3filter.RegisterBodyDecoder("application/x-www-form-urlencoded", form) }

// field is what a form says under one name: texts, or fields of its own.
type field struct {
	texts []string
	below map[string]*field
}

// form reads a form whose names have brackets, such as items[0][price]=3, where the validator refuses every schema that has such lists.
func form(body io.Reader, _ http.Header, schema *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	lines, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, err
	}
	top := &field{below: map[string]*field{}}
	for name, texts := range lines {
		at := top
		for _, part := range strings.Split(strings.ReplaceAll(name, "]", ""), "[") {
			at = at.member(part)
		}
		at.texts = append(at.texts, texts...)
	}
	return top.as(schema), nil
}

func (f *field) member(name string) *field {
	if f.below == nil {
		f.below = map[string]*field{}
	}
	if f.below[name] == nil {
		f.below[name] = &field{}
	}
	return f.below[name]
}

// as is the field as a value of the schema, or of the first of its alternatives that allows it.
func (f *field) as(ref *openapi3.SchemaRef) any {
	if ref == nil || ref.Value == nil {
		ref = openapi3.NewSchemaRef("", openapi3.NewSchema())
	}
	schema := ref.Value
	for _, one := range slices.Concat(schema.AnyOf, schema.OneOf, schema.AllOf) {
		if v := f.as(one); one.Value.VisitJSON(v) == nil {
			return v
		}
	}
	switch {
	case f.below == nil && !schema.Type.Is("array"):
		return typed(f.texts[0], schema)
	case schema.Type.Is("array"):
		var out []any
		for _, each := range f.each() {
			out = append(out, each.as(schema.Items))
		}
		return out
	}
	out := map[string]any{}
	for name, member := range f.below {
		of := schema.Properties[name]
		if of == nil {
			of = schema.AdditionalProperties.Schema
		}
		out[name] = member.as(of)
	}
	return out
}

// each are the fields of a list: a=1&a=2, a[]=1&a[]=2, or a[0]=1&a[1]=2.
func (f *field) each() []*field {
	var out []*field
	for _, text := range f.texts {
		out = append(out, &field{texts: []string{text}})
	}
	for _, index := range slices.SortedFunc(maps.Keys(f.below), byNumber) {
		if at := f.below[index]; at.below == nil {
			out = append(out, at.each()...)
		} else {
			out = append(out, at)
		}
	}
	return out
}

func byNumber(a, b string) int {
	m, _ := strconv.Atoi(a)
	n, _ := strconv.Atoi(b)
	return cmp.Compare(m, n)
}

// typed is a text as the schema wants it, or the text where it is no such thing.
func typed(text string, schema *openapi3.Schema) any {
	switch {
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	case schema.Type.Is("boolean"):
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return text
}

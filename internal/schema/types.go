package schema

import (
	"encoding"
	"reflect"
	"strings"
	"time"
)

type object = map[string]any

// ofType is the schema of what encoding/json writes for a T. Fields that later versions add are allowed, so that an older schema holds
// for their documents too.
func ofType[T any](title string) object {
	g := generator{definitions: object{}}
	root := g.of(reflect.TypeFor[T]())
	return object{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": title,
		"allOf": []any{root}, "definitions": g.definitions,
	}
}

// generator collects a definition for each struct that it meets.
type generator struct{ definitions object }

func (g *generator) of(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{g.of(t.Elem()), object{"type": "null"}}}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": []any{"string", "null"}, "contentEncoding": "base64"}
		}
		return object{"type": []any{"array", "null"}, "items": g.of(t.Elem())}
	case reflect.Map:
		return object{"type": []any{"object", "null"}, "additionalProperties": g.of(t.Elem())}
	case reflect.Struct:
		return g.ref(t)
	}
	return object{} // an interface: anything
}

func (g *generator) ref(t reflect.Type) object {
	if _, known := g.definitions[t.Name()]; !known {
		g.definitions[t.Name()] = nil // it may hold itself
		properties, required := object{}, []any{}
		g.fields(t, properties, &required)
		g.definitions[t.Name()] = object{"type": "object", "properties": properties, "required": required}
	}
	return object{"$ref": "#/definitions/" + t.Name()}
}

// fields adds the fields of a struct, those of embedded ones in their place.
func (g *generator) fields(t reflect.Type, properties object, required *[]any) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			g.fields(f.Type, properties, required)
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = g.of(f.Type)
			if !strings.Contains(options, "omit") {
				*required = append(*required, name)
			}
		}
	}
}

package openapi

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// schema is what a value must be, put together from a schema, what it refers to, and what it is all of; of alternatives the first
// one that is usable was taken. Nodes are those of the document.
type schema struct {
	// types are those that are allowed but null; none means any.
	types    []string
	nullable bool
	// null is true where null is all that is allowed.
	null     bool
	format   string
	patterns []string
	// enum are the allowed values, nil for no list of them.
	enum              []*yaml.Node
	example, fallback *yaml.Node

	minimum, maximum, multipleOf       *yaml.Node
	exclusiveMinimum, exclusiveMaximum bool
	minLength, maxLength               int // -1 for none
	minItems, maxItems, minProperties  int
	unique                             bool
	items                              []*yaml.Node
	properties                         []property
	required                           []string
	additional                         *yaml.Node
	closed                             bool // no other members
	readOnly                           bool
	description                        string
	kind                               *discriminator

	// core is the first schema that is no reference.
	core *yaml.Node
	// name is that of the outermost schema that was referred to.
	name string

	choices [][]*yaml.Node
	seen    []*yaml.Node
	places  map[string]int // of properties
	needed  map[string]bool
}

// property is a member that an object may have; all of its schemas hold.
type property struct {
	name  string
	nodes []*yaml.Node
}

// discriminator is a member whose value names the kind of an object.
type discriminator struct {
	property, value string
	mapping         *yaml.Node
}

// mostSchemas bounds how many schemas one is put together from.
const mostSchemas = 300

// schema is what the value must be that all of the nodes describe.
func (d *Document) schema(nodes ...*yaml.Node) *schema {
	if len(nodes) == 1 && nodes[0] != nil {
		if s, known := d.schemas[nodes[0]]; known {
			return s
		}
	}
	s := &schema{minLength: -1, maxLength: -1, minItems: -1, maxItems: -1, minProperties: -1}
	for _, n := range nodes {
		d.add(s, n)
	}
	for len(s.choices) > 0 {
		next := s.choices[0]
		s.choices = s.choices[1:]
		d.choose(s, next)
	}
	d.nameKind(s)
	if len(nodes) == 1 && nodes[0] != nil {
		d.schemas[nodes[0]] = s
	}
	return s
}

// add puts a schema into s.
func (d *Document) add(s *schema, n *yaml.Node) {
	if n = plain(n); n == nil || slices.Contains(s.seen, n) || len(s.seen) >= mostSchemas {
		return
	}
	s.seen = append(s.seen, n)
	if n.Kind != yaml.MappingNode {
		if n.ShortTag() != "!!bool" && !isNull(n) {
			d.leave(n, "expected a schema, found %s: read as any value", kindOf(n))
		}
		return
	}
	if ref := d.reference(n); ref != "" {
		setText(&s.name, refName(ref))
		d.add(s, d.follow(n, ref))
	} else if s.core == nil {
		s.core = n
	}
	for key, value := range members(n) {
		d.keyword(s, n, key.Value, value)
	}
}

func (d *Document) keyword(s *schema, n *yaml.Node, key string, value *yaml.Node) {
	switch key {
	case "type":
		s.setTypes(texts(value))
	case "nullable", "x-nullable":
		s.nullable = s.nullable || isTrue(value)
	case "format":
		setText(&s.format, text(value))
	case "pattern":
		if p := text(value); p != "" {
			s.patterns = append(s.patterns, p)
		}
	case "description":
		setText(&s.description, text(value))
	case "enum":
		s.setEnum(items(value))
	case "const":
		s.setEnum([]*yaml.Node{value})
	case "example", "x-example":
		if s.example == nil {
			s.example = value
		}
	case "examples":
		if list := items(value); s.example == nil && len(list) > 0 {
			s.example = list[0]
		}
	case "default":
		if s.fallback == nil {
			s.fallback = value
		}
	case "readOnly":
		s.readOnly = s.readOnly || isTrue(value)
	case "allOf":
		for _, part := range items(value) {
			d.add(s, part)
		}
	case "oneOf", "anyOf":
		if list := items(value); len(list) > 0 {
			s.choices = append(s.choices, list)
		}
	case "discriminator":
		d.setKind(s, value)
	default:
		d.bound(s, n, key, value)
	}
}

// bound reads the keywords that say how large a value is, and what is in it.
func (d *Document) bound(s *schema, n *yaml.Node, key string, value *yaml.Node) {
	switch key {
	case "minimum":
		s.atLeast(value, isTrue(d.get(n, "exclusiveMinimum")))
	case "maximum":
		s.atMost(value, isTrue(d.get(n, "exclusiveMaximum")))
	case "exclusiveMinimum":
		s.atLeast(value, true)
	case "exclusiveMaximum":
		s.atMost(value, true)
	case "multipleOf":
		if rational(value) != nil {
			s.multipleOf = value
		}
	case "minLength":
		s.minLength = max(s.minLength, number(value))
	case "maxLength":
		s.maxLength = least(s.maxLength, number(value))
	case "minItems":
		s.minItems = max(s.minItems, number(value))
	case "maxItems":
		s.maxItems = least(s.maxItems, number(value))
	case "minProperties":
		s.minProperties = max(s.minProperties, number(value))
	case "uniqueItems":
		s.unique = s.unique || isTrue(value)
	case "items":
		s.items = append(s.items, value)
	case "properties":
		for name, p := range members(value) {
			s.setProperty(name.Value, p)
		}
	case "required":
		for _, name := range items(value) {
			if t := text(name); t != "" && !s.needed[t] {
				s.require(t)
			}
		}
	case "additionalProperties":
		if value.Kind == yaml.ScalarNode {
			s.closed = s.closed || text(value) == "false"
		} else if s.additional == nil {
			s.additional = value
		}
	}
}

func setText(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

func least(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

func (s *schema) setTypes(types []string) {
	var kept []string
	for _, t := range types {
		if t = strings.ToLower(t); t == "null" {
			s.nullable = true
		} else if len(s.types) == 0 || slices.Contains(s.types, t) {
			kept = append(kept, t)
		}
	}
	if len(kept) > 0 {
		s.types = kept
	}
	s.null = len(s.types) == 0 && s.nullable
}

// setEnum keeps the values that every list has.
func (s *schema) setEnum(values []*yaml.Node) {
	if len(values) == 0 {
		return
	}
	if s.enum != nil {
		values = slices.DeleteFunc(slices.Clone(values), func(v *yaml.Node) bool { return !within(s.enum, v) })
		if len(values) == 0 {
			return
		}
	}
	s.enum = values
}

func (s *schema) setProperty(name string, node *yaml.Node) {
	i, known := s.places[name]
	switch {
	case !known:
		if s.places == nil {
			s.places = map[string]int{}
		}
		s.places[name] = len(s.properties)
		s.properties = append(s.properties, property{name, []*yaml.Node{node}})
	case !slices.Contains(s.properties[i].nodes, node):
		s.properties[i].nodes = append(s.properties[i].nodes, node)
	}
}

func (s *schema) require(name string) {
	if s.needed == nil {
		s.needed = map[string]bool{}
	}
	s.needed[name] = true
	s.required = append(s.required, name)
}

func (s *schema) property(name string) (property, bool) {
	i, known := s.places[name]
	if !known {
		return property{}, false
	}
	return s.properties[i], true
}

// is is true when a value of the type is allowed; where the schema names no type, what it says of a type speaks for it.
func (s *schema) is(kind string) bool {
	if len(s.types) > 0 {
		return slices.Contains(s.types, kind)
	}
	switch kind {
	case "object":
		return len(s.properties) > 0 || len(s.required) > 0 || s.additional != nil
	case "array":
		return len(s.items) > 0 && !s.is("object")
	case "string":
		return s.format != "" || len(s.patterns) > 0 || s.minLength >= 0 || s.maxLength >= 0
	case "number":
		return s.minimum != nil || s.maximum != nil || s.multipleOf != nil
	}
	return false
}

// choose takes the first alternative that is more than null into s.
func (d *Document) choose(s *schema, alternatives []*yaml.Node) {
	for _, n := range alternatives {
		if slices.Contains(s.seen, n) {
			return
		}
	}
	for _, n := range alternatives {
		if d.onlyNull(n) || d.reference(n) != "" && d.follow(n, d.reference(n)) == nil {
			s.nullable = s.nullable || d.onlyNull(n)
			continue
		}
		if len(s.types) > 0 && !d.shares(s, n) {
			continue
		}
		if ref := d.reference(n); ref != "" {
			s.name = refName(ref)
		}
		d.add(s, n)
		return
	}
}

// onlyNull is true for the alternative that stands for null.
func (d *Document) onlyNull(n *yaml.Node) bool {
	kinds := texts(d.get(n, "type"))
	enum := items(d.get(n, "enum"))
	return len(kinds) == 1 && kinds[0] == "null" || len(enum) == 1 && isNull(enum[0]) || text(d.get(n, "nullable")) == "true" && len(plain(n).Content) == 2
}

// shares is true when an alternative allows a type that s does.
func (d *Document) shares(s *schema, n *yaml.Node) bool {
	kinds := texts(d.get(d.deref(n), "type"))
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(s.types, k) })
}

// setKind reads a discriminator: the name of a member in version 2.0, a mapping since.
func (d *Document) setKind(s *schema, n *yaml.Node) {
	k := &discriminator{property: text(d.get(n, "propertyName")), mapping: d.get(n, "mapping")}
	if n.Kind == yaml.ScalarNode {
		k.property = text(n)
	}
	if s.kind == nil && k.property != "" {
		s.kind = k
	}
}

// nameKind says which value the discriminator has. A schema that is none of the kinds itself becomes the first of them.
func (d *Document) nameKind(s *schema) {
	if s.kind == nil {
		return
	}
	s.kind.value = s.name
	var first *yaml.Node
	for value, target := range members(s.kind.mapping) {
		if refName(text(target)) == s.name {
			s.kind.value = value.Value
			return
		}
		if first == nil {
			first, s.kind.value = target, value.Value
		}
	}
	if ref := text(first); strings.Contains(ref, "#") {
		if target, _ := d.lookup(ref); target != nil {
			d.add(s, target)
		}
	}
}

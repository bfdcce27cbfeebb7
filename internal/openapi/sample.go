package openapi

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// What is drawn from a schema is bounded: a body that a person fills in by hand has fewer values, and lies less deep.
const (
	mostValues = 1500
	mostLevels = 12
	mostItems  = 20
	// shownItems is how many items of an example are taken.
	shownItems = 3
	// mostFree is how many members are sent of an object that requires none, fewFree how many where each is a change.
	mostFree = 8
	fewFree  = 2
	// freeLevels is how deep such an object may lie.
	freeLevels = 2
	// markedLevels is how deep a marker may lie: what lies deeper describes a part, and is rarely what a list can be asked for.
	markedLevels = 3
)

// sampler makes one value that a schema allows.
type sampler struct {
	d      *Document
	budget int
	// marks is true where free texts may become markers: in bodies.
	marks bool
	// most is how many members are sent of an object that requires none.
	most int
	// stack are the schemas that are being filled in.
	stack []*yaml.Node
	// marked are the placeholders by the name of the member that holds one.
	marked map[string]string
	// free are texts that nothing was known of, for a marker when no better place was found.
	free []freeText
	// filters are the words of the members by which a list can be asked for what the body makes.
	filters [][]string
	// refer gives the placeholder of what must exist before, by the name of the member; nil for none.
	refer func(name string) (placeholder, guess string)
	// texts is true where every value is written as text, numbers too.
	texts bool
}

type freeText struct {
	name   string
	node   *yaml.Node
	schema *schema
}

func (d *Document) sampler(marks bool) *sampler {
	return &sampler{d: d, budget: mostValues, marks: marks, most: mostFree, marked: map[string]string{}}
}

// value is a value that all nodes allow: the hint where it fits, else their example, their default, or one that is made up. It is
// nil where none could be made.
func (s *sampler) value(nodes []*yaml.Node, name string, hint *yaml.Node, depth int) *yaml.Node {
	s.budget--
	if s.budget <= 0 || depth > mostLevels {
		return nil
	}
	t := s.d.schema(nodes...)
	given := hint
	for _, h := range []*yaml.Node{hint, t.example, t.fallback} {
		if given = plain(h); t.fits(given) {
			break
		}
		given = nil
	}
	if given == nil && t.core != nil {
		if slices.Contains(s.stack, t.core) {
			return nil
		}
		s.stack = append(s.stack, t.core)
		defer func() { s.stack = s.stack[:len(s.stack)-1] }()
	}
	switch {
	case t.enum != nil:
		return t.fromEnum(given)
	case t.null:
		return null()
	}
	switch t.kindFor(given) {
	case "object":
		return s.object(t, given, depth)
	case "array":
		return s.array(t, name, given, depth)
	case "integer", "number":
		return s.number(t, name, given)
	case "boolean":
		return t.sampleTruth(name, given)
	case "string":
		return s.text(t, name, given, depth)
	}
	if given != nil {
		return s.copied(given, depth)
	}
	return s.text(t, name, nil, depth)
}

// kindFor is the type of the value: the hint's where there is one, else the first that the schema allows.
func (t *schema) kindFor(hint *yaml.Node) string {
	kinds := []string{"object", "array", "string", "integer", "number", "boolean"}
	if hint != nil {
		for _, kind := range kinds {
			if t.is(kind) && fitsKind(hint, kind) {
				return kind
			}
		}
	}
	if len(t.types) > 0 {
		return t.types[0]
	}
	for _, kind := range kinds {
		if t.is(kind) && hint == nil {
			return kind
		}
	}
	return ""
}

func (t *schema) fromEnum(hint *yaml.Node) *yaml.Node {
	if hint != nil {
		return t.scalar(hint)
	}
	for _, v := range t.enum {
		if !isNull(v) && (text(v) != "" || v.Kind != yaml.ScalarNode) {
			return t.scalar(v)
		}
	}
	return t.scalar(t.enum[0])
}

// scalar is a value of the document as a value of the type that the schema has.
func (t *schema) scalar(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.ScalarNode {
		return copyTree(n, mostLevels)
	}
	if t.is("string") && !isNull(n) {
		return quoted(escape(n.Value))
	}
	if written, ok := literal(n); ok && !isText(n) {
		return numeral(written)
	}
	return copyTree(n, 1)
}

// number is a number that the schema allows: the id of what is made before, where it looks like one.
func (s *sampler) number(t *schema, name string, hint *yaml.Node) *yaml.Node {
	if s.refer != nil {
		if placeholder, guess := s.refer(name); placeholder != "" {
			if !s.texts {
				placeholder = strings.TrimSuffix(placeholder, "}}") + ":number}}"
			}
			return guessed(placeholder, guess)
		}
	}
	return t.sampleNumber(name, hint)
}

func (t *schema) sampleNumber(name string, hint *yaml.Node) *yaml.Node {
	if hint != nil {
		if written, ok := literal(hint); ok {
			return numeral(written)
		}
	}
	out := numeral(t.amount())
	out.LineComment = "guess: any number that the document allows"
	if w := words(name); len(w) > 1 && slices.Contains([]string{"id", "ids"}, w[len(w)-1]) {
		out.LineComment = "guess: put in one that exists; the document gives none"
	}
	return out
}

func (t *schema) sampleTruth(name string, hint *yaml.Node) *yaml.Node {
	if hint != nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(isTrue(hint))}
	}
	value := slices.ContainsFunc(words(name), func(w string) bool {
		return slices.Contains([]string{"accept", "accepted", "agree", "agreed", "terms", "consent"}, w)
	})
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(value), LineComment: "guess: the document gives no value"}
}

// copied is an example of which no schema is known.
func (s *sampler) copied(n *yaml.Node, depth int) *yaml.Node {
	out := copyTree(n, mostLevels-depth)
	s.budget -= count(out)
	return out
}

// object fills in what is required, what the example has, and what has an example of its own.
func (s *sampler) object(t *schema, hint *yaml.Node, depth int) *yaml.Node {
	out := object()
	for _, p := range t.properties {
		if s.budget > 0 && s.wants(t, p, hint) {
			s.member(out, t, p, hint, depth)
		}
	}
	if len(t.required) == 0 && hint == nil && depth <= freeLevels {
		s.freeMembers(out, t, depth)
	}
	for _, name := range t.required {
		if _, known := t.property(name); !known && s.budget > 0 && memberNode(out, name) == nil {
			s.member(out, t, property{name: name, nodes: t.extra()}, hint, depth)
		}
	}
	s.others(out, t, hint, depth)
	if t.kind != nil && t.kind.value != "" {
		if p, known := t.property(t.kind.property); !known || s.d.schema(p.nodes...).fits(word(t.kind.value)) {
			setMember(out, t.kind.property, quoted(escape(t.kind.value)))
		}
	}
	s.fillUp(out, t, depth)
	return out
}

// extra is the schema of members that have none of their own.
func (t *schema) extra() []*yaml.Node {
	if t.additional == nil {
		return nil
	}
	return []*yaml.Node{t.additional}
}

func (s *sampler) wants(t *schema, p property, hint *yaml.Node) bool {
	of := s.d.schema(p.nodes...)
	switch {
	case of.readOnly:
		return false
	case t.needed[p.name]:
		return true
	case hint != nil:
		return s.d.get(hint, p.name) != nil && !isNull(s.d.get(hint, p.name))
	}
	return of.example != nil && !isNull(of.example)
}

// member sets one member. A required one that cannot be made is empty, so that a reader sees what is missing.
func (s *sampler) member(out *yaml.Node, t *schema, p property, hint *yaml.Node, depth int) {
	v := s.value(p.nodes, p.name, s.d.get(hint, p.name), depth+1)
	if v == nil && t.needed[p.name] {
		v = s.d.schema(p.nodes...).empty()
	}
	if v != nil {
		setMember(out, p.name, v)
	}
}

func (t *schema) empty() *yaml.Node {
	switch {
	case t.nullable:
		return null()
	case t.is("array"):
		return list()
	}
	return object()
}

// freeMembers adds plain members to an object that requires none: what a document does not require may be required all the same. Where
// it has none of those, its only object is what it wraps.
func (s *sampler) freeMembers(out *yaml.Node, t *schema, depth int) {
	var inner []property
	for _, p := range t.properties {
		of := s.d.schema(p.nodes...)
		kind := of.kindFor(nil)
		if kind == "object" {
			inner = append(inner, p)
		}
		if of.readOnly || kind == "object" || kind == "array" || memberNode(out, p.name) != nil || len(out.Content) >= 2*s.most {
			continue
		}
		if v := s.value(p.nodes, p.name, nil, depth+1); v != nil && !isNull(v) {
			if v.LineComment == "" {
				v.LineComment = "guess: nothing is required, so some of all fields"
			}
			setMember(out, p.name, v)
		}
	}
	if len(out.Content) == 0 && len(inner) == 1 {
		s.member(out, t, inner[0], nil, depth)
	}
}

// others are members of the example that the schema does not name.
func (s *sampler) others(out *yaml.Node, t *schema, hint *yaml.Node, depth int) {
	if t.closed {
		return
	}
	for key, value := range members(hint) {
		if _, known := t.property(key.Value); known || memberNode(out, key.Value) != nil {
			continue
		}
		if v := s.value(t.extra(), key.Value, value, depth+1); v != nil {
			setMember(out, key.Value, v)
		}
	}
}

// fillUp adds members until there are as many as the schema asks for.
func (s *sampler) fillUp(out *yaml.Node, t *schema, depth int) {
	for _, p := range t.properties {
		if len(out.Content)/2 >= t.minProperties {
			return
		}
		if memberNode(out, p.name) == nil && !s.d.schema(p.nodes...).readOnly {
			s.member(out, t, p, nil, depth)
		}
	}
	for i := 1; len(out.Content)/2 < min(t.minProperties, mostItems) && !t.closed; i++ {
		name := fmt.Sprintf("member%d", i)
		v := s.value(t.extra(), name, nil, depth+1)
		if v == nil {
			return
		}
		setMember(out, name, v)
	}
}

func (s *sampler) array(t *schema, name string, hint *yaml.Node, depth int) *yaml.Node {
	out := list()
	given := items(hint)
	if len(given) > max(shownItems, t.minItems) {
		given = given[:max(shownItems, t.minItems)]
	}
	for _, item := range given {
		if v := s.value(t.items, name, item, depth+1); v != nil {
			out.Content = append(out.Content, v)
		}
	}
	wanted := max(1, t.minItems)
	if hint != nil || len(t.items) == 0 {
		wanted = t.minItems
	}
	if t.maxItems >= 0 {
		wanted = min(wanted, t.maxItems)
		out.Content = out.Content[:min(len(out.Content), t.maxItems)]
	}
	for i := len(out.Content); i < min(wanted, mostItems); i++ {
		v := s.value(t.items, name, s.another(t, i), depth+1)
		if v == nil {
			break
		}
		out.Content = append(out.Content, differing(v, i, t.unique))
	}
	return out
}

// another is the i-th of the values that items of a list without repetitions may have, nil where they have no list.
func (s *sampler) another(t *schema, i int) *yaml.Node {
	if of := s.d.schema(t.items...); t.unique && i < len(of.enum) {
		return of.enum[i]
	}
	return nil
}

// differing makes the i-th item differ from those before it.
func differing(v *yaml.Node, i int, unique bool) *yaml.Node {
	if !unique || i == 0 || v.Kind != yaml.ScalarNode || v.LineComment == "" {
		return v
	}
	if value := rational(v); value != nil && !isText(v) {
		written, _ := decimal(new(big.Rat).Add(value, big.NewRat(int64(i), 1)))
		return numeral(written)
	}
	if isText(v) {
		v.Value += strconv.Itoa(i)
	}
	return v
}

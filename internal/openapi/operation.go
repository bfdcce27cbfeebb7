package openapi

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// operation is a method of a path with all that belongs to it; the versions of the format are told apart here and nowhere else.
type operation struct {
	Operation
	// node is the operation itself, item the path around it.
	node, item *yaml.Node
	summary    string
	// segments are the parts of the path between slashes.
	segments []string
	params   []param
	body     *body
}

// param is a parameter that is no body.
type param struct {
	name, in, description string
	required              bool
	// node is where it is declared, schema what its value must be, example a value for it; nil for none.
	node, schema, example *yaml.Node
	// encoded is true for a value that is written as JSON.
	encoded bool
	style   string
}

// body is what an operation takes.
type body struct {
	required bool
	media    []media
}

// media is a body in one content type.
type media struct {
	contentType           string
	node, schema, example *yaml.Node
	encoding              *yaml.Node
}

var methodNames = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// collect finds all operations.
func (d *Document) collect() {
	for path, item := range members(d.section("paths")) {
		if strings.HasPrefix(path.Value, "x-") {
			continue
		}
		if item = d.deref(item); item == nil {
			continue
		}
		if item.Kind != yaml.MappingNode {
			d.leave(item, "expected operations of %s, found %s: left out", path.Value, kindOf(item))
			continue
		}
		for method, node := range members(item) {
			if name := strings.ToLower(method.Value); slices.Contains(methodNames, name) {
				d.operation(path, item, method, node)
			}
		}
	}
	for name := range members(d.get(d.root, "webhooks")) {
		d.leave(name, "webhook %s is sent by the API: left out", name.Value)
	}
}

// mostParts bounds what is read of a document: the largest ones in public have a tenth of it.
const mostParts = 500_000

// spend counts a part of the document; false, once noted, when there were too many.
func (d *Document) spend(n *yaml.Node) bool {
	d.parts++
	if d.parts == mostParts {
		d.leave(n, "the document has more than %d operations and parameters: the rest is left out", mostParts)
	}
	return d.parts < mostParts
}

// colonParam is a parameter as routers in JavaScript write it.
var colonParam = regexp.MustCompile(`/:([A-Za-z_][A-Za-z0-9_]*)`)

func (d *Document) operation(path, item, method, node *yaml.Node) {
	o := &operation{
		node: node, item: item,
		Operation: Operation{Method: strings.ToUpper(method.Value), Path: path.Value},
	}
	pos := d.pos(method)
	o.File, o.Line, o.Col = pos.File, pos.Line, pos.Col
	if !d.spend(node) {
		return
	}
	if !strings.HasPrefix(o.Path, "/") {
		d.leave(path, "expected a path that starts with /, found %q: read as /%s", o.Path, o.Path)
		o.Path = "/" + o.Path
	}
	if express := colonParam.ReplaceAllString(o.Path, "/{$1}"); express != o.Path {
		d.leave(path, "expected parameters as {name}, found %s: read as %s", o.Path, express)
		o.Path = express
	}
	if target := d.deref(node); target != nil { // not allowed, and done to part a document into files
		o.node, node = target, target
	}
	if node.Kind != yaml.MappingNode {
		d.leave(node, "expected what %s %s does, found %s: left out", o.Method, o.Path, kindOf(node))
		return
	}
	o.ID, o.summary = text(d.get(node, "operationId")), text(d.get(node, "summary"))
	o.Tags, o.Deprecated = texts(d.get(node, "tags")), isTrue(d.get(node, "deprecated"))
	route, _, _ := strings.Cut(o.Path, "?")
	o.segments = strings.Split(strings.Trim(route, "/"), "/")
	d.parameters(o)
	if !d.swagger {
		d.requestBody(o)
	}
	d.operations = append(d.operations, o)
}

// parameters reads those of the path, then those of the operation, which go before them.
func (d *Document) parameters(o *operation) {
	var form []*yaml.Node
	places := map[string]int{}
	for _, list := range []*yaml.Node{d.get(o.item, "parameters"), d.get(o.node, "parameters")} {
		for _, n := range items(list) {
			if n = d.deref(n); n == nil || !d.spend(n) {
				continue
			}
			switch in := text(d.get(n, "in")); in {
			case "body":
				o.body = d.swaggerBody(o, n)
			case "formData":
				form = append(form, n)
			case "path", "query", "header", "cookie":
				d.addParam(o, n, in, places)
			default:
				d.leave(n, "expected a parameter in path, query, header or cookie, found %s: left out", kindOf(d.get(n, "in")))
			}
		}
	}
	if form != nil {
		o.body = d.swaggerForm(o, form)
	}
}

func (d *Document) addParam(o *operation, n *yaml.Node, in string, places map[string]int) {
	p := param{
		node: n, in: in, name: text(d.get(n, "name")), description: text(d.get(n, "description")), style: text(d.get(n, "style")),
		required: isTrue(d.get(n, "required")) || in == "path", schema: n, example: d.exampleOf(n),
	}
	if p.name == "" {
		d.leave(n, "expected the name of a parameter, found none: left out")
		return
	}
	if !d.swagger {
		p.schema = d.get(n, "schema")
		for _, content := range members(d.get(n, "content")) {
			p.schema, p.encoded = d.get(content, "schema"), true
			break
		}
	}
	key := in + " " + p.name
	if in == "header" {
		key = strings.ToLower(key)
	}
	if i, known := places[key]; known {
		o.params[i] = p
		return
	}
	places[key] = len(o.params)
	o.params = append(o.params, p)
}

// exampleOf is the example of a parameter or of a body: the only one, or the first of several.
func (d *Document) exampleOf(n *yaml.Node) *yaml.Node {
	for _, name := range []string{"example", "x-example"} {
		if found := d.get(n, name); found != nil {
			return found
		}
	}
	if list := items(d.get(n, "examples")); list != nil {
		return list[0]
	}
	for _, one := range members(d.get(n, "examples")) {
		if one = d.deref(one); one == nil {
			continue
		}
		if value := d.get(one, "value"); value != nil {
			return value
		}
	}
	return nil
}

// requestBody reads the body of version 3.
func (d *Document) requestBody(o *operation) {
	n := d.deref(d.get(o.node, "requestBody"))
	if n == nil {
		return
	}
	content := d.get(n, "content")
	if content == nil || content.Kind != yaml.MappingNode {
		d.leave(n, "expected the content of the body of %s %s, found %s: left out", o.Method, o.Path, kindOf(content))
		return
	}
	o.body = &body{required: isTrue(d.get(n, "required"))}
	for contentType, m := range members(content) {
		if m = d.deref(m); !d.spend(contentType) {
			return
		}
		o.body.media = append(o.body.media, media{
			contentType: contentType.Value, node: contentType,
			schema: d.get(m, "schema"), example: d.exampleOf(m), encoding: d.get(m, "encoding"),
		})
	}
}

// swaggerBody reads the body of version 2.0, a parameter.
func (d *Document) swaggerBody(o *operation, n *yaml.Node) *body {
	b := &body{required: isTrue(d.get(n, "required"))}
	types := texts(d.firstOf("consumes", o.node, d.root))
	if len(types) == 0 {
		types = []string{"application/json"}
	}
	for _, contentType := range types {
		b.media = append(b.media, media{contentType: contentType, node: n, schema: d.get(n, "schema"), example: d.swaggerExample(n, contentType)})
	}
	return b
}

// swaggerExample is the value of the extensions that give an example for one content type, or for all.
func (d *Document) swaggerExample(n *yaml.Node, contentType string) *yaml.Node {
	if found := d.get(n, "x-examples", contentType); found != nil {
		return found
	}
	return d.get(n, "x-example")
}

// swaggerForm makes one body of the form's fields, each of which is a parameter. The schema that it has is made up.
func (d *Document) swaggerForm(o *operation, fields []*yaml.Node) *body {
	properties, required := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	b := &body{}
	contentType := "application/x-www-form-urlencoded"
	for _, f := range fields {
		name := d.get(f, "name")
		if text(name) == "" {
			continue
		}
		properties.Content = append(properties.Content, name, f)
		if isTrue(d.get(f, "required")) {
			required.Content, b.required = append(required.Content, name), true
		}
		if text(d.get(f, "type")) == "file" {
			contentType = "multipart/form-data"
		}
	}
	if types := texts(d.firstOf("consumes", o.node, d.root)); slices.Contains(types, "multipart/form-data") && !slices.Contains(types, contentType) {
		contentType = "multipart/form-data"
	}
	schema := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: fields[0].Line, Column: fields[0].Column}
	schema.Content = append(schema.Content, word("type"), word("object"), word("properties"), properties, word("required"), required)
	b.media = []media{{contentType: contentType, node: fields[0], schema: schema}}
	return b
}

func word(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// firstOf is a member of the first of several mappings that has it.
func (d *Document) firstOf(name string, among ...*yaml.Node) *yaml.Node {
	for _, n := range among {
		if found := d.get(n, name); found != nil {
			return found
		}
	}
	return nil
}

// answer is the first answer that says success: its schema in JSON, and whether the document describes one at all.
func (d *Document) answer(o *operation) (schema *yaml.Node, described bool) {
	responses := d.get(o.node, "responses")
	statuses := []string{"201", "200", "202", "203", "2XX", "2xx", "206"}
	succeeds := slices.ContainsFunc(append(statuses, "204", "205"), func(status string) bool { return d.get(responses, status) != nil })
	if !succeeds { // beside an answer of success it would be that of errors
		statuses = []string{"default"}
	}
	for _, status := range statuses {
		r := d.deref(d.get(responses, status))
		if r == nil {
			continue
		}
		if schema := d.get(r, "schema"); d.swagger && schema != nil {
			return schema, true
		}
		for contentType, m := range members(d.get(r, "content")) {
			if isJSON(contentType.Value) || strings.HasPrefix(contentType.Value, "*/*") {
				return d.get(d.deref(m), "schema"), true
			}
		}
	}
	return nil, false
}

// isJSON is true for the media types of JSON (RFC 6839, section 3.1).
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json")
}

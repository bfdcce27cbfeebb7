package advice

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/trace"
)

// Edit is a field that a plan should have.
type Edit struct {
	// Endpoint is the name of the endpoint that should have it; empty for the top level.
	Endpoint string
	// Text is the field with its value in YAML, such as "settle: 800ms".
	Text string
}

// File is one of the files of a plan.
type File struct {
	// Name is its path as plan.Plan has it.
	Name string
	Text []byte
}

// Apply puts fields into the files of a plan, its own first: those of an endpoint where that is declared, others into the file that has the
// field already, else into the plan's own. A mapping that is there already keeps what it says, and so does a list; what an edit says of a
// value wins. Comments and layout are not kept: the result is for reading by the tool. It is an error when a text is no YAML, or no
// file declares such an endpoint.
func Apply(files []File, edits ...Edit) ([]File, error) {
	out := slices.Clone(files)
	for _, e := range edits {
		f, err := home(out, e)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(o File) bool { return o.Name == f.Name })
		if out[i].Text, err = apply(f.Text, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// home is the file that an edit belongs in.
func home(files []File, e Edit) (File, error) {
	field, _, err := parsed(e.Text)
	if err != nil {
		return File{}, err
	}
	for _, f := range files {
		var doc yaml.Node
		if err := yaml.Load(f.Text, &doc); err != nil {
			return File{}, fmt.Errorf("cannot read %s: %w", f.Name, err)
		}
		if around := place(&doc, e.Endpoint); around != nil && (e.Endpoint != "" || at(around, field) >= 0) {
			return f, nil
		}
	}
	if e.Endpoint != "" || len(files) == 0 {
		return File{}, fmt.Errorf("expected endpoint %q in one of the plan's files, found it in none", e.Endpoint)
	}
	return files[0], nil
}

// apply is Apply for one text.
func apply(text []byte, edits ...Edit) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}
	for _, e := range edits {
		at := place(&doc, e.Endpoint)
		field, value, err := parsed(e.Text)
		if err != nil {
			return nil, err
		}
		if at == nil {
			return nil, fmt.Errorf("expected endpoint %q in the text, found it not", e.Endpoint)
		}
		put(at, field, value)
	}
	out, err := yaml.Dump(&doc)
	if err != nil {
		return nil, fmt.Errorf("cannot write the plan: %w", err)
	}
	return out, nil
}

// place is the mapping of the endpoint of that name, for the empty name the top level; nil when it is not there.
func place(doc *yaml.Node, endpoint string) *yaml.Node {
	root := doc
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	if root.Kind != yaml.MappingNode || endpoint == "" {
		return mappingOr(root)
	}
	list := get(root, "endpoints")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	i := slices.IndexFunc(list.Content, func(n *yaml.Node) bool {
		name := get(n, "name")
		return name != nil && name.Value == endpoint
	})
	if i < 0 {
		return nil
	}
	return list.Content[i]
}

func mappingOr(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	return n
}

// at is the index of a field's name in a mapping; -1 when it is not there.
func at(n *yaml.Node, field string) int {
	if n.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == field {
			return i
		}
	}
	return -1
}

// get is the value of a field; nil when it is not there.
func get(n *yaml.Node, field string) *yaml.Node {
	if i := at(n, field); i >= 0 {
		return n.Content[i+1]
	}
	return nil
}

// parsed is one field with its value.
func parsed(text string) (field string, value *yaml.Node, err error) {
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		return "", nil, fmt.Errorf("no YAML: %q: %w", text, err)
	}
	root := &doc
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	if root.Kind != yaml.MappingNode || len(root.Content) != 2 {
		return "", nil, fmt.Errorf("expected one field, found %q", text)
	}
	return root.Content[0].Value, root.Content[1], nil
}

// put gives a mapping a field, or what the field lacks of a value.
func put(n *yaml.Node, field string, value *yaml.Node) {
	i := at(n, field)
	if i < 0 {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: field}, value)
		return
	}
	n.Content[i+1] = merged(n.Content[i+1], value)
}

// merged is what two values say together; where they are of different kinds, or scalars, the second.
func merged(old, value *yaml.Node) *yaml.Node {
	if old.Kind != value.Kind || old.Kind == yaml.ScalarNode {
		return value
	}
	out := *old
	out.Content = slices.Clone(old.Content)
	if old.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(value.Content); i += 2 {
			put(&out, value.Content[i].Value, value.Content[i+1])
		}
		return &out
	}
	for _, item := range value.Content {
		if !slices.ContainsFunc(old.Content, func(n *yaml.Node) bool { return n.Kind == item.Kind && n.Value == item.Value }) {
			out.Content = append(out.Content, item)
		}
	}
	return &out
}

// locatedIn is an edit as a line of plan, for the place where it belongs in the files of the plan.
func locatedIn(files []File, e Edit) (trace.PlanLine, error) {
	f, err := home(files, e)
	if err != nil {
		return trace.PlanLine{}, err
	}
	line, err := located(f.Text, e)
	if f.Name != files[0].Name {
		line.File = f.Name
	}
	return line, err
}

// located is locatedIn for one text.
func located(text []byte, e Edit) (trace.PlanLine, error) {
	line := trace.PlanLine{Text: e.Text, Top: e.Endpoint == ""}
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return line, fmt.Errorf("cannot read the plan: %w", err)
	}
	around := place(&doc, e.Endpoint)
	field, value, err := parsed(e.Text)
	if err != nil {
		return line, err
	}
	if around == nil {
		return line, fmt.Errorf("expected endpoint %q in the text, found it not", e.Endpoint)
	}
	if len(around.Content) > 0 {
		line.Indent = around.Content[0].Column - 1
	}
	line.Braces = around.Style&yaml.FlowStyle != 0
	i := at(around, field)
	if i < 0 {
		return line, nil
	}
	for changesEntry(around.Content[i+1], value) {
		around, field, value = around.Content[i+1], value.Content[0].Value, value.Content[1]
		i, line.Indent = at(around, field), around.Content[0].Column-1
	}
	old := around.Content[i+1]
	if adds(old, value) {
		line.Into, line.Indent = around.Content[i].Line, old.Content[0].Column-1
		line.Text, err = flow(value.Content[0].Value, value.Content[1])
		return line, err
	}
	line.Replaces = around.Content[i].Line
	line.Text, err = flow(field, merged(old, value))
	return line, err
}

// adds reports whether a value is one new entry for a mapping that is written in lines.
func adds(old, value *yaml.Node) bool {
	return old.Kind == yaml.MappingNode && old.Style&yaml.FlowStyle == 0 && len(old.Content) > 0 &&
		value.Kind == yaml.MappingNode && len(value.Content) == 2 && at(old, value.Content[0].Value) < 0
}

// changesEntry reports whether a value says more of one entry of a mapping that is written in lines, whose other entries stay as they are.
func changesEntry(old, value *yaml.Node) bool {
	return old.Kind == yaml.MappingNode && old.Style&yaml.FlowStyle == 0 &&
		value.Kind == yaml.MappingNode && len(value.Content) == 2 && at(old, value.Content[0].Value) >= 0
}

// flow is a field with its value in one line.
func flow(field string, value *yaml.Node) (string, error) {
	line := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: field}, flat(value)}}
	out, err := yaml.Dump(line, yaml.WithLineWidth(-1))
	if err != nil {
		return "", fmt.Errorf("cannot write %s: %w", field, err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// flat is a copy of a value that is written in one line, without comments.
func flat(n *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style}
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		out.Style = yaml.FlowStyle
	case yaml.ScalarNode:
		out.Style = n.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
		if strings.Contains(n.Value, "\n") {
			out.Style = yaml.DoubleQuotedStyle
		}
	}
	for _, c := range n.Content {
		out.Content = append(out.Content, flat(c))
	}
	return out
}

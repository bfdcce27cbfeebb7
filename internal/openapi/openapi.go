// Package openapi reads descriptions of APIs (OpenAPI 3.0 and 3.1, Swagger 2.0; JSON or YAML) and drafts a plan from one.
//
// Documents of the wild are incomplete and slightly wrong, and their owners did not write them for this tool. So the reader
// takes what it can use and says, with the place, what it leaves out; only what is no description at all is an error. It works on the
// tree of the text, in which every value knows its line, and never asks the network. References may lead to files beside the document, and
// go round in circles; whatever is drawn from them is bounded.
package openapi

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// Document is a description that was read.
type Document struct {
	name string
	root *yaml.Node
	// swagger is true for version 2.0, whose bodies are parameters.
	swagger    bool
	operations []*operation
	left       []string
	// beside are the files that references may lead to, nil for none; files are the roots of those that were read, and of this document, by
	// their names in beside. owner is the file of each value that is not of this document.
	beside fs.FS
	files  map[string]*yaml.Node
	owner  map[*yaml.Node]string
	// unreadable is why a file cannot be read.
	unreadable map[string]error
	// read is how many bytes of other files were read.
	read int64
	// elsewhere is how many references lead to where nothing is read.
	elsewhere int
	told      map[string]bool

	index   map[*yaml.Node]map[string]*yaml.Node
	targets map[string]*yaml.Node
	// underway are references that are being followed.
	underway map[string]bool
	// parts is how many operations, parameters and bodies were read; aliases make more of them than the text is long.
	parts   int
	schemas map[*yaml.Node]*schema
}

// version is how a description says what it is, in JSON or YAML, at the start of a line or of a member.
var version = regexp.MustCompile(`(?:^|[{,\r\n])[ \t]*["']?(?:openapi|swagger)["']?[ \t]*:[ \t\r\n]*["']?[0-9]`)

// Is is true for text that says of itself that it is an OpenAPI or Swagger document. It need not be a sound one.
func Is(data []byte) bool { return version.Match(data) }

// Read reads a document; name is what its places are shown with. References may lead to files of beside, the document's folder, and of
// folders in it; nil: to none. An error is strict.Errors where it has a place: the text is
// neither JSON nor YAML, or it is no description that has operations. What else is wrong is told by Draft, in Left.
func Read(name string, data []byte, beside fs.FS) (*Document, error) {
	root, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	d := &Document{
		name: name, root: root, told: map[string]bool{}, beside: beside,
		files: map[string]*yaml.Node{filepath.Base(name): root}, owner: map[*yaml.Node]string{}, unreadable: map[string]error{}, underway: map[string]bool{},
		index: map[*yaml.Node]map[string]*yaml.Node{}, targets: map[string]*yaml.Node{}, schemas: map[*yaml.Node]*schema{},
	}
	if err := d.check(); err != nil {
		return nil, d.mistake(err)
	}
	d.collect()
	return d, nil
}

// unusable is why a document cannot be read at all.
type unusable struct {
	node    *yaml.Node
	message string
}

func (d *Document) mistake(u *unusable) error {
	e := &strict.Error{Pos: d.pos(u.node), Message: u.message, Width: 1}
	return strict.Errors{e}
}

func (d *Document) check() *unusable {
	if d.root.Kind != yaml.MappingNode {
		return &unusable{d.root, "expected an OpenAPI document, found " + kindOf(d.root)}
	}
	v3, v2 := d.get(d.root, "openapi"), d.get(d.root, "swagger")
	switch {
	case v3 == nil && v2 == nil:
		return &unusable{d.root, "expected an OpenAPI document with the field openapi or swagger, found neither"}
	case v3 != nil && !strings.HasPrefix(text(v3), "3"):
		return &unusable{v3, fmt.Sprintf("expected OpenAPI 3.0 or 3.1, found version %q: convert it to 3.0", text(v3))}
	case v3 == nil && !strings.HasPrefix(text(v2), "2"):
		return &unusable{v2, fmt.Sprintf("expected Swagger 2.0, found version %q: convert it to OpenAPI 3.0", text(v2))}
	}
	d.swagger = v3 == nil
	paths := d.get(d.root, "paths")
	switch {
	case paths == nil && d.get(d.root, "webhooks") == nil:
		return &unusable{d.root, "expected paths with operations, found no field paths"}
	case paths != nil && paths.Kind != yaml.MappingNode && !isNull(paths):
		return &unusable{paths, "expected paths with operations, found " + kindOf(paths) + " as paths"}
	}
	return nil
}

// Operation is one method of one path.
type Operation struct {
	// Method is in capital letters; Path is the template, such as "/orders/{orderId}".
	Method, Path string
	// ID is the operationId; empty where the document gives none.
	ID string
	// Tags are those of the document, in its order.
	Tags []string
	// File, Line and Col are where it is described; they count from 1.
	File      string
	Line, Col int
	// Deprecated is true when the document says so.
	Deprecated bool
}

// Unsafe is true for the methods that change something: POST, PUT, PATCH and DELETE.
func (o Operation) Unsafe() bool {
	switch o.Method {
	case "POST", "PUT", "PATCH", "DELETE":
		return true
	}
	return false
}

// Operations are all operations in the order of the document.
func (d *Document) Operations() []Operation {
	out := make([]Operation, len(d.operations))
	for i, o := range d.operations {
		out[i] = o.Operation
	}
	return out
}

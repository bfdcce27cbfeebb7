package openapi

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// reference is the $ref of a value; empty when it has none.
func (d *Document) reference(n *yaml.Node) string { return text(d.get(n, "$ref")) }

// deref is the value that a chain of references leads to; what is no reference is itself. Where one leads to what is not read,
// nowhere or back to itself, that is noted, and nil is returned.
func (d *Document) deref(n *yaml.Node) *yaml.Node {
	n = plain(n)
	seen := map[string]bool{}
	for {
		ref := d.reference(n)
		if ref == "" {
			return n
		}
		if seen[ref] {
			d.leave(n, "$ref %s leads back to itself: what it stands for is left out", ref)
			return nil
		}
		seen[ref] = true
		n = d.follow(n, ref)
	}
}

// section is a part of the document that all of it shares, which may be a reference itself.
func (d *Document) section(names ...string) *yaml.Node {
	n := d.root
	for _, name := range names {
		n = d.deref(d.get(n, name))
	}
	return n
}

// follow is the value that one reference leads to, nil after noting why there is none.
func (d *Document) follow(from *yaml.Node, ref string) *yaml.Node {
	if target, known := d.targets[ref]; known && target != nil {
		return target
	}
	target, why := (*yaml.Node)(nil), "leads back to itself"
	if !d.underway[ref] { // a part of its way may be a reference
		d.underway[ref] = true
		target, why = d.lookup(ref)
		delete(d.underway, ref)
	}
	if target == nil {
		d.leave(d.get(from, "$ref"), "$ref %s %s: what it stands for is left out", ref, why)
	}
	d.targets[ref] = target
	return target
}

// lookup is the value at a JSON pointer (RFC 6901) into this document or into a file beside it, or why there is none.
func (d *Document) lookup(ref string) (target *yaml.Node, why string) {
	file, pointer, _ := strings.Cut(ref, "#")
	if pointer != "" && pointer[0] != '/' {
		return nil, "is no path into a document"
	}
	n := d.root
	if file != "" {
		if n, why = d.file(file); n == nil {
			return nil, why
		}
	}
	for i, name := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		if n = d.step(n, name); n == nil {
			return nil, fmt.Sprintf("leads nowhere: there is no %q", name)
		}
	}
	return n, ""
}

func (d *Document) step(n *yaml.Node, name string) *yaml.Node {
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	n = d.deref(n)
	if list := items(n); list != nil {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(list) {
			return nil
		}
		return list[i]
	}
	return d.get(n, name)
}

// refName is the last part of a reference: the name of the schema that it leads to.
func refName(ref string) string {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	if !strings.Contains(ref, "#") {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	if decoded, err := url.PathUnescape(name); err == nil {
		return decoded
	}
	return name
}

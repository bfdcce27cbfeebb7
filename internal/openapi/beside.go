package openapi

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// mostBeside bounds the bytes of all files that a document refers to.
const mostBeside = 64 << 20

// file is the root of a file that a reference leads to, or why there is none.
func (d *Document) file(ref string) (root *yaml.Node, why string) {
	if decoded, err := url.PathUnescape(ref); err == nil {
		ref = decoded
	}
	name := path.Clean(ref)
	if root := d.files[name]; root != nil {
		return root, ""
	}
	switch {
	case onNetwork(ref):
		d.elsewhere++
		return nil, "leads to the network, which is not asked"
	case d.beside == nil:
		d.elsewhere++
		return nil, "leads to another file, which is not read"
	case !fs.ValidPath(name):
		d.elsewhere++
		return nil, "leads out of the document's folder, where nothing is read"
	}
	if d.unreadable[name] == nil {
		d.files[name], d.unreadable[name] = d.load(name)
	}
	if err := d.unreadable[name]; err != nil {
		return nil, fmt.Sprintf("leads to a file that cannot be read (%v)", err)
	}
	return d.files[name], ""
}

// unread are the files that could not be read, by their names in beside.
func (d *Document) unread() []string {
	var names []string
	for name, err := range d.unreadable {
		if err != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// onNetwork is true for a reference with a scheme or a host.
func onNetwork(ref string) bool {
	u, err := url.Parse(ref)
	return err == nil && (u.Scheme != "" || u.Host != "")
}

// load reads a file beside the document. Its values are marked as its own, and its references made to start at the document's folder.
func (d *Document) load(name string) (*yaml.Node, error) {
	info, err := fs.Stat(d.beside, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("expected a file, found %s", info.Mode())
	}
	f, err := d.beside.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBeside-d.read+1))
	if err != nil {
		return nil, err
	}
	if d.read += int64(len(data)); d.read > mostBeside {
		return nil, fmt.Errorf("expected at most %d MiB in all files that the document refers to, found more", mostBeside>>20)
	}
	shown := filepath.Join(filepath.Dir(d.name), filepath.FromSlash(name))
	root, err := parse(shown, data)
	if err == nil {
		d.adopt(root, name, shown)
	}
	return root, err
}

// adopt marks the values of a file. The file is name in beside, and shown in messages. Aliases are not followed: what they stand for is
// of the same file.
func (d *Document) adopt(n *yaml.Node, name, shown string) {
	d.owner[n] = shown
	for _, c := range n.Content {
		d.adopt(c, name, shown)
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key, value := n.Content[i].Value, n.Content[i+1]; key {
		case "$ref", "operationRef":
			rebase(value, name)
		case "mapping": // of a discriminator, from values to references or names
			for j := 1; j < len(value.Content); j += 2 {
				if strings.Contains(value.Content[j].Value, "#") {
					rebase(value.Content[j], name)
				}
			}
		}
	}
}

// rebase makes a reference that starts at a file start at the document's folder.
func rebase(n *yaml.Node, name string) {
	if n.Kind != yaml.ScalarNode || onNetwork(n.Value) {
		return
	}
	file, pointer, cut := strings.Cut(n.Value, "#")
	if file == "" {
		file = path.Base(name)
	}
	if n.Value = path.Join(path.Dir(name), file); cut {
		n.Value += "#" + pointer
	}
}

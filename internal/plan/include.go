package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// Bounds of what a plan includes: a plan of a thousand endpoints may have a file for each, and nobody nests deeper than a folder for a
// team in one for a service. They end what links that lead in a circle would begin.
const (
	mostIncluded  = 2000
	deepestFile   = 10
	largestPart   = 16 << 20
	includedField = "include"
)

// joining says how the fields of included files and of the plan become one. `defaults` are joined by hand.
var joining = map[string]strict.Joining{
	"target": strict.Once, "replicas": strict.Once, "firing": strict.Once, "dialect": strict.Once,
	"allow_hosts": strict.Items, "endpoints": strict.Items, "scenarios": strict.Items, "secrets": strict.Items,
	"callers": strict.Fields, "counters": strict.Fields, "sinks": strict.Fields, "states": strict.Fields, "hooks": strict.Fields,
	"limits": strict.Fields, "defaults": strict.Fields,
}

// inclusion puts the files that a plan includes into its document.
type inclusion struct {
	files Files
	env   func(string) (string, bool)
	doc   *strict.Document
	// paths are the files that were included, each once, in order; texts are what the digest is of.
	paths []string
	texts [][]byte
	// own are the `defaults` of included files that have endpoints, by file: they hold for these.
	own map[string]strict.Value
	// failed is true once there were too many files, which is said once.
	failed bool
}

func (in *inclusion) run(text []byte) {
	in.texts = append(in.texts, text)
	if in.doc.Root().Kind() == strict.Mapping {
		in.include(in.doc.Root(), []string{filepath.Clean(in.doc.File())})
	}
}

// include reads what a file includes. Stack are the files around it, itself last.
func (in *inclusion) include(root strict.Value, stack []string) {
	for _, t := range field(root, includedField).Texts() {
		width := len([]rune(t.Source()))
		if strings.Contains(t.Value, "**") {
			t.Errorf(0, width, "expected * for the names in one folder, found ** in %s: name each folder", t.Show())
			continue
		}
		found, err := in.files.Glob(beside(t))
		if err != nil || len(found) == 0 {
			t.Errorf(0, width, "no file matches %s: paths start at the folder of the file that includes them", t.Show())
		}
		for _, path := range found {
			in.file(t, filepath.Clean(path), stack)
		}
	}
}

// file reads an included file, unless it has been included already.
func (in *inclusion) file(t strict.Text, path string, stack []string) {
	width := len([]rune(t.Source()))
	switch {
	case slices.Contains(stack, path):
		circle := append(slices.Clone(stack[slices.Index(stack, path):]), path)
		t.Errorf(0, width, "files include each other in a circle: %s", strings.Join(circle, " includes "))
		return
	case slices.Contains(in.paths, path) || in.failed:
		return
	case len(in.paths) == mostIncluded:
		in.failed = true
		t.Errorf(0, width, "expected at most %d included files, found more", mostIncluded)
		return
	case len(stack) == deepestFile:
		t.Errorf(0, width, "expected files that include each other %d deep at most, found %s deeper", deepestFile, path)
		return
	}
	text, err := in.files.Read(path, largestPart)
	if err != nil {
		t.Errorf(0, width, "cannot read %s: expected a readable file of at most %d MiB", path, largestPart>>20)
		return
	}
	in.paths, in.texts = append(in.paths, path), append(in.texts, text)
	part := strict.Parse(path, text, in.env)
	in.doc.Add(part)
	if part.Broken() {
		return
	}
	root := part.Root()
	o := root.Object(Fields()...)
	checkVersion(o.Get("version"))
	how := joining
	if o.Has("endpoints") && o.Has("defaults") {
		in.own[path] = o.Get("defaults")
		how = withoutDefaults
	}
	if root.Kind() == strict.Mapping {
		in.doc.Join(part, how)
		in.include(root, append(slices.Clone(stack), path))
	}
}

// withoutDefaults is joining for a file whose defaults hold for its own endpoints alone.
var withoutDefaults = func() map[string]strict.Joining {
	out := map[string]strict.Joining{}
	for field, way := range joining {
		if field != "defaults" {
			out[field] = way
		}
	}
	return out
}()

// digest is "sha256:" and the SHA-256 of the plan's text, or of the digests of all texts where it includes others.
func (in *inclusion) digest() string {
	sum := sha256.Sum256(in.texts[0])
	if len(in.texts) > 1 {
		var all []byte
		for _, text := range in.texts {
			one := sha256.Sum256(text)
			all = append(all, one[:]...)
		}
		sum = sha256.Sum256(all)
	}
	return "sha256:" + hex.EncodeToString(sum[:])
}

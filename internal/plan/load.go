// Package plan reads the plan file: what to test, where, and how to count.
//
// Load and Parse decode the file strictly (package strict), with every name checked, into a Plan:
// placeholders are parsed into Templates and Bodies, defaults of the language and of the dialect are filled
// in, and hosts that the plan does not allow are refused. A command that has flags instead of a file writes
// them as a plan and parses that, so that the same defaults and checks hold.
//
// Rendering is the other half: RequestTemplate.URL, HeaderTemplate.Render, Body.Render and Template.Render
// turn templates into bytes, given Values. The same values give the same bytes.
package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"retrysafe/internal/dialect"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// Overrides are what the user says beside a plan. The zero value changes nothing.
type Overrides struct {
	// AllowHosts are added to those of the plan.
	AllowHosts []string
	// Dialect stands in place of the plan's; empty leaves that.
	Dialect string
}

// Load reads a plan file and those that it includes. Variables are looked up by env. Mistakes in the file are returned all at once, as
// strict.Errors.
func Load(path string, env func(string) (string, bool), over Overrides) (*Plan, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}
	return ParseWith(path, text, env, over)
}

// Parse is Load for text that has been read; files that it names are looked for on disk, beside file. A nil env leaves
// ${VAR} as it is.
func Parse(file string, text []byte, env func(string) (string, bool), allowHosts ...string) (*Plan, error) {
	return ParseWith(file, text, env, Overrides{AllowHosts: allowHosts})
}

// ParseWith is Parse with all that can be said beside a plan.
func ParseWith(file string, text []byte, env func(string) (string, bool), over Overrides) (*Plan, error) {
	return ParseFrom(Disk{}, file, text, env, over)
}

// ParseFrom is ParseWith with another place for the files that a plan names.
func ParseFrom(files Files, file string, text []byte, env func(string) (string, bool), over Overrides) (*Plan, error) {
	if _, known := dialect.Find(over.Dialect); over.Dialect != "" && !known {
		return nil, fmt.Errorf("--dialect: unknown dialect %q%s (known: %s)", over.Dialect,
			strict.DidYouMean(over.Dialect, dialect.Names()), strings.Join(dialect.Names(), ", "))
	}
	for _, host := range over.AllowHosts {
		if _, _, err := splitHost(host); err != nil {
			return nil, fmt.Errorf("--allow-host: %w", err)
		}
	}
	in := &inclusion{files: files, env: env, doc: strict.Parse(file, text, env), own: map[string]strict.Value{}}
	in.doc.Mask(remembering(conceal))
	in.run(text)
	in.doc.Advise(sharedBy)
	d := &decoder{
		doc:   in.doc,
		plan:  &Plan{File: file, Digest: in.digest(), Included: in.paths},
		files: files,
		own:   in.own,
		over:  over,
	}
	d.decode()
	d.plan.AllowHosts = append(d.plan.AllowHosts, over.AllowHosts...)
	c := completion{plan: d.plan, doc: d.doc, targetWidth: d.targetWidth, replicas: d.replicas, others: d.others, listening: d.listening}
	c.run()
	d.hideLiteral()
	if err := d.doc.Err(); err != nil {
		return nil, err
	}
	d.plan.Secrets = d.secrets()
	d.plan.Warnings = d.doc.Warnings()
	d.plan.Risks = d.risks()
	return d.plan, nil
}

// sharedBy says where a plan has a value once that several endpoints need, for a value below these fields.
func sharedBy(fields []string) string {
	if len(fields) > 1 && fields[0] == "endpoints" && slices.Contains(DefaultFields(), fields[1]) {
		return ", or once for all endpoints: `defaults: {" + fields[1] + ": ...}`"
	}
	return ""
}

// FileNames are the names of a plan file that needs no naming, the first one preferred.
func FileNames() []string { return []string{"retrysafe.yaml", ".retrysafe.yaml"} }

// FindFile looks for a plan file in a folder and those around it, up to the one that holds .git, else up to the
// root. The error says where it looked.
func FindFile(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot look for a plan: %w", err)
	}
	for at := start; ; at = filepath.Dir(at) {
		for _, name := range FileNames() {
			path := filepath.Join(at, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, nil
			}
		}
		if isRepository(at) || at == filepath.Dir(at) {
			return "", fmt.Errorf("found no %s or %s in %s or the folders around it up to %s: name a plan, or try `retrysafe demo`",
				FileNames()[0], FileNames()[1], start, at)
		}
	}
}

func isRepository(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

// InRepository is the path of a file, with slashes, from the nearest folder around it that holds .git; without one, from the working
// directory when the file is below it. Empty when it is neither, and for an empty file.
func InRepository(file string) string {
	path, err := filepath.Abs(file)
	if err != nil || file == "" {
		return ""
	}
	root := filepath.Dir(path)
	for !isRepository(root) {
		if root == filepath.Dir(root) {
			root = "."
			break
		}
		root = filepath.Dir(root)
	}
	if root, err = filepath.Abs(root); err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// Dir is the folder of the plan file, in which its commands are run; "." for a plan made from flags.
func (p *Plan) Dir() string { return filepath.Dir(p.File) }

// CheckScenarios checks the scenario ids of every skip and require against the known ones, which are not known before
// the plan's own scenario files were read. Mistakes are returned all at once, as strict.Errors.
func (p *Plan) CheckScenarios(known []string) error {
	var errs strict.Errors
	for _, r := range p.scenarioRefs {
		e := r.check(known)
		if e != nil && !slices.ContainsFunc(errs, func(o *strict.Error) bool { return o.Pos == e.Pos }) {
			errs = append(errs, e)
		}
	}
	return errs.Sorted().Err()
}

// scenarioRef is a scenario id in a skip or require, or a pattern of them in a require, kept until the ids are known.
type scenarioRef struct {
	id      strict.Text
	pattern bool
}

func (r scenarioRef) check(known []string) *strict.Error {
	width := len([]rune(r.id.Value))
	switch {
	case slices.Contains(known, r.id.Value):
		return nil
	case r.pattern && slices.ContainsFunc(known, func(id string) bool { return trace.Named(r.id.Value, id) }):
		return nil
	case r.pattern:
		return r.id.Mistake(0, width, "no scenario matches %s (list: `retrysafe scenarios`)", r.id.Show())
	}
	return r.id.Mistake(0, width, "unknown scenario %s%s (list: `retrysafe scenarios`)", r.id.Show(), strict.DidYouMean(r.id.Value, known))
}

// isPattern is true for what means several names.
func isPattern(s string) bool { return strings.ContainsAny(s, "*?[") }

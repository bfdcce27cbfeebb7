package draft

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// TargetVariable is the variable of the environment that says where a plan's target is.
const TargetVariable = "RETRYSAFE_TARGET"

// ErrEmpty is what Write says of a draft without endpoints, which no plan can be.
var ErrEmpty = errors.New("there is no endpoint to test")

//go:embed starter.yaml
var starter []byte

// Starter is a commented plan of one endpoint to edit, for those who have nothing that a draft could be made from.
func Starter() []byte { return slices.Clone(starter) }

// Write writes a draft as a plan: commented, each guess marked, in the order in which plans are best written. What it writes is a plan as
// far as the draft's names, paths and JSONPaths are those of one; hosts that are not on loopback stand in a comment, for the user to
// allow. The error is ErrEmpty, or says which part cannot be written.
func Write(w io.Writer, d Draft) error {
	if len(d.Endpoints) == 0 {
		return ErrEmpty
	}
	body, err := sections(&d)
	if err != nil {
		return err
	}
	if err := strict.Parse("plan", body, nil).Err(); err != nil {
		return fmt.Errorf("cannot write the plan: %w", err)
	}
	if _, err := io.WriteString(w, header(&d, Unset(body))); err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// sections is the plan without its header.
func sections(d *Draft) ([]byte, error) {
	var p printer
	p.out.WriteString("version: 1\n")
	p.target(d.Target)
	if callers := d.usedCallers(); len(callers) > 0 {
		p.out.WriteString("\n# Who calls. The first one sends what is not about callers; a second one shows whether keys are kept apart.\ncallers:\n")
		for _, c := range callers {
			c.print(&p, 2)
		}
	}
	if len(d.Counters) > 0 {
		p.out.WriteString("\n# How effects are counted: each has to rise by one for one effect. {{marker}} is a text of its own for each key.\ncounters:\n")
		for _, c := range d.Counters {
			if err := c.print(&p, 2, d.captures()); err != nil {
				return nil, err
			}
		}
	}
	if len(d.States) > 0 {
		p.out.WriteString("\n# What a repeat must not change: the answer is read before and after. Times and versions in it may differ.\nstates:\n")
		for _, s := range d.States {
			if err := s.print(&p, 2, d.captures()); err != nil {
				return nil, err
			}
		}
	}
	p.out.WriteString("\nendpoints:\n")
	for i := range d.Endpoints {
		if i > 0 {
			p.out.WriteString("\n")
		}
		if err := d.Endpoints[i].print(&p, 2); err != nil {
			return nil, err
		}
	}
	return []byte(p.out.String()), nil
}

// usedCallers are those that have a header.
func (d *Draft) usedCallers() []Caller {
	return slices.DeleteFunc(slices.Clone(d.Callers), func(c Caller) bool { return len(c.Headers) == 0 })
}

// header says what the plan was made from, and what to do with it.
func header(d *Draft, variables []string) string {
	var p printer
	made := "A plan made by retrysafe init"
	if d.Source != "" {
		made += " from " + d.Source
	}
	if d.Title != "" {
		made += " (" + d.Title + ")"
	}
	p.above(0, oneLine(made)+". Nothing was sent.")
	p.out.WriteString("#\n")
	p.above(0, "What the source does not say was guessed, and is marked with `guess:` and the reason. Look at these lines first.")
	p.out.WriteString("#\n")
	for some := range slices.Chunk(variables, 3) {
		p.out.WriteString("#   export " + strings.Join(some, "=... ") + "=...\n")
	}
	for _, step := range [][2]string{
		{"validate", "says what is wrong, sends nothing"},
		{"try", "sends a request of each endpoint and its repeat, and says what the plan lacks"},
		{"run", "tests everything: it creates real things in the target"},
	} {
		fmt.Fprintf(&p.out, "#   retrysafe %-10s %s\n", step[0], step[1])
	}
	p.out.WriteString("#\n")
	p.above(0, "Importing again adds endpoints that are new and leaves everything else as it is. An endpoint that is not to be tested is best "+
		"commented out: then it is not added again. For an editor that completes: `retrysafe schema plan > plan.schema.json`, and as the first "+
		"line `# yaml-language-server: $schema=plan.schema.json`.")
	return p.out.String()
}

// target writes the base URL, and what allows its host.
func (p *printer) target(t Text) {
	comment := ""
	if t.Guess != "" {
		comment = "guess: " + oneLine(t.Guess)
	}
	value := targetValue(t.Value)
	host := remoteHost(t.Value)
	if value == "${"+TargetVariable+"}" && comment == "" {
		comment = "the base URL, such as http://127.0.0.1:8080"
	}
	p.line("target: "+text(value, inBlock), comment)
	if host == "" {
		return
	}
	p.above(0, "Only loopback is contacted unless the plan says otherwise. If this host may be tested, allow it; else point "+TargetVariable+
		" at a system that may, such as http://127.0.0.1:8080.")
	p.line("# allow_hosts: ["+text(host, inFlow)+"]", "")
}

// targetValue is the base URL as the plan has it: a variable, with the source's own as default.
func targetValue(base string) string {
	base = oneLine(base)
	switch {
	case strings.Contains(base, "${"):
		return base
	case strings.HasPrefix(base, "/"): // relative to a host that the source does not name
		return "${" + TargetVariable + "}" + strings.TrimRight(base, "/")
	case base == "" || strings.ContainsAny(base, "{}"):
		return "${" + TargetVariable + "}"
	}
	return "${" + TargetVariable + ":-" + base + "}"
}

// remoteHost is the host of a URL as `allow_hosts` has it; empty for loopback, and where the URL names none.
func remoteHost(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, "{}$") {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() || strings.EqualFold(u.Hostname(), "localhost") {
		return ""
	}
	return u.Host
}

// Unset are the variables without a default that a plan uses, in the order of the file, each once.
func Unset(plan []byte) []string {
	var names []string
	for _, e := range strict.Parse("plan", plan, func(string) (string, bool) { return "", false }).Errors() {
		if e.Unset != "" && !slices.Contains(names, e.Unset) {
			names = append(names, e.Unset)
		}
	}
	return names
}

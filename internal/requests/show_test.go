package requests

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// show writes a draft down for people to read: every field that is set, one line each.
func show(t *testing.T, d draft.Draft) string {
	t.Helper()
	s := &shower{t: t}
	s.text("source", d.Source)
	s.text("title", d.Title)
	s.guessed("target", d.Target)
	for _, c := range d.Callers {
		s.line("caller %s # %s", c.Name, c.Comment)
		s.headers("  ", c.Headers)
	}
	for _, c := range d.Counters {
		s.line("counter %s: %s value=%s length=%s # %s", c.Name, c.Request, c.Value, c.Length, c.Guess)
	}
	for _, e := range d.Endpoints {
		s.line("endpoint %s: %s", e.Name, e.Request)
		for _, c := range e.Comments {
			s.line("  # %s", c)
		}
		s.line("  from %s, template %s", e.Place, e.Template)
		if k := e.Key; k != (draft.Key{}) {
			s.line("  key header=%s json=%s query=%s # %s", k.Header, k.JSON, k.Query, k.Guess)
		}
		s.headers("  ", e.Headers)
		s.body("  ", e.Body)
		for _, st := range e.Setup {
			s.step("  setup", st)
		}
		if len(e.Counters) > 0 {
			s.line("  counters %s", strings.Join(e.Counters, ", "))
		}
		if e.Cleanup != nil {
			s.step("  cleanup", *e.Cleanup)
		}
	}
	for _, l := range d.Left {
		s.line("left %s", l)
	}
	return s.out.String()
}

type shower struct {
	t   *testing.T
	out strings.Builder
}

func (s *shower) line(format string, args ...any) {
	s.out.WriteString(strings.TrimSuffix(fmt.Sprintf(format, args...), " # ") + "\n")
}

func (s *shower) text(name, value string) {
	if value != "" {
		s.line("%s %s", name, value)
	}
}

func (s *shower) guessed(name string, v draft.Text) {
	if v != (draft.Text{}) {
		s.line("%s %s # %s", name, v.Value, v.Guess)
	}
}

func (s *shower) headers(indent string, headers []draft.Header) {
	for _, h := range headers {
		s.guessed(indent+"header "+h.Name+":", h.Value)
	}
}

func (s *shower) body(indent string, b draft.Body) {
	for _, tree := range []*yaml.Node{b.JSON, b.Form} {
		if tree == nil {
			continue
		}
		var out bytes.Buffer
		enc := yaml.NewEncoder(&out)
		enc.SetIndent(2)
		if err := enc.Encode(tree); err != nil {
			s.t.Fatal(err)
		}
		s.line("%sbody", indent)
		for line := range strings.Lines(out.String()) {
			s.out.WriteString(indent + "  " + line)
		}
	}
	if b.Text != "" {
		s.line("%stext %q", indent, b.Text)
	}
}

func (s *shower) step(name string, st draft.Step) {
	s.line("%s %s %v # %s", name, st.Request, st.Capture, st.Guess)
	s.headers("    ", st.Headers)
	s.body("    ", st.Body)
}

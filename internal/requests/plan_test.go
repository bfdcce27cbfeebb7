package requests

import (
	"bytes"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
	"retrysafe/internal/plan"
)

// acceptable writes the draft down as a plan, as plainly as possible, and lets the plan's own reader judge it.
func acceptable(t *testing.T, d draft.Draft) *plan.Plan {
	t.Helper()
	if len(d.Endpoints) == 0 {
		return nil
	}
	text, err := yaml.Marshal(planNode(d))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Parse("plan.yaml", text, environment(text))
	if err != nil {
		t.Errorf("%v\nin\n%s", err, text)
	}
	return p
}

// environment has a value for each variable of a plan, but for those that are there for their defaults.
func environment(text []byte) func(string) (string, bool) {
	return func(name string) (string, bool) {
		switch {
		case bytes.Contains(text, []byte("${"+name+":-")):
			return "", false
		case bytes.Contains(text, []byte("://${"+name+"}")):
			return "127.0.0.1", true
		}
		return "http://127.0.0.1", true
	}
}

func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(pairs); i += 2 {
		var value *yaml.Node
		switch v := pairs[i+1].(type) {
		case *yaml.Node:
			value = v
		case string:
			value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: yaml.DoubleQuotedStyle}
		}
		if value != nil && (value.Kind != yaml.MappingNode || len(value.Content) > 0) {
			n.Content = append(n.Content, textNode(pairs[i].(string)), value)
		}
	}
	return n
}

func planNode(d draft.Draft) *yaml.Node {
	target := d.Target.Value
	if target == "" {
		target = "http://127.0.0.1"
	}
	doc := mapping("version", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1"}, "target", target)
	callers, counters := mapping(), mapping()
	for _, c := range d.Callers {
		callers.Content = append(callers.Content, textNode(c.Name), mapping("headers", headersNode(c.Headers)))
	}
	for _, c := range d.Counters {
		place := mapping("http", c.Request, "value", c.Value)
		if c.Length != "" {
			place = mapping("http", c.Request, "length", c.Length)
		}
		counters.Content = append(counters.Content, textNode(c.Name), place)
	}
	endpoints := &yaml.Node{Kind: yaml.SequenceNode}
	for _, e := range d.Endpoints {
		n := mapping("name", e.Name, "setup", stepsNode(e.Setup), "request", e.Request, "key", keyNode(e.Key), "headers", headersNode(e.Headers))
		n.Content = append(n.Content, bodyNode(e.Body).Content...)
		if len(e.Counters) > 0 {
			n.Content = append(n.Content, textNode("counters"), &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{textNode(e.Counters[0])}})
		}
		if e.Cleanup != nil {
			n.Content = append(n.Content, textNode("cleanup"), stepNode(*e.Cleanup))
		}
		endpoints.Content = append(endpoints.Content, n)
	}
	doc.Content = append(doc.Content, mapping("callers", callers, "counters", counters, "allow_hosts", hostsNode(d), "endpoints", endpoints).Content...)
	return doc
}

// hostsNode allows every host of the draft.
func hostsNode(d draft.Draft) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	add := func(url string) {
		_, rest, absolute := strings.Cut(url, "://")
		host, _, _ := strings.Cut(rest, "/")
		host, _, _ = strings.Cut(host, "?")
		if absolute && host != "" && !strings.Contains(host, "$") {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: host, Style: yaml.DoubleQuotedStyle})
		}
	}
	add(d.Target.Value)
	for _, e := range d.Endpoints {
		add(e.Request)
		for _, s := range e.Setup {
			add(s.Request)
		}
		if e.Cleanup != nil {
			add(e.Cleanup.Request)
		}
	}
	for _, c := range d.Counters {
		add(c.Request)
	}
	return n
}

func headersNode(headers []draft.Header) *yaml.Node {
	n := mapping()
	for _, h := range headers {
		n.Content = append(n.Content, mapping(h.Name, h.Value.Value).Content...)
	}
	return n
}

func keyNode(k draft.Key) *yaml.Node {
	switch {
	case k.Header != "":
		return mapping("header", k.Header)
	case k.JSON != "":
		return mapping("json", k.JSON)
	case k.Query != "":
		return mapping("query", k.Query)
	}
	return nil
}

func bodyNode(b draft.Body) *yaml.Node {
	switch {
	case b.JSON != nil:
		return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("body"), b.JSON}}
	case b.Form != nil:
		return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("form"), b.Form}}
	case b.Text != "":
		return mapping("text", b.Text)
	}
	return mapping()
}

func stepsNode(steps []draft.Step) *yaml.Node {
	if len(steps) == 0 {
		return nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, s := range steps {
		n.Content = append(n.Content, stepNode(s))
	}
	return n
}

func stepNode(s draft.Step) *yaml.Node {
	n := mapping("request", s.Request, "headers", headersNode(s.Headers))
	n.Content = append(n.Content, bodyNode(s.Body).Content...)
	captures := mapping()
	for _, c := range s.Capture {
		captures.Content = append(captures.Content, mapping(c.Name, c.From).Content...)
	}
	n.Content = append(n.Content, mapping("capture", captures).Content...)
	return n
}

// TestExamplesArePlans holds the drafts of all examples, and of the secretive sources, to what plans allow.
func TestExamplesArePlans(t *testing.T) {
	for name, source := range secretive {
		text, _ := canaries(source)
		d, err := read(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		acceptable(t, d)
	}
}

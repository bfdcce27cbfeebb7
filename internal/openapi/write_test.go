package openapi_test

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/draft"
)

// write is a draft as a plan, with nothing of what a person would like to read.
func write(t testing.TB, d draft.Draft, target string) []byte {
	t.Helper()
	plan := map[string]any{"version": 1, "target": target}
	callers := yaml.Node{Kind: yaml.MappingNode}
	for _, c := range d.Callers {
		var value yaml.Node
		if err := value.Encode(map[string]any{"headers": headers(c.Headers)}); err != nil {
			t.Fatal(err)
		}
		callers.Content = append(callers.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: c.Name}, &value)
	}
	if len(d.Callers) > 0 {
		plan["callers"] = &callers
	}
	counters := map[string]any{}
	for _, c := range d.Counters {
		field, path := "value", c.Value
		if c.Length != "" {
			field, path = "length", c.Length
		}
		counters[c.Name] = map[string]any{"http": c.Request, field: path}
	}
	if len(counters) > 0 {
		plan["counters"] = counters
	}
	var endpoints []any
	for _, e := range d.Endpoints {
		endpoints = append(endpoints, endpoint(e))
	}
	plan["endpoints"] = endpoints
	text, err := yaml.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func endpoint(e draft.Endpoint) map[string]any {
	out := request(draft.Step{Request: e.Request, Headers: e.Headers, Body: e.Body})
	out["name"] = e.Name
	switch {
	case e.Key.Header != "":
		out["key"] = map[string]string{"header": e.Key.Header}
	case e.Key.JSON != "":
		out["key"] = map[string]string{"json": e.Key.JSON}
	case e.Key.Query != "":
		out["key"] = map[string]string{"query": e.Key.Query}
	}
	if e.Key.Required {
		out["required"] = true
	}
	var setup []any
	for _, s := range e.Setup {
		setup = append(setup, request(s))
	}
	if setup != nil {
		out["setup"] = setup
	}
	if e.Counters != nil {
		out["counters"] = e.Counters
	}
	if e.Cleanup != nil {
		out["cleanup"] = request(*e.Cleanup)
	}
	return out
}

func request(s draft.Step) map[string]any {
	out := map[string]any{"request": s.Request}
	if len(s.Headers) > 0 {
		out["headers"] = headers(s.Headers)
	}
	switch {
	case s.Body.JSON != nil:
		out["body"] = s.Body.JSON
	case s.Body.Form != nil:
		out["form"] = s.Body.Form
	case s.Body.Text != "":
		out["text"] = s.Body.Text
	}
	if len(s.Capture) > 0 {
		capture := map[string]string{}
		for _, c := range s.Capture {
			capture[c.Name] = c.From
		}
		out["capture"] = capture
	}
	return out
}

func headers(list []draft.Header) map[string]string {
	out := map[string]string{}
	for _, h := range list {
		out[h.Name] = h.Value.Value
	}
	return out
}

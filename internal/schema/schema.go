// Package schema describes the files of retrysafe for editors and other programs, as JSON Schema of draft-07: plans and scenarios as they
// are written, results as they are recorded.
package schema

import (
	"embed"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/trace"
)

//go:embed plan.yaml scenario.yaml
var files embed.FS

// Names are the kinds of files that there is a schema of.
func Names() []string { return []string{"plan", "scenario", "results"} }

// Of is the schema of a kind of files as a JSON document. A name that is none of Names is an error.
func Of(name string) ([]byte, error) {
	var doc any
	switch name {
	case "plan", "scenario":
		text, err := files.ReadFile(name + ".yaml")
		if err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(text, &doc); err != nil {
			return nil, fmt.Errorf("%s.yaml: %w", name, err)
		}
	case "results":
		doc = ofType[trace.Run]("results of retrysafe, " + trace.SchemaV1)
	default:
		return nil, fmt.Errorf("there is no schema of %s", name)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	return append(text, '\n'), nil
}

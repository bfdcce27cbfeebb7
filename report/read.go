package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"retrysafe/internal/trace"
)

// ReadRun reads a results document that `retrysafe run --report json=FILE` wrote. Fields that this version
// does not know are ignored. The error says what is wrong: no JSON, another kind of document, a newer
// version of the format, or the partial record of a run that did not end.
func ReadRun(r io.Reader) (*trace.Run, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if err := checkSchema(text); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	var run trace.Run
	if err := json.Unmarshal(text, &run); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return &run, nil
}

func checkSchema(text []byte) error {
	var head struct {
		Schema *string         `json:"schema"`
		Case   json.RawMessage `json:"case"`
		Ended  json.RawMessage `json:"ended"`
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return errors.New("the file is empty; expected the document of `retrysafe run --report json=FILE`")
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&head); err != nil {
		return fmt.Errorf("expected JSON: %w", err)
	}
	switch {
	case head.Schema != nil && *head.Schema == trace.SchemaV1:
		return nil
	case head.Schema != nil:
		return fmt.Errorf("expected schema %q, found %q; use the version of retrysafe that wrote it", trace.SchemaV1, *head.Schema)
	case head.Case != nil || head.Ended != nil:
		return errors.New("this is the partial record of a run that did not end; run again to get a whole document")
	}
	return fmt.Errorf("expected a document with schema %q, found one without a schema", trace.SchemaV1)
}

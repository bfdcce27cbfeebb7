package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"retrysafe/internal/trace"
)

// ReadRun reads a results document that `retrysafe run --report json=FILE` wrote, or the partial record of a run that died,
// which reads as one that was interrupted. Fields that this version does not know are ignored. The error says what is
// wrong: no JSON, a file that was cut, another kind of document, or a newer version of the format.
func ReadRun(r io.Reader) (*trace.Run, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	run, err := readRun(text)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return run, nil
}

func readRun(text []byte) (*trace.Run, error) {
	partial, err := checkSchema(text)
	switch {
	case err != nil:
		return nil, err
	case partial:
		return readPartial(text)
	}
	var run trace.Run
	if err := json.Unmarshal(text, &run); err != nil {
		return nil, cutOr(err)
	}
	if run.Info.ID == "" {
		return nil, errors.New("expected a run with an id, found none: the document holds no run")
	}
	return &run, nil
}

// checkSchema looks at the first value of a file: is it a document of this version, or the beginning of a partial record?
func checkSchema(text []byte) (partial bool, err error) {
	var head struct {
		Schema *string         `json:"schema"`
		Began  json.RawMessage `json:"began"`
		Case   json.RawMessage `json:"case"`
		Ended  json.RawMessage `json:"ended"`
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return false, errors.New("the file is empty; expected the document of `retrysafe run --report json=FILE`")
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&head); err != nil {
		if why := cutOr(err); why != err {
			return false, why
		}
		return false, fmt.Errorf("expected JSON: %w", err)
	}
	switch {
	case head.Schema != nil && *head.Schema == trace.SchemaV1:
		return false, nil
	case head.Schema != nil:
		return false, fmt.Errorf("expected schema %q, found %q; use the version of retrysafe that wrote it", trace.SchemaV1, *head.Schema)
	case head.Began != nil:
		return true, nil
	case head.Case != nil || head.Ended != nil:
		return false, errors.New("this is the partial record of a run that did not end, without the line that says what was run; run again to get a whole document")
	}
	return false, fmt.Errorf("expected a document with schema %q, found one without a schema", trace.SchemaV1)
}

// cutOr says in plain words that a text ends too early.
func cutOr(err error) error {
	var syntax *json.SyntaxError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input" {
		return errors.New("the file ends in the middle of the document: it was cut, or is still being written")
	}
	return err
}

// readPartial puts together what a run that died left behind. Its last line may be cut.
func readPartial(text []byte) (*trace.Run, error) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1] // what follows the last line feed is a line that was not written to its end
	if len(lines) == 0 {
		return nil, cutOr(io.ErrUnexpectedEOF)
	}
	var begin PartialBegin
	if err := json.Unmarshal(lines[0], &begin); err != nil {
		return nil, fmt.Errorf("partial record, line 1: %w", err)
	}
	run := &begin.Began.Run
	if run.Schema != trace.SchemaV1 {
		return nil, fmt.Errorf("partial record: expected schema %q, found %q; use the version of retrysafe that wrote it", trace.SchemaV1, run.Schema)
	}
	for i := range run.Endpoints {
		list := run.Endpoints[i].Cases
		if list == nil {
			list = begin.Began.Cases
		}
		run.Endpoints[i].Cases = unfinished(list)
	}
	for n, line := range lines[1:] {
		var part struct {
			PartialEndpoint
			PartialCase
		}
		if err := json.Unmarshal(line, &part); err != nil {
			return nil, fmt.Errorf("partial record, line %d: %w", n+2, err)
		}
		if err := take(run, part.Ended, part.PartialCase); err != nil {
			return nil, fmt.Errorf("partial record, line %d: %w", n+2, err)
		}
	}
	run.Info.Interrupted = true
	return run, nil
}

// unfinished are cases of which nothing is known yet.
func unfinished(list []trace.Case) []trace.Case {
	out := slices.Clone(list)
	for i := range out {
		why := trace.Reason{Code: trace.Interrupted, Detail: "the run died before the case had ended"}
		out[i].Stop = &why
		out[i].Verdict, out[i].Reason, out[i].Detail = trace.Inconclusive, why.Code, why.Detail
	}
	return out
}

// take puts an endpoint or a case that ended in its place.
func take(run *trace.Run, ended *trace.Endpoint, c PartialCase) error {
	name := c.Endpoint
	if ended != nil {
		name = ended.Name
	}
	i := slices.IndexFunc(run.Endpoints, func(ep trace.Endpoint) bool { return ep.Name == name })
	if i < 0 {
		return fmt.Errorf("expected an endpoint of the run, found %q", name)
	}
	ep := &run.Endpoints[i]
	if ended != nil {
		*ep = *ended
		return nil
	}
	k := slices.IndexFunc(ep.Cases, func(k trace.Case) bool { return k.Scenario == c.Case.Scenario })
	if k < 0 {
		return fmt.Errorf("expected a case of the run, found %q", c.Case.Scenario)
	}
	ep.Cases[k] = c.Case
	return nil
}

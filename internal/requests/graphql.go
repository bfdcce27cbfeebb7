package requests

import (
	"encoding/json"
	"regexp"
	"strings"
)

// operations matches the start of a GraphQL document behind comments: the kind of its first operation, and its name.
var operations = regexp.MustCompile(`^(?:\s|,|#[^\n]*\n)*(?:(query|mutation|subscription)\b\s*([_A-Za-z]\w*)?|(\{))`)

// readOperation finds out what a GraphQL request does, since all of them go to the same path.
func (s *sent) readOperation() {
	document := get(s.json, "query")
	if s.method != "POST" || document == nil || document.Tag != "!!str" {
		return
	}
	m := operations.FindStringSubmatch(literalOf(document.Value))
	if m == nil {
		return
	}
	s.query, s.operation = m[1] != "mutation", m[2]
	name := textOf(get(s.json, "operationName"))
	if !operationName.MatchString(name) {
		return
	}
	s.operation = name
	// Of several operations in a document the named one is executed.
	if named := regexp.MustCompile(`\b(query|mutation|subscription)\s+` + name + `\b`).FindStringSubmatch(document.Value); named != nil {
		s.query = named[1] != "mutation"
	}
}

var operationName = regexp.MustCompile(`^[_A-Za-z]\w{0,99}$`)

// graphqlBody is the body of a GraphQL request. Odd is called when the variables are there and no JSON object.
func graphqlBody(document, operation, variables string, odd func()) string {
	quote := func(text string) string {
		quoted, _ := json.Marshal(text) // a text can always be written
		return string(quoted)
	}
	body := `{"query":` + quote(document)
	if operation != "" {
		body += `,"operationName":` + quote(operation)
	}
	variables = strings.TrimSpace(variables)
	if _, ok := bodyJSON(variables); ok {
		body += `,"variables":` + variables
	} else if variables != "" {
		odd()
	}
	return body + "}"
}

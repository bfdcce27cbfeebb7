package plan

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"

	"retrysafe/internal/strict"
)

// pathPlace is how the library ends its messages; the position counts from 1.
var pathPlace = regexp.MustCompile(` at position (\d+)$`)

// pathError is an error of the JSONPath library in our words.
func pathError(err error) error {
	message := err.Error()
	if i := strings.LastIndex(message, "jsonpath: "); i >= 0 {
		message = message[i+len("jsonpath: "):]
	}
	message = strings.Replace(pathPlace.ReplaceAllString(message, ""), "eof", "end of the path", 1)
	return errors.New("expected a JSONPath such as $.count, found " + message)
}

// jsonPath is a JSONPath of the plan, checked.
func jsonPath(v strict.Value) string {
	t := v.Text()
	if t.Value == "" {
		if v.Kind() == strict.String {
			v.Errorf("expected a JSONPath such as $.count, found nothing")
		}
		return ""
	}
	return parsedPath(t)
}

// parsedPath is a JSONPath that is not empty, checked; empty after noting a mistake.
func parsedPath(t strict.Text) string {
	_, err := jsonpath.Parse(t.Value)
	if err == nil {
		return t.Value
	}
	at := 0
	if m := pathPlace.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			at = min(n-1, len(t.Value))
		}
	}
	t.Errorf(at, 1, "%v", pathError(err))
	return ""
}

// jsonPaths are the JSONPaths of a list.
func jsonPaths(v strict.Value) []string {
	var paths []string
	for _, item := range v.List() {
		if p := jsonPath(item); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// headerName is the name of a header; empty after noting a mistake.
func headerName(v strict.Value) string {
	t := v.Text()
	if !isToken(t.Value) {
		t.Errorf(0, len([]rune(t.Source())), "expected the name of a header, found %s", t.Show())
		return ""
	}
	return t.Value
}

// headerNames are the header names of a list.
func headerNames(v strict.Value) []string {
	var found []string
	for _, item := range v.List() {
		if name := headerName(item); name != "" {
			found = append(found, name)
		}
	}
	return found
}

package requests

import (
	"slices"
	"strings"
	"sync"

	"retrysafe/internal/dialect"
)

// keyPlaces are the places in which published conventions put the key, names in small letters.
var keyPlaces = sync.OnceValue(func() map[string][]string {
	places := map[string][]string{}
	for _, d := range dialect.All() {
		if d.Key.In != "" {
			places[d.Key.In] = append(places[d.Key.In], strings.ToLower(d.Key.Name))
		}
	}
	return places
})

// isKeyHeader is true for headers of published conventions, and for those that say so themselves.
func isKeyHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(keyPlaces()["header"], name) || strings.Contains(name, "idempoten")
}

// isKeyField is true for a member of a body at a path such as "$.request_id". What may be any id counts only when it is drawn
// as keys are.
func isKeyField(path, name, value string) bool {
	if strings.Contains(snake(name), "idempoten") {
		return true
	}
	published := slices.Contains(keyPlaces()["json"], strings.ToLower(path))
	return (published || isKeyName(name)) && strings.Count(path, ".") == 1 && (uuidForm.MatchString(value) || hasHole(value))
}

// isKeyParameter is true for a parameter of the query.
func isKeyParameter(name, value string) bool {
	if strings.Contains(snake(name), "idempoten") || slices.Contains(keyPlaces()["query"], strings.ToLower(name)) {
		return true
	}
	return isKeyName(name) && uuidForm.MatchString(value)
}

func isKeyName(name string) bool {
	return slices.Contains([]string{"request_id", "client_token", "client_request_id", "client_request_token", "deduplication_id"}, snake(name))
}

//go:build race

package openapi_test

import "time"

// mostDrafting is what the race detector makes of the 5 s that a plan of a published document may take: it slows programs down by two to
// twenty times (go.dev/doc/articles/race_detector).
const mostDrafting = 100 * time.Second

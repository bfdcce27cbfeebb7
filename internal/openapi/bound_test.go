//go:build !race

package openapi_test

import "time"

// mostDrafting is how much processor time a plan of a published document may take.
const mostDrafting = 5 * time.Second

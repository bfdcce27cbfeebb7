package trace

import "regexp"

// momentsInText finds dates with a time of day within text: RFC 3339 and the like, and HTTP dates.
var momentsInText = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d:?\d\d))?` +
	`|(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT|\d{1,2}:\d\d:\d\d(\.\d+)?( ?[AP]M)?`)

// WithoutMoments is a text with {time} in place of each moment in it, so that answers that differ by when they were made are alike.
func WithoutMoments(s string) string { return momentsInText.ReplaceAllString(s, "{time}") }

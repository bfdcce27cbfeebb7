package requests

import (
	"regexp"
	"slices"
	"strings"
)

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// transport are headers that browsers, clients and intermediaries add by themselves, or that follow from the request; the
// conditions of caches among them. Names in small letters.
var transport = []string{
	"accept-charset", "accept-encoding", "accept-language", "alt-used", "baggage", "cache-control", "cdn-loop", "connection",
	"content-encoding", "content-length", "content-type", "date", "dnt", "expect", "forwarded", "host", "if-modified-since", "if-none-match",
	"keep-alive", "newrelic", "origin", "postman-token", "pragma", "priority", "proxy-connection", "purpose", "range", "referer", "request-id",
	"save-data", "sentry-trace", "te", "trace-id", "traceparent", "tracestate", "trailer", "transfer-encoding", "true-client-ip", "uber-trace-id",
	"upgrade", "upgrade-insecure-requests", "user-agent", "via", "x-amzn-trace-id", "x-client-data", "x-cloud-trace-context",
	"x-correlation-id", "x-real-ip", "x-request-id", "x-trace-id",
}

var transportStart = []string{":", "sec-", "cf-", "x-forwarded-", "x-b3-", "x-datadog-", "x-newrelic-", "x-envoy-", "proxy-"}

// isTransport is true for headers that say nothing about the API.
func isTransport(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(transport, name) ||
		slices.ContainsFunc(transportStart, func(start string) bool { return strings.HasPrefix(name, start) })
}

var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// usableHeader is true when a plan can hold the line.
func usableHeader(h pair) bool {
	return token.MatchString(h.name) && !strings.ContainsFunc(h.value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// mediaType is a content type without its parameters, in small letters.
func mediaType(value string) string {
	media, _, _ := strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

func isJSONType(media string) bool {
	media = mediaType(media)
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
	jsonType      = "application/json"
)

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strings"

	"retrysafe/internal/fire"
)

// technique is one way to send copies at the same instant.
type technique struct {
	name      string
	reference string // the name of what it is held against; empty for none
	round     func(key string, n int) error
}

// techniques are what the table of arrivals compares. idle ends what they keep open.
func techniques(at arrivalURLs) (all []technique, idle func()) {
	plain, secure := strings.TrimPrefix(at.Plain, "http://"), strings.TrimPrefix(at.Secure, "https://")
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	kept := &http.Transport{MaxIdleConnsPerHost: 1000}
	warmed := &http.Client{Transport: kept}
	return []technique{
		{"retrysafe h1", "plain h1", ours(fire.FiringH1, at.Plain)},
		{"plain h1", "", func(key string, n int) error {
			return referenceH1(func() (net.Conn, error) { return net.Dial("tcp", plain) }, requestH1(plain, key), n)
		}},
		{"retrysafe h1, TLS", "plain h1, TLS", ours(fire.FiringH1, at.Secure)},
		{"plain h1, TLS", "", func(key string, n int) error {
			return referenceH1(func() (net.Conn, error) { return tls.Dial("tcp", secure, insecure()) }, requestH1(secure, key), n)
		}},
		{"retrysafe h2", "plain h2", ours(fire.FiringH2, at.Secure)},
		{"plain h2", "", func(key string, n int) error { return referenceH2(secure, key, n) }},
		{"goroutines", "", func(key string, n int) error { return goroutines(fresh, at.Plain, key, n) }},
		{"warmed, barrier", "", func(key string, n int) error { return barrier(warmed, at.Plain, key, n) }},
	}, kept.CloseIdleConnections
}

// ours is a volley of internal/fire. The client is kept and has sent a single request before, as in a run, so it knows how
// near the server is.
func ours(firing, url string) func(key string, n int) error {
	client := fire.New(fire.Options{TLS: insecure(), Firing: firing})
	client.Send(context.Background(), fire.Shot{Method: "GET", URL: url + "/take"})
	return func(key string, n int) error {
		return volley(client, slices.Repeat([]fire.Shot{shot(url, key)}, n))
	}
}

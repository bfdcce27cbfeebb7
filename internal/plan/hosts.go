package plan

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"retrysafe/internal/strict"
)

// HostAllowed is true when the URL may be contacted: http or https, without user and password, to loopback
// (127.0.0.0/8, ::1, localhost) or a host in AllowHosts. An entry without a port allows every port.
func (p *Plan) HostAllowed(rawURL string) bool {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
		return false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return p.hostAllowed(u.Hostname(), port)
}

// hostAllowed is HostAllowed for a host, without brackets, and a port.
func (p *Plan) hostAllowed(host, port string) bool {
	host = strings.ToLower(host)
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(p.AllowHosts, func(entry string) bool {
		name, only, err := splitHost(entry)
		return err == nil && name == host && (only == "" || only == port)
	})
}

// splitHost reads an entry of allow_hosts: "host", "host:port", "[::1]:port" or an address.
func splitHost(entry string) (host, port string, err error) {
	if net.ParseIP(strings.Trim(entry, "[]")) != nil {
		return strings.ToLower(strings.Trim(entry, "[]")), "", nil
	}
	u, err := url.Parse("//" + entry)
	if err != nil || u.Host != entry || u.Hostname() == "" || strings.ContainsAny(entry, "*@ ") {
		return "", "", fmt.Errorf("expected a host such as staging.example.com or staging.example.com:8443, found %q", entry)
	}
	return strings.ToLower(u.Hostname()), u.Port(), nil
}

// checkTargets notes what keeps the target and the replicas from being base URLs.
func (c *completion) checkTargets() {
	if c.plan.Target != "" {
		c.checkBase("target", c.plan.targetPos, c.targetWidth, c.plan.Target)
	}
	for i, t := range c.replicas {
		c.checkBase("replica", t.Pos(), len([]rune(t.Source())), c.plan.Replicas[i])
	}
}

func (c *completion) checkBase(what string, pos strict.Pos, width int, rawURL string) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		c.doc.Errorf(pos, width, "expected a base URL such as http://127.0.0.1:8080 as %s", what)
	case u.User != nil:
		c.doc.Errorf(pos, width, "expected a %s without user and password: give them as a header of `callers`", what)
	case u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(rawURL, "?#"):
		c.doc.Errorf(pos, width, "expected a %s without ? and #: put the query into the requests", what)
	default:
		c.checkHost(pos, width, rawURL)
	}
}

// checkRequest notes a request that goes nowhere, or to a host that is not allowed.
func (c *completion) checkRequest(r RequestTemplate) {
	switch {
	case r.Path.Empty():
	case r.absolute():
		c.checkHost(r.Path.Pos, len([]rune(r.Path.source)), r.URL("", placeholderX{}))
	case c.plan.Target == "" && !c.plan.targetSet:
		c.doc.Errorf(r.Path.Pos, len([]rune(r.Path.source)), "request %s needs a target: add `target: http://127.0.0.1:8080`, or write the whole URL", r)
	}
}

func (c *completion) checkHost(pos strict.Pos, width int, rawURL string) {
	if c.plan.HostAllowed(rawURL) {
		return
	}
	host := rawURL
	if u, err := url.Parse(rawURL); err == nil {
		host = u.Host
	}
	c.hostMistake(pos, width, host)
}

func (c *completion) hostMistake(pos strict.Pos, width int, host string) {
	if strings.HasPrefix(host, ":") {
		c.doc.Errorf(pos, width, "expected a host, found none before the port in %s", host)
		return
	}
	c.doc.Errorf(pos, width, "host %s is not allowed: only loopback is, and hosts that are named; if it may be tested, add `allow_hosts: [%s]` or --allow-host %s", host, host, host)
}

// placeholderX stands for every placeholder where only the host of a URL matters.
type placeholderX struct{}

// Lookup implements Values.
func (placeholderX) Lookup(string, int) string { return "x" }

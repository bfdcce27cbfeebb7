package cmd

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// resolution is what --resolve says of one host and port: the addresses that stand for it, to be tried in order.
type resolution struct {
	// host is in lower case, or "*" for every host without a resolution of its own.
	host, port string
	addresses  []string
}

func (r resolution) String() string { return r.host + ":" + r.port }

// resolutions are those of --resolve.
type resolutions []resolution

// resolutions reads HOST:PORT:ADDRESS[,ADDRESS...] as curl does.
func (o *wireOptions) resolutions() (resolutions, error) {
	if len(o.resolve) > 0 && o.unixSocket != "" {
		return nil, usagef("", "--resolve and --unix-socket cannot be used together: the socket stands for every host")
	}
	var all resolutions
	for _, given := range o.resolve {
		r, err := readResolution(given)
		if err != nil {
			return nil, usagef("", "--resolve: %s", err)
		}
		if slices.ContainsFunc(all, func(b resolution) bool { return b.String() == r.String() }) {
			return nil, usagef("", "--resolve: %s is given twice: write --resolve %s:ADDRESS,ADDRESS", r, r)
		}
		all = append(all, r)
	}
	return all, nil
}

func readResolution(given string) (resolution, error) {
	wrong := fmt.Errorf("expected HOST:PORT:ADDRESS such as staging.example.com:443:10.0.0.7, found %q", given)
	parts := strings.SplitN(strings.TrimPrefix(given, "+"), ":", 3)
	if len(parts) < 3 || parts[0] == "" || strings.ContainsAny(parts[0], "[]@/ ") {
		return resolution{}, wrong
	}
	if port, err := strconv.Atoi(parts[1]); err != nil || port < 1 || port > 65535 {
		return resolution{}, wrong
	}
	r := resolution{host: strings.ToLower(parts[0]), port: parts[1]}
	if _, err := netip.ParseAddr(r.host); err == nil {
		return r, fmt.Errorf("%s is an address, expected the name of a host: nothing is looked up for it", r.host)
	}
	for one := range strings.SplitSeq(parts[2], ",") {
		ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(one, "["), "]"))
		if err != nil {
			return r, fmt.Errorf("expected an address such as 10.0.0.7 or [fd00::7] for %s, found %q", r, one)
		}
		if isLoopback(r.host) && !ip.IsLoopback() {
			return r, fmt.Errorf("localhost is this machine, which needs no permission, and cannot stand for %s: use a name of its own and --allow-host", ip)
		}
		r.addresses = append(r.addresses, ip.String())
	}
	return r, nil
}

// addresses are those that stand for a host and port; empty for a host that is looked up.
func (all resolutions) addresses(host, port string) []string {
	if r := all.of(host, port); r != nil {
		return r.addresses
	}
	return nil
}

// of is what is said of a host and port; nil for nothing.
func (all resolutions) of(host, port string) (found *resolution) {
	host = strings.ToLower(host)
	_, err := netip.ParseAddr(host)
	named := err != nil && host != "localhost"
	for i := range all {
		switch r := &all[i]; {
		case r.port != port:
		case r.host == host:
			return r
		case r.host == "*" && named:
			found = r
		}
	}
	return found
}

// check notes hosts that a proxy would look up.
func (all resolutions) check(p proxies, origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil {
			continue
		}
		if len(all.addresses(u.Hostname(), portOf(u))) > 0 && p.proxy(u) != nil {
			return usagef("--noproxy "+u.Hostname(), "--resolve says where %s is, but the proxy of %s looks that up itself", u.Host, p.sources[u.Scheme])
		}
	}
	return nil
}

// tell says where hosts are taken to be, and which of the resolutions are for none of the origins.
func (all resolutions) tell(origins []string) []string {
	var lines []string
	used := map[*resolution]bool{}
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil {
			continue
		}
		if r := all.of(u.Hostname(), portOf(u)); r != nil {
			used[r] = true
			lines = append(lines, fmt.Sprintf("%s is taken to be at %s (--resolve)", u.Host, strings.Join(r.addresses, ", ")))
		}
	}
	for i := range all {
		if r := &all[i]; !used[r] {
			lines = append(lines, fmt.Sprintf("warning: --resolve %s is for none of the hosts that are known to be asked: %s", r, strings.Join(origins, ", ")))
		}
	}
	return lines
}

// portOf is the port of a URL, that of its scheme where it names none.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

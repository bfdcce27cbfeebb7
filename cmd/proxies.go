package cmd

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"retrysafe/internal/plan"
)

// proxies say which http proxy is asked for a URL: that of --proxy for all hosts, else those of the environment for hosts other than
// loopback. --noproxy, else NO_PROXY, names hosts that go without. The zero value is none for all.
type proxies struct {
	// flag is the proxy of --proxy; nil for none.
	flag *url.URL
	// of is what the standard rules say: nil for loopback and for what goes without.
	of func(*url.URL) (*url.URL, error)
	// without lists hosts as NO_PROXY does.
	without string
	// sources name the variable, by the scheme of URLs that its proxy is for.
	sources map[string]string
}

// proxies reads flags and environment. In a CGI process HTTP_PROXY may come from a stranger's request, so http_proxy alone counts there.
func (o *wireOptions) proxies(env Env) (proxies, error) {
	if o.unixSocket != "" {
		return proxies{}, nil
	}
	p := proxies{without: strings.Join(o.noproxy, ",")}
	if o.noproxy == nil {
		_, p.without = env.firstOf("no_proxy", "NO_PROXY")
	}
	p.without = strings.Join(strings.Fields(p.without), ",") // curl takes blanks between hosts too
	rules := httpproxy.Config{NoProxy: p.without}
	if o.proxy != "" {
		u, err := url.Parse(o.proxy)
		if err != nil || u.Scheme != "http" || u.Host == "" {
			return p, usagef("", "--proxy: expected http://HOST:PORT, found %q", shownProxy(o.proxy))
		}
		p.flag, rules.HTTPProxy, rules.HTTPSProxy = u, o.proxy, o.proxy
		p.sources = map[string]string{"http": "--proxy", "https": "--proxy"}
		p.of = rules.ProxyFunc()
		return p, nil
	}
	plain := []string{"http_proxy", "HTTP_PROXY"}
	if env.getenv("REQUEST_METHOD") != "" {
		plain = plain[:1]
	}
	p.sources = map[string]string{}
	p.sources["http"], rules.HTTPProxy = env.firstOf(plain...)
	p.sources["https"], rules.HTTPSProxy = env.firstOf("https_proxy", "HTTPS_PROXY")
	for scheme, value := range map[string]string{"http": rules.HTTPProxy, "https": rules.HTTPSProxy} {
		_, whole := url.Parse(value)
		_, short := url.Parse("http://" + value)
		if whole != nil && short != nil {
			return p, usagef("unset "+p.sources[scheme], "%s: expected http://HOST:PORT, found a text that is no URL", p.sources[scheme])
		}
	}
	p.of = rules.ProxyFunc()
	return p, nil
}

// firstOf is the first of some variables that is set and not empty, with its name; both are empty when there is none.
func (e Env) firstOf(names ...string) (name, value string) {
	for _, name := range names {
		if value := e.getenv(name); value != "" {
			return name, value
		}
	}
	return "", ""
}

// shownProxy is what was given for a proxy, without its password.
func shownProxy(given string) string {
	if u, err := url.Parse(given); err == nil {
		return u.Redacted()
	}
	_, host, found := strings.Cut(given, "@")
	if !found {
		return given
	}
	return "..." + "@" + host
}

// proxy is the proxy that is asked for a URL; nil for none.
func (p proxies) proxy(u *url.URL) *url.URL {
	if p.of == nil {
		return nil
	}
	found, _ := p.of(u) // it gives an error for a CGI process alone, whose HTTP_PROXY it was not told
	if found == nil && p.flag != nil && isLoopback(u.Hostname()) && !listed(p.without, u) {
		return p.flag
	}
	return found
}

// isLoopback is true for a host on this machine.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// listed reports whether a list such as that of NO_PROXY names the host on loopback to which a URL goes.
func listed(list string, u *url.URL) bool {
	ip, _ := netip.ParseAddr(u.Hostname())
	for entry := range strings.SplitSeq(list, ",") {
		host := entry
		if h, port, err := net.SplitHostPort(entry); err == nil && port == u.Port() {
			host = h
		}
		prefix, err := netip.ParsePrefix(entry)
		switch {
		case entry == "*", strings.EqualFold(strings.Trim(host, "[]"), u.Hostname()), err == nil && prefix.Contains(ip):
			return true
		}
	}
	return false
}

// check notes a proxy of the environment that could not be asked.
func (p proxies) check(origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil {
			continue
		}
		if proxy := p.proxy(u); proxy != nil && (proxy.Scheme != "http" || proxy.Hostname() == "") {
			return usagef("--noproxy "+u.Hostname()+" goes past it, --proxy http://HOST:PORT names another one",
				"%s: expected a proxy such as http://HOST:PORT for %s, found one of scheme %q", p.sources[u.Scheme], origin, proxy.Scheme)
		}
	}
	return nil
}

// tell says which of the origins are asked through which proxy, a line for each proxy.
func (p proxies) tell(origins []string) []string {
	var lines, asked []string
	through := map[string][]string{}
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil {
			continue
		}
		if proxy := p.proxy(u); proxy != nil {
			by := fmt.Sprintf("%s (%s)", proxy.Host, p.sources[u.Scheme])
			if through[by] == nil {
				asked = append(asked, by)
			}
			through[by] = append(through[by], origin)
		}
	}
	for _, by := range asked {
		lines = append(lines, fmt.Sprintf("through the proxy %s: %s; it may hold copies apart, and if it reads requests, send them again or answer itself: --noproxy HOST goes past it",
			by, strings.Join(through[by], ", ")))
	}
	if p.flag != nil && len(lines) == 0 {
		lines = append(lines, "the proxy of --proxy is asked for none of the hosts: --noproxy or NO_PROXY lists all of them")
	}
	return lines
}

// secrets are the passwords of the proxies for the plan's hosts.
func (p proxies) secrets(pl *plan.Plan) []string {
	var found []string
	for _, origin := range pl.Origins() {
		u, err := url.Parse(origin)
		if err != nil {
			continue
		}
		if proxy := p.proxy(u); proxy != nil && proxy.User != nil {
			if password, set := proxy.User.Password(); set && !slices.Contains(found, password) {
				found = append(found, password)
			}
		}
	}
	return found
}

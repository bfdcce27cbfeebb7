package cmd

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"retrysafe/internal/plan"
)

func envOf(vars map[string]string) Env {
	return Env{LookupEnv: func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}}
}

// TestProxies: which proxy is asked for a URL.
func TestProxies(t *testing.T) {
	type vars = map[string]string
	tests := []struct {
		flags  wireOptions
		env    vars
		url    string
		want   string
		reason string
	}{
		{wireOptions{}, vars{}, "http://a.test/", "", "nobody names one"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1"}, "http://a.test/", "p:1", "HTTP_PROXY"},
		{wireOptions{}, vars{"HTTP_PROXY": "p:1"}, "http://a.test/", "p:1", "a host and a port will do"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1"}, "https://a.test/", "", "for http only"},
		{wireOptions{}, vars{"https_proxy": "http://p:1", "HTTPS_PROXY": "http://q:1"}, "https://a.test/", "p:1", "lower case goes first"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, "http://a.test/", "", "a stranger may have set it"},
		{wireOptions{}, vars{"http_proxy": "http://p:1", "REQUEST_METHOD": "GET"}, "http://a.test/", "p:1", "no stranger can have set it"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test"}, "http://a.test/", "", "NO_PROXY"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": "b.test a.test"}, "http://a.test/", "", "blanks part hosts for curl"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "no_proxy": "a.test", "NO_PROXY": "b.test"}, "http://b.test/", "p:1", "lower case goes first"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test"}, "http://x.a.test/", "", "what is below it too"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": ".a.test"}, "http://a.test/", "p:1", "only what is below it"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, "http://10.1.2.3:80/", "", "a range"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test:81"}, "http://a.test:80/", "p:1", "another port"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": "*"}, "http://a.test/", "", "all"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1"}, "http://127.0.0.1:8/", "", "loopback"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1"}, "http://localhost/", "", "loopback by name"},
		{wireOptions{}, vars{"HTTP_PROXY": "http://p:1"}, "http://[::1]/", "", "loopback of IPv6"},
		{wireOptions{noproxy: []string{""}}, vars{"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test"}, "http://a.test/", "p:1", "--noproxy replaces NO_PROXY"},
		{wireOptions{noproxy: []string{"b.test,a.test"}}, vars{"HTTP_PROXY": "http://p:1"}, "http://a.test/", "", "--noproxy"},
		{wireOptions{noproxy: []string{"b.test", "a.test"}}, vars{"HTTP_PROXY": "http://p:1"}, "http://a.test/", "", "--noproxy twice"},
		{wireOptions{proxy: "http://f:1"}, vars{"HTTP_PROXY": "http://p:1"}, "http://a.test/", "f:1", "--proxy wins"},
		{wireOptions{proxy: "http://f:1"}, vars{"HTTP_PROXY": "http://p:1"}, "https://a.test/", "f:1", "and is for all"},
		{wireOptions{proxy: "http://f:1"}, vars{"NO_PROXY": "a.test"}, "https://a.test/", "", "but for what NO_PROXY lists, as with curl"},
		{wireOptions{proxy: "http://f:1"}, vars{}, "http://127.0.0.1:8/", "f:1", "loopback too when it is asked for"},
		{wireOptions{proxy: "http://f:1", noproxy: []string{"localhost,127.0.0.0/8"}}, vars{}, "http://127.0.0.1:8/", "", "unless it is listed"},
		{wireOptions{proxy: "http://f:1", noproxy: []string{"LOCALHOST"}}, vars{}, "http://localhost/", "", "by name"},
		{wireOptions{proxy: "http://f:1", noproxy: []string{"127.0.0.1:8"}}, vars{}, "http://127.0.0.1:8/", "", "with its port"},
		{wireOptions{proxy: "http://f:1", noproxy: []string{"127.0.0.1:9"}}, vars{}, "http://127.0.0.1:8/", "f:1", "not with another"},
		{wireOptions{proxy: "http://f:1", noproxy: []string{"[::1]"}}, vars{}, "http://[::1]:8/", "", "IPv6"},
		{wireOptions{proxy: "http://f:1", noproxy: []string{"*"}}, vars{}, "http://127.0.0.1/", "", "all"},
		{wireOptions{unixSocket: "/s"}, vars{"HTTP_PROXY": "http://p:1"}, "http://a.test/", "", "a socket stands for all"},
	}
	for _, tt := range tests {
		p, err := tt.flags.proxies(envOf(tt.env))
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if proxy := p.proxy(u); proxy != nil {
			got = proxy.Host
		}
		if got != tt.want {
			t.Errorf("%s: %s is asked through %q, want %q", tt.reason, tt.url, got, tt.want)
		}
		if told := strings.Join(p.tell([]string{tt.url}), "\n"); strings.Contains(told, "through the proxy") != (tt.want != "") {
			t.Errorf("%s: told %q", tt.reason, told)
		}
	}
}

func TestProxyMistakes(t *testing.T) {
	for _, tt := range []struct {
		flags  wireOptions
		env    map[string]string
		want   string
		reason string
	}{
		{wireOptions{proxy: "p:1"}, nil, `--proxy: expected http://HOST:PORT, found "p:1"`, "no scheme"},
		{wireOptions{proxy: "https://me:geheim@p:1"}, nil, `--proxy: expected http://HOST:PORT, found "https://me:xxxxx@p:1"`, "another scheme"},
		{wireOptions{proxy: "http://me:gehe im@p:1"}, nil, `--proxy: expected http://HOST:PORT, found "...@p:1"`, "no URL"},
		{wireOptions{}, map[string]string{"HTTPS_PROXY": "http://me:gehe\x7fim@p:1"}, "HTTPS_PROXY: expected http://HOST:PORT, found a text that is no URL", "no URL"},
		{wireOptions{}, map[string]string{"HTTPS_PROXY": "socks5://me:geheim@p:1"}, `HTTPS_PROXY: expected a proxy such as http://HOST:PORT for https://a.test, found one of scheme "socks5"`, "another scheme"},
		{wireOptions{}, map[string]string{"HTTP_PROXY": "socks5://p:1"}, "", "not for this one"},
		{wireOptions{noproxy: []string{"*"}}, map[string]string{"HTTPS_PROXY": "socks5://p:1"}, "", "not asked"},
		{wireOptions{resolve: []string{"a.test:443:10.0.0.1"}, proxy: "http://p:1"}, nil, "--resolve says where a.test is, but the proxy of --proxy looks that up itself", "the proxy looks up"},
		{wireOptions{resolve: []string{"a.test:80:10.0.0.1"}, proxy: "http://p:1"}, nil, "", "another port"},
	} {
		_, err := tt.flags.routes(envOf(tt.env), []string{"https://a.test"})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
	p := &plan.Plan{Target: "https://a.test"}
	o := wireOptions{proxy: "http://me:geheim99@p:1"}
	ways, err := o.routes(envOf(nil), p.Origins())
	if got := ways.proxies.secrets(p); err != nil || !slices.Equal(got, []string{"geheim99"}) {
		t.Errorf("secrets %q, %v", got, err)
	}
	if told := ways.tell([]string{"https://a.test", "http://b.test"}); len(told) != 1 || strings.Contains(told[0], "geheim") || !strings.Contains(told[0], "p:1 (--proxy): https://a.test, http://b.test; ") {
		t.Errorf("told %q", told)
	}
}

func TestResolutions(t *testing.T) {
	o := wireOptions{resolve: []string{"A.test:443:10.0.0.1,[fd00::7]", "*:443:10.0.0.2", "+b.test:80:fd00::8", "localhost:80:127.0.0.5"}}
	all, err := o.resolutions()
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"a.test 443": "10.0.0.1 fd00::7", "A.TEST 443": "10.0.0.1 fd00::7", "a.test 80": "", "b.test 80": "fd00::8", "b.test 443": "10.0.0.2",
		"localhost 80": "127.0.0.5", "localhost 443": "", "LOCALHOST 443": "", "127.0.0.1 443": "", "::1 443": "",
	} {
		host, port, _ := strings.Cut(at, " ")
		if got := strings.Join(all.addresses(host, port), " "); got != want {
			t.Errorf("%s is at %q, want %q", at, got, want)
		}
	}
	told := strings.Join(all.tell([]string{"https://a.test", "http://b.test:81"}), "\n")
	if want := "a.test is taken to be at 10.0.0.1, fd00::7 (--resolve)\n" +
		"warning: --resolve *:443 is for none of the hosts that are known to be asked: https://a.test, http://b.test:81\n" +
		"warning: --resolve b.test:80 is for none of the hosts that are known to be asked: https://a.test, http://b.test:81\n" +
		"warning: --resolve localhost:80 is for none of the hosts that are known to be asked: https://a.test, http://b.test:81"; told != want {
		t.Errorf("told %s\nwant %s", told, want)
	}
	for given, want := range map[string]string{
		"a.test":                 `expected HOST:PORT:ADDRESS such as staging.example.com:443:10.0.0.7, found "a.test"`,
		"a.test:443":             "expected HOST:PORT:ADDRESS",
		":443:10.0.0.1":          "expected HOST:PORT:ADDRESS",
		"a.test:https:10.0.0.1":  "expected HOST:PORT:ADDRESS",
		"a.test:0:10.0.0.1":      "expected HOST:PORT:ADDRESS",
		"-a.test:443":            "expected HOST:PORT:ADDRESS",
		"[::1]:443:10.0.0.1":     "expected HOST:PORT:ADDRESS",
		"10.0.0.1:443:10.0.0.2":  "10.0.0.1 is an address, expected the name of a host",
		"a.test:443:b.test":      `expected an address such as 10.0.0.7 or [fd00::7] for a.test:443, found "b.test"`,
		"a.test:443:":            "expected an address",
		"a.test:443:10.0.0.1,":   "expected an address",
		"localhost:443:10.0.0.1": "localhost is this machine",
	} {
		o := wireOptions{resolve: []string{given}}
		if _, err := o.resolutions(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
	twice := wireOptions{resolve: []string{"a.test:443:10.0.0.1", "A.test:443:10.0.0.2"}}
	if _, err := twice.resolutions(); err == nil || !strings.Contains(err.Error(), "a.test:443 is given twice") {
		t.Errorf("given twice: %v", err)
	}
}

// FuzzResolution: what is read can be asked for, and nothing makes localhost another machine.
func FuzzResolution(f *testing.F) {
	for _, seed := range []string{"a.test:443:10.0.0.1,[fd00::7]", "*:443:10.0.0.2", "+b.test:80:fd00::8", "localhost:80:127.0.0.5", "::", "a:1:fe80::1%eth0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		o := wireOptions{resolve: []string{given}}
		all, err := o.resolutions()
		if err != nil {
			return
		}
		host := all[0].host
		if host == "*" {
			host = "a.test"
		}
		found := all.addresses(strings.ToUpper(host), all[0].port)
		if len(found) == 0 {
			t.Errorf("%q is for nothing", given)
		}
		for _, one := range append(found, all.addresses("localhost", all[0].port)...) {
			ip, err := netip.ParseAddr(one)
			if err != nil || host == "localhost" && !ip.IsLoopback() {
				t.Errorf("%q leads to %q", given, one)
			}
		}
		if at := all.addresses("127.0.0.1", all[0].port); len(at) > 0 {
			t.Errorf("%q says that an address is at %q", given, at)
		}
	})
}

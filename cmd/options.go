package cmd

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retrysafe/internal/engine"
	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// runOptions are the flags that every command which runs scenarios has.
type runOptions struct {
	wireOptions
	reporting
	baselineOptions
	scenarios, endpoints []string
	labels               []string
	rules, tags, owners  []string
	onlyFailed           string
	failFast, list       bool
	effort               string
	detectWindow         time.Duration
	failOn               string
	failOnSaid           bool // true where failOn overrules what plans say
	allowInconclusive    []string
	maxRequests          int
	timeout              time.Duration
	rate                 string
	endpointRequests     int
	seed, ledger, shard  string
	parallel             int // of run alone; 0 elsewhere, for the default
	dialect              string
	disruptive           bool
	dryRun               bool
	waitFor              []string
	waitTimeout          time.Duration
}

// wireOptions are the flags that every command which sends requests has: which hosts it may contact, and how.
type wireOptions struct {
	allowHosts        []string
	firing            string
	proxy, unixSocket string
	noproxy           []string // nil where the environment's NO_PROXY holds
	resolve           []string
	insecure          bool
	cacert, cert, key string
}

func (o *runOptions) flags(c *cobra.Command) {
	o.wireOptions.flags(c)
	f := c.Flags()
	o.reporting.flags(c)
	f.StringSliceVar(&o.scenarios, "scenario", nil, "run only these scenarios (ids or patterns such as 'same-key-*', repeatable)")
	f.StringSliceVar(&o.rules, "rule", nil, "run only scenarios that can find one of these rules broken (ids or patterns, repeatable)")
	f.BoolVar(&o.failFast, "fail-fast", false, "end the run at the first case that fails; the others are skipped")
	f.StringArrayVar(&o.labels, "label", nil, "something that every report says of the run, as NAME=VALUE, such as commit=4f2a1c or by=ada (repeatable)")
	f.StringVar(&o.effort, "effort", "standard", "how hard to look: smoke, standard or deep")
	f.DurationVar(&o.detectWindow, "detect-window", 0, "go on until a race window this wide (such as 100us) would have been seen with 99 %, or the budget ends")
	f.StringVar(&o.failOn, "fail-on", string(trace.Major), "least severity that fails: critical, major or minor")
	f.StringSliceVar(&o.allowInconclusive, "allow-inconclusive", nil, "reason codes that skip a case instead of leaving it inconclusive (never unreachable or auth)")
	f.IntVar(&o.maxRequests, "max-requests", 0, "most requests to endpoints and their set-up in the whole run, 0 for no bound (counter reads and clean-up not counted)")
	f.IntVar(&o.endpointRequests, "endpoint-requests", -1, "most requests to one endpoint and its set-up, 0 for no bound (default by effort: 600, 900 or 2000)")
	f.DurationVar(&o.timeout, "timeout", 0, "longest time of the whole run (such as 10m), 0 for no bound; what has not run by then is inconclusive (a last look at the counters and clean-up come on top)")
	f.StringVar(&o.rate, "rate", "", "most requests to one host, counter reads included, such as 20/s or 100/m; copies that belong together are waited for and then released together")
	f.StringVar(&o.seed, "seed", "", "draw the same keys and markers as the run with this seed")
	f.StringVar(&o.dialect, "dialect", "", "measure against this published convention instead of the plan's (retrysafe scenarios --dialect NAME shows what it says)")
	f.BoolVar(&o.disruptive, "allow-disruptive", false, "also run scenarios that disturb others: restarts, crashes, floods")
	f.StringArrayVar(&o.waitFor, "wait-for", nil, "wait before the run until this URL answers with a status below 500, or tcp://HOST:PORT takes connections (repeatable)")
	f.DurationVar(&o.waitTimeout, "wait-timeout", time.Minute, "longest time for all of --wait-for together")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be sent, send nothing")
	_ = c.RegisterFlagCompletionFunc("scenario", completeScenarios)
	_ = c.RegisterFlagCompletionFunc("dialect", completeDialects)
}

func (o *wireOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.allowHosts, "allow-host", nil, "a host that may be contacted besides loopback and those of the plan (repeatable)")
	f.StringVar(&o.firing, "firing", "", "how copies are released together: auto, h2, h1 or barrier (default: what the plan says, else auto)")
	f.StringVarP(&o.proxy, "proxy", "x", "", "http proxy that is asked to CONNECT to every host, as http://HOST:PORT (default: HTTP_PROXY and HTTPS_PROXY of the environment, but not for loopback)")
	f.StringArrayVar(&o.noproxy, "noproxy", nil, "hosts that are asked without a proxy, with commas between, * for all (default: NO_PROXY of the environment)")
	f.StringArrayVar(&o.resolve, "resolve", nil, "the address of a host, in place of a look-up, as HOST:PORT:ADDRESS; the host must be allowed as ever, the address needs no permission (repeatable)")
	f.StringVar(&o.unixSocket, "unix-socket", "", "path of a Unix socket that stands for every host")
	f.BoolVarP(&o.insecure, "insecure", "k", false, "accept any server certificate")
	f.StringVar(&o.cacert, "cacert", "", "PEM file with the certificates to trust")
	f.StringVar(&o.cert, "cert", "", "PEM file with the client certificate")
	f.StringVar(&o.key, "key", "", "PEM file with the client certificate's private key")
}

// overrides are what the flags say in place of the plan, or beside it.
func (o *runOptions) overrides() plan.Overrides {
	return plan.Overrides{AllowHosts: o.allowHosts, Dialect: o.dialect}
}

// tlsConfig is what the TLS flags say; nil for Go's defaults.
func (o *wireOptions) tlsConfig() (*tls.Config, error) {
	if !o.insecure && o.cacert == "" && o.cert == "" && o.key == "" {
		return nil, nil
	}
	c := &tls.Config{InsecureSkipVerify: o.insecure}
	if o.cacert != "" {
		pem, err := os.ReadFile(o.cacert)
		if err != nil {
			return nil, usagef("", "--cacert: %s", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usagef("", "--cacert: %s holds no PEM certificate", o.cacert)
		}
	}
	if (o.cert == "") != (o.key == "") {
		return nil, usagef("", "--cert and --key belong together: expected both, found one (a probe names the header of the idempotency key with --key-header)")
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, usagef("", "--cert, --key: %s", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// effortLevel is what --effort says, with the budget of --endpoint-requests where that is given.
func (o *runOptions) effortLevel() (engine.Effort, error) {
	e, ok := engine.FindEffort(o.effort)
	if !ok {
		return e, usagef("", "--effort: expected smoke, standard or deep, found %q", o.effort)
	}
	switch {
	case o.maxRequests < 0:
		return e, usagef("", "--max-requests: expected 0 or more, found %d", o.maxRequests)
	case o.timeout < 0:
		return e, usagef("", "--timeout: expected 0 or more, found %s", o.timeout)
	case o.endpointRequests < -1:
		return e, usagef("", "--endpoint-requests: expected 0 or more, found %d", o.endpointRequests)
	case o.endpointRequests >= 0:
		e.Budget = o.endpointRequests
	}
	return e, nil
}

// perSecond is what --rate says; 0 without it.
func (o *runOptions) perSecond() (float64, error) {
	if o.rate == "" {
		return 0, nil
	}
	number, unit, _ := strings.Cut(o.rate, "/")
	n, err := strconv.ParseFloat(number, 64)
	per, known := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	if err != nil || !known || !(n > 0 && n <= 1e6) {
		return 0, usagef("", "--rate: expected a number of requests and a unit of time, such as 20/s, 100/m or 500/h, found %q", o.rate)
	}
	return n / per.Seconds(), nil
}

// wire is how the client reaches hosts and releases copies.
func (o *wireOptions) wire(env Env, p *plan.Plan) (fire.Options, routes, error) {
	out := fire.Options{RequestTimeout: p.Limits.Request, BodyLimit: p.Limits.Body, Firing: p.Firing, UnixSocket: o.unixSocket}
	if o.firing != "" {
		out.Firing = o.firing
	}
	if !slices.Contains([]string{"", fire.FiringAuto, fire.FiringH2, fire.FiringH1, fire.FiringBarrier}, out.Firing) {
		return out, routes{}, usagef("", "--firing: expected auto, h2, h1 or barrier, found %q", o.firing)
	}
	ways, err := o.routes(env, p.Origins())
	if err != nil {
		return out, ways, err
	}
	out.Proxy, out.Resolve = ways.proxies.proxy, ways.resolved.addresses
	out.TLS, err = o.tlsConfig()
	return out, ways, err
}

// routes are the ways to the hosts: through a proxy, and to addresses that were given by hand.
type routes struct {
	proxies  proxies
	resolved resolutions
}

// routes checks the ways to the hosts that are known to be asked.
func (o *wireOptions) routes(env Env, origins []string) (r routes, err error) {
	if r.proxies, err = o.proxies(env); err != nil {
		return r, err
	}
	if r.resolved, err = o.resolutions(); err != nil {
		return r, err
	}
	if err = r.proxies.check(origins); err != nil {
		return r, err
	}
	return r, r.resolved.check(r.proxies, origins)
}

// originsOf are those of the plans of some jobs, each once.
func originsOf(jobs []*job) []string {
	var found []string
	for _, j := range jobs {
		for _, origin := range j.plan.Origins() {
			if !slices.Contains(found, origin) {
				found = append(found, origin)
			}
		}
	}
	return found
}

// tell says what is special about the ways to the origins.
func (r routes) tell(origins []string) []string {
	return append(r.proxies.tell(origins), r.resolved.tell(origins)...)
}

// severity reads what --fail-on says.
func severity(name string) (trace.Severity, error) {
	s := trace.Severity(name)
	if !slices.Contains([]trace.Severity{trace.Critical, trace.Major, trace.Minor}, s) {
		return "", usagef("", "--fail-on: expected critical, major or minor, found %q", name)
	}
	return s, nil
}

// labelName is what a label may be called.
var labelName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,40}$`)

// labelled are the labels of --label by name; nil without any.
func (o *runOptions) labelled() (map[string]string, error) {
	var out map[string]string
	for _, l := range o.labels {
		name, value, ok := strings.Cut(l, "=")
		_, again := out[name]
		switch {
		case !ok || value == "" || !labelName.MatchString(name):
			return nil, usagef("", "--label: expected NAME=VALUE with a name of letters, digits, dots, dashes and underscores, found %q", l)
		case again:
			return nil, usagef("", "--label: %s is given twice, as %q and %q", name, out[name], value)
		case out == nil:
			out = map[string]string{}
		}
		out[name] = value
	}
	return out, nil
}

// allowedCodes are the codes of --allow-inconclusive.
func allowedCodes(names []string) (map[trace.Code]bool, error) {
	out := map[trace.Code]bool{}
	for _, name := range names {
		code := trace.Code(name)
		switch {
		case code.Allowable():
		case slices.Contains(trace.InconclusiveCodes(), code):
			return nil, usagef("", "--allow-inconclusive: %s can never be allowed: nothing would have been tested", name)
		case slices.Contains(trace.SkipCodes(), code):
			return nil, usagef("", "--allow-inconclusive: %s is the code of a skip, which needs no permission", name)
		default:
			var known []string
			for _, c := range trace.InconclusiveCodes() {
				if c.Allowable() {
					known = append(known, string(c))
				}
			}
			return nil, usagef(listExplanations, "--allow-inconclusive: there is no reason code %q%s", name, strict.Suggestion(name, known))
		}
		out[code] = true
	}
	return out, nil
}

// count says "1 request", "2 requests".
func count(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

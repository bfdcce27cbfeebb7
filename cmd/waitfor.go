package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

const (
	// waitEvery is the pause between two looks at what is waited for: short beside the seconds that services take to start.
	waitEvery = 250 * time.Millisecond
	// waitOnce is how long one look may take. What takes longer to answer is not ready.
	waitOnce = 5 * time.Second
	// waitTold is how often the wait is told while nothing about it changes.
	waitTold = 10 * time.Second
)

// waiter waits until what --wait-for names is there.
type waiter struct {
	client   *fire.Client
	resolved resolutions
	urls     []*url.URL
	agent    string
	timeout  time.Duration
	// tell says how it goes; nil for silence.
	tell func(format string, args ...any)
}

// waiter checks what is to be waited for; the plans say which hosts may be asked. It is nil without --wait-for.
func (o *runOptions) waiter(env Env, plans []*plan.Plan, wire fire.Options, resolved resolutions) (*waiter, error) {
	if len(o.waitFor) == 0 {
		return nil, nil
	}
	if o.waitTimeout <= 0 {
		return nil, usagef("", "--wait-timeout: expected more than 0, found %s", o.waitTimeout)
	}
	wire.ConnectTimeout, wire.RequestTimeout, wire.Rate, wire.Clock = waitOnce, waitOnce, 0, nil
	w := &waiter{client: fire.New(wire), resolved: resolved, agent: "retrysafe/" + env.Version, timeout: o.waitTimeout}
	if !o.quiet {
		w.tell = func(format string, args ...any) { fmt.Fprintf(env.Stderr, "retrysafe: "+format+"\n", args...) }
	}
	for _, given := range o.waitFor {
		u, err := waitURL(given, plans)
		if err != nil {
			return nil, err
		}
		w.urls = append(w.urls, u)
	}
	return w, nil
}

// waitURL checks one URL of --wait-for.
func waitURL(given string, plans []*plan.Plan) (*url.URL, error) {
	u, err := url.Parse(given)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "tcp":
		return nil, usagef("", "--wait-for: expected a URL such as http://127.0.0.1:8080/health or tcp://127.0.0.1:5432, without user and password")
	case u.Scheme == "tcp" && (u.Port() == "" || u.Path != "" || u.RawQuery != ""):
		return nil, usagef("", "--wait-for: expected a host and a port such as tcp://127.0.0.1:5432, found %q", given)
	}
	asked := *u
	if u.Scheme == "tcp" {
		asked.Scheme = "http"
	}
	if !slices.ContainsFunc(plans, func(p *plan.Plan) bool { return p.HostAllowed(asked.String()) }) {
		return nil, usagef("", "--wait-for: host %s is not allowed: only loopback is, and hosts that are named; if it may be asked, add `allow_hosts: [%s]` or --allow-host %s", u.Host, u.Host, u.Host)
	}
	if u.Fragment != "" {
		return nil, usagef("", "--wait-for: expected a URL without #, found %q", given)
	}
	return u, nil
}

// waitFor waits before several jobs begin. The time that it takes is none of theirs.
func waitFor(ctx context.Context, jobs []*job) error {
	if err := jobs[0].waiter.wait(ctx); err != nil {
		return err
	}
	now := time.Now()
	for _, j := range jobs {
		j.start = now // nothing has read the clock so far
	}
	return nil
}

// wait ends when all that is waited for is there, with an error when that takes too long or ctx ends.
func (w *waiter) wait(ctx context.Context) error {
	if w == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	start := time.Now()
	for _, u := range w.urls {
		if err := w.waitOne(limited, u, start); err != nil {
			if ctx.Err() != nil {
				w.say("interrupted while waiting for %s; nothing was tested", u)
				return exitError(ExitInterrupted)
			}
			return fmt.Errorf("%s is not there after %s: %w; nothing was tested (--wait-timeout waits longer)", u, w.timeout, err)
		}
	}
	return nil
}

func (w *waiter) say(format string, args ...any) {
	if w.tell != nil {
		w.tell(format, args...)
	}
}

// waitOne looks again and again; the error is what the last look found.
func (w *waiter) waitOne(ctx context.Context, u *url.URL, start time.Time) error {
	var found error
	told, waited := time.Time{}, false
	for {
		saw, err := w.look(ctx, u)
		if err == nil {
			if waited {
				w.say("%s is there after %s: %s", u, roughly(time.Since(start)), saw)
			}
			return nil
		}
		if ctx.Err() != nil {
			return cmp.Or(found, err)
		}
		if found == nil || err.Error() != found.Error() || time.Since(told) >= waitTold {
			since := ""
			if waited {
				since = " for " + roughly(time.Since(start)) + " so far"
			}
			w.say("waiting for %s%s, up to %s: %s", u, since, roughly(w.timeout), err)
			told = time.Now()
		}
		found, waited = err, true
		select {
		case <-ctx.Done():
			return found
		case <-time.After(waitEvery):
		}
	}
}

// look says what it saw, or what keeps u from being there.
func (w *waiter) look(ctx context.Context, u *url.URL) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, waitOnce)
	defer cancel()
	if u.Scheme == "tcp" {
		return "it takes connections", w.connect(ctx, u)
	}
	shot := fire.Shot{Method: http.MethodGet, URL: u.String(), Header: []trace.Header{{Name: "User-Agent", Value: w.agent}, {Name: "Accept", Value: "*/*"}}}
	x := w.client.Send(ctx, shot)
	switch {
	case !x.Complete():
		return "", errors.New(x.Error)
	case x.Response.Status >= 500:
		return "", fmt.Errorf("it answers with %d", x.Response.Status)
	}
	return fmt.Sprintf("it answers with %d", x.Response.Status), nil
}

func (w *waiter) connect(ctx context.Context, u *url.URL) error {
	addresses := w.resolved.addresses(u.Hostname(), u.Port())
	if len(addresses) == 0 {
		addresses = []string{u.Hostname()}
	}
	var errs []error
	for _, host := range addresses {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, u.Port()))
		if err == nil {
			return conn.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

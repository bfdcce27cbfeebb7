package cmd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retrysafe/internal/engine"
	"retrysafe/internal/fire"
	"retrysafe/internal/judge"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/report"
)

const (
	// doctorCopies is how many copies the built-in race scenarios release together; efforts multiply it.
	doctorCopies = 5
	// doctorAlone is how many requests are sent alone: enough for a median that one slow look-up does not move.
	doctorAlone = 5
)

// doctorVolleys are the volleys that are measured. Fifty copies, as in the last rounds of an audit, are not: twenty
// stand for them, which says rather too little.
func doctorVolleys() []engine.Stage {
	return []engine.Stage{{Rounds: 10, Factor: 1}, {Rounds: 4, Factor: 4}}
}

func newDoctorCmd(env Env) *cobra.Command {
	var o wireOptions
	var method string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor URL",
		Short: "Measure the way to a server and say which race windows can be seen from here",
		Long: `Measure the way to a server: connection set-up, protocol, round trip, jitter, and how close together copies are
released; then say which race windows a run from here would see. Only HEAD, GET or OPTIONS is sent, about 140 times, so
nothing is created. Any status of the answers will do.

Exit codes: 0 measured; 2 wrong usage or a host that is not allowed, nothing was sent; 3 nothing could be measured.`,
		Example: "  retrysafe doctor http://127.0.0.1:8080/\n  retrysafe doctor https://staging.example.com/ --allow-host staging.example.com",
		Args:    cobra.ExactArgs(1),
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			shot, wire, err := o.doctor(env, strings.ToUpper(method), args[0])
			if err != nil {
				return err
			}
			d, err := examine(c.Context(), wire, shot)
			if err != nil {
				return err
			}
			return showDoctor(env, d, asJSON, opts)
		}),
	}
	o.flags(c)
	c.Flags().StringVar(&method, "method", http.MethodHead, "what to send: HEAD, GET or OPTIONS")
	c.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return c
}

func showDoctor(env Env, d *report.Doctor, asJSON bool, opts report.Options) error {
	show := func() error { return report.DoctorText(env.Stdout, d, opts) }
	if asJSON {
		show = func() error { return report.DoctorJSON(env.Stdout, d) }
	}
	if err := show(); err != nil {
		return err
	}
	if slices.ContainsFunc(d.Efforts, func(e report.DoctorEffort) bool { return e.DetectsWindowUS == 0 }) {
		return exitError(ExitInconclusive)
	}
	return nil
}

// doctor checks what can be checked before anything is sent.
func (o *wireOptions) doctor(env Env, method, target string) (fire.Shot, fire.Options, error) {
	s := fire.Shot{Method: method, URL: target, Header: []trace.Header{{Name: "User-Agent", Value: "retrysafe/" + env.Version}}}
	if !slices.Contains([]string{http.MethodHead, http.MethodGet, http.MethodOptions}, method) {
		return s, fire.Options{}, usagef("", "--method: expected HEAD, GET or OPTIONS, which create nothing, found %q", method)
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return s, fire.Options{}, usagef("retrysafe doctor http://127.0.0.1:8080/", "expected an absolute http or https URL without user and password")
	}
	p := &plan.Plan{AllowHosts: o.allowHosts, Target: target}
	if !p.HostAllowed(target) {
		return s, fire.Options{}, usagef("", "host %s is not allowed: only loopback is, and hosts that are named; if it may be tested, add --allow-host %s", u.Host, u.Host)
	}
	if err := s.Validate(); err != nil {
		return s, fire.Options{}, usagef("", "%s", err)
	}
	wire, ways, err := o.wire(env, p)
	if err != nil {
		return s, wire, err
	}
	for _, line := range ways.tell(p.Origins()) {
		fmt.Fprintf(env.Stderr, "retrysafe: %s\n", line)
	}
	return s, wire, nil
}

// measured is what the wire showed.
type measured struct {
	alone   []trace.Exchange
	connect []float64 // us, one for each of alone
	volleys []volleys
	// proxied says that a proxy was asked to connect.
	proxied bool
}

// volleys are the volleys of one size.
type volleys struct {
	copies    int
	bursts    []trace.Burst
	exchanges []trace.Exchange
}

func (v *volleys) add(exchanges []trace.Exchange, b trace.Burst) {
	v.bursts, v.exchanges = append(v.bursts, b), append(v.exchanges, exchanges...)
}

// examine sends the shot alone and in volleys. The error says why nothing could be measured.
func examine(ctx context.Context, wire fire.Options, shot fire.Shot) (*report.Doctor, error) {
	start := time.Now()
	wire.Clock = func() trace.Nanos { return trace.Nanos(max(1, time.Since(start))) }
	client := fire.New(wire)
	u, err := url.Parse(shot.URL)
	if err != nil {
		return nil, err
	}
	m := measured{proxied: wire.Proxy != nil && wire.Proxy(u) != nil}
	for range doctorAlone {
		before := wire.Clock()
		x := client.Send(ctx, shot)
		if ctx.Err() != nil {
			return nil, exitError(ExitInterrupted)
		}
		if !x.Complete() {
			return nil, doctorError(shot, &x)
		}
		m.alone, m.connect = append(m.alone, x), append(m.connect, (x.Started-before).Micros())
	}
	for _, stage := range doctorVolleys() {
		v := volleys{copies: stage.Factor * doctorCopies}
		for range stage.Rounds {
			exchanges, burst := client.Volley(ctx, slices.Repeat([]fire.Shot{shot}, v.copies))
			if ctx.Err() != nil {
				return nil, exitError(ExitInterrupted)
			}
			v.add(exchanges, burst)
		}
		m.volleys = append(m.volleys, v)
	}
	return m.figures(shot), nil
}

// doctorError says why a request alone was not answered, and what to try.
func doctorError(shot fire.Shot, x *trace.Exchange) error {
	hint := "is the server running, and is the address right?"
	switch {
	case x.Broke == trace.PhaseTLS:
		hint = "--cacert FILE trusts a certificate, --insecure any; --firing h1 does without HTTP/2"
	case x.Wire > 0:
		hint = "try --method GET, or another path"
	}
	return fmt.Errorf("no answer to %s %s (%s): %s; %s", shot.Method, shot.URL, x.Broke, x.Error, hint)
}

// figures sums up. It sends nothing.
func (m *measured) figures(shot fire.Shot) *report.Doctor {
	d := &report.Doctor{Schema: report.DoctorSchemaV1, Method: shot.Method, URL: shot.URL, Protocol: m.alone[0].Protocol, ConnectUS: quantiles(m.connect)}
	var answer []float64
	for _, x := range m.alone {
		answer = append(answer, (x.FirstByte - x.Started).Micros())
	}
	d.AnswerUS = quantiles(answer)
	for _, x := range m.exchanges() {
		d.Requests += x.Wire
		if x.Complete() && !slices.Contains(d.Statuses, x.Response.Status) {
			d.Statuses = append(d.Statuses, x.Response.Status)
		}
	}
	for _, v := range m.volleys {
		d.Volleys = append(d.Volleys, v.figures())
	}
	for _, e := range engine.Efforts() {
		bursts, schedule := m.schedule(e)
		d.Efforts = append(d.Efforts, report.DoctorEffort{Effort: e.Name, Schedule: schedule, DetectsWindowUS: judge.DetectableWindow(bursts)})
	}
	d.Warnings = m.warnings()
	return d
}

func (m *measured) exchanges() []trace.Exchange {
	all := slices.Clone(m.alone)
	for _, v := range m.volleys {
		all = append(all, v.exchanges...)
	}
	return all
}

func (v *volleys) figures() report.DoctorVolley {
	d := report.DoctorVolley{Copies: v.copies, Rounds: len(v.bursts), Technique: v.bursts[0].Technique}
	var spread, gap, rtt, jitter []float64
	for _, b := range v.bursts {
		d.Connections = max(d.Connections, b.Connections)
		spread, gap = append(spread, b.Spread.Micros()), append(gap, b.FirstGap.Micros())
		rtt, jitter = append(rtt, b.RTT.Micros()), append(jitter, b.Jitter.Micros())
	}
	d.SpreadUS, d.FirstGapUS = quantiles(spread), quantiles(gap)
	d.RTTUS, d.JitterUS = quantiles(rtt).P50, quantiles(jitter).P50
	return d
}

// schedule gives the bursts that an effort would fire, taken from the measured ones over and over, and says how many.
// Where no volley has as many copies, the largest one below stands for it.
func (m *measured) schedule(e engine.Effort) (bursts []trace.Burst, text string) {
	var parts []string
	for i, stage := range e.Stages {
		copies, from := stage.Factor*doctorCopies, m.volleys[0]
		for _, v := range m.volleys {
			if v.copies <= copies {
				from = v
			}
		}
		for n := range stage.Rounds {
			bursts = append(bursts, from.bursts[n%len(from.bursts)])
		}
		part := fmt.Sprintf("%d of %d", stage.Rounds, copies)
		if i == 0 {
			part = fmt.Sprintf("%d rounds of %d", stage.Rounds, copies)
		}
		if from.copies < copies {
			part += fmt.Sprintf(" that count as %d", from.copies)
		}
		parts = append(parts, part)
	}
	return bursts, strings.Join(parts, ", ")
}

// warnings says what is weaker than it could be, and what to do.
func (m *measured) warnings() []string {
	var out []string
	add := func(text string) {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	apart := false // copies have connections of their own
	for _, v := range m.volleys {
		for _, b := range v.bursts {
			if b.Fallback != "" {
				add("weaker than it could be: " + b.Fallback)
			}
			apart = apart || b.Connections > 1
		}
	}
	if apart && m.proxied {
		add("the proxy may pass on the copies of separate connections at different moments, which cannot be measured from here: use HTTP/2 or --effort deep")
	}
	if apart && m.jitterWeakens() {
		add("the copies go over separate connections, and without the jitter of these standard would see windows half as wide or less: use HTTP/2 or --effort deep")
	}
	if via := m.via(); via != "" {
		add("a gateway stands in between (Via: " + via + "): what it does to the copies cannot be measured from here; go past it where you can")
	}
	return append(out, m.lost()...)
}

// jitterWeakens reports whether the window of the standard effort is at least twice as wide as it would be if the
// connections had no jitter. Twice, because the statement is not exact to much less.
func (m *measured) jitterWeakens() bool {
	standard, _ := engine.FindEffort("standard")
	bursts, _ := m.schedule(standard)
	with := judge.DetectableWindow(bursts)
	for i := range bursts {
		bursts[i].Jitter = 0
	}
	return with >= 2*judge.DetectableWindow(bursts)
}

// via is what a gateway says of itself (RFC 9110, section 7.6.3); empty without one.
func (m *measured) via() string {
	for _, h := range m.alone[0].Response.Headers {
		if strings.EqualFold(h.Name, "Via") {
			return h.Value
		}
	}
	return ""
}

// lost says of each size of volley how many copies were not released, or not answered.
func (m *measured) lost() []string {
	var out []string
	for _, v := range m.volleys {
		unreleased, unanswered, reason := len(v.exchanges), 0, ""
		for _, b := range v.bursts {
			unreleased -= b.Copies
		}
		for _, x := range v.exchanges {
			if !x.Complete() {
				unanswered++
				reason = cmp.Or(reason, x.Error)
			}
		}
		if unreleased > 0 || unanswered > 0 {
			text := fmt.Sprintf("of %d copies in volleys of %d, %d were not released together and %d not answered", len(v.exchanges), v.copies, unreleased, unanswered)
			if reason != "" {
				text += " (" + reason + ")"
			}
			out = append(out, text+": does the server, or something before it, limit connections or rates?")
		}
	}
	return out
}

// quantiles are by nearest rank: the value that at least that share of the measurements does not exceed.
func quantiles(m []float64) trace.Quantiles {
	m = slices.Sorted(slices.Values(m))
	at := func(share float64) float64 { return m[max(0, int(math.Ceil(share*float64(len(m))))-1)] }
	return trace.Quantiles{P50: at(.5), P95: at(.95)}
}

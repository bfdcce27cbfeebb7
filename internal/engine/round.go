package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/count"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// keyless is the name of the scope of requests without a key.
const keyless = scenarios.KeyNone

// round is one execution of a script with its own keys, markers and set-up.
type round struct {
	e      *endpointRun
	s      *scenarios.Scenario
	t      *trace.Round
	scopes []*scope
	// fresh are the scopes for sends with a fresh key, in the order of sending; they share everything but
	// the key with the first letter's.
	fresh []*scope
	// watch makes counters without a marker be watched idle before anything is sent.
	watch bool
	// background holds the open sends by label.
	background map[string]chan trace.Exchange
	// backOff is how long the endpoint asked to be left alone when the round became void.
	backOff time.Duration
	// stuck is true once a key stayed in progress past the limit: what would follow has no answer to wait for.
	stuck bool
	// stop says why the round, and with it the case, cannot go on.
	stop *trace.Reason
}

func (e *endpointRun) newRound(n int, s *scenarios.Scenario, path ...string) *round {
	rd := &round{e: e, s: s, t: &trace.Round{N: n, Scopes: []trace.Scope{}, Exchanges: []trace.Exchange{}}, background: map[string]chan trace.Exchange{}}
	path = append([]string{e.t.Name, fmt.Sprint(n)}, path...)
	names := s.Letters()
	if len(names) == 0 {
		names = []string{"A"}
	}
	for _, name := range names {
		rd.scopes = append(rd.scopes, newScope(e.Seed, name, path...))
	}
	for i := range freshKeys(s) {
		f := *rd.scopes[0]
		f.Name = fmt.Sprintf("fresh-%d", i+1)
		f.Key = uuid(draw(e.Seed, append(path, "key", f.Name)...))
		rd.fresh = append(rd.fresh, &f)
	}
	return rd
}

// freshKeys is how many fresh keys a round of the script needs.
func freshKeys(s *scenarios.Scenario) int {
	n := 0
	for _, send := range s.Sends() {
		if send.Key == scenarios.KeyFresh {
			n += max(1, send.Times, send.Together)
		}
	}
	return n
}

// all are the scopes of the round, the fresh keys' last.
func (rd *round) all() []*scope { return slices.Concat(rd.scopes, rd.fresh) }

// distinctKeys is how many different keys the script sends.
func (rd *round) distinctKeys() int {
	n := len(rd.fresh)
	for _, sc := range rd.scopes {
		if sc.Key != "" {
			n++
		}
	}
	return n
}

// run executes the script. The counters have been looked at once when it returns; whether that is final is
// for settle to find out.
func (rd *round) run(ctx context.Context) {
	rd.setup(ctx)
	for _, sc := range rd.all() {
		recorded := sc.Scope
		recorded.Captures = map[string]string{}
		for k, v := range sc.captures {
			recorded.Captures[k] = rd.e.Redactor.String(v)
		}
		rd.t.Scopes = append(rd.t.Scopes, recorded)
	}
	if rd.stop != nil {
		return
	}
	rd.watchIdle(ctx)
	rd.look(ctx, trace.ReadingBefore)
	for i := range rd.s.Steps {
		if ctx.Err() != nil || rd.stop != nil || rd.stuck || rd.t.Void != "" {
			break
		}
		rd.step(ctx, i, &rd.s.Steps[i])
	}
	for label := range rd.background {
		rd.join(label)
	}
	slices.SortFunc(rd.t.Exchanges, func(a, b trace.Exchange) int { return a.ID - b.ID })
	rd.look(ctx, trace.ReadingAfter)
}

func (rd *round) step(ctx context.Context, i int, st *scenarios.Step) {
	switch {
	case st.Send != nil && st.Send.Together > 1:
		rd.volley(ctx, i, slices.Repeat([]scenarios.Send{*st.Send}, st.Send.Together))
	case st.Send != nil && st.Send.Background:
		rd.sendBackground(ctx, i, st.Send)
	case st.Send != nil:
		for copy := range max(1, st.Send.Times) {
			rd.sendFinal(ctx, i, copy, st.Send)
		}
	case st.Volley != nil:
		rd.volley(ctx, i, st.Volley)
	case st.Wait != nil:
		rd.wait(ctx, i, st.Wait)
	case st.Hook != nil:
		rd.hook(ctx, i, st.Hook.Run, st.Hook.Key)
	case st.Count != "":
		rd.look(ctx, st.Count)
		settleAll(ctx, rd.e, []*round{rd})
	case st.Join != "":
		started := rd.e.Clock()
		rd.join(st.Join)
		rd.pause(i, "join "+st.Join, started, nil)
	}
}

func (rd *round) pause(step int, what string, started trace.Nanos, err error) {
	p := trace.Pause{Step: step, What: what, Started: started, Ended: rd.e.Clock()}
	if err != nil {
		p.Error = rd.e.Redactor.String(err.Error())
	}
	rd.t.Pauses = append(rd.t.Pauses, p)
}

// wait pauses as the script says. From the whole lifetime on, a plan's expire hook stands in for waiting.
func (rd *round) wait(ctx context.Context, i int, w *scenarios.Wait) {
	started := rd.e.Clock()
	if w.Expiry == 0 {
		d := w.For
		if w.Handling > 0 {
			d = time.Duration(w.Handling * float64(rd.e.t.Control.Learned.Handling))
		}
		rd.e.sleep(ctx, d)
		rd.pause(i, "wait "+d.String(), started, nil)
		return
	}
	if w.Expiry >= 1 && hasHook(rd.e.Plan, "expire") {
		rd.hook(ctx, i, "expire", w.Of)
		return
	}
	due := rd.since(w) + trace.Nanos(w.Expiry*float64(rd.e.plan.KeyLifetime))
	d := (due - started).Duration()
	if d > rd.e.Plan.Limits.Wait {
		rd.pause(i, fmt.Sprintf("wait %g of the lifetime: left out, longer than limits.wait", w.Expiry), started, nil)
		return
	}
	rd.e.sleep(ctx, d)
	rd.pause(i, fmt.Sprintf("wait %g of the lifetime", w.Expiry), started, nil)
}

// since is the moment from which a share of the lifetime counts: the key's first send below the whole
// lifetime, its first complete answer from then on.
func (rd *round) since(w *scenarios.Wait) trace.Nanos {
	for i := range rd.t.Exchanges {
		x := &rd.t.Exchanges[i]
		if x.Scope != w.Of {
			continue
		}
		if w.Expiry < 1 {
			return x.Started
		}
		if x.Complete() {
			return x.Done
		}
	}
	return rd.e.Clock()
}

// hook runs a hook of the plan for a key's scope. One that fails stops the case.
func (rd *round) hook(ctx context.Context, i int, name, key string) {
	started := rd.e.Clock()
	sc := rd.scope(key)
	argv := count.Render(rd.e.Plan.Hooks[name].Exec, values{scope: sc, key: sc.Key})
	_, err := count.Command(ctx, dirOf(rd.e.Plan.File), rd.e.Plan.Limits.Request, argv)
	rd.pause(i, "hook "+name, started, err)
	if err != nil {
		rd.stop = &trace.Reason{Code: trace.SetupFailed,
			Detail: fmt.Sprintf("hook %s: %s", name, rd.e.Redactor.String(err.Error()))}
	}
}

// scope gives the scope of a key letter; the first one when there is no such letter.
func (rd *round) scope(name string) *scope {
	for _, sc := range rd.scopes {
		if sc.Name == name {
			return sc
		}
	}
	return rd.scopes[0]
}

// setup sends the set-up requests of every scope and keeps what they yield.
func (rd *round) setup(ctx context.Context) {
	for _, sc := range rd.scopes {
		for i := range rd.e.plan.Setup {
			if rd.stop = rd.setupOne(ctx, sc, i); rd.stop != nil {
				return
			}
		}
	}
}

func (rd *round) setupOne(ctx context.Context, sc *scope, i int) *trace.Reason {
	s := &rd.e.plan.Setup[i]
	fail := func(format string, args ...any) *trace.Reason {
		return &trace.Reason{Code: trace.SetupFailed, Detail: fmt.Sprintf("set-up %s: %s", s.Request, fmt.Sprintf(format, args...))}
	}
	v := values{scope: sc, key: sc.Key, nonce: fmt.Sprint(rd.e.Seed, rd.e.ids.Load())}
	shot, err := rd.e.request(s.Request, s.Headers, rd.e.caller(""), s.Body, trace.KeyPlace{}, v)
	if err != nil {
		return fail("%s", err)
	}
	var x trace.Exchange
	for attempt := 0; ; attempt++ {
		x = rd.e.send(ctx, shot)
		wait, busy := busyFor(&x, attempt)
		if busy && wait > retryAfterMost {
			rd.leaveAlone(wait)
			return rd.stop
		}
		if !busy || attempt == busyAttempts || !rd.e.sleep(ctx, wait) {
			break
		}
	}
	captured, err := capture(&x, s.Capture)
	for name, value := range captured {
		sc.captures[name] = value
		if secretName(name) {
			rd.e.Redactor.Add(value)
		}
	}
	x.Step, x.Scope, x.Caller = -1, sc.Name, rd.e.callerName()
	rd.e.Redactor.Exchange(&x)
	rd.t.Setup = append(rd.t.Setup, x)
	switch {
	case x.Wire == 0:
		return &trace.Reason{Code: trace.Unreachable, Detail: fmt.Sprintf("no connection for the set-up %s: %s", s.Request, x.Error)}
	case !x.Complete():
		return fail("no answer: %s", x.Error)
	case x.Response.Status/100 != 2:
		return fail("expected a 2xx answer, found %d %s", x.Response.Status, excerpt(x.Response.Body))
	case err != nil:
		return fail("%s, in the answer %s", err, excerpt(x.Response.Body))
	}
	return nil
}

func excerpt(b trace.Body) string {
	s := string(b.Bytes())
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "..."
	}
	return s
}

// secretName reports whether a capture's name says that its value must not be shown.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"token", "secret", "password", "session", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

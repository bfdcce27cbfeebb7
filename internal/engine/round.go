package engine

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/fire"
	"retrysafe/internal/ledger"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

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
	// launched holds the background sends that are on their way before their step has come, and dues when the waits in front of
	// them end, by step.
	launched map[int]*launch
	dues     map[int]trace.Nanos
	// promises are what success answers say about their work, by exchange; pursuits what of it is asked for.
	promises map[int]promise
	pursuits []*pursuit
	// backOff is how long the endpoint asked to be left alone when the round became void.
	backOff time.Duration
	// undoing are the hooks that must still run to take back what the script did.
	undoing []string
	// paid is how many requests may be sent at once, because they were waited for before a moment that they must keep.
	paid int
	// signed are requests that were signed before a moment that they must keep, by their step.
	signed map[*scenarios.Send]fire.Shot
	// stuck is true once a key stayed in progress, or work was not done (late), past the limit: what would follow has no
	// answer to wait for.
	stuck, late bool
	// planted is the key of an earlier run that the script goes on with; nil for none.
	planted *ledger.Entry
	// stop says why the round, and with it the case, cannot go on.
	stop *trace.Reason
}

func (e *endpointRun) newRound(n int, s *scenarios.Scenario, path ...string) *round {
	rd := &round{e: e, s: s, t: &trace.Round{N: n, Scopes: []trace.Scope{}, Exchanges: []trace.Exchange{}}, background: map[string]chan trace.Exchange{}, launched: map[int]*launch{}, dues: map[int]trace.Nanos{}, promises: map[int]promise{}}
	path = append([]string{e.t.Name, fmt.Sprint(n)}, path...)
	uses := s.Scopes()
	if len(uses) == 0 {
		uses = []scenarios.ScopeUse{{Name: "A", Letter: "A", Caller: scenarios.CallerFirst}}
	}
	for _, use := range uses {
		sc := newScope(e.Seed, use, s.Keys, path...)
		sc.vars = e.Plan.VarsOf(use.Caller == scenarios.CallerOther)
		rd.scopes = append(rd.scopes, sc)
	}
	if p := s.Planted(); p != nil {
		rd.goOn(e.Planted[PlantedCase{e.t.Name, s.ID}].Entry, p.Key)
	}
	for i := range freshKeys(s) {
		f := *rd.scopes[0]
		f.Name = fmt.Sprintf("fresh-%d", i+1)
		f.Key = uuid(draw(e.Seed, append(path, "key", f.Name)...))
		f.lines = []string{f.Key}
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

// succeededKeys is how many scopes with a key had a success answer at the endpoint itself: each promises an effect.
func (rd *round) succeededKeys() int {
	seen := map[string]bool{}
	for i := range rd.t.Exchanges {
		if x := &rd.t.Exchanges[i]; x.Class == trace.ClassSuccess && !x.OtherEndpoint {
			seen[x.Scope] = true
		}
	}
	return len(seen)
}

// run executes the script. The counters have been looked at once when it returns; whether that is final is
// for settle to find out.
func (rd *round) run(ctx context.Context) {
	defer rd.undo(ctx)
	rd.setup(ctx)
	for _, sc := range rd.all() {
		recorded := sc.Scope
		recorded.Captures = map[string]string{}
		for k, v := range sc.captures {
			recorded.Captures[k] = rd.e.Redactor.Text(v)
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
		rd.join(ctx, label)
	}
	slices.SortFunc(rd.t.Exchanges, func(a, b trace.Exchange) int { return a.ID - b.ID })
	rd.awaitWork(ctx, anyAnswer)
	rd.look(ctx, trace.ReadingAfter)
}

func (rd *round) step(ctx context.Context, i int, st *scenarios.Step) {
	switch {
	case st.Send != nil && st.Send.Together > 1:
		rd.volley(ctx, i, slices.Repeat([]scenarios.Send{*st.Send}, st.Send.Together))
	case st.Send != nil && st.Send.Background:
		rd.sendBackground(ctx, i)
	case st.Send != nil && st.Send.Body == scenarios.BodyNested:
		rd.sendNested(ctx, i, st.Send)
	case st.Send != nil && st.Send.Every > 0:
		rd.series(ctx, i, st.Send)
	case st.Send != nil:
		for copy := range max(1, st.Send.Times) {
			if !rd.late {
				rd.sendFinal(ctx, i, copy, st.Send)
			}
		}
	case st.Volley != nil:
		rd.volley(ctx, i, st.Volley)
	case st.Wait != nil:
		rd.wait(ctx, i, st.Wait)
	case st.Hook != nil:
		rd.hook(ctx, i, st.Hook.Run, st.Hook.Key)
	case st.Planted != nil:
		rd.plantedFirst(ctx, i, st.Planted)
	case st.Count != "":
		rd.awaitWork(ctx, anyAnswer)
		rd.look(ctx, st.Count)
		settleAll(ctx, rd.e, []*round{rd})
		rd.stop = cmp.Or(rd.stop, rd.forgotten(st.Count))
	case st.Join != "":
		started := rd.e.Clock()
		rd.join(ctx, st.Join)
		rd.pause(i, "join "+st.Join, started, nil)
	}
}

func (rd *round) pause(step int, what string, started trace.Nanos, err error) {
	p := trace.Pause{Step: step, What: what, Started: started, Ended: rd.e.Clock()}
	if err != nil {
		p.Error = rd.e.Redactor.Message(err.Error())
	}
	rd.t.Pauses = append(rd.t.Pauses, p)
}

// wait pauses as the script says. Where the whole lifetime is longer than limits.wait, a plan's expire hook stands in for
// waiting it out. While a request is open in the background the moment counts, so nobody else sends meanwhile.
func (rd *round) wait(ctx context.Context, i int, w *scenarios.Wait) {
	started := rd.e.Clock()
	sleep := rd.e.sleep
	if len(rd.background) > 0 {
		sleep = pause
	}
	if w.Expiry == 0 {
		d := w.For
		if w.Handling > 0 {
			d = rd.e.share(w.Handling)
		}
		if due, launched := rd.dues[i]; launched {
			d = max(0, (due - started).Duration())
		}
		sleep(ctx, d)
		rd.pause(i, "wait "+d.String(), started, nil)
		return
	}
	due := rd.since(w) + trace.Nanos(w.Expiry*float64(rd.e.plan.KeyLifetime))
	d := (due - started).Duration()
	hooked := hasHook(rd.e.Plan, "expire")
	switch {
	case w.Expiry >= 1 && hooked && (rd.e.plan.KeyLifetime == 0 || d > rd.e.Plan.Limits.Wait):
		rd.hook(ctx, i, "expire", w.Of)
	case d > rd.e.Plan.Limits.Wait || rd.e.plan.KeyLifetime == 0:
		rd.pause(i, fmt.Sprintf("wait %g of the lifetime: left out, longer than limits.wait", w.Expiry), started, nil)
	default:
		sleep(ctx, d)
		rd.pause(i, fmt.Sprintf("wait %g of the lifetime", w.Expiry), started, nil)
	}
}

// overMargin is by how much a wait for the end of the work is longer than that took in the control, at least: a busy machine adds more to
// the work of some milliseconds than a share of it.
const overMargin = 250 * time.Millisecond

// share is a wait of so many times the handling time.
func (e *endpointRun) share(n float64) time.Duration {
	took := e.handling(n < 1).Duration()
	d := time.Duration(n * float64(took))
	if n < 1 {
		return d
	}
	return max(d, took+overMargin)
}

// handling is how long the endpoint takes, by the control: the longest that was seen, to be sure that it is over, or the
// shortest, to be sure that it is not. Work that is awaited is part of it.
func (e *endpointRun) handling(shortest bool) trace.Nanos {
	took := e.t.Control.Learned.Handling
	if work := e.t.Control.Learned.WorkTime; work > 0 {
		return work
	}
	if !shortest {
		return took
	}
	return e.t.Control.Quickest()
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

// hook runs a hook of the plan, for a key's scope where it is about one. One that fails stops the case.
func (rd *round) hook(ctx context.Context, i int, name, key string) {
	started := rd.e.Clock()
	sc := rd.scope(key)
	err := rd.e.runHook(ctx, rd.e.Plan.Hooks[name], values{scope: sc, key: sc.Key})
	rd.pause(i, "hook "+name, started, err)
	if undo, ok := undoes(name); ok && err == nil {
		rd.undoing = append(rd.undoing, undo)
	}
	rd.undoing = slices.DeleteFunc(rd.undoing, func(open string) bool { return open == name })
	if err != nil {
		rd.stop = &trace.Reason{Code: trace.SetupFailed,
			Detail: fmt.Sprintf("hook %s: %s", name, rd.e.Redactor.Message(err.Error()))}
	}
}

// undoes names the hook that takes back what another one did.
func undoes(name string) (string, bool) {
	switch name {
	case "break":
		return "heal", true
	case "hold":
		return "release", true
	}
	return "", false
}

// undo takes back what the script did not, because it ended early: what others test must not find it broken. It goes on
// for a moment after an interrupt.
func (rd *round) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rd.e.Plan.Limits.Request)
	defer cancel()
	for _, name := range rd.undoing {
		rd.hook(ctx, len(rd.s.Steps), name, "")
	}
}

// scope gives the scope of that name; the first one when there is none.
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
		setups := rd.e.plan.Setup
		if sc.other {
			setups = rd.e.other.Setup
		}
		if rd.planted != nil && sc.Marker == rd.planted.Marker {
			continue // the earlier run set it up
		}
		if own := rd.ownOf(sc); own != nil {
			sc.captures = own.captures // nobody can set anything up, so the first caller's has to do
			continue
		}
		for i := range setups {
			if rd.stop = rd.setupOne(ctx, sc, &setups[i]); rd.stop != nil {
				return
			}
		}
	}
}

// ownOf is the first caller's scope of the same key and endpoint, for a scope of nobody; nil for any other, or when there
// is none.
func (rd *round) ownOf(sc *scope) *scope {
	if sc.caller != scenarios.CallerAnonymous {
		return nil
	}
	name := strings.Replace(sc.Name, "@"+scenarios.CallerAnonymous, "", 1)
	for _, own := range rd.scopes {
		if own.Name == name {
			return own
		}
	}
	return nil
}

func (rd *round) setupOne(ctx context.Context, sc *scope, s *plan.Setup) *trace.Reason {
	fail := func(format string, args ...any) *trace.Reason {
		return &trace.Reason{Code: trace.SetupFailed, Detail: fmt.Sprintf("set-up %s: %s", s.Request, fmt.Sprintf(format, args...))}
	}
	caller, renew := rd.e.setupCaller(sc), false
	var x trace.Exchange
	for attempt := 0; ; attempt++ {
		cred, err := rd.e.credential(ctx, caller, renew)
		if err != nil {
			return whyNot(err, trace.SetupFailed, fmt.Sprintf("set-up %s: %s", s.Request, err))
		}
		v := values{scope: sc, key: sc.Key, nonce: rd.e.nonce()}
		shot, err := rd.e.request(ctx, s.Request, s.Headers, cred, s.Body, trace.KeyPlace{}, v)
		if err != nil {
			return fail("%s", err)
		}
		x = rd.e.send(ctx, shot)
		if !renew && ranOut(&x, caller) {
			renew = true
			continue
		}
		wait, busy := busyFor(&x, attempt)
		if busy && wait > retryAfterMost {
			rd.leaveAlone(wait)
			return rd.stop
		}
		if !busy || attempt >= busyAttempts || !rd.e.sleep(ctx, wait) {
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
	x.Step, x.Scope, x.Caller, x.OtherEndpoint = -1, sc.Name, nameOf(caller), sc.other
	rd.e.Redactor.Exchange(&x)
	rd.t.Setup = append(rd.t.Setup, x)
	switch {
	case x.Wire == 0:
		return &trace.Reason{Code: trace.Unreachable, Detail: fmt.Sprintf("no connection for the set-up %s: %s", s.Request, x.Error)}
	case !x.Complete():
		return fail("no answer: %s", x.Error)
	case turnsAway(x.Response.Status) && caller != nil && caller != rd.e.callerFor(scenarios.CallerFirst):
		return &trace.Reason{Code: trace.Auth, Enable: rd.s.AnotherCaller(caller.Name),
			Detail: fmt.Sprintf("caller %s, the second one of the plan, is refused by the set-up %s: %d %s", caller.Name, s.Request, x.Response.Status, excerpt(x.Response.Body))}
	case x.Response.Status/100 != 2:
		return fail("expected a 2xx answer, found %d %s", x.Response.Status, excerpt(x.Response.Body))
	case err != nil:
		return fail("%s, in the answer %s", err, excerpt(x.Response.Body))
	}
	return nil
}

// turnsAway reports whether a status is about who asks.
func turnsAway(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// setupCaller is who sets a scope up: its caller, and the first one for nobody.
func (e *endpointRun) setupCaller(sc *scope) *plan.Caller {
	if sc.caller == scenarios.CallerAnonymous {
		return e.callerFor(scenarios.CallerFirst)
	}
	return e.callerFor(sc.caller)
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

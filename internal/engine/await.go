package engine

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"retrysafe/internal/fire"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// promise is where a success answer says to ask for its work, as it was answered: the record has it with secrets replaced.
type promise struct {
	url string
	// refusal says why it is not asked.
	refusal string
}

// pursuit is work that is being asked for.
type pursuit struct {
	promise
	// at is the index in the record.
	at     int
	caller string
	scope  *scope
	// answered is when the last answer came that named it.
	answered trace.Nanos
	// ended is true when asking again would not help, late when the limit had passed at the last question.
	ended, late bool
	// wait is how long the last answer asked to be left alone.
	wait time.Duration
}

// promised is what an answer says about its work, read before its secrets are replaced.
func (rd *round) promised(x *trace.Exchange) {
	a := rd.e.t.Facts.Await
	if a == nil || x.OtherEndpoint || !x.Planted.IsZero() || !x.Complete() || x.Response.Status/100 != 2 {
		return
	}
	where := a.Follow
	if !strings.HasPrefix(where, "$") {
		where = "header " + where
	}
	var p promise
	ref, err := captureOne(x.Response, where)
	if err == nil {
		if p.url = withoutFragment(absolute(x.Request.URL, ref)); p.url == "" {
			err = fmt.Errorf("expected a URL or a path, found %q", ref)
		} else {
			err = rd.e.allowed(p.url)
		}
	}
	if err != nil {
		p.refusal = rd.e.Redactor.Message(err.Error())
	}
	rd.promises[x.ID] = p
}

// withoutFragment is a URL as it is asked (RFC 9110 section 4.2.5).
func withoutFragment(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// pursue gives the work behind the success answers that are wanted. Answers that name the same place share it as long as
// the work there has not ended: what a later answer finds may be another.
func (rd *round) pursue(wanted func(x *trace.Exchange) bool) []*pursuit {
	var out []*pursuit
	for i := range rd.t.Exchanges {
		x := &rd.t.Exchanges[i]
		if p, made := rd.promises[x.ID]; made && x.Class == trace.ClassSuccess && wanted(x) {
			out = append(out, rd.pursuitOf(x, p))
		}
	}
	return out
}

func (rd *round) pursuitOf(x *trace.Exchange, p promise) *pursuit {
	for _, known := range rd.pursuits {
		w := &rd.t.Work[known.at]
		for _, id := range w.Of {
			if id == x.ID {
				return known
			}
		}
	}
	for _, known := range rd.pursuits {
		if !known.ended && known.promise == p && known.caller == x.Caller {
			w := &rd.t.Work[known.at]
			w.Of = append(w.Of, x.ID)
			known.answered = max(known.answered, x.Done)
			return known
		}
	}
	made := &pursuit{promise: p, at: len(rd.t.Work), caller: x.Caller, scope: rd.named(x.Scope), answered: x.Done, ended: p.refusal != ""}
	rd.pursuits = append(rd.pursuits, made)
	rd.t.Work = append(rd.t.Work, trace.Work{Of: []int{x.ID}, URL: rd.e.Redactor.Link(p.url), Refusal: p.refusal})
	return made
}

// named is the scope of that name, those of fresh keys included.
func (rd *round) named(name string) *scope {
	for _, sc := range rd.all() {
		if sc.Name == name {
			return sc
		}
	}
	return rd.scopes[0]
}

// awaitWork asks for the work behind the wanted success answers until all of it has ended, or took longer than its limit:
// then what would follow in the round has nothing to wait for.
func (rd *round) awaitWork(ctx context.Context, wanted func(x *trace.Exchange) bool) {
	open := rd.pursue(wanted)
	for interval := pollFirst; ctx.Err() == nil; interval = min(interval*3/2, pollMost) {
		if open = rd.askFor(ctx, open); len(open) == 0 {
			return
		}
		wait := interval
		for _, p := range open {
			wait = max(wait, min(p.wait, rd.timeLeft(p)))
		}
		rd.e.sleep(ctx, wait)
	}
}

func anyAnswer(*trace.Exchange) bool { return true }

// seeWork asks once for the work behind the success answers of a scope, so that a refusal is no longer "in progress" once it
// has ended.
func (rd *round) seeWork(ctx context.Context, scope string) {
	rd.askFor(ctx, rd.pursue(func(x *trace.Exchange) bool { return x.Scope == scope }))
}

func (rd *round) timeLeft(p *pursuit) time.Duration {
	return (p.answered + rd.e.t.Facts.Await.Limit - rd.e.Clock()).Duration()
}

// askFor asks once for all work that has not ended, and gives what is worth another question.
func (rd *round) askFor(ctx context.Context, all []*pursuit) (open []*pursuit) {
	var asked []*pursuit
	seen := map[*pursuit]bool{}
	for _, p := range all {
		if !p.ended && !p.late && !seen[p] {
			asked = append(asked, p)
		}
		seen[p] = true
	}
	answers := make([]trace.Exchange, len(asked))
	var g errgroup.Group
	g.SetLimit(pollParallel)
	for i, p := range asked {
		g.Go(func() error { answers[i] = rd.ask(ctx, p); return nil })
	}
	_ = g.Wait() // what went wrong is in the answers
	for i, p := range asked {
		x := &answers[i]
		p.ended = rd.e.Deciders.ReadWork(rd.e.t.Facts.Await, x) != trace.WorkOpen
		p.late = !p.ended && x.Started >= p.answered+rd.e.t.Facts.Await.Limit
		p.wait = min(retryAfter(x, 0), retryAfterMost)
		w := &rd.t.Work[p.at]
		w.Asked = append(w.Asked, *x)
		rd.stuck, rd.late = rd.stuck || p.late, rd.late || p.late
		if !p.ended && !p.late {
			open = append(open, p)
		}
	}
	return open
}

// ask sends one question for work, as the caller whose request was answered, and once more when its credentials have
// run out.
func (rd *round) ask(ctx context.Context, p *pursuit) trace.Exchange {
	var caller *plan.Caller
	if p.caller != "" {
		caller = rd.e.callerNamed(p.caller)
	}
	var x trace.Exchange
	for _, renew := range []bool{false, true} {
		shot, err := rd.question(ctx, p, caller, renew)
		if err != nil {
			x = trace.Exchange{ID: int(rd.e.ids.Add(1)), Request: trace.Request{Method: "GET", URL: p.url}, Broke: trace.PhaseDial,
				Error: err.Error(), Started: rd.e.Clock(), Done: rd.e.Clock()}
			break
		}
		if x = rd.e.send(ctx, shot); !ranOut(&x, caller) {
			break
		}
	}
	x.Step, x.Scope, x.Caller = -1, p.scope.Name, p.caller
	rd.e.noteNames(&x)
	rd.e.Redactor.Exchange(&x)
	return x
}

// question is a GET with the endpoint's headers, but for those about a body and the key.
func (rd *round) question(ctx context.Context, p *pursuit, caller *plan.Caller, renew bool) (fire.Shot, error) {
	cred, err := rd.e.credential(ctx, caller, renew)
	if err != nil {
		return fire.Shot{}, err
	}
	t := rd.e.template(plan.RequestTemplate{}, rd.e.plan.Headers, plan.Body{}, trace.KeyPlace{})
	t.credential = cred
	h, err := t.headerLines("", nil, values{scope: p.scope, key: p.scope.Key, nonce: rd.e.nonce()})
	if err != nil {
		return fire.Shot{}, err
	}
	h.drop("Content-Type")
	shot := fire.Shot{Method: "GET", URL: p.url, Header: h, Certificate: cred.certificate()}
	return unsignedShot{r: rd.e.run, shot: shot, caller: cred.caller}.sign(ctx)
}

// quietFrom is the moment until which effects of work may come that no answer tells of: a repeat that is answered like the
// first may still have queued the work again. That takes as long as the control's, and as long again to be sure.
func (rd *round) quietFrom() trace.Nanos {
	if rd.e.t.Facts.Await == nil {
		return 0
	}
	var last trace.Nanos
	for i := range rd.t.Exchanges {
		last = max(last, rd.t.Exchanges[i].Done)
	}
	return last + 2*rd.learned().WorkTime
}

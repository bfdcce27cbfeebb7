package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	"retrysafe/internal/ledger"
	"retrysafe/internal/plan"
	"retrysafe/internal/redact"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// Planted is what an earlier run left for one case: a key, or why there is none.
type Planted struct {
	Entry *ledger.Entry
	// Due is when a key will be due; zero when none is kept.
	Due time.Time
}

// PlantedCase names a case that goes on with a key of an earlier run.
type PlantedCase struct{ Endpoint, Scenario string }

// PlantedQueries are the keys of earlier runs that the cases of a run would go on with, in the order of the cases.
func PlantedQueries(p *plan.Plan, endpoints []plan.Endpoint, list []*scenarios.Scenario, effort Effort, disruptive bool) ([]PlantedCase, []ledger.Query) {
	var cases []PlantedCase
	var queries []ledger.Query
	for i := range endpoints {
		ep := &endpoints[i]
		for _, s := range list {
			step := s.Planted()
			if step == nil || Unmet(p, ep, s, effort, disruptive) != nil {
				continue
			}
			cases = append(cases, PlantedCase{ep.Name, s.ID})
			queries = append(queries, ledger.Query{Target: p.Target, Endpoint: ep.Name, Request: ep.Request.String(),
				Lifetime: ep.KeyLifetime, From: step.From, To: step.To})
		}
	}
	return cases, queries
}

// NoLedger says why a run without a ledger skips the script; nil when the script needs no key of an earlier run.
func NoLedger(s *scenarios.Scenario) *trace.Reason {
	if s.Planted() == nil {
		return nil
	}
	return &trace.Reason{Code: trace.Needs, Detail: "no ledger holds keys of earlier runs", Enable: "--ledger FILE"}
}

// unplanted says why a script that goes on with a key of an earlier run cannot; nil when it can, or needs none.
func (e *endpointRun) unplanted(s *scenarios.Scenario) *trace.Reason {
	if s.Planted() == nil {
		return nil
	}
	if e.Planted == nil {
		return NoLedger(s)
	}
	if e.unmarked() {
		return &trace.Reason{Code: trace.Needs, Enable: `counters: {NAME: {http: "GET /PATH?reference={{marker}}", value: $.count}}`,
			Detail: "a key of an earlier run can be tried once, and what rests on a counter without {{marker}} must show twice"}
	}
	switch found := e.Planted[PlantedCase{e.t.Name, s.ID}]; {
	case found.Entry != nil:
		return nil
	case found.Due.IsZero():
		return &trace.Reason{Code: trace.NotDue, Detail: "the ledger holds no key for this check yet: this run plants some"}
	default:
		return &trace.Reason{Code: trace.NotDue,
			Detail: "the next key in the ledger is due at " + found.Due.UTC().Format("2006-01-02 15:04:05 UTC")}
	}
}

// goOn gives the scope of a planted key all that the earlier run's request was made from.
func (rd *round) goOn(e *ledger.Entry, letter string) {
	sc := rd.scope(letter)
	sc.Key, sc.lines, sc.Marker = e.Key, []string{e.Key}, e.Marker
	sc.uuid, sc.now, sc.date = e.UUID, e.Now, e.Date
	sc.captures = maps.Clone(e.Captures)
	if sc.captures == nil {
		sc.captures = map[string]string{}
	}
	rd.planted = e
}

// plantedFirst puts the earlier run's request and answer into the record, unless the plan now makes another request.
func (rd *round) plantedFirst(ctx context.Context, step int, p *scenarios.Planted) {
	sc := rd.scope(p.Key)
	digest, err := rd.e.digest(ctx, sc)
	if err != nil {
		rd.unmade(err)
		return
	}
	if digest != rd.planted.Digest {
		rd.stop = &trace.Reason{Code: trace.NotDue,
			Detail: "the plan makes another request than the run that planted the key (" + rd.planted.Answered.UTC().Format(time.DateTime) + " UTC): this run plants new keys"}
		return
	}
	now := rd.e.Clock()
	x := rd.planted.First
	x.ID, x.Step, x.Label, x.Copy, x.Repeat, x.Scope = int(rd.e.ids.Add(1)), step, p.Label, 0, 0, sc.Name
	x.Planted = rd.planted.Answered
	x.Started, x.Sent, x.FirstByte, x.Done = now, now, now, now
	x.Conn, x.Wire = 0, 0
	rd.add(x)
}

// forgotten says that a reading shows nothing more of what the earlier run made: the system was set up anew, and that
// its keys are gone too says nothing about their lifetime. Nil where something is still counted, or clean-up may have removed it; a sink
// counts what it got in this run only.
func (rd *round) forgotten(reading string) *trace.Reason {
	r := rd.reading(reading)
	if rd.planted == nil || r == nil || rd.e.plan.Cleanup != nil {
		return nil
	}
	var empty []string
	for _, v := range r.Values {
		switch {
		case rd.e.Plan.Counters[v.Counter].Sink != nil:
		case v.Error != "" || v.N != 0:
			return nil
		default:
			empty = append(empty, v.Counter)
		}
	}
	if len(empty) == 0 {
		return nil
	}
	return &trace.Reason{Code: trace.NotDue, Detail: fmt.Sprintf("what the earlier run made is no longer counted (%s: 0), so the system was set up anew since %s: this run plants new keys",
		strings.Join(empty, ", "), rd.planted.Answered.UTC().Format("2006-01-02 15:04:05 UTC"))}
}

// plant gives the keys of the control's rounds to whoever keeps them for a later run. Where the set-up yielded something secret, or the
// lifetime is not stated, there is nothing to keep.
func (e *endpointRun) plant(ctx context.Context) {
	if e.Plant == nil || !e.t.Control.Learned.Sound || e.plan.KeyLifetime == 0 || e.plan.Key.In == "" || e.plan.Webhook != nil {
		return
	}
	e.events.Lock()
	defer e.events.Unlock()
	purposes := []ledger.Purpose{ledger.Within, ledger.After}
	for i, rd := range e.controls {
		if i >= len(purposes) || rd.t.Variant != "" {
			return
		}
		if entry := e.entry(ctx, rd); entry != nil {
			entry.For = purposes[i]
			e.Plant(*entry)
		}
	}
}

// entry is what a control round leaves for a later run; nil when it leaves nothing.
func (e *endpointRun) entry(ctx context.Context, rd *round) *ledger.Entry {
	sc := rd.scopes[0]
	for name, value := range sc.captures {
		if secretName(name) || e.Redactor.String(value) != value {
			return nil
		}
	}
	digest, err := e.digest(ctx, sc)
	if err != nil {
		return nil
	}
	for i := len(rd.t.Exchanges) - 1; i >= 0; i-- {
		x := rd.t.Exchanges[i]
		if x.Class != trace.ClassSuccess || x.Response == nil {
			continue
		}
		x.Request.Headers = []trace.Header{}
		return &ledger.Entry{Run: e.RunID, Target: e.Plan.Target, Endpoint: e.t.Name, Request: e.plan.Request.String(),
			Lifetime: e.plan.KeyLifetime, Answered: time.Now().Add(-(e.Clock() - x.Done).Duration()).UTC(),
			Key: sc.Key, Marker: sc.Marker, UUID: sc.uuid, Now: sc.now, Date: sc.date, Captures: sc.captures,
			Digest: digest, First: x}
	}
	return nil
}

// digest identifies what the endpoint is sent under a scope: who sends it, where to and what, secrets replaced.
func (e *endpointRun) digest(ctx context.Context, sc *scope) (string, error) {
	rd := &round{e: e}
	send := scenarios.Send{Key: sc.Name, Body: scenarios.BodyOriginal, Caller: scenarios.CallerFirst}
	shot, err := rd.sendShot(ctx, &send, sc)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s\n%s %s\n%s", nameOf(e.callerFor(scenarios.CallerFirst)), shot.Method, shot.URL, shot.Body)
	sum := sha256.Sum256([]byte(redact.Unnumbered(e.Redactor.String(text))))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

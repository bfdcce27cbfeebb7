package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/engine"
	"retrysafe/internal/fire"
	"retrysafe/internal/judge"
	"retrysafe/internal/plan"
	"retrysafe/internal/redact"
	"retrysafe/internal/sink"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// newJobs checks everything that can be checked before anything is sent, and makes a job of each plan of which something is selected.
// There is at least one.
func newJobs(env Env, plans []*plan.Plan, o *runOptions) ([]*job, error) {
	common, err := newTerms(env, o)
	if err != nil {
		return nil, err
	}
	var jobs []*job
	for _, p := range plans {
		j := *common
		j.plan, j.plans = p, plans
		jobs = append(jobs, &j)
		if o.failOnSaid {
			for i := range p.Endpoints {
				p.Endpoints[i].FailOn = ""
			}
		}
	}
	if jobs, err = selectWhat(env, jobs, o); err != nil {
		return nil, err
	}
	if common.baseline, err = o.baselineOptions.read(common.rules); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		j.baseline = common.baseline
		wire, ways, err := o.wire(env, j.plan)
		if err != nil {
			return nil, err
		}
		if j.waiter, err = o.waiter(env, plans, wire, ways.resolved); err != nil {
			return nil, err
		}
		wire.Clock, wire.Rate = j.clock, j.rate
		j.client, j.routes = fire.New(wire), ways
		j.redactor = redact.New(append(ways.proxies.secrets(j.plan), j.plan.Secrets...), []string{j.plan.Target})
		for name, value := range j.labels {
			j.labels[name] = j.redactor.String(value)
		}
	}
	return jobs, nil
}

// newTerms is a job without a plan: what is the same for all plans of a run.
func newTerms(env Env, o *runOptions) (*job, error) {
	j := &job{opts: o, start: time.Now(), version: env.Version}
	var err error
	if j.failOn, err = severity(o.failOn); err != nil {
		return nil, err
	}
	if j.effort, err = o.effortLevel(); err != nil {
		return nil, err
	}
	if j.allow, err = allowedCodes(o.allowInconclusive); err != nil {
		return nil, err
	}
	if j.labels, err = o.labelled(); err != nil {
		return nil, err
	}
	rules, err := scenarios.Rules()
	if err != nil {
		return nil, err
	}
	if j.diagnoses, err = scenarios.Diagnoses(); err != nil {
		return nil, err
	}
	j.catalogue = judge.Catalogue{}
	for _, r := range rules {
		j.catalogue[r.ID] = r
	}
	if j.outlets, err = o.reporting.outlets(rules); err != nil {
		return nil, err
	}
	j.rate, err = o.perSecond()
	return j, err
}

// executeAll runs jobs one after the other and gives the judged record of all. When ctx ends early the record holds what was seen.
func executeAll(ctx context.Context, jobs []*job) *trace.Run {
	id := randomHex(16)
	first := jobs[0]
	seed := first.opts.seed
	if seed == "" {
		seed = randomHex(8)
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &trace.Run{Schema: trace.SchemaV1, Info: infoOf(jobs, id, seed)}
	if first.onBegin != nil {
		first.onBegin(r.Info)
	}
	out, before, began := newOutcome(jobs...), 0, time.Now()
	for _, j := range jobs {
		j.onCase, j.onStart, j.onEndpoint = first.onCase, first.onStart, first.onEndpoint
		end := func(i int, ended engine.Ended) { out.add(before+i, ended) }
		j.run(running, seed, id, engine.Used{Requests: out.requests, Time: time.Since(began)}, stop, end)
		before += len(j.endpoints)
	}
	r.Endpoints = out.endpoints
	r.Info.Interrupted = ctx.Err() != nil
	if first.baseline != nil {
		first.baseline.Settle(r, first.opts.strictBaseline)
	}
	r.Summary = judge.Total(r, out.requests)
	r.Info.ElapsedMS = time.Since(first.start).Milliseconds()
	return r
}

// run runs one job of several, and hands its endpoints to end. A job whose sinks cannot listen any more is not run, and says why.
func (j *job) run(ctx context.Context, seed, id string, used engine.Used, stop context.CancelCauseFunc, end func(int, engine.Ended)) {
	if j.beforeRun != nil {
		if err := j.beforeRun(j); err != nil {
			for i := range j.endpoints {
				ep := engine.Describe(j.plan, &j.endpoints[i])
				ep.Cases = skeletons(j.scenariosOf(ep.Name))
				for k := range ep.Cases {
					ep.Cases[k].OnControl, ep.Cases[k].Stop = false, &trace.Reason{Code: trace.SetupFailed, Detail: err.Error()}
				}
				end(i, engine.Ended{Endpoint: &ep})
			}
			return
		}
	}
	defer j.sinks.Close()
	cfg := j.config(seed, id, used, stop)
	cfg.OnEndpoint = end
	engine.Run(ctx, cfg)
}

// infoOf says what is to be run by jobs together.
func infoOf(jobs []*job, id, seed string) trace.Info {
	info := jobs[0].info(id, seed)
	if len(jobs[0].plans) < 2 {
		return info
	}
	var paths, targets, dialects []string
	digest := sha256.New()
	for _, j := range jobs {
		maps.Copy(info.Scenarios, j.info(id, seed).Scenarios)
	}
	for _, p := range jobs[0].plans {
		info.Plans = append(info.Plans, trace.PlanRun{PlanInfo: planInfo(p), Target: p.Target, Dialect: p.Dialect.Name})
		paths, targets, dialects = append(paths, p.File), append(targets, p.Target), append(dialects, p.Dialect.Name)
		digest.Write([]byte(p.Digest))
	}
	info.Plan = trace.PlanInfo{Path: several(paths), Digest: "sha256:" + hex.EncodeToString(digest.Sum(nil))}
	info.Target, info.Dialect = several(targets), several(dialects)
	return info
}

func planInfo(p *plan.Plan) trace.PlanInfo {
	return trace.PlanInfo{Path: p.File, InRepository: plan.InRepository(p.File), Digest: p.Digest}
}

// several are different values as one text.
func several(values []string) string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return strings.Join(out, ", ")
}

// began is what is to be run, for the record of a run that dies.
func began(info trace.Info, jobs []*job) (*trace.Run, []trace.Case) {
	r := &trace.Run{Schema: trace.SchemaV1, Info: info}
	for _, j := range jobs {
		for i := range j.endpoints {
			ep := engine.Describe(j.plan, &j.endpoints[i])
			if j.wanted != nil || len(jobs) > 1 {
				ep.Cases = skeletons(j.scenariosOf(ep.Name))
			}
			r.Endpoints = append(r.Endpoints, ep)
		}
	}
	return r, skeletons(jobs[0].scenarios)
}

// checkSinks opens the sinks of the only job. Those of several are only tried: plans that share a sink listen in turn.
func checkSinks(env Env, jobs []*job) error {
	if len(jobs) == 1 {
		return jobs[0].listen(env)
	}
	for _, j := range jobs {
		tried, err := sink.Listen(j.plan.Sinks(), j.clock)
		if err != nil {
			return cannotListen(err)
		}
		tried.Close()
		j.beforeRun = func(j *job) error { return j.listen(env) }
	}
	return nil
}

func cannotListen(err error) error {
	return usagef("another port in the plan's `sinks`, or end what listens there", "%s; nothing was sent", err)
}

// sameScenarios says that two plans have a scenario of one name with different texts, so that one report cannot tell of both.
func sameScenarios(jobs []*job) error {
	texts, from := map[string]string{}, map[string]*plan.Plan{}
	for _, j := range jobs {
		for _, s := range j.scenarios {
			if other, known := texts[s.ID]; known && other != s.Text {
				return usagef("", "%s and %s both have a scenario %s, with different texts: give one another name, or run the plans apart", from[s.ID].File, j.plan.File, s.ID)
			}
			texts[s.ID], from[s.ID] = s.Text, j.plan
		}
	}
	return nil
}

// planName begins what is said of one plan of several: its path and a colon; empty for the only one.
func (j *job) planName() string {
	if j.plan.Number == 0 {
		return ""
	}
	return fmt.Sprintf("%s: ", j.plan.File)
}

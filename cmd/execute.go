package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"retrysafe/internal/advice"
	"retrysafe/internal/baseline"
	"retrysafe/internal/engine"
	"retrysafe/internal/fire"
	"retrysafe/internal/judge"
	"retrysafe/internal/ledger"
	"retrysafe/internal/plan"
	"retrysafe/internal/redact"
	"retrysafe/internal/sink"
	"retrysafe/internal/trace"
	"retrysafe/report"
	"retrysafe/scenarios"
)

// job is a run that has been checked and can start.
type job struct {
	plan      *plan.Plan
	plans     []*plan.Plan          // all of the run, those among them of which nothing is selected too
	all       []*scenarios.Scenario // built in and of the plan
	endpoints []plan.Endpoint
	control   *scenarios.Scenario
	scenarios []*scenarios.Scenario
	catalogue judge.Catalogue
	diagnoses []scenarios.Diagnosis
	opts      *runOptions
	effort    engine.Effort
	failOn    trace.Severity
	allow     map[trace.Code]bool
	client    *fire.Client
	routes    routes
	// waiter waits for what --wait-for names; nil for nothing.
	waiter   *waiter
	redactor *redact.Redactor
	start    time.Time
	version  string
	// baseline holds accepted violations; nil for none.
	baseline *baseline.Baseline
	// wanted says which scenarios run on which endpoint; nil for all on all.
	wanted func(endpoint, scenario string) bool
	// shard says which part of the endpoints is run; nil for all of them.
	shard *trace.Shard
	// ledger keeps keys from run to run; nil for none. planted are those of earlier runs that this one goes on with, and toPlant those that it
	// leaves for later ones.
	ledger  *ledger.Ledger
	planted map[engine.PlantedCase]engine.Planted
	toPlant []ledger.Entry
	// removed is how many things the clean-up removed, cleanUps what went wrong while it did; known when the run is over.
	removed  int
	cleanUps []error
	// labels are what the user says of the run, by name.
	labels map[string]string
	// rate is the most requests to one host in a second; 0 for no bound.
	rate float64
	// sinks are the plan's; nil until they listen.
	sinks *sink.Set
	outlets
	// asFlag turns a line of plan into a flag where there is no plan; nil where there is one.
	asFlag func(line string) string
	// beforeRun is called when the job's turn has come; an error keeps it from running. Nil for nothing.
	beforeRun func(*job) error
	// onCase is told of every case when it has ended, judged; nil for none.
	onCase func(ep *trace.Endpoint, c *trace.Case)
	// onBegin is told what is to be run, before anything is sent; nil for none.
	onBegin func(trace.Info)
	// onStart is told which scenario begins; nil for none.
	onStart func(endpoint, scenario string)
	// onEndpoint is handed every endpoint when it has ended, judged and with its whole record; nil for none.
	onEndpoint func(i int, ep *trace.Endpoint)
}

// newJob is newJobs for one plan.
func newJob(env Env, p *plan.Plan, o *runOptions) (*job, error) {
	jobs, err := newJobs(env, []*plan.Plan{p}, o)
	if err != nil {
		return nil, err
	}
	return jobs[0], nil
}

func (j *job) clock() trace.Nanos { return trace.Nanos(max(1, time.Since(j.start))) }

// config is what the engine needs. Used is what other plans of the run have used up, stop ends the run early.
func (j *job) config(seed, runID string, used engine.Used, stop context.CancelCauseFunc) engine.Config {
	return engine.Config{
		Plan: j.plan, Endpoints: j.endpoints, Control: j.control, Scenarios: j.scenarios, Wanted: j.wanted,
		Client: j.client, Sinks: j.sinks, Clock: j.clock, Redactor: j.redactor, Seed: seed, RunID: runID,
		UserAgent:    "retrysafe/" + j.version,
		Effort:       j.effort,
		DetectWindow: j.opts.detectWindow, AllowDisruptive: j.opts.disruptive, Parallel: j.opts.parallel,
		EndpointBudget: j.effort.Budget, MaxRequests: j.opts.maxRequests,
		Timeout: j.opts.timeout, Before: used,
		Deciders: engine.Deciders{
			Classify: judge.Classify,
			ReadWork: judge.ReadWork,
			Learn:    judge.Learn,
			Unsuited: func(s *scenarios.Scenario, ep *trace.Endpoint) *trace.Reason {
				return judge.Unsuited(j.input(s, ep, nil))
			},
			Repeat: func(s *scenarios.Scenario, ep *trace.Endpoint, r *trace.Round) *trace.Reason {
				return judge.Repeat(j.input(s, ep, nil), r)
			},
			LeastRounds: func(s *scenarios.Scenario, ep *trace.Endpoint, c *trace.Case) int {
				return judge.LeastRounds(j.input(s, ep, c))
			},
			Window: judge.DetectableWindow,
			Violated: func(s *scenarios.Scenario, ep *trace.Endpoint, c *trace.Case) bool {
				return judge.Violated(j.input(s, ep, c))
			},
		},
		Planted: j.planted,
		Plant:   j.plant(),
		OnStart: j.onStart,
		OnCase: func(ep *trace.Endpoint, c *trace.Case) {
			j.judge(ep, c)
			if j.opts.failFast && c.Verdict == trace.Fail {
				stop(engine.FailFast{Endpoint: ep.Name, Scenario: c.Scenario})
			}
			if j.onCase != nil {
				j.onCase(ep, c)
			}
		},
	}
}

func (j *job) input(s *scenarios.Scenario, ep *trace.Endpoint, c *trace.Case) judge.Input {
	return judge.Input{Scenario: s, Facts: ep.Facts, Control: ep.Control, Case: c,
		Rules: j.catalogue, FailOn: j.failOn, Allow: j.allow, Accepted: j.baseline.Accepted(ep.Name, s.ID, j.start)}
}

func (j *job) judge(ep *trace.Endpoint, c *trace.Case) {
	for _, s := range j.scenarios {
		if s.ID == c.Scenario {
			if c.Stop != nil {
				c.Stop.Enable = advice.InPlan(j.plan, c.Stop.Enable)
			}
			c.Result = judge.Case(j.input(s, ep, c))
			if j.asFlag != nil {
				c.Enable = j.asFlag(c.Enable)
			}
		}
	}
}

// execute runs the job and gives the judged record. When ctx ends early the record holds what was seen.
func (j *job) execute(ctx context.Context) *trace.Run { return executeAll(ctx, []*job{j}) }

// info says what is to be run.
func (j *job) info(id, seed string) trace.Info {
	info := trace.Info{
		ID: id, Started: j.start.UTC(), Target: j.plan.Target, Dialect: j.plan.Dialect.Name, Seed: seed,
		Tool:   trace.Tool{Name: "retrysafe", Version: j.version},
		Plan:   planInfo(j.plan),
		Effort: j.effort.Name, FailOn: j.failOn, Labels: j.labels, Allow: slices.Sorted(maps.Keys(j.allow)), Rules: j.severities(),
		Scenarios: map[string]string{j.control.ID: j.control.Text}, Shard: j.shard,
	}
	for _, s := range j.scenarios {
		info.Scenarios[s.ID] = s.Text
	}
	info.Limits = trace.Limits{
		InProgressMS: j.plan.Limits.InProgress.Milliseconds(), RequestMS: j.plan.Limits.Request.Milliseconds(),
		CountMS: j.plan.Limits.Count.Milliseconds(), WaitMS: j.plan.Limits.Wait.Milliseconds(), BodyBytes: j.plan.Limits.Body,
		EndpointRequests: j.effort.Budget, MaxRequests: j.opts.maxRequests,
		TimeoutMS: j.opts.timeout.Milliseconds(), PerSecond: j.rate,
	}
	return info
}

func skeletons(list []*scenarios.Scenario) []trace.Case {
	cases := []trace.Case{}
	for _, s := range list {
		cases = append(cases, trace.Case{Scenario: s.ID, Title: s.Title, OnControl: s.Control || s.OnControl})
	}
	return cases
}

// scenariosOf are those that run on an endpoint.
func (j *job) scenariosOf(endpoint string) []*scenarios.Scenario {
	if j.wanted == nil {
		return j.scenarios
	}
	return slices.DeleteFunc(slices.Clone(j.scenarios), func(s *scenarios.Scenario) bool { return !j.wanted(endpoint, s.ID) })
}

// estimates are the worst cases of what the run does to each endpoint.
func (j *job) estimates() []engine.Estimate {
	var out []engine.Estimate
	for i := range j.endpoints {
		out = append(out, engine.EstimateRun(j.plan, j.endpoints[i:i+1], j.control, j.scenariosOf(j.endpoints[i].Name), j.effort, j.opts.disruptive)...)
	}
	return out
}

// severities are those of the whole catalogue, by rule.
func (j *job) severities() map[string]trace.Severity {
	out := map[string]trace.Severity{}
	for id, r := range j.catalogue {
		out[id] = r.Severity
	}
	return out
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

// runAndReport runs jobs with their reports and gives the error that stands for the exit code.
func runAndReport(ctx context.Context, env Env, jobs []*job, look report.Options) error {
	r, err := runJobs(ctx, env, jobs, look)
	if err != nil {
		return err
	}
	if r.Summary.ExitCode != ExitOK {
		return exitError(r.Summary.ExitCode)
	}
	return nil
}

// runJobs runs jobs, one after the other, and writes the reports of all together.
func runJobs(ctx context.Context, env Env, jobs []*job, look report.Options) (*trace.Run, error) {
	first := jobs[0]
	if err := waitFor(ctx, jobs); err != nil {
		return nil, err
	}
	if err := checkSinks(env, jobs); err != nil {
		return nil, err
	}
	var doc *report.JSONWriter
	var err, streamErr error
	if first.json != "" {
		if doc, err = report.NewJSON(first.json, env.Stdout); err != nil {
			return nil, usagef("", "%s", err)
		}
		keep := func(err error) {
			if streamErr == nil {
				streamErr = err
			}
		}
		first.onBegin = func(info trace.Info) { keep(doc.Begin(began(info, jobs))) }
		first.onCase = func(ep *trace.Endpoint, c *trace.Case) { keep(doc.Case(ep.Name, c)) }
		first.onEndpoint = func(i int, ep *trace.Endpoint) { keep(doc.Endpoint(i, ep)) }
	}
	kept, err := openLedger(jobs)
	if err != nil {
		if doc != nil {
			_ = doc.Abort() // there is nothing in it
		}
		return nil, err
	}
	announce(env, jobs)
	progress := newProgress(env, jobs, look)
	progress.follow(first)
	r := executeAll(ctx, jobs)
	progress.clear()
	if streamErr != nil {
		fmt.Fprintf(env.Stderr, "retrysafe: %s\n", streamErr)
	}
	err = first.outlets.write(env, r, look, doc)
	for _, j := range jobs {
		j.tellCleanUp(env)
	}
	return r, cmp.Or(err, closeLedger(kept, jobs))
}

// listen opens the plan's sinks.
func (j *job) listen(env Env) error {
	var err error
	if j.sinks, err = sink.Listen(j.plan.Sinks(), j.clock); err != nil {
		return cannotListen(err)
	}
	for _, s := range j.plan.Sinks() {
		if !j.opts.quiet {
			fmt.Fprintf(env.Stderr, "retrysafe: sink %s listens on %s://%s\n", s.Name, s.Kind(), s.Address())
		}
	}
	return nil
}

// tellCleanUp says what was removed of what the run made, and what could not be.
func (j *job) tellCleanUp(env Env) {
	if j.removed > 0 && !j.opts.quiet {
		fmt.Fprintf(env.Stderr, "retrysafe: removed %s that the run had made\n", count(j.removed, "thing"))
	}
	for i, err := range j.cleanUps {
		if i == cleanUpsTold {
			fmt.Fprintf(env.Stderr, "retrysafe: and the clean-up of %s\n", count(len(j.cleanUps)-i, "more endpoint"))
			break
		}
		fmt.Fprintf(env.Stderr, "retrysafe: %s\n", j.redactor.Message(err.Error()))
	}
}

// cleanUpsTold is how many failed clean-ups are told one by one.
const cleanUpsTold = 10

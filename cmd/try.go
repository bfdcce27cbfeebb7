package cmd

import (
	"bytes"
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"retrysafe/internal/advice"
	"retrysafe/internal/engine"
	"retrysafe/internal/judge"
	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/report"
	"retrysafe/scenarios"
)

// triesMost is how often an endpoint is tried, each time with more taken as said.
const triesMost = 3

// tryOptions are the flags of try.
type tryOptions struct {
	run    runOptions
	asJSON bool
}

func newTryCmd(env Env) *cobra.Command {
	o := &tryOptions{run: runOptions{effort: "smoke", failOn: string(trace.Major), endpointRequests: -1}}
	c := &cobra.Command{
		Use:   "try [PLAN] [ENDPOINT]",
		Short: "Send a few requests, say what was learned, and which lines the plan should have",
		Long: `Send each endpoint of a plan, or the one that is named (or those that match a pattern), two first requests
with their set-up, another one twice with the same key, and one without a key where the plan does not say whether that is refused: five in
all, and their set-up. Say what was learned: what names a creation, what differs in every answer, how the counters moved, what a retry gets; or what went wrong and what to
change. Then the lines of plan that follow, and those that only you can decide on, each valid where it is said to belong.

Where the plan does not work because of something that the answers show (success is a redirect, the work is done later), that is taken as
said, and the endpoint is tried again.

A try is no test: what it sees a retry do is told, and fails nothing.

Exit codes: 0 the plan works on every endpoint; 2 wrong usage or plan, nothing was sent; 3 on one it does not: not reached, refused, or
not counted as the plan says; 130 interrupted.`,
		Example: "  retrysafe try retrysafe.yaml\n  retrysafe try retrysafe.yaml 'create order' --verbose",
		Args:    cobra.MaximumNArgs(2),
		RunE: run(func(c *cobra.Command, args []string) error {
			opts, err := look(env, c, env.Stdout)
			if err != nil {
				return err
			}
			if len(args) > 1 {
				o.run.endpoints = args[1:]
			}
			t, err := newTryout(env, args[:min(1, len(args))], o)
			if err != nil {
				return err
			}
			if err := t.learn(c.Context()); err != nil {
				return err
			}
			return t.show(opts)
		}),
	}
	o.flags(c)
	return c
}

func (o *tryOptions) flags(c *cobra.Command) {
	o.run.wireOptions.flags(c)
	f := c.Flags()
	f.DurationVar(&o.run.timeout, "timeout", 0, "longest time of each try (such as 1m), 0 for no bound")
	f.StringVar(&o.run.rate, "rate", "", "most requests to one host, counter reads included, such as 20/s or 100/m")
	f.StringVar(&o.run.dialect, "dialect", "", "measure against this published convention instead of the plan's")
	f.StringVar(&o.run.seed, "seed", "", "draw the same keys and markers as the try with this seed")
	f.BoolVarP(&o.run.verbose, "verbose", "v", false, "show every exchange, and all lines to decide on")
	f.BoolVarP(&o.run.quiet, "quiet", "q", false, "say nothing on standard error but what went wrong")
	f.BoolVar(&o.asJSON, "json", false, "print what was learned as JSON")
	_ = c.RegisterFlagCompletionFunc("dialect", completeDialects)
}

// tryout is a plan being tried.
type tryout struct {
	env       Env
	opts      *tryOptions
	file      string
	files     []advice.File
	again     []*scenarios.Scenario
	keyless   *scenarios.Scenario
	rules     judge.Catalogue
	catalogue []*scenarios.Scenario
	// plan is the plan as it stands.
	plan *plan.Plan
	// tried are the endpoints in the order of the plan.
	tried []*tried
}

// tried is one endpoint with what is known of it.
type tried struct {
	name   string
	lesson trace.Lesson
	// assumed is taken as said, kinds are the kinds that were.
	assumed []advice.Assumption
	kinds   []string
}

// newTryout checks everything that can be checked before anything is sent.
func newTryout(env Env, args []string, o *tryOptions) (*tryout, error) {
	p, err := loadPlan(env, args, o.run.overrides())
	if err != nil {
		return nil, err
	}
	t := &tryout{env: env, opts: o, file: p.File, plan: p}
	for _, name := range append([]string{p.File}, p.Included...) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, usagef("", "cannot read the plan: %s", err)
		}
		t.files = append(t.files, advice.File{Name: name, Text: text})
	}
	if t.again, t.keyless, err = advice.Scripts(); err != nil {
		return nil, err
	}
	j, err := newJob(env, p, &o.run)
	if err != nil {
		return nil, err
	}
	t.catalogue, t.rules = j.scenarios, j.catalogue
	for _, ep := range j.endpoints {
		t.tried = append(t.tried, &tried{name: ep.Name})
	}
	return t, nil
}

// learn tries the endpoints, those again of which more can be learned with something taken as said.
func (t *tryout) learn(ctx context.Context) error {
	open := t.tried
	for n := 0; len(open) > 0; n++ {
		if err := t.pass(ctx, open, n == 0); err != nil {
			return err
		}
		if open = nil; n+1 < triesMost {
			for _, one := range t.tried {
				if t.assume(one) {
					open = append(open, one)
				}
			}
		}
	}
	for _, one := range t.tried {
		in, err := t.input(one)
		if err != nil {
			return err
		}
		one.lesson.Paste, one.lesson.Decide = advice.Lines(in)
	}
	return nil
}

// assume takes more as said of an endpoint, and reports whether it did.
func (t *tryout) assume(one *tried) bool {
	in, err := t.input(one)
	if err != nil {
		return false
	}
	a := advice.Assume(in, one.kinds)
	if a == nil {
		return false
	}
	one.assumed, one.kinds = append(one.assumed, *a), append(one.kinds, a.Kind)
	return true
}

// edits are the fields that stand for everything that is taken as said of some endpoints.
func edits(some []*tried) []advice.Edit {
	var out []advice.Edit
	for _, one := range some {
		for _, a := range one.assumed {
			out = append(out, a.Edits...)
		}
	}
	return out
}

// parse decodes the plan with some fields in it.
func (t *tryout) parse(with []advice.Edit) (*plan.Plan, error) {
	if len(with) == 0 {
		return t.plan, nil
	}
	files, err := advice.Apply(t.files, with...)
	if err != nil {
		return nil, err
	}
	return t.decode(files, t.env.LookupEnv)
}

// decode decodes changed files of the plan, its own first.
func (t *tryout) decode(files []advice.File, env func(string) (string, bool)) (*plan.Plan, error) {
	changed := changedFiles{texts: map[string][]byte{}}
	for _, f := range files[1:] {
		changed.texts[f.Name] = f.Text
	}
	return plan.ParseFrom(changed, t.file, files[0].Text, env, t.opts.run.overrides())
}

// changedFiles are those on disk, some with other texts.
type changedFiles struct {
	plan.Disk
	texts map[string][]byte
}

// Read implements plan.Files.
func (c changedFiles) Read(path string, most int64) ([]byte, error) {
	if text, ok := c.texts[path]; ok {
		return text, nil
	}
	return c.Disk.Read(path, most)
}

// input is what advice about an endpoint is derived from.
func (t *tryout) input(one *tried) (advice.Input, error) {
	p, err := t.parse(edits([]*tried{one}))
	if err != nil {
		return advice.Input{}, err
	}
	in := advice.Input{Files: t.files, Plan: p, Lesson: &one.lesson, Assumed: one.assumed, Scenarios: t.catalogue, Parse: t.parseLoosely}
	for i := range p.Endpoints {
		if p.Endpoints[i].Name == one.name {
			in.Endpoint = &p.Endpoints[i]
		}
	}
	return in, nil
}

// parseLoosely decodes a changed plan in which variables may be named that are not set yet. Those that the plan names as it stands are set, or
// have a default.
func (t *tryout) parseLoosely(files []advice.File) (*plan.Plan, error) {
	named := func(name string) bool {
		return slices.ContainsFunc(t.files, func(f advice.File) bool { return bytes.Contains(f.Text, []byte("${"+name)) })
	}
	env := func(name string) (string, bool) {
		value, set := t.env.LookupEnv(name)
		if !set && !named(name) {
			return "not-set-yet", true
		}
		return value, set
	}
	return t.decode(files, env)
}

// pass tries some endpoints once, with what is taken as said of them.
func (t *tryout) pass(ctx context.Context, some []*tried, first bool) error {
	p, err := t.parse(edits(some))
	if err != nil {
		return err
	}
	o := t.opts.run
	o.endpoints = nil
	j, err := newJob(t.env, p, &o)
	if err != nil {
		return err
	}
	sends := map[string][]string{}
	j.endpoints = nil
	for _, one := range some {
		for i := range p.Endpoints {
			if p.Endpoints[i].Name == one.name {
				j.endpoints = append(j.endpoints, p.Endpoints[i])
				sends[one.name] = t.sends(&p.Endpoints[i])
			}
		}
	}
	j.wanted = func(endpoint, scenario string) bool { return slices.Contains(sends[endpoint], scenario) }
	j.scenarios = slices.DeleteFunc(append(slices.Clone(t.again), t.keyless), func(s *scenarios.Scenario) bool {
		return !slices.ContainsFunc(some, func(one *tried) bool { return j.wanted(one.name, s.ID) })
	})
	j.onEndpoint = func(i int, ep *trace.Endpoint) {
		l := judge.Lesson(judge.Tried{Again: t.again, Keyless: t.keyless, Rules: t.rules}, ep)
		l.Requests = engine.Requests(ep)
		l.Line = t.lineOf(some[i].name)
		some[i].take(l)
	}
	if err := j.listen(t.env); err != nil {
		return err
	}
	defer j.sinks.Close()
	if first {
		announce(t.env, []*job{j})
	}
	r := j.execute(ctx)
	j.tellCleanUp(t.env)
	if r.Info.Interrupted {
		return exitError(ExitInterrupted)
	}
	return nil
}

// lineOf is where the plan as it stands declares an endpoint; what is decoded with more in it has other lines.
func (t *tryout) lineOf(endpoint string) int {
	i := slices.IndexFunc(t.plan.Endpoints, func(e plan.Endpoint) bool { return e.Name == endpoint })
	return t.plan.Endpoints[i].Pos.Line
}

// sends are the scripts that are sent to an endpoint beside the control. One without a key is not where plan or convention say whether a key
// is required, nor where there is no key.
func (t *tryout) sends(ep *plan.Endpoint) []string {
	var ids []string
	if s := advice.Again(t.again, ep); s != nil {
		ids = append(ids, s.ID)
	}
	if ep.Kind == "create" && !ep.RequiredSet {
		ids = append(ids, t.keyless.ID)
	}
	return ids
}

// take keeps what the last try taught. Where something was taken as said and that taught nothing more, it is taken back.
func (one *tried) take(l trace.Lesson) {
	if len(one.assumed) == 0 {
		one.lesson = l
		return
	}
	before, last := one.lesson, one.assumed[len(one.assumed)-1]
	l.Requests += before.Requests
	l.Exchanges = append(before.Exchanges, l.Exchanges...)
	if !l.Learned.Sound && last.Kind != advice.RedirectSucceeds {
		one.assumed = one.assumed[:len(one.assumed)-1]
		one.lesson.Requests, one.lesson.Exchanges, one.lesson.Work = l.Requests, l.Exchanges, l.Work
		return
	}
	if l.Unsound = before.Unsound; l.Unsound == nil && !before.Learned.Sound {
		l.Unsound = before.Learned.Reason
	}
	if l.Assumed = before.Assumed; last.Line != "" {
		l.Assumed = append(l.Assumed, last.Line)
	}
	one.lesson = l
}

// show prints what was learned, and gives the error that stands for the exit code.
func (t *tryout) show(look report.Options) error {
	doc := &report.Try{Schema: report.TrySchemaV1, Target: t.plan.Target, Plan: t.file, Dialect: t.plan.Dialect.Name}
	works := true
	for _, one := range t.tried {
		doc.Lessons = append(doc.Lessons, one.lesson)
		works = works && one.lesson.Learned.Sound && one.lesson.Unsound == nil
	}
	for _, caller := range t.plan.Callers {
		if doc.Credentials == nil {
			doc.Credentials = map[string][]string{}
		}
		doc.Credentials[caller.Name] = caller.Variables
	}
	if err := t.print(doc, look); err != nil {
		return err
	}
	if !works {
		return exitError(ExitInconclusive)
	}
	return nil
}

func (t *tryout) print(doc *report.Try, look report.Options) error {
	if t.opts.asJSON {
		return report.TryJSON(t.env.Stdout, doc)
	}
	reasons, err := scenarios.Reasons()
	if err != nil {
		return err
	}
	look.Reasons, look.Verbose = reasons, t.opts.run.verbose
	return report.TryText(t.env.Stdout, doc, look)
}

package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// need says how the plan meets one need of a scenario, and which lines would.
type need struct {
	met    func(*plan.Plan, *plan.Endpoint) bool
	lacks  string
	enable string
}

func needOf(name string, p *plan.Plan, ep *plan.Endpoint) need {
	if slices.Contains(scenarios.HookNames(), name) {
		return need{func(p *plan.Plan, _ *plan.Endpoint) bool { return hasHook(p, name) && hasHook(p, undoneBy(name)) },
			fmt.Sprintf("the plan has no hook %q%s", name, also(name)), hookLine(name)}
	}
	if name == "key_lifetime" {
		return need{func(p *plan.Plan, e *plan.Endpoint) bool { return e.KeyLifetime > 0 || hasHook(p, "expire") },
			"the lifetime of keys is not stated", "key_lifetime: 24h"}
	}
	if name == "lifetime_fits_wait" {
		return need{func(p *plan.Plan, e *plan.Endpoint) bool {
			return e.KeyLifetime > 0 && e.KeyLifetime*12/10 <= p.Limits.Wait
		},
			"keys live too long to wait for, and an expire hook would not do here", "limits: {wait: LONGER THAN THE LIFETIME}"}
	}
	for _, n := range append(planNeeds(p), endpointNeeds(ep)...) {
		if n.name == name {
			return n.need
		}
	}
	return need{func(*plan.Plan, *plan.Endpoint) bool { return false }, "unknown need " + name, ""}
}

// undoneBy is the hook that must be there too; the same one where nothing has to be taken back.
func undoneBy(hook string) string {
	if undo, ok := undoes(hook); ok {
		return undo
	}
	return hook
}

func also(hook string) string {
	if undo := undoneBy(hook); undo != hook {
		return fmt.Sprintf(" with %q to take it back", undo)
	}
	return ""
}

func hookLine(name string) string {
	switch name {
	case "expire":
		return `hooks: {expire: {exec: [./expire-key, "{{key}}"]}}`
	case "restart":
		return "hooks: {restart: {exec: [docker, compose, restart, api], ready: GET /health}}"
	case "crash":
		return "hooks: {crash: {exec: [docker, compose, kill, -s, KILL, api], then: [docker, compose, start, api], ready: GET /health}}"
	case "break", "hold":
		return fmt.Sprintf("hooks: {%s: {exec: [./%s]}, %s: {exec: [./%s]}}", name, name, undoneBy(name), undoneBy(name))
	}
	return fmt.Sprintf("hooks: {%s: {exec: [./%s]}}", name, name)
}

// named is a need with its name.
type named struct {
	name string
	need
}

// callersLine is the line that gives a plan callers, up to that many, beside those that it has.
func callersLine(p *plan.Plan, wanted int) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(p.Callers, func(c plan.Caller) bool { return c.Name == name })
	}
	var lines []string
	for _, name := range []string{"alice", "bob", "carol"} {
		if len(p.Callers)+len(lines) < wanted && !taken(name) {
			lines = append(lines, fmt.Sprintf(`%s: {headers: {Authorization: "Bearer ${%s_TOKEN}"}}`, name, strings.ToUpper(name)))
		}
	}
	return "callers: {" + strings.Join(lines, ", ") + "}"
}

// loginLine is the line that lets the first caller's credentials be obtained anew; it gives a plan without callers one.
func loginLine(p *plan.Plan) string {
	name := "alice"
	if len(p.Callers) > 0 {
		name = p.Callers[0].Name
	}
	return fmt.Sprintf(`callers: {%s: {login: {request: POST /login, body: {user: %[1]s}, capture: {token: $.token}}, headers: {Authorization: "Bearer {{token}}"}}}`, name)
}

// noSecond says that a plan has no second caller, and whom it has.
func noSecond(p *plan.Plan) string {
	if len(p.Callers) == 0 {
		return "the plan has no callers, and two are needed"
	}
	return "the plan has no second caller beside " + p.Callers[0].Name
}

// planNeeds are the needs that the plan as a whole meets.
func planNeeds(from *plan.Plan) []named {
	of := func(name string, met func(*plan.Plan) bool, lacks, enable string) named {
		return named{name, need{func(p *plan.Plan, _ *plan.Endpoint) bool { return met(p) }, lacks, enable}}
	}
	lacks, enable := noCredentials(from)
	return []named{
		{"credentials", need{authenticates, lacks, enable}},
		of("other_caller", func(p *plan.Plan) bool { return len(p.Callers) > 1 },
			noSecond(from), callersLine(from, 2)),
		of("renewable_caller", func(p *plan.Plan) bool { return len(p.Callers) > 0 && p.Callers[0].Renewable() },
			"the first caller's credentials cannot be obtained anew", loginLine(from)),
		of("account_scope", func(p *plan.Plan) bool { return !p.Dialect.Scope.ByCredential() },
			"the dialect scopes keys to the credential, so a renewed one is another caller", ""),
		of("replicas", func(p *plan.Plan) bool { return len(p.Replicas) > 1 },
			"the plan names no instances behind the target", "replicas: [http://10.0.0.1:8080, http://10.0.0.2:8080]"),
	}
}

// noCredentials says that nothing in a plan tells who sends a request, and gives the line that would.
func noCredentials(p *plan.Plan) (lacks, enable string) {
	if len(p.Callers) == 0 {
		return "the plan has no caller, so everybody is anonymous", callersLine(p, 1)
	}
	name := p.Callers[0].Name
	return "nothing of caller " + name + " says who it is, so a request without it is the same request",
		fmt.Sprintf(`callers: {%s: {headers: {Authorization: "Bearer ${TOKEN}"}}}`, name)
}

// authenticates reports whether a request to the endpoint says by its caller who sends it: by a certificate, a signature, what was
// obtained, a header that carries a credential, or else any header, where the endpoint has no credentials of its own.
func authenticates(p *plan.Plan, ep *plan.Endpoint) bool {
	if len(p.Callers) == 0 {
		return false
	}
	carries := func(h plan.HeaderTemplate) bool { return trace.CarriesCredential(h.Name) }
	c := p.Callers[0]
	return c.Certificate != nil || len(c.Sign) > 0 || c.Renewable() || slices.ContainsFunc(c.Headers, carries) ||
		len(c.Headers) > 0 && !slices.ContainsFunc(ep.Headers, carries)
}

// endpointNeeds are the needs that an endpoint meets.
func endpointNeeds(ep *plan.Endpoint) []named {
	of := func(name string, met bool, lacks, enable string) named {
		return named{name, need{func(*plan.Plan, *plan.Endpoint) bool { return met }, lacks, enable}}
	}
	return []named{
		of("key", ep.Key.In != "", "the endpoint has no idempotency key", "key: {header: Idempotency-Key}"),
		of("key_in_header", ep.Key.In == "header", "the key of the endpoint is not in a header", ""),
		of("body", ep.Body.Kind != "", "the endpoint takes no body", ""),
		of("other_body", ep.HasOther, "no other body: "+ep.OtherWhy, "other_body: {FIELD: ANOTHER VALUE}"),
		of("invalid_body", ep.HasInvalid, "the plan names no body that the endpoint refuses", "invalid_body: {FIELD: INVALID VALUE}"),
		of("reordered_body", ep.HasReordered, "the body has no names to write in another order", ""),
		of("nested_body", len(ep.Nested) > 0, "the body has no further number or free text inside an object or a list that could be changed harmlessly", ""),
		of("other_query", len(ep.OtherQuery) > 0, "the plan names no query parameter that changes the request's meaning", "other_query: {NAME: VALUE}"),
		of("other_endpoint", ep.OtherEndpoint != "", "the plan names no other endpoint that takes keys", "other_endpoint: NAME"),
		of("retry_window", ep.RetryWindow > 0, "the plan does not say how long clients go on retrying", "retry_window: 72h"),
		of("required", ep.Required, "neither plan nor dialect says that a key is required", "required: true"),
		of("fail", ep.Fail != nil, "the plan does not say how to make the endpoint fail once", "fail: {headers: {NAME: VALUE}}"),
		of("fresh_key_creates", ep.FreshKey != "returns-existing", "the plan says that a fresh key returns the existing resource", ""),
		of("double_click_one", ep.DoubleClick == "one", "the plan does not say that two requests at once without a key must be one", "double_click: one"),
		of("stores_4xx_no", ep.Stores4xx == "no", "neither plan nor dialect says that a 4xx answer is not kept under the key", "stores: {4xx: no}"),
		of("stores_5xx_no", ep.Stores5xx == "no", "neither plan nor dialect says that a 5xx answer is not kept under the key", "stores: {5xx: no}"),
		of("state", len(ep.States) > 0, "the plan names no value that a retry must not change", "states: {NAME: {http: GET /PATH, value: $.FIELD}}"),
		of("counter", len(ep.Counters) > 0, "nothing counts the effects", `counters: {NAME: {http: "GET /PATH?reference={{marker}}", value: $.count}}`),
	}
}

func hasHook(p *plan.Plan, name string) bool {
	_, ok := p.Hooks[name]
	return ok
}

// Unmet says why a scenario does not run on an endpoint, by the plan, the effort and whether disruptive ones may; nil
// when it does.
func Unmet(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario, effort Effort, disruptive bool) *trace.Reason {
	if why, ok := ep.Skip[s.ID]; ok {
		return &trace.Reason{Code: trace.PlanSkip, Detail: "the plan skips it: " + why}
	}
	if len(s.Kinds) > 0 && !slices.Contains(s.Kinds, ep.Kind) {
		return &trace.Reason{Code: trace.NotApplicable,
			Detail: fmt.Sprintf("the scenario is for kind %s, the endpoint is of kind %s", strings.Join(s.Kinds, " or "), ep.Kind)}
	}
	if len(s.Methods) > 0 && !slices.Contains(s.Methods, ep.Request.Method) {
		return &trace.Reason{Code: trace.NotApplicable,
			Detail: fmt.Sprintf("the scenario is for method %s, the endpoint's is %s", strings.Join(s.Methods, " or "), ep.Request.Method)}
	}
	for _, alternatives := range s.Needs {
		if r := unmetNeed(p, ep, alternatives); r != nil {
			return r
		}
	}
	if r := tooLong(p, ep, s); r != nil {
		return r
	}
	if r := uncarried(p, ep, s); r != nil {
		return r
	}
	if s.Disruptive && !disruptive {
		return &trace.Reason{Code: trace.Needs, Detail: "it disturbs others who use the system (restarts, floods)", Enable: "--allow-disruptive"}
	}
	return effort.leavesOut(s)
}

func (e *endpointRun) unmet(s *scenarios.Scenario) *trace.Reason {
	return Unmet(e.Plan, e.plan, s, e.Effort, e.AllowDisruptive)
}

func unmetNeed(p *plan.Plan, ep *plan.Endpoint, alternatives []string) *trace.Reason {
	var first *trace.Reason
	for _, a := range alternatives {
		n := needOf(a, p, ep)
		if n.met(p, ep) {
			return nil
		}
		if first == nil {
			first = &trace.Reason{Code: trace.Needs, Detail: n.lacks, Enable: n.enable}
			if a == "nested_body" { // no line of plan gives the request another shape
				first.Code = trace.NotApplicable
			}
		}
	}
	return first
}

// tooLong says why a scenario would wait longer than limits.wait; nil when it would not.
func tooLong(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario) *trace.Reason {
	for _, st := range s.Steps {
		if st.Wait == nil {
			continue
		}
		d := st.Wait.For
		if st.Wait.Expiry > 0 {
			d = time.Duration(st.Wait.Expiry * float64(ep.KeyLifetime))
		}
		if d > p.Limits.Wait && !hasHook(p, "expire") {
			return &trace.Reason{Code: trace.WaitTooLong,
				Detail: fmt.Sprintf("it would wait %s, limits.wait is %s: an expire hook can stand in, or `--ledger FILE` look again in a later run", d.Round(time.Second), p.Limits.Wait),
				Enable: "hooks: {expire: {exec: [./expire-key, \"{{key}}\"]}}"}
		}
	}
	return nil
}

// uncarried says why the key's place or the dialect cannot carry the keys that a scenario compares; nil when they can.
func uncarried(p *plan.Plan, ep *plan.Endpoint, s *scenarios.Scenario) *trace.Reason {
	if c := countsByKey(p, ep); c != "" && (oddKeys(s) || slices.Contains(s.Letters(), scenarios.KeyNone)) {
		return &trace.Reason{Code: trace.Needs, Enable: `counters: {NAME: {http: "GET /PATH?reference={{marker}}", value: $.count}}`,
			Detail: fmt.Sprintf("the counter %s counts by {{key}}, which misses or mixes what keys of another form, or none, brought about: count by {{marker}}", c)}
	}
	compares := slices.ContainsFunc(s.Expect, func(e scenarios.Expectation) bool { return e.Distinct != nil })
	for _, letter := range slices.Sorted(maps.Keys(s.Keys)) {
		form := s.Keys[letter]
		odd := form.Lines > 1 || form.Text != nil || form.Quoted
		if odd && ep.Key.In != "header" {
			return &trace.Reason{Code: trace.NotApplicable, Detail: "only a header can carry the keys of this scenario, the endpoint's key is elsewhere"}
		}
		if !compares || form.None || odd {
			continue
		}
		if err := p.Dialect.CheckKey(keyLines("", letter, s.Keys)[0]); err != nil {
			return &trace.Reason{Code: trace.NotApplicable, Detail: trace.CannotCarry + err.Error()}
		}
	}
	return nil
}

// oddKeys reports whether a script sends keys that a server may store in another form than they were drawn in, or none.
func oddKeys(s *scenarios.Scenario) bool {
	for _, form := range s.Keys {
		if form.None || form.Text != nil || form.Quoted || form.Lines > 1 {
			return true
		}
	}
	return false
}

// countsByKey is the name of a counter of the endpoint that tells effects apart by the key alone; empty when there is none.
func countsByKey(p *plan.Plan, ep *plan.Endpoint) string {
	for _, rise := range ep.Counters {
		if c := p.Counters[rise.Name]; c.Uses("key") && !c.Uses("marker") {
			return c.Name
		}
	}
	return ""
}

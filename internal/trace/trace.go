// Package trace holds the record of a run: what was sent, what came back, when, and what the counters
// said, and beside it what was concluded from that record.
//
// It is plain types on the standard library only. The engine fills the record (Endpoint up to
// Case.Rounds), the judge fills the conclusions (result.go), reporters read both. The types are the
// machine-readable results format at the same time (schema SchemaV1): encoding a Run with encoding/json
// gives the document that `retrysafe run --report json=FILE` writes, so a recorded run can be judged again
// without a network.
//
// Times are nanoseconds since the start of the run on the monotonic clock (type Nanos). Zero means "never
// happened", except for the start itself; nothing is sent in the first nanosecond of a run.
//
// Secrets never get here: whoever adds an exchange or a reading replaces them first, by stable tokens
// (same secret, same token), so that judging the record sees what judging the traffic would have seen.
package trace

import "time"

// SchemaV1 names the format of a Run. It changes when a field changes its meaning or disappears.
const SchemaV1 = "retrysafe/results/v1"

// Nanos is a moment or a span in nanoseconds; a moment counts from the start of the run.
// Zero as a moment means that it never came.
type Nanos int64

// Duration is n as a time.Duration.
func (n Nanos) Duration() time.Duration { return time.Duration(n) }

// Micros is n in microseconds, the unit of everything about firing.
func (n Nanos) Micros() float64 { return float64(n) / 1e3 }

// Run is one execution of a plan: the root of the results document.
type Run struct {
	// Schema is SchemaV1.
	Schema string `json:"schema"`
	// Info says what was run, against what, and with which settings.
	Info Info `json:"run"`
	// Endpoints in the order of the plan.
	Endpoints []Endpoint `json:"endpoints"`
	// Summary counts verdicts. It is last because it is known last.
	Summary Summary `json:"summary"`
}

// Info identifies a run and everything that shaped it.
type Info struct {
	// ID is unique per run; it is also the trace id of the traceparent header of every request.
	ID string `json:"id"`
	// Started is the wall clock at the start of the run, UTC.
	Started time.Time `json:"started"`
	// ElapsedMS is how long the run took, in milliseconds.
	ElapsedMS int64 `json:"elapsed_ms"`
	// Target is the base URL.
	Target string `json:"target"`
	// Dialect is the name of the convention that answers were measured against.
	Dialect string `json:"dialect"`
	// Seed is what keys and markers were drawn from; the same seed draws the same ones.
	Seed string `json:"seed"`
	// Tool is the name and version of retrysafe.
	Tool Tool `json:"tool"`
	// Plan is where the plan came from; of a run of several plans, all of them.
	Plan PlanInfo `json:"plan"`
	// Plans are the plans of a run of several; empty for a run of one.
	Plans []PlanRun `json:"plans,omitempty"`
	// Effort is how hard the run looked: smoke, standard or deep.
	Effort string `json:"effort,omitempty"`
	// FailOn is the least severity that makes a case fail; below it a finding is a warning.
	FailOn Severity `json:"fail_on"`
	// Allow are the codes of inconclusive cases that were skipped instead, because the user allowed that.
	Allow []Code `json:"allow,omitempty"`
	// Limits are the bounds that the run kept to.
	Limits Limits `json:"limits"`
	// Rules are the severities of the rule catalogue that the run was judged by, by id.
	Rules map[string]Severity `json:"rules,omitempty"`
	// Scenarios holds the text of every scenario that took part, by id, so that the run can be judged again.
	Scenarios map[string]string `json:"scenarios"`
	// Labels say what the run was about, such as the commit, as the user gave them by name; empty without any.
	Labels map[string]string `json:"labels,omitempty"`
	// Interrupted is true when the run ended by a signal; the record holds what was seen until then.
	Interrupted bool `json:"interrupted,omitempty"`
	// Baseline says what became of the violations that a baseline accepts; nil without one.
	Baseline *Baseline `json:"baseline,omitempty"`
	// Shard says which part of the endpoints was tested; nil for all of them.
	Shard *Shard `json:"shard,omitempty"`
	// Merged are the ids of the runs whose records were put together; empty for one run.
	Merged []string `json:"merged,omitempty"`
	// Notes say what must be known to read verdicts that were given later than the run, one sentence each.
	Notes []string `json:"notes,omitempty"`
}

// Shard is one of several parts of a run, each of which is a run of its own.
type Shard struct {
	// N is the number of the part, from 1 to Of.
	N  int `json:"n"`
	Of int `json:"of"`
}

// Limits are bounds of a run. Zero budgets mean none.
type Limits struct {
	InProgressMS int64 `json:"in_progress_ms"`
	RequestMS    int64 `json:"request_ms"`
	CountMS      int64 `json:"count_ms"`
	WaitMS       int64 `json:"wait_ms"`
	BodyBytes    int64 `json:"body_bytes"`
	// EndpointRequests and MaxRequests are the budgets for one endpoint and for all together.
	EndpointRequests int `json:"endpoint_requests"`
	MaxRequests      int `json:"max_requests"`
	// TimeoutMS is how long the run might take, and PerSecond how many requests it might send to one host in a second; 0 for
	// no bound.
	TimeoutMS int64   `json:"timeout_ms,omitempty"`
	PerSecond float64 `json:"per_second,omitempty"`
}

// Tool is the program that made a record.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// PlanInfo says which plan was run.
type PlanInfo struct {
	// Path as given by the user; empty for a plan made from flags (`probe`) or built in (`demo`).
	Path string `json:"path,omitempty"`
	// InRepository is the path from the root of the repository, with slashes; without a repository, from the folder in which the run was
	// started. Empty when the plan is in neither.
	InRepository string `json:"in_repository,omitempty"`
	// Digest is "sha256:" and the hexadecimal SHA-256 of the plan's text before variables were filled in.
	Digest string `json:"digest"`
}

// PlanRun is one of several plans of a run.
type PlanRun struct {
	PlanInfo
	Target  string `json:"target"`
	Dialect string `json:"dialect"`
}

// Endpoint is one operation under test with everything recorded about it.
type Endpoint struct {
	// Name as in the plan; where several plans of a run have it, with the plan's path before it.
	Name string `json:"name"`
	// Named is the name in the plan, where Name is another; empty where it is not.
	Named string `json:"name_in_plan,omitempty"`
	// Plan is the endpoint's plan among those of the run, from 1; 0 in a run of one.
	Plan int `json:"plan,omitempty"`
	// Request is method and path as in the plan, such as "POST /orders".
	Request string `json:"request"`
	// Kind is create, method or webhook.
	Kind string `json:"kind"`
	// Owner is who answers for the endpoint, as the plan says; empty when it does not.
	Owner string `json:"owner,omitempty"`
	// File is the file that declares the endpoint, where that is not the plan of the run, and InRepository its path as in PlanInfo; empty
	// otherwise.
	File         string `json:"file,omitempty"`
	InRepository string `json:"in_repository,omitempty"`
	// Line is where the file declares the endpoint, 1-based; 0 without a plan file.
	Line int `json:"line,omitempty"`
	// Place is the endpoint's place among those of the plan, or of all plans of the run, from 1; 0 in records that do not say it.
	Place int `json:"place,omitempty"`
	// Facts are the parts of plan and dialect that judging needs.
	Facts Facts `json:"facts"`
	// Control is the uncontested first requests and what was learned from them.
	// Nil when they were never sent.
	Control *Control `json:"control,omitempty"`
	// Cases in the order in which their scenarios are listed.
	Cases []Case `json:"cases"`
	// Verdict is the worst of the cases' verdicts. Set by the judge.
	Verdict Verdict `json:"verdict"`
	// Diagnoses are the likely causes behind the findings. Set by the judge; empty when nothing was found.
	Diagnoses []Diagnosis `json:"diagnoses,omitempty"`
}

// Facts is what plan and dialect say about an endpoint, as far as judging needs it.
type Facts struct {
	// Key says where the idempotency key travels.
	Key KeyPlace `json:"key"`
	// Required is true when a missing key must be refused, by the plan or by the dialect.
	Required bool `json:"required"`
	// Counters are the expected rises, in the order of the plan. Empty: nothing counts, duplicates are
	// found by creation fields alone.
	Counters []CounterFact `json:"counters,omitempty"`
	// Statuses are the status codes the dialect or the plan accepts in each situation.
	Statuses Statuses `json:"statuses"`
	// FreshKey is "creates" (a new key is a new operation) or "returns-existing" (the body is a natural key).
	FreshKey string `json:"fresh_key"`
	// Lenient is true when a replay may differ in values beside equal creation fields at the price of a
	// minor finding only (the dialect does not promise a snapshot of the first answer).
	Lenient bool `json:"lenient"`
	// Lifetime is how long a key is remembered after its first answer; 0 when not stated.
	Lifetime Nanos `json:"key_lifetime_ns,omitempty"`
	// StoresClientErrors and StoresServerErrors say whether 4xx and 5xx answers stay under the key:
	// "yes", "no" or "" for not documented, in which case nothing is asserted.
	StoresClientErrors string `json:"stores_4xx,omitempty"`
	StoresServerErrors string `json:"stores_5xx,omitempty"`
	// IgnoreJSON are JSONPath queries (RFC 9535) of body parts that may differ between replays.
	IgnoreJSON []string `json:"ignore_json,omitempty"`
	// IgnoreHeaders are names of headers that may differ between replays, beside the built-in short list.
	IgnoreHeaders []string `json:"ignore_headers,omitempty"`
	// ReplayHeaders are names of headers that must be replayed, beside the built-in ones.
	ReplayHeaders []string `json:"replay_headers,omitempty"`
	// Require are the ids of scenarios whose skip is a failure, and patterns of ids, of which only what applies must not be skipped.
	Require []string `json:"require,omitempty"`
	// FailOn is the least severity that fails the endpoint, or Never; empty for that of the run.
	FailOn Severity `json:"fail_on,omitempty"`
	// States are the names of values that a harmless retry must not change.
	States []string `json:"states,omitempty"`
	// RetryWindow is how long retries come; 0 when not stated.
	RetryWindow Nanos `json:"retry_window_ns,omitempty"`
	// DoubleClick is "one" when two identical requests at once without a key must have one effect.
	DoubleClick string `json:"double_click,omitempty"`
	// RefusedWhere is a JSONPath (RFC 9535): an answer in which it finds something is a refusal, whatever its status.
	RefusedWhere string `json:"refused_where,omitempty"`
	// ErrorsAt is where the dialect has errors in answers of any status, as a JSONPath; such an answer is a refusal too. Empty: not documented.
	ErrorsAt string `json:"errors_at,omitempty"`
	// SuccessStatuses are statuses that say success beside 2xx: 301, 302 or 303, as the plan says; OtherSuccessStatuses
	// are those of the other endpoint. Nil: none.
	SuccessStatuses      []int `json:"success_statuses,omitempty"`
	OtherSuccessStatuses []int `json:"other_success_statuses,omitempty"`
	// Mismatch is "replayed" when the convention documents that the same key with another body gets the first answer;
	// otherwise it must be refused.
	Mismatch string `json:"mismatch,omitempty"`
	// ReplayStatuses are the statuses that the convention documents for a replay; empty: that of the first answer, or
	// any when AnyReplayStatus is true.
	ReplayStatuses  []int `json:"replay_statuses,omitempty"`
	AnyReplayStatus bool  `json:"any_replay_status,omitempty"`
	// Conflicts is true when the convention documents that the retry of a finished operation is refused and points at
	// its result.
	Conflicts bool `json:"conflicts,omitempty"`
	// Fingerprint is what the convention documents a body to be compared by: "bytes", "json", "fields" or "".
	Fingerprint string `json:"fingerprint,omitempty"`
	// EndpointScope is what the convention documents about the same key at another endpoint: "independent" (a
	// request of its own), "checked" (refused), "none" (the first answer comes back) or "".
	EndpointScope string `json:"endpoint_scope,omitempty"`
	// Changed says for each other body at which places it differs from the original ("other", "nested-1", "nested-2"), such as
	// "$.items[0].qty".
	Changed map[string][]string `json:"changed,omitempty"`
	// InProgressLimit is how long a key may stay in progress.
	InProgressLimit Nanos `json:"in_progress_limit_ns"`
	// Await says how to learn that the work behind a success answer is done; nil when it is done with the answer.
	Await *Await `json:"await,omitempty"`
	// Stated are those of the facts below that the plan itself says, so that no dialect changes them. Nil in records that do not
	// tell plan and dialect apart.
	Stated []string `json:"stated,omitzero"`
}

// What a plan can state about an endpoint in place of the dialect.
const (
	StatedKey        = "key"
	StatedKeyFormat  = "key.format"
	StatedRequired   = "required"
	StatedMismatch   = "statuses.mismatch"
	StatedMissingKey = "statuses.missing_key"
	StatedInProgress = "statuses.in_progress"
	StatedStores4xx  = "stores.4xx"
	StatedStores5xx  = "stores.5xx"
)

// KeyPlace says where an idempotency key travels in a request.
type KeyPlace struct {
	// In is "header", "json", "query" or "" for an endpoint without a key.
	In string `json:"in,omitempty"`
	// Name is the header name, the JSONPath ("$.request_id") or the query parameter.
	Name string `json:"name,omitempty"`
	// Format is "bare" or "sf-string" (a quoted string, RFC 9651 section 3.3.3). Empty means bare.
	Format string `json:"format,omitempty"`
}

// CounterFact is one counter that an endpoint's effect raises.
type CounterFact struct {
	Name string `json:"name"`
	// Rise is how much one effect raises it, usually 1.
	Rise int64 `json:"rise"`
	// Marked is true when the counter counts one marker, key or capture only, so that nobody else moves it.
	Marked bool `json:"marked"`
	// Sink is set for a counter that counts what arrives at a sink; nil for one that is asked.
	Sink *SinkFact `json:"sink,omitempty"`
}

// Statuses are accepted status codes by situation. An empty list means that nothing is asserted.
type Statuses struct {
	// Mismatch: the same key came with another body.
	Mismatch []int `json:"mismatch,omitempty"`
	// MissingKey: a required key is missing.
	MissingKey []int `json:"missing_key,omitempty"`
	// InProgress: a copy came while the first is still running.
	InProgress []int `json:"in_progress,omitempty"`
}

// Await says where a success answer names the work that is done after it, and what is found there at its end.
type Await struct {
	// Follow is the JSONPath ("$.links.status") or the header ("Location") of the answer that holds the URL to ask.
	Follow string `json:"follow"`
	// Until must all hold of what is answered there once the work is done. Never empty.
	Until []Match `json:"until"`
	// Failed are what is answered there when the work has failed, any of them; empty when failures do not show.
	Failed []Match `json:"failed,omitempty"`
	// Limit is how long after the answer the work may take.
	Limit Nanos `json:"limit_ns"`
}

// Match holds where every value at a JSONPath is one of some texts, numbers or truth values, and there is one.
type Match struct {
	Path   string   `json:"path"`
	Values []string `json:"values"`
}

// Control is what was sent before anything else, and what it taught.
type Control struct {
	// Rounds are two uncontested first requests with their own keys, markers and set-up.
	Rounds []Round `json:"rounds"`
	// Variants are uncontested requests with the other bodies that scenarios use; Round.Variant names the body.
	Variants []Round `json:"variants,omitempty"`
	// Located is a GET of the Location that the first control answer named, sent only when no counter
	// rose: 2xx shows that the resource exists and the counter looks at the wrong thing. Nil otherwise.
	Located *Exchange `json:"located,omitempty"`
	// Learned is what the judge concluded.
	Learned Learned `json:"learned"`
}

// Quickest is the shortest handling time of an uncontested request, from the last byte sent to the first one of the answer; Learned.Handling
// where none of them was timed.
func (c *Control) Quickest() Nanos {
	took := c.Learned.Handling
	for _, rounds := range [][]Round{c.Rounds, c.Variants} {
		for _, r := range rounds {
			for _, x := range r.Exchanges {
				if x.Class == ClassSuccess && x.FirstByte > x.Sent && x.Sent > 0 {
					took = min(took, x.FirstByte-x.Sent)
				}
			}
		}
	}
	return took
}

// Learned is what the control teaches about an endpoint.
type Learned struct {
	// Sound is true when both requests succeeded and every counter rose as planned.
	Sound bool `json:"sound"`
	// Reason says why the control is not sound; nil when it is.
	Reason *Reason `json:"reason,omitempty"`
	// CreationFields are the places that differ for every creation: JSONPath of a body field ("$.id"),
	// "header Location", or "body" for a body that is no JSON. Empty: answers cannot tell a replay from
	// a second creation.
	CreationFields []string `json:"creation_fields,omitempty"`
	// SuccessStatus is the status of an uncontested first request; 0 when it did not succeed.
	SuccessStatus int `json:"success_status,omitempty"`
	// Redirect is the Location of the control's answers, with * for what differs between them, where the plan has
	// redirects that say success; empty where it has none, or when the two are built differently.
	Redirect string `json:"redirect,omitempty"`
	// ContentType and Server are those of the control's answers, to recognise an intermediary.
	ContentType string `json:"content_type,omitempty"`
	Server      string `json:"server,omitempty"`
	// Handling is the time from the last byte sent to the answer, the longer of the two.
	Handling Nanos `json:"handling_ns,omitempty"`
	// CountLag is the time from the answer until every counter showed the effect, the longer of the two. Where the
	// work is awaited, it counts from the end of that.
	CountLag Nanos `json:"count_lag_ns,omitempty"`
	// WorkTime is the time from the answer until the work behind it was seen to be done, the longer of the two; 0 where no
	// work is awaited.
	WorkTime Nanos `json:"work_time_ns,omitempty"`
	// ResultFields are CreationFields of what is found where the work is done; empty where no work is awaited.
	ResultFields []string `json:"result_fields,omitempty"`
	// Bodies says for each body variant that was tried ("other", "invalid", "reordered", "nested-1") whether scenarios can rely on it:
	// nil reason when they can.
	Bodies map[string]*Reason `json:"bodies,omitempty"`
}

// Case is one scenario on one endpoint.
type Case struct {
	// Scenario is the id of the scenario.
	Scenario string `json:"scenario"`
	// Title is the scenario's title.
	Title string `json:"title"`
	// OnControl is true when the scenario is judged on the control's rounds and has none of its own.
	OnControl bool `json:"on_control,omitempty"`
	// Stop says why the engine could not or need not finish the case; nil when every round ran.
	Stop *Reason `json:"stop,omitempty"`
	// Trace holds the rounds, in order. Not set for cases that were skipped.
	Trace []Round `json:"trace,omitempty"`
	// RoundsEnded says why no more rounds ran, such as "the schedule of the effort was done"; empty for a scenario
	// with a number of rounds.
	RoundsEnded string `json:"rounds_ended,omitempty"`
	// Started and Ended bound the case, settling included.
	Started Nanos `json:"started_ns,omitempty"`
	Ended   Nanos `json:"ended_ns,omitempty"`
	// Result is what the judge concluded.
	Result
}

// Round is one execution of a scenario with its own keys, markers and set-up.
type Round struct {
	// N counts from 1 within the case.
	N int `json:"n"`
	// Variant is the body of a control round: "" for the original.
	Variant string `json:"variant,omitempty"`
	// Scopes are the identities of the round: one for each key letter and caller.
	Scopes []Scope `json:"scopes"`
	// Setup are the set-up requests.
	Setup []Exchange `json:"setup,omitempty"`
	// Exchanges are the sends of the script, ordered by ID.
	Exchanges []Exchange `json:"exchanges"`
	// Bursts say how copies that were meant to be simultaneous were released.
	Bursts []Burst `json:"bursts,omitempty"`
	// Work is what was found where success answers say that their work is done later; empty where no work is awaited.
	Work []Work `json:"work,omitempty"`
	// Readings are the counts, ordered by time.
	Readings []Reading `json:"readings,omitempty"`
	// Arrivals are what the endpoint's sinks got for the scopes of the round, ordered by ID.
	Arrivals []Arrival `json:"arrivals,omitempty"`
	// Pauses are the waits and hooks of the script.
	Pauses []Pause `json:"pauses,omitempty"`
	// Void says why the round counts for nothing (fewer than two copies were answered other than busy);
	// empty for a round that counts.
	Void string `json:"void,omitempty"`
}

// Scope is an identity under which requests are rendered: they share marker, set-up and captures.
type Scope struct {
	// Name is the key letter, "none" for requests without a key, with "@other" or "@anonymous" appended for another caller
	// than the first and "/other" for the other endpoint.
	Name string `json:"name"`
	// Key is the value of the letter's key; empty for "none".
	Key string `json:"key,omitempty"`
	// Marker is the value of {{marker}}.
	Marker string `json:"marker"`
	// Captures are the values that set-up requests yielded, by name.
	Captures map[string]string `json:"captures,omitempty"`
}

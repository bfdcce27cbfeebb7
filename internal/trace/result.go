package trace

import "slices"

// Class is how one answer reads. The order in which the classes are tried is the order here.
type Class string

// The classes of answers.
const (
	// ClassNone: no complete answer, or 502 or 504; the server may have acted.
	ClassNone Class = "none"
	// ClassBusy: 429, or 503 with Retry-After: the request was turned away and is sent again later.
	ClassBusy Class = "busy"
	// ClassIntermediary: something in front of the endpoint answered.
	ClassIntermediary Class = "intermediary"
	// ClassSuccess: 2xx as in the control.
	ClassSuccess Class = "success"
	// ClassInProgress: the dialect's "still running" while no copy of the key has concluded.
	ClassInProgress Class = "in-progress"
	// ClassRefused: any other 4xx.
	ClassRefused Class = "refused"
	// ClassFailed: 5xx.
	ClassFailed Class = "failed"
)

// Verdict is the outcome of a case, an endpoint or a run.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Warn         Verdict = "warn"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	Skip         Verdict = "skip"
	// Error: the tool itself failed.
	Error Verdict = "error"
)

// Severity says how much a broken rule hurts.
type Severity string

// The severities, worst first.
const (
	// Critical: a second effect, a leak, or success reported for work that was never done.
	Critical Severity = "critical"
	// Major: a retry breaks the caller.
	Major Severity = "major"
	// Minor: the dialect says otherwise.
	Minor Severity = "minor"
	// Never is no severity of a rule: as the least one that fails an endpoint it says that none does.
	Never Severity = "never"
)

// AtLeast reports whether s hurts as much as t or more. An unknown severity hurts least.
func (s Severity) AtLeast(t Severity) bool { return s.rank() >= t.rank() }

func (s Severity) rank() int {
	switch s {
	case Never:
		return 4
	case Critical:
		return 3
	case Major:
		return 2
	case Minor:
		return 1
	}
	return 0
}

// NotApplicable reports whether the case is none of the endpoint's behaviours, so that nothing was left untested.
func (r *Result) NotApplicable() bool { return r.Verdict == Skip && r.Reason == NotApplicable }

// Result is what the judge concluded about a case.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Reason is the code of an inconclusive or skipped case; empty otherwise.
	Reason Code `json:"reason,omitempty"`
	// Detail explains the reason with the raw evidence, in one or a few sentences.
	Detail string `json:"detail,omitempty"`
	// Enable are lines of plan, or a flag, that would make the case conclusive; empty when nothing would.
	Enable string `json:"enable,omitempty"`
	// Rounds is how many rounds counted.
	Rounds int `json:"rounds"`
	// Findings are the broken rules, worst first, one for each rule.
	Findings []Finding `json:"findings,omitempty"`
	// Firing sums up the bursts; nil when nothing was released together.
	Firing *Firing `json:"firing,omitempty"`
	// Power says what a pass would have caught and how hard it looked; empty unless the verdict is pass or warn.
	Power string `json:"power,omitempty"`
	// Uncounted is true when effects were judged by what answers name alone: no counter backed the verdict.
	Uncounted bool `json:"uncounted,omitempty"`
}

// Finding is a broken rule with its evidence.
type Finding struct {
	// Rule is the id in the rule catalogue.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Message is one sentence about this very case.
	Message string `json:"message"`
	// Expected and Actual are the two sides, one or a few lines each.
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	// Exchanges are the ids of the exchanges that show it, the reference first.
	Exchanges []int `json:"exchanges"`
	// Arrivals are the ids of what sinks got that shows it; empty where no sink does.
	Arrivals []int `json:"arrivals,omitempty"`
	// Counts are the counters that show it, by name, summed over the round's scopes.
	Counts map[string]CountChange `json:"counts,omitempty"`
	// Round is the number of the round that the evidence is from; Seen in how many of the rounds it showed.
	Round int `json:"round"`
	Seen  int `json:"seen"`
	// Accepted says who answers for the violation, which then fails nothing; nil for one that nobody accepts.
	Accepted *Accepted `json:"accepted,omitempty"`
	// Curl are the lines that repeat the evidence by hand; empty where a curl line cannot (a race, a cut connection).
	Curl []string `json:"curl,omitempty"`
}

// CountChange is a counter before and after.
type CountChange struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	// Expected is what After should have been.
	Expected int64 `json:"expected"`
}

// Firing sums up the bursts of a case.
type Firing struct {
	Technique string `json:"technique"`
	// Fallback says why a weaker technique was used; empty when it was not.
	Fallback string `json:"fallback,omitempty"`
	// Copies and Connections are the most of any round, LeastCopies the least.
	Copies      int `json:"copies"`
	LeastCopies int `json:"least_copies"`
	Connections int `json:"connections"`
	// SpreadUS and FirstGapUS are quantiles over the rounds, in microseconds.
	SpreadUS   Quantiles `json:"spread_us"`
	FirstGapUS Quantiles `json:"first_gap_us"`
	// DetectsWindowUS is the race window, in microseconds, that the bursts together would have shown with a
	// probability of 99 % on a server that waits for I/O within it; 0 when nothing is claimed.
	DetectsWindowUS float64 `json:"detects_window_us,omitempty"`
}

// Quantiles of a measurement.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Diagnosis is the likely cause of several findings.
type Diagnosis struct {
	// ID is the id in the catalogue of diagnoses.
	ID string `json:"id"`
	// Title is one line: what is likely wrong.
	Title string `json:"title"`
	// Why says how the pattern of findings shows it.
	Why string `json:"why"`
	// Fix says what to change in the endpoint.
	Fix string `json:"fix"`
	// Example is the fix as a few lines of SQL or pseudo-code.
	Example string `json:"example"`
	// Rules are the ids of the rules whose findings it explains, sorted, each once.
	Rules []string `json:"rules"`
	// Symptoms are the findings that it explains, in the order of the cases. Those of all diagnoses of an endpoint
	// share none.
	Symptoms []Symptom `json:"symptoms"`
}

// Symptom names a finding of an endpoint: no case has two findings with one rule.
type Symptom struct {
	// Scenario is the id of the scenario whose case has the finding; empty where any scenario is meant.
	Scenario string `json:"scenario"`
	// Rule is the id of the broken rule.
	Rule string `json:"rule"`
}

// Summary counts the verdicts of a run.
type Summary struct {
	Verdict  Verdict `json:"verdict"`
	ExitCode int     `json:"exit_code"`
	// Requests is how many requests were sent to endpoints and their set-up, counters and questions for work not included.
	Requests int `json:"requests"`
	// Cases counts cases by verdict.
	Cases Tally `json:"cases"`
	// Accepted is how many of the cases with a warning would have failed if the baseline did not accept their violations.
	Accepted int `json:"accepted,omitempty"`
}

// Tally counts cases by verdict.
type Tally struct {
	Pass         int `json:"pass"`
	Fail         int `json:"fail"`
	Warn         int `json:"warn"`
	Inconclusive int `json:"inconclusive"`
	// Skip counts what could have been tested and was not meant to be; what does not apply is not in it.
	Skip  int `json:"skip"`
	Error int `json:"error"`
	// NotApplicable counts cases that are no behaviours of their endpoint: the scenario is for another kind of it, say.
	NotApplicable int `json:"not_applicable"`
}

// Reason says why something could not be judged.
type Reason struct {
	Code Code `json:"code"`
	// Detail explains it with the raw evidence.
	Detail string `json:"detail"`
	// Enable are lines of plan, or a flag, that would change it; may be empty.
	Enable string `json:"enable,omitempty"`
}

// Code is the kind of a Reason. The list is closed.
type Code string

// The codes of inconclusive cases.
const (
	// Unreachable: no connection could be made, or nothing was answered.
	Unreachable Code = "unreachable"
	// CutOff: the connection was closed before an answer was complete, where the control was answered.
	CutOff Code = "cut-off"
	// Auth: the endpoint answered 401 or 403.
	Auth Code = "auth"
	// ControlUnsound: the uncontested first request did not do what the plan says.
	ControlUnsound Code = "control-unsound"
	// NoOverlap: copies were never under way at the same time where that is the point.
	NoOverlap Code = "no-overlap"
	// CounterNoise: a counter without a marker moved by itself.
	CounterNoise Code = "counter-noise"
	// CounterUnreadable: a counter gave no number.
	CounterUnreadable Code = "counter-unreadable"
	// SetupFailed: a set-up request or a hook did not succeed.
	SetupFailed Code = "setup-failed"
	// FromIntermediary: something in front of the endpoint kept answering.
	FromIntermediary Code = "intermediary"
	// StillBusy: the endpoint kept answering 429 or 503 with Retry-After.
	StillBusy Code = "busy"
	// OutOfBudget: the request budget was used up.
	OutOfBudget Code = "out-of-budget"
	// Timeout: an answer did not come within the limit.
	Timeout Code = "timeout"
	// LifetimeExceeded: the round took so long that the key may have expired in it.
	LifetimeExceeded Code = "lifetime-exceeded"
	// Assumption: something the scenario relies on does not hold here.
	Assumption Code = "assumption"
	// NoEvidence: nothing of the case could be judged (no counter and no creation fields, say).
	NoEvidence Code = "no-evidence"
	// Interrupted: the run ended before the case did.
	Interrupted Code = "interrupted"
	// FailFast: the run ended at its first failing case, as the user wanted. A case that had not begun is skipped.
	FailFast Code = "fail-fast"
)

// The codes of skipped cases.
const (
	// Needs: the plan lacks what the scenario needs.
	Needs Code = "needs"
	// NotApplicable: the scenario is for another kind of endpoint.
	NotApplicable Code = "not-applicable"
	// PlanSkip: the plan says to skip it.
	PlanSkip Code = "plan-skip"
	// Allowed: inconclusive, and the user allowed that with --allow-inconclusive.
	Allowed Code = "allowed"
	// LeftOut: the chosen effort leaves the scenario out.
	LeftOut Code = "effort"
	// NotDue: no key of an earlier run is of the age that the scenario needs.
	NotDue Code = "not-due"
	// WaitTooLong: the scenario would wait longer than limits.wait.
	WaitTooLong Code = "wait-too-long"
)

// Allowable reports whether --allow-inconclusive may name the code: one that leaves a case inconclusive, and does not say that
// nothing was tested at all.
func (c Code) Allowable() bool {
	return c != Unreachable && c != Auth && slices.Contains(InconclusiveCodes(), c)
}

// SkipCodes lists the codes that a skipped case can have.
func SkipCodes() []Code {
	return []Code{Needs, NotApplicable, PlanSkip, Allowed, LeftOut, NotDue, WaitTooLong}
}

// CannotCarry begins the detail of a NotApplicable case whose keys the dialect forbids.
const CannotCarry = "the dialect cannot carry the keys of this scenario: "

// InconclusiveCodes lists the codes that an inconclusive case can have.
func InconclusiveCodes() []Code {
	return []Code{Unreachable, CutOff, Auth, ControlUnsound, NoOverlap, CounterNoise, CounterUnreadable, SetupFailed,
		FromIntermediary, StillBusy, OutOfBudget, Timeout, LifetimeExceeded, Assumption, NoEvidence, Interrupted, FailFast}
}

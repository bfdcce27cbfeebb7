package scenarios

import (
	"fmt"
	"time"

	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// Scenario is a script of steps with expectations.
type Scenario struct {
	// ID is unique among the built-in scenarios and those of the plan, such as "same-key-again".
	ID string
	// Title is one line for people.
	Title string
	// About says why it matters, with the source.
	About string
	// Control is true for the one scenario whose rounds are the control: it runs before all others,
	// whether selected or not.
	Control bool
	// Kinds are the endpoint kinds it applies to (create, method, webhook); empty means all.
	Kinds []string
	// Methods are the HTTP methods it applies to, such as "DELETE"; empty means all.
	Methods []string
	// Needs must all be met by the plan; each entry lists alternatives. What the script uses is among them, whether its
	// file says so or not.
	Needs [][]string
	// Disruptive is true for a scenario that disturbs others (restarts, floods): it runs with --allow-disruptive only.
	// One that runs a hook restart, crash, break or reset is, whether its file says so or not.
	Disruptive bool
	// OnControl is true when the scenario has no steps and no rounds (Rounds is 0) and is judged on the control's rounds
	// and on what the plan says.
	OnControl bool
	// Keys are the forms of key letters that are not plain UUIDs, by letter.
	Keys map[string]KeyForm
	// Adaptive is true when rounds repeat until a violation, or as often as the effort says; otherwise Rounds is how many
	// run.
	Adaptive bool
	Rounds   int
	// Overlap is true when two copies under way at the same time are the point or, in a script that EndsUnderWay, a request
	// that the end of the process interrupts: rounds without it are repeated, and the case is inconclusive when it never
	// happens.
	Overlap bool
	Steps   []Step
	Expect  []Expectation
	// Assume holds expectations without a rule: a broken one makes the case inconclusive.
	Assume []Expectation
	// Warnings are what is allowed and most likely not meant, in the order of the file.
	Warnings strict.Errors
	// File and Text are where the scenario was read from, and its source.
	File string
	Text string
}

// KeyForm says how the key of a letter looks. The zero value is a UUID of its own.
type KeyForm struct {
	Pos strict.Pos
	// None: requests of this letter carry no key, but have marker and set-up of their own.
	None bool
	// Text is the key itself, such as "" or "  "; {{key}} in it stands for the key that would be drawn without it. Nil when
	// the key is drawn.
	Text *string
	// Length is how many characters the key has; 0 means 36.
	Length int
	// Like is the letter whose key this one is made from; its marker and set-up stay its own. Empty: from nothing.
	Like string
	// First is how many leading characters it shares with Like; the rest is drawn. 0 when it does not share a beginning.
	First int
	// Case is "upper" or "lower": the key of Like in that case. Empty leaves the case alone.
	Case string
	// Quoted puts the key into quotes, as a structured-field string (RFC 9651 section 3.3.3).
	Quoted bool
	// Lines is in how many header lines the key is sent, each with a value of its own; with Like they share the first
	// one. 0 means 1.
	Lines int
}

// Step is one step of a script: exactly one of the pointers and strings is set.
type Step struct {
	Pos strict.Pos
	// Send sends one request, several copies of it together, or a series.
	Send *Send
	// Volley releases different requests together.
	Volley []Send
	// Wait pauses.
	Wait *Wait
	// Hook runs a hook of the plan.
	Hook *Hook
	// Count takes a reading of all counters under this name.
	Count string
	// Join waits for the background send with this label.
	Join string
	// Planted goes on with a key of an earlier run.
	Planted *Planted
}

// Planted takes a key that an earlier run planted, with its first answer. A script that has one sends nothing under the letter before, and
// is skipped where no such key is due.
type Planted struct {
	Pos strict.Pos
	// Key is the letter that the key gets.
	Key string
	// From and To bound the age of the key, as shares of its lifetime; To 0 means no end.
	From, To float64
	// Label is the name of the first request and answer, the earlier run's.
	Label string
}

// Send is one request of a step. The zero values are the defaults of the language.
type Send struct {
	Pos strict.Pos
	// Key is a letter, KeyNone, or KeyFresh: a new key value for every request, with body, marker and
	// set-up of the script's first letter.
	Key string
	// Body is one of the Body constants.
	Body string
	// Caller is one of the Caller constants.
	Caller string
	// Other sends to the plan's other endpoint instead, under the same key, with that endpoint's own body and set-up.
	Other bool
	// OtherQuery sends with the plan's other_query in the URL.
	OtherQuery bool
	// Replica sends to the plan's replica of that number, from 1; 0 sends to the target.
	Replica int
	// Noise changes what must not matter: User-Agent, trace headers and Accept-Language.
	Noise bool
	// Together is how many copies are released at the same instant; 0 and 1 mean a plain send.
	Together int
	// Times is how many copies are sent one after another; 0 means 1.
	Times int
	// Every starts the copies of Times on schedule, one after each such time, whether the ones before were answered or
	// not; 0 sends each after the answer of the one before.
	Every time.Duration
	// Jitter is the share of Every, from 0 to 1, by which the time to the next copy is at most longer or shorter; the run's
	// seed draws it.
	Jitter float64
	// RetryAfter makes each copy on schedule come back when Retry-After says so, after an answer that turned it away or is in
	// progress; turned away without a time, it backs off. It gives up when the key might expire, after limits.in_progress,
	// or after 8 more attempts.
	RetryAfter bool
	// UntilFinal repeats the send while the answer is in progress.
	UntilFinal bool
	// Background returns when the last byte is written; Join waits for the answer.
	Background bool
	// Cut makes the client leave; nil means that it stays.
	Cut *Cut
	// Label is the step's `as`, the name that expectations use; empty when nothing refers to it.
	Label string
}

// The values of Send.Key that are no letters.
const (
	KeyNone  = "none"
	KeyFresh = "fresh"
)

// The values of Send.Body. BodyFail is the original body with the plan's `fail` merged in, BodyInvalid with its
// `invalid_body`, BodyReordered says the same with the names of objects in another order and other white space. BodyNested stands for
// every body of the plan with one value changed inside an object or a list: one request is sent with each.
const (
	BodyOriginal  = "original"
	BodyOther     = "other"
	BodyFail      = "fail"
	BodyInvalid   = "invalid"
	BodyReordered = "reordered"
	BodyNested    = "nested"
)

// NestedBody is how the record calls the n-th body that BodyNested stands for, from 1.
func NestedBody(n int) string { return fmt.Sprintf("%s-%d", BodyNested, n) }

// NestedBodies are the names of as many bodies that BodyNested stands for.
func NestedBodies(n int) []string {
	var out []string
	for i := range n {
		out = append(out, NestedBody(i+1))
	}
	return out
}

// The values of Send.Caller: the plan's first caller, its second one, nobody (no credentials), the first one with
// credentials obtained anew, and everything else of the first one's request (key, body and what its set-up made) with the second one's
// credentials or with none.
const (
	CallerFirst     = "first"
	CallerOther     = "other"
	CallerAnonymous = "anonymous"
	CallerRenewed   = "renewed"
	CallerImpostor  = "impostor"
	CallerStripped  = "stripped"
)

// Cut says where the client leaves.
type Cut struct {
	// At is headers, half-body, sent or answer.
	At string
	// After is the pause between that point and leaving.
	After time.Duration
	// By is close or reset.
	By string
}

// Wait is a pause: exactly one field is set (Of belongs to Expiry).
type Wait struct {
	For time.Duration
	// Expiry is a share of the key's lifetime: since the first send of key Of when below 1, since its
	// first answer when 1 or more. From 1 on, a plan's `expire` hook runs instead of waiting.
	Expiry float64
	Of     string
	// Handling is a share of the handling time that the control measured: of the shortest when below 1, to end before the work does; of
	// the longest when 1 or more, and 250 ms longer than that at least, to end behind it.
	Handling float64
}

// Hook runs a hook of the plan.
type Hook struct {
	// Run is one of HookNames.
	Run string
	// Key is the letter for whose scope it runs; empty where the hook is about no key.
	Key string
}

// HookNames are the hooks that a plan can have: expire forgets a key, restart and crash end the process (in an orderly way,
// or not) and start it again, break and heal turn the failure of a dependency on and off, hold freezes the next
// request in flight until release, reset brings the system back to its beginning.
func HookNames() []string {
	return []string{"expire", "restart", "crash", "break", "heal", "hold", "release", "reset"}
}

// Expectation is one thing that must hold: exactly one form is set.
type Expectation struct {
	Pos strict.Pos
	// Rule is the broken rule; empty in Assume, for Same when it picks the replay rules by itself, and for Created
	// when only Below can be broken.
	Rule string
	// Created: how many effects all keys of a round have together.
	Created *Created
	// Same: all answers under these labels equal the first success answer among them.
	Same []string
	// Distinct: answers under these labels have pairwise different creation fields where their scopes differ, also where
	// the scopes' keys are equal or absent (two empty keys).
	Distinct []string
	// Refused: answers under these labels are refusals. As says which statuses are right:
	// "mismatch", "missing_key" or "" for any.
	Refused []string
	As      string
	// Accepted: every send under these labels ends with a success answer.
	Accepted []string
	// Failed: every send under these labels is answered with 5xx.
	Failed []string
	// Hidden: the answers under these labels hold nothing that names what another scope's request created.
	Hidden []string
	// OneOf: of requests under these labels that were sent at once, either may win, but the success answers of two
	// labels never name the same creation.
	OneOf []string
	// Alike: the sends under these labels end alike, all with success or all with a refusal of whatever status.
	Alike []string
	// Answered: every send under these labels is answered within limits.in_progress.
	Answered []string
	// Consistent: all answers under these labels that say "in progress" have one status.
	Consistent []string
	// Unchanged: counters and states are the same at two named readings.
	Unchanged *Unchanged
	// Outlives is "retry_window": the key lifetime that the plan or the dialect states is at least that long.
	Outlives string
	// Never: no answer has this class; Of limits it to labels, empty means all.
	Never trace.Class
	Of    []string
}

// Created is the number of effects that a round, or the part of it between two named readings, must show.
type Created struct {
	// N is the number of effects of the endpoint itself; what is sent to another endpoint does not count.
	N int
	// PerKey means as many as scopes were sent under, at the endpoint itself: each key letter and caller is one, whatever
	// the form of its key (also an empty one, or none), and each fresh key; requests with KeyNone are none. Where not
	// every scope was answered with success, fewer are right.
	PerKey bool
	// Since and Until name readings; empty means the start and the end of the round.
	Since string
	Until string
	// Below is the rule that is broken when fewer effects than N were seen beside a success answer.
	// Empty means nothing-created.
	Below string
}

// Unchanged names two readings between which nothing may change; an empty Until is the end of the round.
type Unchanged struct {
	Since, Until string
}

// Rule is an entry of the rule catalogue.
type Rule struct {
	ID       string
	Severity trace.Severity
	// Title is one line: what is wrong when it is broken.
	Title string
	// Why says whom it hurts and how.
	Why string
	// Fix says what to change in the endpoint.
	Fix string
	// Source says where the demand comes from.
	Source string
	// Behaviours are the numbers of the behaviours it belongs to, such as "B2".
	Behaviours []string
}

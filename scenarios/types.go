package scenarios

import (
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
	// Needs must all be met by the plan; each entry lists alternatives.
	Needs [][]string
	// Adaptive is true when rounds repeat until a violation, or as often as the effort says; otherwise Rounds is how many run.
	Adaptive bool
	Rounds   int
	// Overlap is true when two copies under way at the same time are the point: rounds without it are
	// repeated, and the case is inconclusive when it never happens.
	Overlap bool
	Steps   []Step
	Expect  []Expectation
	// Assume holds expectations without a rule: a broken one makes the case inconclusive.
	Assume []Expectation
	// File and Text are where the scenario was read from, and its source.
	File string
	Text string
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
}

// Send is one request of a step. The zero values are the defaults of the language.
type Send struct {
	Pos strict.Pos
	// Key is a letter, KeyNone, or KeyFresh: a new key value for every request, with body, marker and
	// set-up of the script's first letter.
	Key string
	// Body is BodyOriginal, BodyOther or BodyFail.
	Body string
	// Caller is "first".
	Caller string
	// Together is how many copies are released at the same instant; 0 and 1 mean a plain send.
	Together int
	// Times is how many copies are sent one after another; 0 means 1.
	Times int
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

// The values of Send.Body. BodyFail is the original body with the plan's `fail` merged in.
const (
	BodyOriginal = "original"
	BodyOther    = "other"
	BodyFail     = "fail"
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
	// Handling is a share of the handling time that the control measured.
	Handling float64
}

// Hook runs a hook of the plan for the scope of a key.
type Hook struct {
	Run string
	Key string
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
	// Distinct: answers under these labels have pairwise different creation fields where their keys differ.
	Distinct []string
	// Refused: answers under these labels are refusals. As says which statuses are right:
	// "mismatch", "missing_key" or "" for any.
	Refused []string
	As      string
	// Accepted: every send under these labels ends with a success answer.
	Accepted []string
	// Failed: every send under these labels is answered with 5xx.
	Failed []string
	// Never: no answer has this class; Of limits it to labels, empty means all.
	Never trace.Class
	Of    []string
}

// Created is the number of effects that a round, or the part of it between two named readings, must show.
type Created struct {
	// N is the number; PerKey means as many as different key values were sent.
	N      int
	PerKey bool
	// Since and Until name readings; empty means the start and the end of the round.
	Since string
	Until string
	// Below is the rule that is broken when fewer effects than N were seen beside a success answer.
	// Empty means nothing-created.
	Below string
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

package plan

import (
	"crypto/tls"
	"time"

	"retrysafe/internal/dialect"
	"retrysafe/internal/strict"
	"retrysafe/internal/trace"
)

// Plan says what to test, where, and how to count. It is the decoded plan file with variables filled in
// and defaults applied; every name in it has been checked.
type Plan struct {
	// File is the path it was read from; empty for a plan made from flags.
	File string
	// Digest is "sha256:" and the hexadecimal SHA-256 of the text before variables were filled in; with included files, of the digests of
	// all texts.
	Digest string
	// Included are the paths of the files that it includes, each once, in their order; nil for none.
	Included []string
	// Target is the base URL without a trailing slash.
	Target string
	// AllowHosts are host names (or host:port) that may be contacted beside loopback.
	AllowHosts []string
	// Dialect is the convention that answers are measured against.
	Dialect dialect.Dialect
	// Firing is how copies are released together: auto (default: HTTP/2 where the server offers it, else HTTP/1.1 with
	// the last byte held back), h2 (also over http URLs, by prior knowledge), h1 or barrier.
	Firing string
	// Callers in the order of the file; the first is the default. Empty: requests carry no credentials.
	Callers []Caller
	// Counters by name, those that are sinks included.
	Counters map[string]Counter
	// States by name.
	States map[string]State
	// Replicas are base URLs of instances behind the target, without a trailing slash; empty when not stated.
	Replicas []string
	// Hooks by name, one of scenarios.HookNames.
	Hooks     map[string]Hook
	Limits    Limits
	Endpoints []Endpoint
	// Scenarios are paths of the plan's own scenario files, resolved against the plan's folder.
	Scenarios []string
	// Secrets are values that must never show: those of ${VAR} of six characters or more (the target's
	// excepted), the credentials of callers, and what `secrets:` lists.
	Secrets []string

	// Warnings are what is allowed and most likely not meant, in the order of the file.
	Warnings strict.Errors
	// Risks are what is meant and better would not be: what proves little, may hurt others, or shows secrets; in the order of the files.
	Risks strict.Errors

	// Number is the plan's place among those of a run, from 1; 0 for the only one. Before is how many endpoints those before it have.
	Number, Before int

	targetPos    strict.Pos
	targetSet    bool // true when the plan has a target, even a wrong one
	scenarioRefs []scenarioRef
}

// Caller is a named set of credentials: fixed headers, headers that a command prints, or headers made from what a
// log-in request yields; a client certificate; a signature on each request.
type Caller struct {
	Pos  strict.Pos
	Name string
	// Vars are what placeholders of these names mean in the requests of the caller; nil for none.
	Vars map[string]string
	// CertPos is where the plan names the certificate.
	CertPos strict.Pos
	// Certificate is what every https connection of the caller presents; nil for none of its own.
	Certificate *tls.Certificate
	// Sign is a command that gets each request on its standard input and prints header lines that sign it, run in the
	// folder of the file that it stands in; nil for none.
	Sign []Template
	// Headers are added to every request of the caller. With Login they may hold its captures.
	Headers []HeaderTemplate
	// Exec is a command that prints header lines ("Name: value"), run in the folder of the file that it stands in; nil for none.
	Exec []Template
	// Login is a request whose answer yields captures for Headers; nil for none.
	Login *Setup
	// Refresh is how long what Exec or Login gave is used; 0 means for the whole run.
	Refresh time.Duration
	// Variables are the names of the environment variables that it is made of, in the order of the plan; nil for none.
	Variables []string
	// source is how the plan writes it.
	source strict.Value
}

// Renewable is true when the caller's credentials can be obtained anew.
func (c Caller) Renewable() bool { return len(c.Exec) > 0 || c.Login != nil }

// State is a value that is read before and after, and compared as text: a GET whose answer is read by a JSONPath
// (Value), a header (Header), or whole with its status (neither); or one row of a database, where SQL is set.
type State struct {
	Pos     strict.Pos
	Name    string
	Request RequestTemplate
	Value   string
	Header  string
	// SQL is a query; nil for a GET.
	SQL *SQL
	// Caller is the name of the credentials to use; empty means the first caller.
	Caller  string
	Headers []HeaderTemplate
}

// HeaderTemplate is a header whose value may hold placeholders.
type HeaderTemplate struct {
	Name  string
	Value Template
}

// RequestTemplate is a method with a path or an absolute URL.
type RequestTemplate struct {
	Method string
	// Path starts with "/" (relative to the target) or is an absolute http(s) URL.
	Path Template
}

// String is the request as it stands in the plan, such as "POST /orders", with asterisks in place of credentials in its query.
func (r RequestTemplate) String() string { return r.Method + " " + conceal(r.Path.String()) }

// Counter is a count-check hook: exactly one of HTTP, Exec, SQL and Sink is set.
type Counter struct {
	Pos  strict.Pos
	Name string
	// HTTP is a GET; nil for another counter.
	HTTP *HTTPCounter
	// Exec is a command with its arguments; it prints a number. It is run in the folder of the file that it stands in.
	Exec []Template
	// Sink listens for what the endpoint sends out; nil for a counter that is asked.
	Sink *Sink
	// SQL is a query whose answer is one number; nil for another counter.
	SQL *SQL
	// Marked is true when the request, command or query holds {{marker}}, {{key}} or a capture, so that nobody else moves it.
	Marked bool
}

// HTTPCounter reads a number from an HTTP answer: exactly one of Value, Header and Length is set.
type HTTPCounter struct {
	Request RequestTemplate
	// Value is a JSONPath (RFC 9535) to the number.
	Value string
	// Header is the name of a header that holds the number.
	Header string
	// Length is a JSONPath to a list whose length is the number ("$" for the whole answer).
	Length string
	// Caller is the name of the credentials to use; empty means the first caller.
	Caller  string
	Headers []HeaderTemplate
}

// Sink is where the endpoint under test sends mails, or calls a service that the sink stands for. Exactly one of SMTP and
// HTTP is set.
type Sink struct {
	Name string
	// SMTP and HTTP are the address to listen on, host:port.
	SMTP, HTTP string
	// Match is the text that tells whose an arrival is, {{marker}} by default.
	Match Template
	// Key is the header that carries the idempotency key of calls; empty for a service without keys, and for SMTP.
	Key string
	// KeyLifetime is how long the service that it stands for remembers a key; 0 for ever.
	KeyLifetime time.Duration
	// Answer is what calls are answered with.
	Answer SinkAnswer
	// First is what becomes of the first call of each scope; nil when it is answered like the others.
	First *Failure
	// IgnoreJSON are JSONPath queries of parts of a call's body that may differ between attempts.
	IgnoreJSON []string
}

// Address is where the sink listens, as host:port.
func (s *Sink) Address() string { return s.SMTP + s.HTTP }

// Kind is "smtp" or "http".
func (s *Sink) Kind() string {
	if s.SMTP != "" {
		return "smtp"
	}
	return "http"
}

// SinkAnswer is what a sink answers. Its placeholders are {{uuid}}, {{now}} and {{key}}.
type SinkAnswer struct {
	Status  int
	Headers []HeaderTemplate
	Body    Body
}

// Failure says how a sink fails a call. The zero value is a status of 503.
type Failure struct {
	// Status is answered; 0 for 503.
	Status int
	// Drop closes the connection instead, Hang gives no answer for as long as the client waits.
	Drop, Hang bool
	// RetryAfter is what a status is answered with; 0 for nothing.
	RetryAfter time.Duration
}

// SinkFailure is a failure of the next call of a sink.
type SinkFailure struct {
	Sink    string
	Failure Failure
}

// Hook changes the system under test: exactly one of Exec, HTTP and SQL is set.
type Hook struct {
	Pos  strict.Pos
	Name string
	// Exec is a command with its arguments, run in the folder of the file that it stands in.
	Exec []Template
	// HTTP is a request whose answer must be 2xx; nil for another hook.
	HTTP *RequestTemplate
	// SQL is a statement; one that is about a key must find a row to change. Nil for another hook.
	SQL *SQL
	// Then is a second command that is run behind Exec, such as the start after a kill; nil for none.
	Then []Template
	// Ready is a GET that is repeated until it answers 2xx, for at most limits.ready; nil when the end of the hook is enough.
	Ready *RequestTemplate
}

// Limits bound a run. The zero value is not valid: Load fills in the defaults.
type Limits struct {
	InProgress time.Duration // how long a key may stay in progress; default 10 s
	Request    time.Duration // from the first byte sent to the complete answer; default 30 s
	Count      time.Duration // how long to wait for the expected rise of a counter, and for one look by command or query; default 5 s
	Wait       time.Duration // longest wait of a scenario; default 60 s
	Ready      time.Duration // how long a hook's `ready` may take; default 30 s
	Await      time.Duration // how long after an answer the work behind it may take; default 30 s
	Body       int64         // bytes of an answer's body that are kept; default 1 MiB
}

// Endpoint is one operation under test.
type Endpoint struct {
	Pos  strict.Pos
	Name string
	// Named is the name in the plan, where Name was qualified by Together; empty otherwise.
	Named string
	// Kind is create, method or webhook. By default webhook for an endpoint whose deliveries are signed, create for one with
	// a key and for POST, method otherwise.
	Kind    string
	Request RequestTemplate
	// Headers are those of `defaults` and of the endpoint, the latter winning; a body's Content-Type is filled in.
	Headers []HeaderTemplate
	// Key says where the key travels, by default the event's id for an endpoint whose deliveries are signed; the zero value
	// is an endpoint without one.
	Key    trace.KeyPlace
	keySet bool // true when plan or defaults say where, or that there is none
	// Required is true when a missing key must be refused (by the plan, else by the dialect); RequiredSet
	// is false when neither says so.
	Required    bool
	RequiredSet bool
	Body        Body
	// OtherBody is Body with other_body merged in, or with one harmless leaf changed when the plan says
	// nothing; OtherWhy says what was changed, or why nothing could be. HasOther is false in the latter case.
	OtherBody Body
	OtherWhy  string
	HasOther  bool
	// OtherPlaces are where OtherBody differs from Body, such as "$.qty"; nil for bodies that have no members.
	OtherPlaces []string
	// Nested are further bodies with one harmless value changed inside an object or a list; at most one of each. Empty for a
	// body that has no such value, and where the dialect compares some fields only.
	Nested []Change
	// InvalidBody is Body with invalid_body merged in, which the endpoint must refuse; HasInvalid is false when the plan
	// does not say.
	InvalidBody Body
	HasInvalid  bool
	// Reordered is Body with the names of its objects in another order and other white space; HasReordered is false for a
	// body that is no JSON or has fewer than two names.
	Reordered    Body
	HasReordered bool
	// OtherQuery are query parameters that change what the request means, for the scenario that sends the same key with
	// another query; an empty value takes a parameter away, as WithQuery does. Empty when the plan does not say.
	OtherQuery []QueryParameter
	// OtherEndpoint is the name of another keyed endpoint of the plan, for the scope scenarios; empty when not stated.
	OtherEndpoint string
	// States are the names of states that a harmless retry must not change, in the order of the plan.
	States []string
	// RetryWindow is how long clients or providers go on retrying; 0 when not stated.
	RetryWindow time.Duration
	// DoubleClick is how many effects two identical requests at once without a key may have: "one", "two" (default).
	DoubleClick string
	// RefusedWhere is a JSONPath: an answer in which it finds something other than null, false, "" or an empty list is a
	// refusal, whatever its status; empty when statuses say it all.
	RefusedWhere string
	// Await says how to learn that the work behind a success answer is done; nil when it is done with the answer.
	Await *trace.Await
	// SuccessStatuses are redirects (301, 302, 303) that say success beside 2xx; nil when the plan names none.
	SuccessStatuses []int
	// Webhook says how deliveries are signed; nil when they are not.
	Webhook *Webhook
	// Fail are the headers and body that make the endpoint fail once; nil when the plan does not say.
	Fail *Fail
	// Setup requests run in order, once for each scope of a round.
	Setup []Setup
	// Cleanup runs after the run for everything that answers named; nil when the plan does not say.
	Cleanup *Cleanup
	// Counters are the expected rises, in the order of the plan.
	Counters []CounterRise
	// Settle is how long counters must be still before they count as final; default 100 ms.
	Settle time.Duration
	// KeyLifetime is how long a key is remembered after its first answer; 0 when not stated.
	KeyLifetime time.Duration
	// FreshKey is "creates" (default) or "returns-existing".
	FreshKey string
	// Statuses are those of the dialect, overridden by the plan's.
	Statuses trace.Statuses
	// Stores4xx and Stores5xx are "yes", "no" or "" (not documented), from the plan, else from the dialect.
	Stores4xx, Stores5xx string
	// IgnoreJSON and IgnoreHeaders may differ between replays; ReplayHeaders must be replayed.
	IgnoreJSON    []string
	IgnoreHeaders []string
	ReplayHeaders []string
	// Stated are the facts, by the names of package trace, that the plan itself says and no dialect changes. Never nil.
	Stated []string
	// Skip maps a scenario's id to the reason for skipping it.
	Skip map[string]string
	// Require lists scenarios whose skip is a failure, by id or by pattern.
	Require []string
	// FailOn is the least severity that fails the endpoint, or trace.Never; empty for that of the run.
	FailOn trace.Severity
	Tags   []string
	// Owner is who answers for the endpoint; empty when not stated.
	Owner string

	lifetimePos       strict.Pos
	requiredByDefault bool // true when `required` is of `defaults`, which hold for endpoints with a key alone
}

// CounterRise is a counter's name and how much one effect raises it.
type CounterRise struct {
	Name string
	Rise int64
}

// Fail says how to make an endpoint fail once.
type Fail struct {
	Headers []HeaderTemplate
	// Body is the endpoint's body with the plan's patch merged in; the same body when the plan gives headers only.
	Body Body
	// Sinks are the calls that fail, at most one for each sink.
	Sinks []SinkFailure
}

// QueryParameter is a name and value in a URL.
type QueryParameter struct {
	Name  string
	Value Template
}

// Webhook says how deliveries to an endpoint are signed.
type Webhook struct {
	// Scheme is one of the names of package webhook, such as "standard-webhooks".
	Scheme string
	// Secret is the shared secret as the provider shows it.
	Secret string
}

// Setup is a request that must succeed before the endpoint can be called.
type Setup struct {
	Pos     strict.Pos
	Request RequestTemplate
	Headers []HeaderTemplate
	Body    Body
	// Capture maps a name to where its value is in the answer: a JSONPath, or "header NAME".
	Capture map[string]string
}

// Cleanup is a request sent for every distinct thing that success answers named.
type Cleanup struct {
	Pos     strict.Pos
	Request RequestTemplate
	Headers []HeaderTemplate
	Capture map[string]string
}

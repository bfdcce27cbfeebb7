// Package draft holds a plan in the making: what was learned of an API from its description or from recorded requests, before
// anybody has tried it. Importers make drafts, Write turns one into a commented plan, and Merge adds one to a plan that exists.
//
// Texts are in the language of plans: {{name}} is a placeholder, ${NAME} a variable. What an importer takes over as it is goes through
// Literal, or a way of its own to the same end; braces that can be neither are written as what they are.
//
// What an importer could not know and chose all the same is a guess, and every guess carries the reason, which the plan
// shows beside the line.
package draft

import "go.yaml.in/yaml/v4"

// Draft is a plan in the making. The zero value is a draft of nothing.
type Draft struct {
	// Source is what it was made from, as the user named it: "openapi.yaml", "curl".
	Source string
	// Title is the API's own name; empty when it has none.
	Title string
	// Target is the base URL; empty when the source names none.
	Target Text
	// Callers in the order in which they are to stand in the plan; the first is the default.
	Callers []Caller
	// Counters that endpoints refer to by name.
	Counters []Counter
	// States that endpoints refer to by name.
	States []State
	// Endpoints in the order of the source.
	Endpoints []Endpoint
	// Left are parts of the source that are not in the draft, each with its place and the reason, such as
	// "openapi.yaml:120:5: GET /orders is safe". They are told to the user, and do not stand in the plan.
	Left []string
	// Notes are what whoever drafts a plan should do about the source first. They are told to the user too.
	Notes []string
}

// Text is a value with the reason why it was guessed. An empty Guess says that the source itself gives the value.
type Text struct {
	Value string
	Guess string
}

// Header is a header line whose value may hold placeholders and ${VARIABLES}.
type Header struct {
	Name  string
	Value Text
}

// Caller is a named set of credentials. Credentials are never written out: values hold ${VARIABLES}.
type Caller struct {
	Name    string
	Headers []Header
	// Comment is a line above the caller: where its credentials come from.
	Comment string
}

// Counter is a GET that counts effects. Exactly one of Value and Length is set.
type Counter struct {
	Name string
	// Request is "GET" and a path, such as "GET /orders?reference={{marker}}".
	Request string
	// Value is a JSONPath to the number, Length one to a list.
	Value, Length string
	// Guess is why this request is thought to count; empty when the source says so.
	Guess string
}

// State is a GET whose whole answer a repeat must leave as it is: its status, and its body but for what judging leaves out, such as times.
type State struct {
	Name string
	// Request is "GET" and a path, such as "GET /orders/{{order}}". Endpoints that name the state capture what stands in it.
	Request string
	// Guess is why this request is thought to show what the endpoints change; empty when the source says so.
	Guess string
}

// Endpoint is one operation that is to be tested.
type Endpoint struct {
	// Name is unique in the draft.
	Name string
	// Place is where the source describes it, such as "openapi.yaml:120:5 createOrder".
	Place string
	// Request is a method and a path, in which captures of the set-up stand for parameters: "POST /orders/{{order}}/refunds".
	Request string
	// Template is the path as the source has it, such as "/orders/{orderId}/refunds"; by it and the method an operation is known again.
	Template string
	// Kind is create, method or webhook; empty leaves it to the plan's own rule (POST creates).
	Kind Text
	// Key is where the idempotency key travels.
	Key Key
	// Headers beside those of the first caller, the key and the content type; credentials of another scheme among them.
	Headers []Header
	// Body is at most one of the forms; its nodes carry guesses as line comments ("guess: ..."). The zero value is no body.
	Body Body
	// OtherBody is a merge patch that makes another valid body; nil for none.
	OtherBody *yaml.Node
	// Setup is what must be made first, in order.
	Setup []Step
	// Counters are names of Draft.Counters, each raised by one.
	Counters []string
	// States are names of Draft.States, each the same after a repeat as before it.
	States []string
	// Cleanup removes what was created; nil for none.
	Cleanup *Step
	// Tags are those of the source.
	Tags []string
	// Comments stand above the endpoint, one line each: what a reader must look at before it can work.
	Comments []string
}

// Key is where the idempotency key travels: at most one of the places. The zero value says that the source declares none.
type Key struct {
	Header, JSON, Query string
	// Required is true when the source says that a request without one is refused.
	Required bool
	// Guess is why the place was chosen; empty when the source declares it.
	Guess string
}

// Body is a request body; at most one of JSON, Form and Text is set.
type Body struct {
	// JSON is a tree whose strings may hold placeholders. Scalars have a tag (!!str, !!int, !!float, !!bool or !!null); those
	// without one are texts.
	JSON *yaml.Node
	// Form is a mapping of names to values, sent as application/x-www-form-urlencoded.
	Form *yaml.Node
	// Text is sent as it is, with the content type that stands in the endpoint's headers.
	Text string
}

// Step is a request before or after the tested one.
type Step struct {
	Request string
	Headers []Header
	Body    Body
	// Capture maps a name to a JSONPath, or to "header NAME", in the answer.
	Capture []Capture
	// Guess is why this step is thought to be needed; empty when the source says so.
	Guess string
}

// Capture names a value of an answer.
type Capture struct{ Name, From string }

package trace

// Lesson is what a try taught about one endpoint: two uncontested first requests (the control), another one sent
// twice, and one without a key. It says what was seen, and what a plan should say because of it.
type Lesson struct {
	// Endpoint is the name in the plan, Request its method and path, Kind create, method or webhook, Line where the plan declares it. File
	// is the included file that Line is of; empty for the plan's own.
	Endpoint string `json:"endpoint"`
	Request  string `json:"request"`
	Kind     string `json:"kind"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Assumed are lines that the plan lacks and that were taken as said, because without them nothing could be learned; they are among
	// Paste. Nil: none.
	Assumed []string `json:"assumed,omitempty"`
	// Unsound is why the plan as it stands does not work, where lines were assumed; nil where none were.
	Unsound *Reason `json:"unsound,omitempty"`
	// Learned is what the control taught, the reason why it is not sound included.
	Learned Learned `json:"learned"`
	// First is the first request to the endpoint, or the set-up request that failed before it; nil when nothing was sent.
	First *Exchange `json:"first,omitempty"`
	// Body is the beginning of the body of its answer as text, not compressed; empty where there is none, or no text.
	Body string `json:"body,omitempty"`
	// Located is a GET of what the first answer named, sent only when no counter rose; nil otherwise.
	Located *Exchange `json:"located,omitempty"`
	// Location is the Location of the first answer, and LocationField the creation field ("$.id") that is its last part; empty where
	// there is none.
	Location      string `json:"location,omitempty"`
	LocationField string `json:"location_field,omitempty"`
	// ErrorAt is where a first answer of 2xx seems to hold an error, such as "$.errors"; empty where it does not.
	ErrorAt string `json:"error_at,omitempty"`
	// Work is what was last answered where the work behind the first answer was asked for; nil when nothing was.
	Work *Exchange `json:"work,omitempty"`
	// WorkDone are the values there that say that it is done; nil while it is not.
	WorkDone []Match `json:"work_done,omitempty"`
	// Counters say what one request did to each counter, in the order of the plan. Empty when none was read.
	Counters []Risen `json:"counters,omitempty"`
	// Again is the same request sent a second time; nil when that was not done.
	Again *Again `json:"again,omitempty"`
	// Keyless is a request without its key; nil when none was sent.
	Keyless *Keyless `json:"keyless,omitempty"`
	// Requests is how many requests were sent to the endpoint and its set-up, Removed how much of what they made the clean-up removed.
	Requests int `json:"requests"`
	Removed  int `json:"removed,omitempty"`
	// Exchanges are all of them, in the order of sending, with the questions for work.
	Exchanges []Exchange `json:"exchanges"`
	// Paste are lines that follow from what was seen, Decide lines that say what no request can show; in both what is worth most first.
	Paste  []PlanLine `json:"paste"`
	Decide []PlanLine `json:"decide"`
}

// Risen is what requests did to one counter.
type Risen struct {
	Counter string `json:"counter"`
	// By is how much it rose, Expected how much the plan says. By is meaningless when Error is set.
	By       int64 `json:"by"`
	Expected int64 `json:"expected"`
	// Source is what was asked, Raw the beginning of the answer.
	Source string `json:"source,omitempty"`
	Raw    string `json:"raw,omitempty"`
	// Error says why there is no count; empty when there is one.
	Error string `json:"error,omitempty"`
}

// What the second of two equal requests can turn out to be.
const (
	// AgainSame: it got the answer of the first, in everything that matters.
	AgainSame = "same"
	// AgainDiffers: it names the same creation, or nothing that could be compared, and is not the same answer.
	AgainDiffers = "differs"
	// AgainAnother: it had a second effect.
	AgainAnother = "another"
	// AgainRefused: it was refused.
	AgainRefused = "refused"
	// AgainAllowed: it got another answer, as a method may give to its repeat, such as 404 where a DELETE was sent before.
	AgainAllowed = "allowed"
	// AgainUnknown: it got no answer of the endpoint.
	AgainUnknown = "unknown"
)

// Again is the second of two equal requests beside the first.
type Again struct {
	// Outcome is one of the constants above.
	Outcome string `json:"outcome"`
	// Answer is the exchange.
	Answer Exchange `json:"answer"`
	// Counters say what both requests together did to each counter. Empty when none was read.
	Counters []Risen `json:"counters,omitempty"`
	// Volatile are places of the body, such as "$.served_at", and VolatileHeaders names of headers that differ in every answer, this one
	// included, though nothing new was made.
	Volatile        []string `json:"volatile,omitempty"`
	VolatileHeaders []string `json:"volatile_headers,omitempty"`
	// Changed are places and headers that differ though first answers agree there, or that name what was made: hardly by design.
	Changed []string `json:"changed,omitempty"`
	// Unchanged are the states that were read before and after it and did not change, in the order of the plan. Nil where it did, or none
	// was read.
	Unchanged []string `json:"unchanged,omitempty"`
	// Findings are the rules that it breaks, as a run would say; nil when it breaks none.
	Findings []Finding `json:"findings,omitempty"`
}

// Keyless is a request without its key.
type Keyless struct {
	// Class is how the answer reads: ClassRefused, ClassSuccess, or another one that shows nothing.
	Class Class `json:"class"`
	// Answer is the exchange.
	Answer Exchange `json:"answer"`
}

// PlanLine is a line of plan.
type PlanLine struct {
	// Text is one field with its value, in one line of YAML.
	Text string `json:"text"`
	// File is the included file that it belongs in, and that Replaces and Into are lines of; empty for the plan's own.
	File string `json:"file,omitempty"`
	// Top is true for a line of the file's top level; else it belongs in the endpoint.
	Top bool `json:"top,omitempty"`
	// Replaces is the line of the plan at which the field stands already: Text says all that it says, and takes its place. 0: it is new.
	Replaces int `json:"replaces,omitempty"`
	// Into is the line of the plan at which the field stands that Text is a new entry of; 0 for a field of its own.
	Into int `json:"into,omitempty"`
	// Indent is how many columns stand before it, as before its neighbours.
	Indent int `json:"indent,omitempty"`
	// Braces is true where the neighbours stand in braces: there a comma belongs between.
	Braces bool `json:"braces,omitempty"`
	// With is a line of the endpoint, without which this one of the top level does nothing; nil when there is none.
	With *PlanLine `json:"with,omitempty"`
	// Why is what was seen, or what must be known; empty for a line that only goes with another one.
	Why string `json:"why,omitempty"`
	// Guess is true where nothing that was seen proves it.
	Guess bool `json:"guess,omitempty"`
	// Enables are the ids of scenarios that need it; AllOf is true when every scenario does.
	Enables []string `json:"enables,omitempty"`
	AllOf   bool     `json:"all_of,omitempty"`
}

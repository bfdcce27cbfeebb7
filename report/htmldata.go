package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"retrysafe/internal/trace"
	"retrysafe/scenarios"
)

// mostEvidence is how many bytes of evidence a page holds: with the rest of the page it stays below 20 MB.
const mostEvidence = 16 << 20

// detail is how much evidence of each case a page holds.
type detail struct {
	// Rounds is how many rounds of a case are shown, Requests how many requests of each, Body how many characters of a body.
	Rounds, Requests, Body int
	// Note says what is left out; empty where nothing is, or next to nothing.
	Note string
}

// details are tried in this order until the page is small enough.
func details() []detail {
	return []detail{
		{3, 60, 16 << 10, ""},
		{1, 12, 2 << 10, "To keep this page small, each case shows one round of up to 12 requests, and bodies are cut at 2,048 characters."},
		{1, 6, 256, "To keep this page small, each case shows one round of up to 6 requests, and bodies are cut at 256 characters."},
		{0, 0, 0, "To keep this page small, no requests are shown."},
	}
}

// texts are the texts of a page, each once. A text is named by its index; 0 is the empty one.
type texts struct {
	all []string
	at  map[string]int
}

func newTexts() *texts { return &texts{all: []string{""}, at: map[string]int{"": 0}} }

// of names a text from elsewhere, cleaned.
func (t *texts) of(s string) int {
	s = clean(s)
	i, ok := t.at[s]
	if !ok {
		i = len(t.all)
		t.at[s], t.all = i, append(t.all, s)
	}
	return i
}

// What the page's script reads. Numbers named text are indices of texts; times are microseconds since the round began, null for never.
type (
	dataEndpoint struct {
		Name      int             `json:"name"`
		Request   int             `json:"request"`
		Learned   int             `json:"learned,omitempty"`
		Diagnoses []dataDiagnosis `json:"diagnoses,omitempty"`
		Cases     []dataCase      `json:"cases"`
	}
	dataDiagnosis struct {
		ID       int           `json:"id"`
		Title    int           `json:"title"`
		Why      int           `json:"why"`
		Fix      int           `json:"fix"`
		Example  int           `json:"example"`
		Symptoms []dataSymptom `json:"symptoms"`
	}
	dataSymptom struct {
		Rule      int   `json:"rule"`
		Grade     int   `json:"grade"`
		Scenarios []int `json:"scenarios"`
	}
	dataCase struct {
		Scenario  int           `json:"s"`
		Title     int           `json:"t"`
		Verdict   trace.Verdict `json:"v"`
		Effort    int           `json:"n,omitempty"`
		Took      int           `json:"d,omitempty"`
		Reason    int           `json:"r,omitempty"`
		Try       int           `json:"y,omitempty"`
		Enable    int           `json:"e,omitempty"`
		Where     int           `json:"w,omitempty"`
		Power     int           `json:"p,omitempty"`
		Fired     int           `json:"f,omitempty"`
		Uncounted bool          `json:"u,omitempty"`
		Control   bool          `json:"k,omitempty"`
		Findings  []dataFinding `json:"findings,omitempty"`
		// Requests are those of all rounds, once each.
		Requests []dataExchange `json:"requests,omitempty"`
		Rounds   []dataRound    `json:"rounds,omitempty"`
		Sides    []dataSides    `json:"sides,omitempty"`
		// More is how many rounds are not shown.
		More int `json:"more,omitempty"`
	}
	dataFinding struct {
		Rule     int  `json:"rule"`
		Title    int  `json:"title"`
		Fails    bool `json:"fails,omitempty"`
		Severity int  `json:"severity"`
		Message  int  `json:"message"`
		Expected int  `json:"expected"`
		Actual   int  `json:"actual"`
		Seen     int  `json:"seen,omitempty"`
		// Accepted says why the violation is known and does not fail the run.
		Accepted int         `json:"accepted,omitempty"`
		Counts   []dataCount `json:"counts,omitempty"`
		// Cause is the index of the diagnosis, from 1; 0 for none. Why and Fix are then left to it.
		Cause int   `json:"cause,omitempty"`
		Why   int   `json:"why,omitempty"`
		Fix   int   `json:"fix,omitempty"`
		Curl  []int `json:"curl,omitempty"`
	}
	dataCount struct {
		Name     int   `json:"name"`
		Before   int64 `json:"before"`
		After    int64 `json:"after"`
		Expected int64 `json:"expected"`
	}
	dataRound struct {
		Name int `json:"name"`
		// Requests are indices of the case's.
		Requests []int         `json:"requests"`
		More     int           `json:"more,omitempty"`
		Readings []dataReading `json:"readings,omitempty"`
		Pauses   []dataPause   `json:"pauses,omitempty"`
		Arrivals []dataArrival `json:"arrivals,omitempty"`
		Fired    []int         `json:"fired,omitempty"`
	}
	dataReading struct {
		Name   int      `json:"name"`
		At     *float64 `json:"at"`
		Values int      `json:"values"`
	}
	dataPause struct {
		What  int      `json:"what"`
		From  *float64 `json:"from"`
		To    *float64 `json:"to"`
		Error int      `json:"error,omitempty"`
	}
	// dataArrival is what a sink got.
	dataArrival struct {
		ID   int      `json:"id"`
		At   *float64 `json:"at"`
		Sink int      `json:"sink"`
		What int      `json:"what"`
	}
	dataExchange struct {
		ID       int      `json:"id"`
		What     int      `json:"what"`
		Setup    bool     `json:"setup,omitempty"`
		Class    int      `json:"class,omitempty"`
		Status   int      `json:"status,omitempty"`
		Started  *float64 `json:"started"`
		Sent     *float64 `json:"sent"`
		First    *float64 `json:"first"`
		Done     *float64 `json:"done"`
		Left     *float64 `json:"left,omitempty"`
		Effect   *float64 `json:"effect,omitempty"`
		Over     int      `json:"over,omitempty"`
		NoAnswer int      `json:"none,omitempty"`
		Line     int      `json:"line"`
		Asked    []int    `json:"asked,omitempty"`
		Sends    int      `json:"sends,omitempty"`
		Headers  []int    `json:"headers,omitempty"`
		Body     int      `json:"body,omitempty"`
		BodyNote int      `json:"note,omitempty"`
	}
	// dataSides are answers beside the first of them.
	dataSides struct {
		Name int        `json:"name"`
		With []dataSide `json:"with"`
	}
	dataSide struct {
		// Request is an index of the case's.
		Request     int              `json:"request"`
		Differences []dataDifference `json:"differences,omitempty"`
		More        int              `json:"more,omitempty"`
		Headers     []int            `json:"headers,omitempty"`
		Lines       []int            `json:"lines,omitempty"`
	}
	dataDifference struct {
		Where    int  `json:"where"`
		Here     int  `json:"here,omitempty"`
		There    int  `json:"there,omitempty"`
		Volatile bool `json:"volatile,omitempty"`
	}
)

// evidence is everything that the page's script shows: the texts, and the data of each endpoint, as JSON.
type evidence struct {
	texts     []byte
	endpoints [][]byte
	note      string
}

func (e *evidence) size() int {
	n := len(e.texts)
	for _, part := range e.endpoints {
		n += len(part)
	}
	return n
}

// collectEvidence takes as much evidence as a page of so many bytes has room for.
func collectEvidence(run *trace.Run, endpoints []*trace.Endpoint, o Options, most int) (e evidence, err error) {
	for _, d := range details() {
		c := collector{run: run, rules: o.Rules, texts: newTexts(), detail: d, advice: newPrinter(o)}
		if e, err = c.collect(endpoints); err != nil || e.size() <= most {
			return e, err
		}
	}
	return e, nil
}

// collector makes the data of a page.
type collector struct {
	run   *trace.Run
	rules []scenarios.Rule
	texts *texts
	detail
	advice *printer
}

func (c *collector) collect(endpoints []*trace.Endpoint) (e evidence, err error) {
	e.note = c.Note
	for _, ep := range endpoints {
		text, err := json.Marshal(c.endpoint(ep))
		if err != nil {
			return e, err
		}
		e.endpoints = append(e.endpoints, text)
	}
	e.texts, err = json.Marshal(c.texts.all)
	return e, err
}

func (c *collector) endpoint(ep *trace.Endpoint) dataEndpoint {
	out := dataEndpoint{Name: c.texts.of(oneLine(ep.Name)), Request: c.texts.of(oneLine(ep.Request)), Learned: c.texts.of(learnedText(ep)), Cases: []dataCase{}}
	for i := range ep.Diagnoses {
		d := &ep.Diagnoses[i]
		one := dataDiagnosis{ID: c.texts.of(d.ID), Title: c.texts.of(d.Title), Why: c.texts.of(d.Why), Fix: c.texts.of(d.Fix), Example: c.texts.of(strings.TrimRight(d.Example, "\n"))}
		for _, s := range symptomsOf(c.run, ep, d) {
			symptom := dataSymptom{Rule: c.texts.of(s.rule), Grade: c.texts.of(string(s.worst))}
			for _, id := range s.scenarios {
				symptom.Scenarios = append(symptom.Scenarios, c.texts.of(id))
			}
			one.Symptoms = append(one.Symptoms, symptom)
		}
		out.Diagnoses = append(out.Diagnoses, one)
	}
	for _, k := range tested(ep) {
		out.Cases = append(out.Cases, c.oneCase(ep, k))
	}
	return out
}

func (c *collector) oneCase(ep *trace.Endpoint, k *trace.Case) dataCase {
	t := c.texts
	out := dataCase{Scenario: t.of(k.Scenario), Title: t.of(k.Title), Verdict: k.Verdict, Effort: t.of(effort(k)), Took: t.of(elapsed(k)),
		Power: t.of(k.Power), Fired: t.of(fired(k.Firing)), Uncounted: k.Uncounted, Control: k.OnControl, Enable: t.of(strings.TrimRight(k.Enable, " \n"))}
	if required(k) || k.Verdict != trace.Pass && k.Verdict != trace.Warn && k.Verdict != trace.Fail {
		out.Reason = t.of(strings.TrimPrefix(limit(whyNot(k), longText), ": "))
		if k.Enable == "" {
			out.Try = t.of(c.advice.hint(k.Reason, k.Detail))
		}
	}
	if out.Enable != 0 {
		g := gapKeyOf(k).gap()
		g.cases.endpoints = []string{ep.Name}
		out.Where = t.of(c.advice.heads(&g))
	}
	for i := range k.Findings {
		out.Findings = append(out.Findings, c.finding(ep, k, &k.Findings[i]))
	}
	if c.Rounds > 0 {
		c.rounds(&out, ep, k)
	}
	return out
}

// longText is the most characters shown of a message or of one side of a comparison.
const longText = 2000

func (c *collector) finding(ep *trace.Endpoint, k *trace.Case, f *trace.Finding) dataFinding {
	t, rule := c.texts, ruleOf(c.rules, f.Rule)
	out := dataFinding{Rule: t.of(f.Rule), Title: t.of(rule.Title), Severity: t.of(string(f.Severity)), Fails: fails(c.run, ep, f),
		Message: t.of(limit(f.Message, longText)), Expected: t.of(limit(f.Expected, longText)), Actual: t.of(limit(f.Actual, longText)), Seen: t.of(seenIn(k, f)), Accepted: t.of(acceptance(f))}
	for _, name := range slices.Sorted(maps.Keys(f.Counts)) {
		n := f.Counts[name]
		out.Counts = append(out.Counts, dataCount{t.of(name), n.Before, n.After, n.Expected})
	}
	if d := diagnosisOf(ep, k.Scenario, f.Rule); d != nil {
		out.Cause = 1 + slices.IndexFunc(ep.Diagnoses, func(o trace.Diagnosis) bool { return o.ID == d.ID })
	} else {
		out.Why, out.Fix = t.of(rule.Why), t.of(rule.Fix)
	}
	for _, line := range f.Curl {
		out.Curl = append(out.Curl, t.of(line))
	}
	return out
}

// learnedText is what the control taught, as in a verbose report for a terminal.
func learnedText(ep *trace.Endpoint) string {
	if ep.Control == nil || !ep.Control.Learned.Sound {
		return ""
	}
	l := &ep.Control.Learned
	text := fmt.Sprintf("success is %d, handled in %s%s", l.SuccessStatus, span(l.Handling.Duration()), awaited(ep))
	if len(l.CreationFields) > 0 {
		text += "; differs for every creation: " + strings.Join(l.CreationFields, ", ")
	}
	if len(ep.Facts.Counters) > 0 {
		text += "; counters show an effect after " + span(l.CountLag.Duration())
	}
	return text
}

// since is a moment in microseconds after another one; nil for one that never came.
func since(at, origin trace.Nanos) *float64 {
	if at == 0 {
		return nil
	}
	us := math.Round((at-origin).Micros()*10) / 10
	return &us
}

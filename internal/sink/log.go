// Package sink listens in place of what an endpoint sends to: a mail server, a payment service. It keeps what arrives,
// finds by a text whose it is, and can fail a call on purpose, so that the endpoint has to send it again.
//
// The flow: Listen opens the sinks of a plan (listen.go); a mail (smtp.go, mail.go) or a call (http.go) is read within
// bounds, reduced to its texts (texts.go), and kept in the log of its sink (log.go), which finds the matches and decides
// whether to fail it. What is kept is complete before the sender gets an answer, so that whoever waited for the endpoint's
// answer sees it.
//
// Nobody trusts what is sent here: the size of a message, the number of connections and messages, the memory for all of
// them, and the time that a sender may take are bounded.
package sink

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"retrysafe/internal/plan"
	"retrysafe/internal/trace"
)

// The bounds of a log. The deepest run has some thousand requests; a mail of a few kilobytes for each of 20,000 is 64 MiB.
const (
	mostArrivals = 20_000
	mostKept     = 64 << 20
)

// Log keeps what arrived at one sink. It is safe for concurrent use.
type Log struct {
	name  string
	clock func() trace.Nanos
	ids   *atomic.Int64
	first *plan.Failure
	// decide says how to fail an arrival, in place of the watches; nil for a sink of a plan.
	decide func(trace.Arrival) *plan.Failure

	mu       sync.Mutex
	arrivals []trace.Arrival
	texts    []string // of each arrival, in lower case
	kept     int
	// lost says why something that was sent is missing; empty when nothing is.
	lost    string
	watches []*watch
	changed chan struct{} // closed and replaced with every arrival
}

// watch is a text that is looked for, with the arrivals that hold it.
type watch struct {
	text     string
	found    []int
	failures []*plan.Failure // of the next arrivals
}

func newLog(name string, first *plan.Failure, clock func() trace.Nanos, ids *atomic.Int64) *Log {
	return &Log{name: name, clock: clock, ids: ids, first: first, changed: make(chan struct{})}
}

// add keeps an arrival with its texts and says how to fail it; nil when it is to be served. An error says that there is no
// room, and nothing was kept. finish completes the arrival once that is decided, before anybody can see it.
func (l *Log) add(a trace.Arrival, texts string, finish func(*trace.Arrival, *plan.Failure)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.arrivals) >= mostArrivals || l.kept+len(texts) > mostKept {
		l.lost = fmt.Sprintf("more than %d messages or %d MiB arrived, and no more are kept", mostArrivals, mostKept>>20)
		return fmt.Errorf("%s", l.lost)
	}
	a.ID, a.Sink, a.At = int(l.ids.Add(1)), l.name, l.clock()
	n := len(l.arrivals)
	var fail *plan.Failure
	for _, w := range l.watches {
		if strings.Contains(texts, w.text) {
			w.found = append(w.found, n)
			if fail == nil && len(w.failures) > 0 {
				fail, w.failures = w.failures[0], w.failures[1:]
			}
		}
	}
	if l.decide != nil {
		fail = l.decide(a)
	}
	if finish != nil {
		finish(&a, fail)
	}
	l.arrivals, l.texts, l.kept = append(l.arrivals, a), append(l.texts, texts), l.kept+len(texts)
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

// lose notes that something was sent and could not be kept.
func (l *Log) lose(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == "" {
		l.lost = why
	}
}

// watching is the watch of a text. From the first time on, arrivals that hold it are found; those before are found then.
func (l *Log) watching(text string) *watch {
	text = strings.ToLower(text)
	if i := slices.IndexFunc(l.watches, func(w *watch) bool { return w.text == text }); i >= 0 {
		return l.watches[i]
	}
	w := &watch{text: text}
	for i, t := range l.texts {
		if strings.Contains(t, text) {
			w.found = append(w.found, i)
		}
	}
	if l.first != nil && len(w.found) == 0 {
		w.failures = append(w.failures, l.first)
	}
	l.watches = append(l.watches, w)
	return w
}

// Read gives what arrived with that text in it, in order. An error says that something is missing.
func (l *Log) Read(text string) ([]trace.Arrival, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.watching(text)
	out := make([]trace.Arrival, len(w.found))
	for i, n := range w.found {
		out[i] = l.arrivals[n]
	}
	if l.lost != "" {
		return out, fmt.Errorf("sink %s: %s", l.name, l.lost)
	}
	return out, nil
}

// Fail has the next arrival with that text fail. The function takes that back where it has not happened yet.
func (l *Log) Fail(text string, how plan.Failure) (undo func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.watching(text)
	f := &how
	w.failures = append([]*plan.Failure{f}, w.failures...)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		w.failures = slices.DeleteFunc(w.failures, func(g *plan.Failure) bool { return g == f })
	}
}

// All gives everything that arrived, in order, why something is missing (empty when nothing is), and a channel that is
// closed with the next arrival.
func (l *Log) All() (as []trace.Arrival, lost string, next <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.arrivals), l.lost, l.changed
}

// hangLimit bounds how long a call is left without an answer when the client does not leave.
const hangLimit = 2 * time.Minute

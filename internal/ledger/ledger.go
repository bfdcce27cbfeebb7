// Package ledger keeps keys from one run to the next. A run plants the keys of its control, whose requests had one effect each; a later
// run takes those that are due and sends the same requests again: within the lifetime of the key it must be replayed, after
// it executed. So a nightly job checks a lifetime of a day without waiting for it.
//
// The file is JSON with a version. It is replaced as a whole, by renaming a complete one, so a run that dies half-way leaves the one
// before; what cannot be read is never written over. A key that is taken is taken out of the file before anything is sent
// under it: a run that dies then loses a check, never makes one twice. Answers are stored with secrets replaced,
// and what rests on a secret is not planted.
package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"retrysafe/internal/trace"
)

// SchemaV1 names the format of the file. It changes when a field changes its meaning or disappears.
const SchemaV1 = "retrysafe/ledger/v1"

const (
	// mostBytes bounds a file that is read: 1,000 endpoints with twenty answers of 10 kB each.
	mostBytes = 200 << 20
	// mostBody bounds an answer that is planted; a longer one would make the file grow by itself.
	mostBody = 64 << 10
	// keepLifetimes is how many lifetimes a key stays in the file when nobody asks for it.
	keepLifetimes = 20
	// clocksApart is how far the clocks of two machines that use one file may be apart.
	clocksApart = time.Minute
)

// Entry is a key that a run planted, with all that the same request needs again.
type Entry struct {
	// ID is unique in the file.
	ID string `json:"id"`
	// Run is the id of the run that planted it.
	Run string `json:"run"`
	// Target is the base URL, Endpoint the name in the plan, Request its method and path there.
	Target   string `json:"target"`
	Endpoint string `json:"endpoint"`
	Request  string `json:"request"`
	// For says which check it is kept for; a key kept for Within that nobody asked for in time serves for After too.
	For Purpose `json:"for"`
	// Lifetime is how long the key is remembered, by the plan of that run, in nanoseconds.
	Lifetime time.Duration `json:"lifetime_ns"`
	// Answered is when its first answer was complete, UTC.
	Answered time.Time `json:"answered"`
	// Key, Marker, UUID, Now and Date are what placeholders stood for, Captures what the set-up yielded.
	Key      string            `json:"key"`
	Marker   string            `json:"marker"`
	UUID     string            `json:"uuid"`
	Now      string            `json:"now"`
	Date     string            `json:"date"`
	Captures map[string]string `json:"captures,omitempty"`
	// Digest is that of the request, secrets replaced (see Digest).
	Digest string `json:"digest"`
	// First is the request and its answer, without the request's headers.
	First trace.Exchange `json:"first"`
}

// Purpose is the check that a key is kept for.
type Purpose string

// The purposes.
const (
	Within Purpose = "within"
	After  Purpose = "after"
)

// Query asks for a key of an endpoint whose age is a certain share of its lifetime.
type Query struct {
	Target, Endpoint, Request string
	Lifetime                  time.Duration
	// From and To are shares of the lifetime; To 0 means no end.
	From, To float64
}

func (q Query) matches(e *Entry) bool {
	return e.Target == q.Target && e.Endpoint == q.Endpoint && e.Request == q.Request && e.Lifetime == q.Lifetime
}

// purpose is the one that a key must be kept for to serve the query; After takes either.
func (q Query) purpose() Purpose {
	if q.From < 1 {
		return Within
	}
	return After
}

// Due reports whether the entry's age is what the query asks for.
func (q Query) Due(e *Entry, now time.Time) bool {
	share := float64(now.Sub(e.Answered)) / float64(e.Lifetime)
	return share >= q.From && (q.To == 0 || share <= q.To)
}

// Ledger is an open file. Use Open; methods are for one goroutine.
type Ledger struct {
	path string
	lock *flock.Flock
	file file
}

type file struct {
	Schema  string  `json:"schema"`
	Entries []Entry `json:"entries"`
}

// Open reads the file, or begins an empty one when there is none, and keeps other runs from it until Close. An error says what is wrong
// with it; the file is left as it was.
func Open(path string) (*Ledger, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // one lock whatever it is called, and a link stays one
	}
	l := &Ledger{path: path, lock: flock.New(path + ".lock"), file: file{Schema: SchemaV1}}
	switch ok, err := l.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	case !ok:
		return nil, fmt.Errorf("ledger %s: another run has it open (%s.lock): wait for it to end, or give each its own file", path, path)
	}
	if err := l.read(); err != nil {
		return nil, errors.Join(err, l.lock.Unlock())
	}
	return l, nil
}

func (l *Ledger) read() error {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return fmt.Errorf("ledger %s: %w", l.path, err)
	}
	if len(text) > mostBytes {
		return fmt.Errorf("ledger %s: larger than %d MB: move it away, and the next run begins a new one", l.path, mostBytes>>20)
	}
	if l.file, err = decode(text); err != nil {
		return fmt.Errorf("ledger %s: %w: restore it from a copy, or move it away and the next run begins a new one (it was left as it is)", l.path, err)
	}
	return nil
}

// decode reads a whole file. Whatever a run could not have written is an error: a key that is missing, or that is there again, would
// make a later check accuse the endpoint.
func decode(text []byte) (file, error) {
	var f file
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return f, fmt.Errorf("it ends in the middle, after %d bytes", len(text))
		}
		return f, fmt.Errorf("it is damaged: %w", err)
	}
	if f.Schema != SchemaV1 {
		return f, fmt.Errorf("expected schema %q, found %q", SchemaV1, f.Schema)
	}
	if rest := strings.TrimSpace(string(text[d.InputOffset():])); rest != "" {
		return f, fmt.Errorf("it is damaged: expected nothing behind the document, found %d bytes", len(rest))
	}
	for i := range f.Entries {
		if err := f.Entries[i].check(); err != nil {
			return f, fmt.Errorf("it is damaged: entry %d: %w", i+1, err)
		}
	}
	return f, nil
}

func (e *Entry) check() error {
	switch {
	case e.ID == "" || e.Target == "" || e.Endpoint == "" || e.Key == "" || e.Marker == "" || e.Digest == "":
		return errors.New("expected id, target, endpoint, key, marker and digest, found one empty")
	case e.For != Within && e.For != After:
		return fmt.Errorf("for: expected %s or %s, found %q", Within, After, e.For)
	case e.Lifetime <= 0:
		return fmt.Errorf("lifetime_ns: expected a number above 0, found %d", e.Lifetime)
	case e.Answered.IsZero():
		return errors.New("answered: expected a time, found none")
	case e.First.Response == nil:
		return errors.New("first: expected an answer, found none")
	}
	return nil
}

// Take takes for each query the oldest key that is due out of the ledger, and saves it. A nil entry means that none is
// due. When saving fails nothing is taken.
func (l *Ledger) Take(queries []Query, now time.Time) ([]*Entry, error) {
	taken := make([]*Entry, len(queries))
	rest := slices.Clone(l.file.Entries)
	for i, q := range queries {
		at := -1
		for k := range rest {
			fits := q.matches(&rest[k]) && q.Due(&rest[k], now) && (rest[k].For == q.purpose() || q.purpose() == After)
			if fits && (at < 0 || rest[k].Answered.Before(rest[at].Answered)) {
				at = k
			}
		}
		if at >= 0 {
			e := rest[at]
			taken[i], rest = &e, slices.Delete(rest, at, at+1)
		}
	}
	if len(rest) == len(l.file.Entries) {
		return taken, nil
	}
	if err := l.save(rest); err != nil {
		return nil, err
	}
	return taken, nil
}

// Next is when the first key for the query will be due; the zero time when none will.
func (l *Ledger) Next(q Query, now time.Time) time.Time {
	var next time.Time
	for i := range l.file.Entries {
		e := &l.file.Entries[i]
		due := e.Answered.Add(time.Duration(q.From * float64(e.Lifetime)))
		if q.matches(e) && due.After(now) && (e.For == q.purpose() || q.purpose() == After) && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// Plant adds keys and saves. A key is left out while a younger one than a tenth of the lifetime is kept for the same check, and when its
// answer is too long. Keys that nobody asked for in twenty lifetimes are dropped, and those from the future: the clock was wrong when they
// were planted, or is now, and they would keep others out until it has caught up.
func (l *Ledger) Plant(planted []Entry, now time.Time) error {
	kept := slices.DeleteFunc(slices.Clone(l.file.Entries), func(e Entry) bool {
		age := now.Sub(e.Answered)
		return age > keepLifetimes*e.Lifetime || age < -max(e.Lifetime/10, clocksApart)
	})
	for _, p := range planted {
		young := func(e Entry) bool {
			return e.Target == p.Target && e.Endpoint == p.Endpoint && e.For == p.For && p.Answered.Sub(e.Answered) < p.Lifetime/10
		}
		if p.First.Response.Body.Size > mostBody || slices.ContainsFunc(kept, young) {
			continue
		}
		p.ID = newID()
		kept = append(kept, p)
	}
	return l.save(kept)
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

// save replaces the file by a complete new one. Only its owner may read it: it holds keys and answers.
func (l *Ledger) save(entries []Entry) error {
	text, err := json.MarshalIndent(file{Schema: SchemaV1, Entries: entries}, "", " ")
	if err != nil {
		return fmt.Errorf("ledger %s: %w", l.path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(text, '\n'))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := os.Rename(tmp.Name(), l.path); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.file.Entries = entries
	return nil
}

// Close lets other runs have the file. The lock stays beside it: who removed it could remove another run's.
func (l *Ledger) Close() error {
	if err := l.lock.Unlock(); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

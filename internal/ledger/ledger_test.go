package ledger

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"retrysafe/internal/trace"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// entry is a key of the endpoint "create" with a lifetime of an hour that was answered so long before noon.
func entry(id string, purpose Purpose, age time.Duration) Entry {
	return Entry{ID: id, Run: "r", Target: "http://shop", Endpoint: "create", Request: "POST /orders", For: purpose,
		Lifetime: time.Hour, Answered: noon.Add(-age), Key: "k-" + id, Marker: "m", Digest: "d",
		First: trace.Exchange{Response: &trace.Response{Status: 201}}}
}

func query(from, to float64) Query {
	return Query{Target: "http://shop", Endpoint: "create", Request: "POST /orders", Lifetime: time.Hour, From: from, To: to}
}

func open(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTake(t *testing.T) {
	within, after := query(.5, .9), query(1.2, 0)
	elsewhere := within
	elsewhere.Endpoint = "other"
	longer := within
	longer.Lifetime = 2 * time.Hour
	for _, tt := range []struct {
		name    string
		kept    []Entry
		queries []Query
		want    []string // ids by query, "" for none
		rest    []string
	}{
		{"none", nil, []Query{within, after}, []string{"", ""}, nil},
		{"too young, too old", []Entry{entry("a", Within, 10*time.Minute), entry("b", After, 65*time.Minute)},
			[]Query{within, after}, []string{"", ""}, []string{"a", "b"}},
		{"both due", []Entry{entry("a", Within, 40*time.Minute), entry("b", After, 80*time.Minute)},
			[]Query{within, after}, []string{"a", "b"}, nil},
		{"the oldest", []Entry{entry("a", Within, 40*time.Minute), entry("b", Within, 50*time.Minute)},
			[]Query{within}, []string{"b"}, []string{"a"}},
		{"kept for after", []Entry{entry("a", After, 40*time.Minute)}, []Query{within}, []string{""}, []string{"a"}},
		{"missed within serves after", []Entry{entry("a", Within, 90*time.Minute)}, []Query{within, after}, []string{"", "a"}, nil},
		{"once only", []Entry{entry("a", After, 90*time.Minute)}, []Query{after, after}, []string{"a", ""}, nil},
		{"another endpoint, another lifetime", []Entry{entry("a", Within, 40*time.Minute)}, []Query{elsewhere, longer}, []string{"", ""}, []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys.json")
			l := open(t, path)
			if err := l.save(tt.kept); err != nil {
				t.Fatal(err)
			}
			got, err := l.Take(tt.queries, noon)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range got {
				id := ""
				if e != nil {
					id = e.ID
				}
				if id != tt.want[i] {
					t.Errorf("query %d took %q, want %q", i, id, tt.want[i])
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			var rest []string
			for _, e := range open(t, path).file.Entries {
				rest = append(rest, e.ID)
			}
			if !slices.Equal(rest, tt.rest) {
				t.Errorf("the file keeps %v, want %v", rest, tt.rest)
			}
		})
	}
}

func TestPlant(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "keys.json"))
	long := entry("", After, 0)
	long.First.Response.Body.Size = mostBody + 1
	if err := l.save([]Entry{entry("old", Within, 21*time.Hour), entry("young", Within, 5*time.Minute), entry("future", After, -7*time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if err := l.Plant([]Entry{entry("", Within, 0), entry("", After, 0), long}, noon); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range l.file.Entries {
		got = append(got, string(e.For)+" "+e.Answered.Format("15:04"))
		if e.ID == "" {
			t.Error("an entry has no id")
		}
	}
	// The old one is dropped and the one from the future too, the young one keeps another from being planted beside it, the long answer is
	// left out.
	if want := []string{"within 11:55", "after 12:00"}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

func TestNext(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "keys.json"))
	if err := l.save([]Entry{entry("a", Within, 10*time.Minute), entry("b", After, 20*time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if got, want := l.Next(query(.5, .9), noon), noon.Add(20*time.Minute); !got.Equal(want) {
		t.Errorf("within: %s, want %s", got, want)
	}
	if got, want := l.Next(query(1.2, 0), noon), noon.Add(52*time.Minute); !got.Equal(want) {
		t.Errorf("after: %s, want %s", got, want)
	}
	if got := l.Next(Query{}, noon); !got.IsZero() {
		t.Errorf("no such endpoint: %s, want none", got)
	}
}

// TestOneRunAtATime: two runs with one file would use each other's keys up.
func TestOneRunAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	first := open(t, path)
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "another run has it open") {
		t.Errorf("a second Open gave %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

// TestThroughALink: a file has one lock whatever it is called, and the link to it stays one.
func TestThroughALink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "keys.json"), filepath.Join(dir, "link.json")
	l := open(t, file)
	if err := errors.Join(l.Plant([]Entry{entry("", Within, 0)}, noon), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link); err == nil {
		t.Error("two runs have one file open")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, link).Plant([]Entry{entry("", After, 0)}, noon); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	text, err := os.ReadFile(file)
	if n := strings.Count(string(text), `"id":`); err != nil || n < 2 {
		t.Errorf("the file has %d entries, want 2: %v", n, err)
	}
}

// TestCutAnywhere: whatever a crash or a full disk leaves of a file is an error, or nothing at all, and is not written over.
func TestCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	l := open(t, path)
	if err := l.Plant([]Entry{entry("", Within, 0), entry("", After, 0)}, noon); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := len(strings.TrimSpace(string(whole)))
	for n := range end {
		cut := whole[:n]
		if err := os.WriteFile(path, cut, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil {
			t.Fatalf("cut after %d of %d bytes: accepted", n, len(whole))
		}
		if left, _ := os.ReadFile(path); string(left) != string(cut) {
			t.Fatalf("cut after %d bytes: written over", n)
		}
	}
}

func TestDamaged(t *testing.T) {
	good := entry("a", Within, 0)
	change := func(f func(*Entry)) string {
		e := good
		f(&e)
		text, err := json.Marshal(file{SchemaV1, []Entry{e}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tt := range []struct{ text, want string }{
		{"", "ends in the middle, after 0 bytes"},
		{"hello", "damaged"},
		{`{"schema":"retrysafe/ledger/v2"}`, `expected schema "retrysafe/ledger/v1", found "retrysafe/ledger/v2"`},
		{`{"schema":"retrysafe/ledger/v1","entries":[]} more`, "nothing behind the document, found 4 bytes"},
		{`{"schema":"retrysafe/ledger/v1","keys":[]}`, `unknown field "keys"`},
		{change(func(e *Entry) { e.Key = "" }), "entry 1: expected id, target"},
		{change(func(e *Entry) { e.For = "ever" }), `for: expected within or after, found "ever"`},
		{change(func(e *Entry) { e.Lifetime = 0 }), "lifetime_ns"},
		{change(func(e *Entry) { e.Answered = time.Time{} }), "answered: expected a time"},
		{change(func(e *Entry) { e.First.Response = nil }), "first: expected an answer"},
	} {
		if _, err := decode([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := decode([]byte(change(func(*Entry) {}))); err != nil {
		t.Errorf("a good file: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	text, err := json.Marshal(file{SchemaV1, []Entry{entry("a", Within, 0)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"schema":"retrysafe/ledger/v1","entries":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decode(text)
		if err != nil {
			return
		}
		for i := range got.Entries {
			if err := got.Entries[i].check(); err != nil {
				t.Errorf("accepted: %v", err)
			}
		}
	})
}

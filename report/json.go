package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"retrysafe/internal/trace"
)

// JSONWriter writes the results document of one run.
//
// While the run goes on, every finished case is appended as one line to the file PATH.partial, so that a
// crash or a power cut loses no more than the cases under way, and so is every finished endpoint; its first line says what
// was to be run, so that ReadRun can read it. At the end the document
// is put together from the endpoints, one after the other, so that it never has to fit into memory; it replaces PATH
// in one step and the partial file is removed. The document is the truth: the last count of an endpoint can
// change the result of a case after its line was written.
//
// The zero value is not usable; NewJSON makes one. Case and Endpoint may be called from several goroutines.
type JSONWriter struct {
	mu   sync.Mutex
	path string
	// partial holds the lines: PATH.partial, or a file of its own that nobody else sees.
	partial *os.File
	// direct is where the document goes when the path is no regular file (standard output, a pipe, a device).
	direct io.Writer
	closer io.Closer
	// ended says where in partial the line of each endpoint is, by its index in the plan.
	ended map[int]section
	size  int64
	// begun is how much of partial says what was to be run.
	begun int64
	// lost is why an endpoint could not be kept; nil when all could.
	lost error
	done bool
}

// section is a part of a file.
type section struct{ at, size int64 }

// PartialSuffix is added to the path of the document for the record of a run that has not ended.
const PartialSuffix = ".partial"

// PartialBegin is the first line of the partial record: what was to be run.
type PartialBegin struct {
	Began Began `json:"began"`
}

// Began is a run that has begun.
type Began struct {
	// Run has every endpoint without its cases, or with skeletons of them where they are not Cases.
	Run trace.Run `json:"run"`
	// Cases are those that endpoints were to have, as skeletons.
	Cases []trace.Case `json:"cases"`
}

// PartialEndpoint is one line of the partial record: an endpoint that has ended, as the document will have it.
type PartialEndpoint struct {
	Ended *trace.Endpoint `json:"ended"`
}

// PartialCase is one line of the partial record.
type PartialCase struct {
	// Endpoint is the name of the endpoint as in the plan.
	Endpoint string `json:"endpoint"`
	// Case is the case as it was judged when it ended.
	Case trace.Case `json:"case"`
}

// NewJSON prepares a document at path, before anything is sent, so that a path that cannot be written fails
// early: it creates the partial file. An older document at path stays until Finish replaces it. The
// path "-" is stdout; there and for anything else that is no regular file (/dev/stdout, a pipe) the document is written
// directly at the end and there is no partial record. The error says what could not be created.
func NewJSON(path string, stdout io.Writer) (*JSONWriter, error) {
	if path == "" {
		return nil, errors.New("json report: the path is empty; write json=FILE, or json=- for standard output")
	}
	if path == "-" {
		return newDirect(stdout, nil)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return openDirect(path, info)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	partial, err := os.OpenFile(path+PartialSuffix, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("json report: %w; choose a file in a folder that exists and can be written", err)
	}
	return &JSONWriter{path: path, partial: partial, ended: map[int]section{}}, nil
}

// newDirect keeps the endpoints that have ended in a file without a name, where the system allows that.
func newDirect(w io.Writer, closer io.Closer) (*JSONWriter, error) {
	partial, err := os.CreateTemp("", "retrysafe-*"+PartialSuffix)
	if err != nil {
		return nil, fmt.Errorf("json report: %w; endpoints that have ended are kept in the folder for temporary files", err)
	}
	_ = os.Remove(partial.Name()) // where an open file cannot be removed, that is done at the end
	return &JSONWriter{direct: w, closer: closer, partial: partial, ended: map[int]section{}}, nil
}

func openDirect(path string, info fs.FileInfo) (*JSONWriter, error) {
	if info.IsDir() {
		return nil, fmt.Errorf("json report: %s is a folder; name a file in it", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("json report: %w", err)
	}
	return newDirect(f, f)
}

// Begin writes down what is to be run: the endpoints of the run without cases, and the cases of each with scenario and title. It
// comes before Case and Endpoint. Where there is no record that outlives a crash it does nothing.
func (j *JSONWriter) Begin(run *trace.Run, cases []trace.Case) error {
	if j.direct != nil {
		return nil
	}
	at, err := j.line(PartialBegin{Began{*run, cases}})
	j.begun = at.size
	return err
}

// Case appends a finished case of the named endpoint to the partial record. Where there is none that outlives a crash
// it does nothing.
func (j *JSONWriter) Case(endpoint string, c *trace.Case) error {
	if j.direct != nil {
		return nil
	}
	_, err := j.line(PartialCase{Endpoint: endpoint, Case: *c})
	return err
}

// Endpoint keeps an endpoint that has ended for the document, by its index in the run.
func (j *JSONWriter) Endpoint(i int, ep *trace.Endpoint) error {
	at, err := j.line(PartialEndpoint{ep})
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.lost = err
		return err
	}
	j.ended[i] = at
	return nil
}

// line appends a line and says where it is. The text goes from the encoder to the file: that of an endpoint can have the size of all
// its answers.
func (j *JSONWriter) line(v any) (section, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done {
		return section{}, errors.New("json report: finished or aborted before")
	}
	at := j.size
	if err := json.NewEncoder((*appender)(j)).Encode(v); err != nil {
		return section{}, fmt.Errorf("json report: %w", err)
	}
	return section{at, j.size - at}, nil
}

// appender writes to the partial record.
type appender JSONWriter

func (a *appender) Write(p []byte) (int, error) {
	n, err := a.partial.Write(p)
	a.size += int64(n)
	return n, err
}

// Finish writes the document: the run as encoding/json encodes it, indented by two spaces, with a line
// feed at the end. Endpoints that were handed to Endpoint are as they were then, others as the run has them. It goes
// to a temporary file beside the path that is then renamed, so that readers see the old
// document or the new one, never a part. After an error the partial record is kept.
func (j *JSONWriter) Finish(run *trace.Run) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done {
		return errors.New("json report: finished or aborted before")
	}
	j.done = true
	if j.direct != nil {
		return j.writeDirect(run)
	}
	if err := j.replace(run); err != nil {
		return errors.Join(fmt.Errorf("json report: %w", err), j.partial.Close())
	}
	if err := errors.Join(j.partial.Close(), os.Remove(j.partial.Name())); err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	return nil
}

func (j *JSONWriter) writeDirect(run *trace.Run) error {
	err := errors.Join(j.document(j.direct, run), j.drop())
	if j.closer != nil {
		err = errors.Join(err, j.closer.Close())
	}
	if err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	return nil
}

// drop removes the file without a name.
func (j *JSONWriter) drop() error {
	err := j.partial.Close()
	_ = os.Remove(j.partial.Name()) // gone already, mostly
	return err
}

// document writes the run. One endpoint at a time is in memory.
func (j *JSONWriter) document(w io.Writer, run *trace.Run) error {
	const none = "\n  \"endpoints\": []" // no text of JSON has a line feed in it, so nothing else looks like this
	frame := *run
	frame.Endpoints = []trace.Endpoint{}
	text, err := json.MarshalIndent(frame, "", "  ")
	if err != nil {
		return err
	}
	before, behind, _ := bytes.Cut(text, []byte(none))
	if j.lost != nil {
		return fmt.Errorf("an endpoint could not be kept for the document: %w", j.lost)
	}
	out := bufio.NewWriter(w)
	_, _ = out.Write(before) // the writer keeps its first error for Flush
	_, _ = out.WriteString(none[:len(none)-1])
	for i := range run.Endpoints {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.WriteString("\n    ")
		if err := j.endpoint(out, i, &run.Endpoints[i]); err != nil {
			return err
		}
	}
	if len(run.Endpoints) > 0 {
		_, _ = out.WriteString("\n  ")
	}
	_ = out.WriteByte(']')
	_, _ = out.Write(behind)
	_ = out.WriteByte('\n')
	return out.Flush()
}

// endpoint writes one endpoint: the one that was kept, or what the run has of it.
func (j *JSONWriter) endpoint(out *bufio.Writer, i int, ep *trace.Endpoint) error {
	kept, ok := j.ended[i]
	var line []byte
	var err error
	if ok {
		line = make([]byte, kept.size)
		_, err = j.partial.ReadAt(line, kept.at)
		line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte(`{"ended":`)), []byte("}\n"))
	} else {
		line, err = json.Marshal(ep)
	}
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, line, "    ", "  "); err != nil {
		return fmt.Errorf("the record of %s that was kept in %s is broken: %w", ep.Name, j.partial.Name(), err)
	}
	_, err = text.WriteTo(out)
	return err
}

// replace writes the document beside the path and renames it over it. The file gets the permissions of the
// partial one, which are those that the user's umask gives to new files.
func (j *JSONWriter) replace(run *trace.Run) (err error) {
	info, err := j.partial.Stat()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(j.path), filepath.Base(j.path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = j.document(f, run)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), j.path)
}

// Abort ends without a document: the partial record is kept when it holds a case, and removed when it holds
// none. After Finish it does nothing, so that it can be deferred.
func (j *JSONWriter) Abort() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done {
		return nil
	}
	j.done = true
	if j.direct != nil {
		err := j.drop()
		if j.closer != nil {
			err = errors.Join(err, j.closer.Close())
		}
		return err
	}
	err := j.partial.Close()
	if j.size == j.begun {
		err = errors.Join(err, os.Remove(j.partial.Name()))
	}
	return err
}
